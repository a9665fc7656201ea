"""Statistics of made-up results, worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from experiments.reproduction.made_up import TEST, cells, make_info, make_table, result

from keras_tagging.experiments import papers
from keras_tagging.experiments.papers.table import Column
from keras_tagging.experiments.reproduction import report_statistics
from keras_tagging.experiments.reproduction.report import markdown


def test_means_and_standard_deviations():
    table = make_table(90.0, 92.0, 94.0)
    results = [result("A", 1, 8), result("A", 2, 9), result("B", 1, 7)]
    frame = report_statistics.figures(table, results).set_index("row")
    assert frame.loc["A", ["mean", "difference", "n"]].tolist() == [85, -5, 2]
    assert frame.loc["A", "sd"] == pytest.approx(7.0710678)  # not 5, which is with n
    assert frame.loc["B", ["mean", "n"]].tolist() == [70, 1]
    assert frame.loc["B":"C", "sd"].isna().all()
    assert frame.loc["C", "n"] == frame.loc["Xu", "n"] == 0
    assert pd.isna(frame.loc["C", "mean"])
    assert frame["published_rank"].tolist()[1:3] == [2, 1]
    assert frame["rank"].tolist()[1:3] == [1, 2]
    unranked = frame.loc[["Xu", "C"], ["rank", "published_rank"]]
    assert unranked.isna().to_numpy().all()


def test_results_of_another_table():
    with pytest.raises(ValueError, match="'Z', which is not a row of Table 9"):
        report_statistics.figures(make_table(90.0), [result("Z", 1, 5)])


def ranking(published, rights):
    """The agreement of the two rankings, and how the page puts it."""
    table = make_table(*published)
    results = [
        result(row.name, 1, right)
        for row, right in zip(table.rows[1:], rights, strict=True)
    ]
    frame = report_statistics.figures(table, results)
    words = line(markdown(table, make_info(table), results), "- Test: ")
    return report_statistics.agreement(frame, TEST), words


def line(text, start):
    return next(line for line in text.splitlines() if line.startswith(start))


def test_rankings():
    found, words = ranking([94.0, 93.0, 92.0, 91.0], [8, 9, 7, 6])
    assert found.rho == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)
    assert (found.same, found.opposite, found.tied) == (5, 1, 0)
    assert (found.best, found.best_published) == (("B",), ("A",))
    assert "Spearman's rho = 0.80 over 4 rows" in words
    assert "5 of 6 pairs" in words and "best row is B, the published one A" in words


def test_the_published_ranking():
    found, words = ranking([91.0, 93.0, 92.0], [5, 7, 6])
    assert found.rho == pytest.approx(1)
    assert words.endswith("is the published one: 3 rows tell little.")
    found, words = ranking([91.0, 93.0, 92.0, 94.0], [5, 7, 6, 8])
    assert words.endswith("The ranking is the published one.")
    found, words = ranking([91.0, 93.0, 92.0], [6, 4, 5])
    assert found.rho == pytest.approx(-1)
    assert "\N{MINUS SIGN}1.00" in words


def test_ties_in_a_ranking():
    found, words = ranking([93.0, 92.0, 91.0], [8, 8, 6])
    assert found.rho == pytest.approx(np.sqrt(3) / 2)  # ranks 1.5, 1.5, 3
    assert (found.same, found.tied) == (2, 1)
    assert found.best == ("A", "B")
    assert "1 tie" in words and "best row is A and B" in words
    found, words = ranking([93.0, 93.0, 91.0, 90.0], [9, 9, 7, 6])
    assert (found.same, found.opposite, found.tied) == (6, 0, 0)
    assert words.endswith("The ranking is the published one.")
    found, words = ranking([93.0, 92.0, 91.0], [8, 8, 8])
    assert found.rho is None and "all of the 3 rows tie" in words


def test_too_few_rows_to_rank():
    found, words = ranking([93.0, 92.0], [8, 7])
    assert found.rho is None
    assert "too few for Spearman's rho. The ranking is the pub" in words
    assert "published one: 2 rows tell little." in words


def test_columns_without_a_ranking():
    columns = (Column("Dev", "accuracy", "dev"), TEST)
    table = make_table(90.0, 80.0, columns=columns)
    results = [result(row, 1, 9, columns) for row in "AB"]
    text = markdown(table, make_info(table), results)
    assert "- Dev: fewer than two measured rows with a published figure: no" in text
    assert "- Test: 2 rows are too few" in text


def test_pairs_of_rows():
    """A has 9 tokens right, B 8 of these, C 1: p is 2 / 2 ** n; Holm: times 3, 2, 1."""
    table = make_table(90.0, None, 92.0)
    results = [result("A", 1, 9), result("B", 1, 8), result("C", 1, 1)]
    found = report_statistics.pairs(table, results, TEST)
    assert found["better"].tolist() == ["A", "B", "A"]
    assert found["worse"].tolist() == ["C", "C", "B"]
    assert found["p"].tolist() == pytest.approx([2 / 256, 2 / 128, 1])
    assert found["holm"].tolist() == pytest.approx([6 / 256, 4 / 128, 1])
    assert found["difference"].tolist() == pytest.approx([80, 70, 10])
    assert found["published_difference"].tolist()[0] == -2
    assert found["direction"].tolist() == ["opposite", "", ""]
    words = line(markdown(table, make_info(table), results), "Test: ")
    assert "2 of 3 pairs differ" in words
    assert "of the 1 among them with published figures, 0 in the published" in words


def test_pairs_are_tested_on_the_seeds_that_both_have():
    table = make_table(90.0, 80.0)
    results = [result("A", seed, right) for seed, right in ((1, 9), (2, 5), (3, 1))]
    results += [result("B", seed, right) for seed, right in ((1, 6), (2, 5), (4, 10))]
    [found] = report_statistics.pairs(table, results, TEST).to_dict("records")
    assert (found["better"], found["seeds"]) == ("A", 2)
    assert found["ahead"] == 1  # seed 2 ties
    assert found["difference"] == pytest.approx(15)  # of 70 and 55
    assert found["p"] == pytest.approx(2 / 8)
    assert found["direction"] == "as published"


def page(*seeds):
    """Of these numbers of tokens right of A and B, a pair for each seed."""
    table = make_table(90.0, 80.0)
    results = [
        result(row, seed, right)
        for seed, pair in enumerate(seeds, 1)
        for row, right in zip("AB", pair, strict=True)
    ]
    return markdown(table, make_info(table), results)


def test_bold_face_needs_the_better_row_ahead_in_all_seeds():
    text = page((10, 1), (9, 1))
    assert cells(text, "A | B")[5:] == ["2 of 2", "0.0039", "**0.0039**"]
    assert "1 of 1 pairs differ" in text and ", 1 with the same row ahead" in text
    text = page((10, 1), (1, 2))  # token 2 differs by nothing
    assert cells(text, "A | B")[5:] == ["1 of 2", "0.0078", "0.0078"]
    assert "1 of 1 pairs differ" in text and ", 0 with the same row ahead" in text


def test_a_warning_of_few_seeds_comes_first():
    start = "## Which rows differ\n\n"
    tokens = "Accuracy is tested by tokens; sentences are the stricter choice: "
    few = " the test says only that these trained models differ on these sentences. "
    assert f"{start}With 1 seed{few}{tokens}" in page((9, 1))
    assert f"{start}With 4 seeds{few}{tokens}" in page(*[(9, 1)] * 4)
    assert f"{start}{tokens}" in page(*[(9, 1)] * 5)
    table = papers.table("elkaref2017", 3)
    results = [
        result(row.name, seed, 9, table.columns)
        for row in table.rows[:2]
        for seed in range(1, 6)
    ]
    text = markdown(table, make_info(table), results)
    assert f"{start}By a paired permutation test" in text


def test_the_least_p_is_a_limit():
    table = make_table(90.0, 80.0, 70.0)
    results = []
    for row, right in (("A", 0.9), ("B", 0.1), ("C", 0.1)):
        found = result(row, 1, 1)
        found["evidence"] = {"Test": [[1] * 40, [i < 40 * right for i in range(40)]]}
        results.append(found)
    text = markdown(table, make_info(table), results)
    assert cells(text, "A | B")[6:] == ["≤ 0.0001", "**≤ 0.0003**"]
    assert cells(text, "B | C")[6:] == ["1.0000", "1.0000"]


def test_nothing_to_test():
    table = make_table(90.0, 80.0)
    found = report_statistics.pairs(table, [result("A", 1, 9), result("B", 2, 8)], TEST)
    assert len(found) == 0
    assert "nothing to test" in markdown(table, make_info(table), [result("A", 1, 9)])


def test_development_sentences_that_each_seed_holds_out():
    dev = Column("Dev", "accuracy", "dev")
    table = make_table(90.0, 80.0, columns=(dev, TEST), held_out=0.18)
    results = [
        result(row, seed, right, table.columns)
        for row, right in (("A", 9), ("B", 8))
        for seed in (1, 2)
    ]
    assert report_statistics.pairs(table, results, dev) is None
    assert len(report_statistics.pairs(table, results, TEST)) == 1
    text = markdown(table, make_info(table), results)
    assert "Dev: not tested, as each seed has other sentences." in text
    assert "18% of the training and development sentences, others with each" in text


def test_many_columns_are_tested_in_one():
    columns = [Column(f"{i}", "word", "test" if i else "dev", 0.1) for i in range(3)]
    assert report_statistics.tested_columns(make_table(1.0, columns=(TEST,))) == (TEST,)
    many = make_table(1.0, columns=tuple(columns))
    assert report_statistics.tested_columns(many) == (columns[1],)
