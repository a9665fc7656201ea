import io
import json
import re
from dataclasses import replace

import pytest

from keras_tagging.cli.tasks import filled
from keras_tagging.data import Entity, Sentence, Span, read
from keras_tagging.data.annotation import (
    ConlluWriter,
    CsvWriter,
    as_conll,
    as_json,
    as_jsonl,
    as_line,
    as_object,
    as_spans,
    as_tagged_text,
    as_text,
)
from keras_tagging.data.surface import Surface, spaced, spans_of

# "I don't,\tno.\n\nYes!" from offset 5
FIRST = Sentence(
    ["I", "do", "n't", ",", "no", "."],
    None,
    {
        "pos": ["PRON", "AUX", "PART", "PUNCT", "INTJ", "PUNCT"],
        "lemma": ["I", "do", "not", ",", "no", "."],
        "head": ["2", "0", "2", "2", "2", "2"],
        "deprel": ["nsubj", "root", "advmod", "punct", "x", "punct"],
    },
    Surface(
        "I don't,\tno.",
        [(0, 1), (2, 7), (7, 8), (9, 11), (11, 12)],
        [1, 2, 1, 1, 1],
        5,
        "\n\n",
    ),
)
SECOND = Sentence(
    ["Yes", "!"],
    ["B-X", "O"],
    {},
    Surface("Yes!", [(0, 3), (3, 4)], [1, 1], 19, ""),
    [Span("Yes", "X", 19, 22, 0.75, (0, 1))],
)


def test_csv_has_a_row_for_each_word():
    writer = CsvWriter(["pos", "tags", "head"])
    assert writer.header == "sentence,id,text,start,end,upos,tag,head\n"
    text = writer.write(FIRST) + writer.write(Sentence([])) + writer.write(SECOND)
    assert (
        text
        == """\
1,1,I,5,6,PRON,,2
1,2,do,7,12,AUX,,0
1,3,n't,7,12,PART,,2
1,4,",",12,13,PUNCT,,2
1,5,no,14,16,INTJ,,2
1,6,.,16,17,PUNCT,,2
2,1,Yes,19,22,,B-X,
2,2,!,22,23,,O,
"""
    )
    assert CsvWriter([]).write(Sentence(['a"b', "c\nd"])) == (
        '1,1,"a""b",,\n1,2,"c\nd",,\n'
    )


def test_conllu_has_the_text_and_the_place_of_every_token():
    writer = ConlluWriter()
    expected = """\
# newdoc
# newpar
# sent_id = 1
# text = I don't, no.
1 I I PRON _ _ 2 nsubj _ TokenRange=5:6
2-3 don't _ _ _ _ _ _ _ SpaceAfter=No|TokenRange=7:12
2 do do AUX _ _ 0 root _ _
3 n't not PART _ _ 2 advmod _ _
4 , , PUNCT _ _ 2 punct _ SpacesAfter=\\t|TokenRange=12:13
5 no no INTJ _ _ 2 x _ SpaceAfter=No|TokenRange=14:16
6 . . PUNCT _ _ 2 punct _ SpacesAfter=\\n\\n|TokenRange=16:17

"""
    rows = [
        line if line.startswith("#") else line.replace(" ", "\t")
        for line in expected.split("\n")
    ]
    assert writer.write(FIRST) == "\n".join(rows)
    assert writer.write(Sentence([])) == ""
    lines = writer.write(SECOND).split("\n")
    assert lines[:3] == ["# newpar", "# sent_id = 2", "# text = Yes!"]
    assert lines[3].split("\t")[9] == "Tag=B-X|SpaceAfter=No|TokenRange=19:22"
    assert lines[4].split("\t")[9] == "Tag=O|SpaceAfter=No|TokenRange=22:23"


def test_conllu_of_sentences_without_text():
    columns = {"pos": ["X"], "ner|x": ["a|b"], "predicted_tag": ["NN"]}
    found = ConlluWriter().write(Sentence(["a"], ["X"], columns))
    assert found == "# sent_id = 1\n1\ta\t_\tX\tNN\t_\t_\t_\t_\tNer|x=a\\pb\n\n"


