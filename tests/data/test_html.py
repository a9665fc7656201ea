from xml.etree import ElementTree

from keras_tagging.data import Sentence, Span
from keras_tagging.data.html import as_html, language_of, preface
from keras_tagging.data.surface import Surface

# "Ada <3 New York" from offset 7
SENTENCE = Sentence(
    ["Ada", "<3", "New", "York"],
    None,
    {
        "pos": ["PROPN", "VERB", "ADJ", "PROPN"],
        "head": ["2", "0", "4", "2"],
        "deprel": ["nsubj", "root", "amod", "obj"],
    },
    Surface("Ada <3 New York", [(0, 3), (4, 6), (7, 10), (11, 15)], [1] * 4, 7),
    [
        Span("New York", "LOC", 14, 22, 0.9, (2, 4)),
        Span("York", "X", 18, 22, 0.9, (3, 4)),  # inside of the other one
        Span("Ada", "<P>", 7, 10, 0.456, (0, 1)),
    ],
)


def parsed(sentence):
    """The figure, which is XML too."""
    return ElementTree.fromstring(as_html(sentence))


def by_class(root, name):
    return [x for x in root.iter() if name in x.get("class", "").split()]


def test_entities_are_marked():
    figure = parsed(SENTENCE)
    [entities] = by_class(figure, "entities")
    assert "".join(entities.itertext()) == "Ada <P> <3 New York LOC"
    marks = by_class(figure, "entity")
    assert [(m.text, m[0].text) for m in marks] == [
        ("Ada ", "<P>"),
        ("New York ", "LOC"),
    ]
    assert [mark.get("title") for mark in marks] == ["45.6%", "90.0%"]
    assert [mark.get("class") for mark in marks] == ["entity", "entity entity-LOC"]


def test_a_tree():
    figure = parsed(SENTENCE)
    assert [x.text for x in by_class(figure, "displacy-word")] == SENTENCE.tokens
    assert [x.text for x in by_class(figure, "displacy-tag")] == SENTENCE.columns["pos"]
    labels = by_class(figure, "displacy-label")  # the shorter arcs first
    assert [x.text for x in labels] == ["nsubj", "amod", "obj"]
    xs = [int(x.get("x")) for x in by_class(figure, "displacy-word")]
    tips, starts = (
        [int(x.get("d")[1:].split(",")[0]) for x in by_class(figure, name)]
        for name in ("displacy-arrowhead", "displacy-arc")
    )
    # from York and from <3 to the left word, and from <3 to York
    assert tips == [xs[0] + 4, xs[2] + 4, xs[3] - 4]
    assert starts == [xs[0] + 4, xs[2] + 4, xs[1] + 4]
    heights = [float(label.get("y")) for label in labels]
    assert heights[2] < heights[0] == heights[1]  # above the arc that it covers
    [svg] = by_class(figure, "displacy")
    told = "Tree. Ada: nsubj of <3; <3: root of the root; New: amod of York; York: obj"
    assert svg.get("aria-label").startswith(told)


def test_what_is_not_there_is_not_drawn():
    assert as_html(Sentence([])) == ""
    figure = parsed(Sentence(["a", "b"]))
    assert "".join(figure.itertext()).strip() == "a b"
    damaged = {"head": ["9", "_"], "deprel": ["x", "_"]}
    assert not by_class(parsed(Sentence(["a", "b"], None, damaged)), "displacy-arc")
    star = {"head": ["0", *["1"] * 500], "deprel": ["x"] * 501}
    figure = parsed(Sentence(["w"] * 501, None, star))
    assert (
        not by_class(figure, "displacy") and "501 words are too many" in figure[1].text
    )
    assert preface().count("<body>") == 1


def test_the_language_is_that_of_the_treebank():
    learnt = {"corpus": {"name": "ud-he-htb", "language": "he"}}
    assert '<html lang="he">' in preface(language_of(learnt))
    for metadata in ({}, {"corpus": {"language": '"><script>'}}, {"corpus": None}):
        assert '<html lang="und">' in preface(language_of(metadata))


def test_a_tree_follows_the_direction_of_its_script():
    columns = {"head": ["2", "0", "2"], "deprel": ["nsubj", "root", "obl"]}

    def places(words):
        svg = parsed(Sentence(words, None, columns))
        places = [int(x.get("x")) for x in by_class(svg, "displacy-word")]
        heads = by_class(svg, "displacy-arrowhead")
        return places, [int(x.get("d")[1:].partition(",")[0]) for x in heads]

    hebrew, heads = places(["1הוא", "רץ", "מהר"])
    assert hebrew == sorted(hebrew, reverse=True)
    # arrows end at the dependents, a little inside of their arcs
    assert heads == [hebrew[0] - 4, hebrew[2] + 4]
    latin, heads = places(["He", "runs", "רץ"])
    assert latin == sorted(latin) and heads == [latin[0] + 4, latin[2] - 4]
