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
    columns = {"share": [-0.5, float("nan"), float("-inf")], "count": [-1, 0, 1]}
    columns |= {"is": [True, False, True], "mixed": [-3, "-3", None]}
    table = pd.DataFrame(columns | {"kind": pd.Categorical(["=a", "b", "=a"])})
    text = without_formulas(table).to_csv(index=False)
    assert text.splitlines()[1:] == [
        "-0.5,-1,True,-3,'=a",
        ",0,False,'-3,b",
        "-inf,1,True,,'=a",
    ]