def test_conllu_whose_lines_end_for_every_reader():
    spaces = ["\u2028", "\u2029\x85", " \v\f", "\x1c\x1d\x1e\xa0", "\n"]
    text = "".join(f"a{space}" for space in spaces) + "a\\u2028"
    surface = Surface(text, [m.span() for m in re.finditer(r"a\S*", text)], [1] * 6)
    columns = {"lemma": ["b\u2028c"] * 6, "ner": ["B-X\u2028"] * 6}
    sentence = Sentence(surface.tokens, None, columns, surface)
    written = ConlluWriter().write(sentence)
    assert len(written.splitlines()) == written.count("\n")
    assert r"SpacesAfter=\u2029\u0085|" in written
    stream = io.StringIO(re.sub("# text.*\n", "", written))
    assert "\xa0" not in stream.getvalue()
    [again] = read(stream, "conllu", surface=True)
    assert (again.tokens, again.surface.text) == (surface.tokens, text)
    # of `parse`, where a word is what stands between blanks
    written = filled(Sentence(["a\u2028b"]), None, {"lemma": ["\x85"]})
    assert written == "1\ta b\t " + "\t_" * 7 + "\n\n"


def test_conllu_of_tokens_with_white_space():
    surface = Surface("10\u00a0000\n\nx", [(0, 6), (8, 9)], [1, 1])
    written = ConlluWriter().write(Sentence(surface.tokens, surface=surface))
    assert "# text = 10 000 x\n1\t10 000\t" in written
    assert "SpacesAfter=\\n\\n|TokenRange=0:6" in written
    columns = {"lemma": ["10\n000", "x"]}
    given = Sentence(["10\n000", "x"], columns=columns, surface=surface)
    assert "1\t10 000\t10 000\t" in ConlluWriter().write(given)


def test_conllu_has_entities_in_misc():
    column = {"ner": ["B-PER", "I-PER", "O"]}
    surface = Surface("Ada L.", [(0, 3), (4, 6)], [1, 2])
    written = ConlluWriter().write(Sentence(["Ada", "L", "."], None, column, surface))
    misc = [row.split("\t")[9] for row in written.split("\n") if "\t" in row]
    told = ["NER=B-PER|TokenRange=0:3", "TokenRange=4:6", "NER=I-PER", "_"]
    assert misc == told


def test_json():
    found = json.loads(as_json(FIRST))
    assert (found["text"], found["start"], found["end"]) == ("I don't,\tno.", 5, 17)
    token = found["tokens"][1]
    assert (token["text"], token["start"], token["end"]) == ("don't", 7, 12)
    assert token["words"][1] == {
        "id": 3,
        "text": "n't",
        "upos": "PART",
        "lemma": "not",
        "head": 2,
        "deprel": "advmod",
    }
    assert as_object(SECOND)["spans"] == [
        {
            "text": "Yes",
            "label": "X",
            "start": 19,
            "end": 22,
            "probability": 0.75,
            "words": [0, 1],
        }
    ]
    assert SECOND.entities == [Entity(0, 1, (19, 22), "X", 0.75, "Yes")]
    labels = Sentence(["a"], ["X"], {"pos": ["N"], "head": ["0"]})
    known = {"tags": [0.5], "pos": [2 / 3]}
    [token] = as_object(replace(labels, probabilities=known))["tokens"]
    assert token["words"] == [
        {
            "id": 1,
            "text": "a",
            "upos": "N",
            "head": 0,
            "tag": "X",
            "probabilities": {"upos": 0.666667, "tag": 0.5},
        }
    ]
    again = read(io.StringIO(as_json(replace(labels, probabilities=known))), "jsonl")
    assert [*again] == [labels]
    plain = as_object(Sentence(["a", "b"], ["X", "Y"]))
    assert plain == {
        "tokens": [
            {"text": "a", "words": [{"id": 1, "text": "a", "tag": "X"}]},
            {"text": "b", "words": [{"id": 2, "text": "b", "tag": "Y"}]},
        ],
        "spans": [],
    }
    assert as_json(Sentence([])) == ""


