"""The page: well-formed, whatever stands in the corpus, and complete in itself."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from conftest import TINY, WORDS_ONLY, randomize
from models import parsers

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.experiments import documents
from keras_tagging.experiments.analysis import analyse, plots, report

NASTY = [
    "<s>",
    "S\\NP",
    "&amp;",
    '"onload="',
    "</td>",
    "$x_1$",
    "'",
    "{{ 7*7 }}",
    "日本",
]
WORDS = ["<script>alert(1)</script>", "a&b", "<!--", "</style>", "\u202eevil", "\ud800"]
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Checks that tags are balanced, and collects what there is."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.text = [], [], [], [], []
        self.loads = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.loads += [attrs[a] for a in ("src", "data", "srcset") if a in attrs]
        for name in ("href", "xlink:href"):
            self.links += [attrs[name]] if name in attrs else []
        assert not [name for name in attrs if name.startswith("on")]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)


def checked(text):
    """The page, once it is sure that it loads nothing."""
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(page.tags)
    assert not page.loads
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in text and "@font-face" not in text
    assert all(url.startswith("#") for url in re.findall(r"url\(\"?([^)]*)\)", text))
    names = r"http://www\.w3\.org/(2000/svg|1999/xlink)"
    assert "http" not in re.sub(names, "", text)
    return page


@pytest.fixture(scope="module")
def nasty():
    """A tagger of nasty labels and words, which errs."""
    count = len(NASTY)
    train = [
        Sentence([WORDS[i % len(WORDS)], "the", WORDS[i % 4]], [NASTY[i], *NASTY[:2]])
        for i in range(count)
    ]
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY)
    model.adapt(train)
    log = pd.DataFrame({"epoch": [1, 2], "loss": [2.5, 1.25], "val_accuracy": [0, 0.5]})
    return analyse(randomize(model), train * 3, train, log=log, title="<b>&\"'")


def test_nasty_labels_and_words(nasty, tmp_path):
    pytest.importorskip("matplotlib")
    path = nasty.to_html(tmp_path / "new" / "report.html", rows=1000)
    page = checked(path.read_text(encoding="utf-8"))
    text = "".join(page.text)
    for label in NASTY:
        assert label in text
    for word in WORDS[:5]:
        assert word in text
    assert page.tags.count("svg") == sum(s.plot is not None for s in nasty.sections)
    assert page.tags.count("h1") == 1
    contents = [link for link in page.links if link[1:] in nasty.tables]
    assert contents == [f"#{section.name}" for section in nasty.sections]
    assert "\n<b>&\"'" in text


def test_labels_are_text_in_the_plots(nasty):
    pytest.importorskip("matplotlib")
    [section] = [s for s in nasty.sections if s.name == "confusions"]
    drawn = plots.svg(section)
    text = "".join(Page(drawn).text)
    for label in set(section.table["gold"]):
        assert label in text
    assert drawn == plots.svg(section)  # no date, no random ids


def test_a_sum_of_bins_is_not_drawn_beside_them(nasty):
    pytest.importorskip("matplotlib")
    [section] = [s for s in nasty.sections if s.name == "by_label_frequency"]
    drawn = "".join(Page(plots.svg(section)).text)
    assert "10-99" in drawn and "1000+" in drawn and "(all)" not in drawn
    assert "10+ (all)" in report.page(nasty)


def test_a_split_has_one_colour(nasty):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    names = ("loss", "val_loss", "val_las", "accuracy", "val_uas")
    table = pd.DataFrame({"epoch": [1, 2], **{name: [0.5, 0.25] for name in names}})
    plots.curves(figure, table, "val_las")
    training, development = plots.COLOURS[:2]
    lines = [line for axes in figure.axes for line in axes.get_legend().get_lines()]
    assert [(line.get_label(), line.get_color()) for line in lines] == [
        ("loss", training),
        ("val_loss", development),
        ("val_las", development),
        ("accuracy", training),
        ("val_uas", development),
    ]
    styles = {line.get_label(): line.get_linestyle() for line in lines}
    assert styles["val_las"] != styles["val_uas"]


@pytest.mark.parametrize(
    ("tokens", "labels"),
    [
        ([1, 1], ["1"]),
        ([20, 80], ["1", "3", "10", "30"]),
        ([300, 45_678], ["1", "100", "10,000"]),
    ],
)
def test_counts_are_labelled(tokens, labels):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    table = pd.DataFrame({"above": [0, 0.5], "up_to": [0.5, 1], "tokens": tokens})
    for name in ("confidence", "accuracy", "low", "high"):
        table[name] = [0.25, 0.75]
    plots.reliability(figure, table)
    figure.canvas.draw()
    axes = figure.axes[1]
    low, high = axes.get_ylim()
    places = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    shown = [label.get_text() for y, label in places if low <= y <= high]
    assert set(labels) <= set(shown)
    assert low < 1 and high > max(tokens)


def test_figures_of_the_page(nasty):
    text = report.page(nasty, rows=2)
    table = nasty.confusions
    first = f"The first 2 of {len(table)} rows; all are in"
    assert f"{first} the table in Python." in text
    assert "CSV" not in text and ".csv" not in text
    assert f"{first} some/confusions.csv." in report.page(nasty, 2, "some")
    accuracy = nasty.overall.set_index("figure").loc["accuracy"]
    assert f">{100 * accuracy['value']:.2f}<" in text
    interval = f"{100 * accuracy['low']:.1f}\u2013{100 * accuracy['high']:.1f}"
    assert f">{interval}<" in text
    assert ">2.5<" in text and ">50.00<" in text  # a loss is no share
    assert ">81<" in text  # tokens


def test_without_matplotlib(nasty, monkeypatch):
    monkeypatch.setattr(documents, "plots_available", lambda: False)
    text = report.page(nasty)
    page = checked(text)
    assert "svg" not in page.tags
    assert "keras-tagging[plots]" in "".join(page.text)


def test_notebooks(nasty):
    page = checked(nasty._repr_html_())
    assert "style" not in page.tags and "html" not in page.tags
    assert page.tags.count("h2") == len(nasty.sections)
    assert {"overall", "confusions", "tables", "to_html"} <= set(dir(nasty))
    assert "confusions_examples" in repr(nasty)


def test_what_is_missing_and_doubtful_is_said(nasty):
    lacking = type(nasty)("x", {}, nasty.sections[:1], {"by_pos": "no <pos>"}, ["<w>"])
    text = "".join(checked(report.page(lacking)).text)
    assert "By pos: no <pos>." in text
    assert "Warning: <w>" in text


def test_csv(nasty, tmp_path):
    paths = nasty.to_csv(tmp_path / "tables")
    assert [path.stem for path in paths] == list(nasty.tables)
    read = pd.read_csv(tmp_path / "tables" / "confusions.csv", keep_default_na=False)
    assert list(read["gold"]) == list(nasty.confusions["gold"])
    assert read["count"].tolist() == nasty.confusions["count"].tolist()


def test_csv_has_no_formulas(nasty, tmp_path):
    table = pd.DataFrame({"word": ["=1+1", "-5", "a=b"], "share": [-0.5, 0.1, 0.2]})
    section = replace(nasty.sections[0], name="words", table=table, examples=None)
    type(nasty)("x", {}, [section]).to_csv(tmp_path)
    text = (tmp_path / "words.csv").read_text()
    assert text == "word,share\n'=1+1,-0.5\n'-5,0.1\na=b,0.2\n"


def test_a_parser_s_page():
    found = analyse(parsers.random_parser(), parsers.DEV, parsers.TRAIN)
    page = checked(report.page(found))
    text = "".join(page.text)
    assert "\u2192" in text and "UAS %" in text
    assert "95 % interval of LAS" in text and "95 % interval of recall" in text
    assert "95 % interval of labelled" not in text
    assert "95 % interval\n" in text  # of the overall figures
    assert re.search(r"Punctuation\s*counts\n", text)
    assert "Calibration: a parser gives no probabilities." in text


def test_a_parser_s_page_says_what_counts():
    found = analyse(parsers.random_parser(), parsers.DEV, punctuation="unicode")
    assert "does not count: words of punctuation" in report.page(found)
