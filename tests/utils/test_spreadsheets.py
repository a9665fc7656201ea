import io

import pandas as pd
import pytest

from keras_tagging.utils.spreadsheets import without_formulas


@pytest.mark.parametrize(
    "start", [*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_text_that_a_spreadsheet_would_run_is_quoted(start):
    table = pd.DataFrame({"word": [f"{start}SUM(A1)", start, f"a{start}", "'", ""]})
    found = without_formulas(table)["word"].tolist()
    assert found == [f"'{start}SUM(A1)", f"'{start}", f"a{start}", "'", ""]
    assert table["word"][1] == start  # the table itself is as it was


def test_numbers_and_gaps_stay():
    table = pd.DataFrame(
        {
            "share": [-0.5, float("nan"), float("-inf")],
            "count": [-1, 0, 1],
            "is": [True, False, True],
            "mixed": [-3, "-3", None],
            "kind": pd.Categorical(["=a", "b", "=a"]),
        }
    )
    text = without_formulas(table).to_csv(index=False)
    read = pd.read_csv(io.StringIO(text), dtype={"mixed": str, "kind": str})
    assert read["share"].tolist()[::2] == [-0.5, float("-inf")]
    assert read["share"].isna().tolist() == [False, True, False]
    assert read["count"].tolist() == [-1, 0, 1]
    assert read["is"].tolist() == [True, False, True]
    assert read["mixed"].tolist()[:2] == ["-3", "'-3"] and read["mixed"].isna()[2]
    assert read["kind"].tolist() == ["'=a", "b", "'=a"]
    assert without_formulas(table.head(0)).to_csv(index=False).count("\n") == 1