def test_words_with_tags():
    assert as_tagged_text(FIRST).startswith("I|PRON do|AUX n't|PART")
    assert as_tagged_text(SECOND) == "Yes|B-X !|O\n"
    assert as_tagged_text(Sentence(["a"], None, {"lemma": ["b"]})) == "a|b\n"
    assert as_tagged_text(Sentence(["a", "b"])) == "a b\n"


def test_rows_of_spans():
    assert as_spans(SECOND) == "19\t22\tX\t0.7500\tYes\n"
    span = Span("New\nYork", "X", 1, 9, 1.0, (0, 2))
    assert as_spans(Sentence(["a"], spans=[span])) == "1\t9\tX\t1.0000\tNew York\n"
    assert as_spans(FIRST) == ""


def test_spans_have_the_letters_of_their_words():
    # I, do, n't, the comma, ...
    some = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], FIRST.surface
    for words, span in (
        (FIRST.tokens, Span("n't,", "A", 9, 13, 0.6, (2, 4))),
        (
            ["I", "do", "not", *FIRST.tokens[3:]],
            Span("don't,", "A", 7, 13, 0.6, (2, 4)),
        ),
    ):
        assert spans_of([("A", 2, 4)], *some, words) == [span]
    assert spans_of([("B", 1, 2)], [1, 0.5], spaced(["ab", "c"]), ["ab", "c"]) == [
        Span("c", "B", 3, 4, 0.5, (1, 2))
    ]
    assert spaced([]).text == ""


WORDS = ["na\u00efve\u00a0x", "a|b"]


def test_a_line_of_words_with_tags():
    assert as_line(WORDS, ["X", "Y"]) == "na\u00efve\u00a0x|X a|b|Y\n"
    assert as_line(["a", "b"]) == "a b\n" and as_line([], []) == "\n"
    assert as_line(["a"], ["NN"], ["N/N"]) == "a|NN|N/N\n"


@pytest.mark.parametrize("word", ["a b", "a\tb", "a\nb", "a\rb", ""])
def test_words_that_no_line_can_hold(word):
    """`tag` and `annotate` have one rule."""
    for write in (
        lambda: as_text([word], {None: ["X"]}),
        lambda: as_tagged_text(Sentence([word], ["X"])),
    ):
        with pytest.raises(ValueError, match="has a blank|is empty"):
            write()
    if word not in ("a b", "a\rb"):
        with pytest.raises(ValueError, match="use --output jsonl"):
            as_conll([word], {None: ["X"]})


ONE = [("X", 0.75), ("Y", 0.5)]
SEVERAL = [[("X", 0.75), ("Z", 0.25)], [("Y", 1.0)]]


def test_rows():
    assert as_conll(WORDS, {None: ["X", "Y"]}) == "na\u00efve\u00a0x\tX\na|b\tY\n\n"
    assert as_conll(["a", "b"], {"p": ["X", "Y"], "q": ["1", "2"]}) == (
        "a\tX\t1\nb\tY\t2\n\n"
    )
    assert as_conll(["a", "b"], {None: ONE}) == "a\tX\t0.75\nb\tY\t0.5\n\n"
    several = as_conll(["a", "b"], {None: SEVERAL})
    assert several == "a\tX\t0.75\tZ\t0.25\nb\tY\t1\n\n"
    assert as_conll([], {None: []}) == "\n"


def test_objects():
    assert (
        as_jsonl(["\u00e9"], {None: ["X"]}) == '{"tokens": ["\u00e9"], "tags": ["X"]}\n'
    )
    one = json.loads(as_jsonl(["a", "b"], {None: ONE}))
    assert one["tags"] == ["X", "Y"] and one["probabilities"] == [0.75, 0.5]
    several = json.loads(as_jsonl(["a", "b"], {"upos": SEVERAL, "xpos": ONE}))
    assert several["upos"] == [["X", "Z"], ["Y"]]
    assert several["upos_probabilities"] == [[0.75, 0.25], [1.0]]
    assert several["xpos_probabilities"] == [0.75, 0.5]
    assert json.loads(as_jsonl([], {None: []})) == {"tokens": [], "tags": []}
