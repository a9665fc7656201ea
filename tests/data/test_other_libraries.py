import io
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from keras_tagging import Corpus, CorpusError, Sentence, Span
from keras_tagging.data import (
    from_dataframe,
    from_dataset,
    from_spacy,
    read,
    to_dataframe,
    to_spacy,
)
from keras_tagging.data.annotation import as_json
from keras_tagging.data.surface import Surface

ADA = Sentence(
    ["Ada", "Lovelace", "does", "n't", "<err>"],
    ["B-PER", "I-PER", "O", "O", "O"],
    {
        "pos": ["PROPN", "PROPN", "AUX", "PART", "VERB"],
        "lemma": ["Ada", "Lovelace", "do", "not", "err"],
        "head": ["5", "1", "5", "5", "0"],
        "deprel": ["nsubj", "flat", "aux", "advmod", "root"],
    },
    Surface(
        "Ada Lovelace doesn't <err>",
        [(0, 3), (4, 12), (13, 20), (21, 26)],
        [1, 1, 2, 1],
        start=7,
    ),
)
FOUND = Sentence(
    ADA.tokens, None, ADA.columns, ADA.surface, [Span("Ada", "PER", 7, 10, 0.9, (0, 1))]
)


# pandas


def test_a_table_and_back():
    two = [ADA, Sentence(["Yes"], ["O"], {k: ["_"] for k in ADA.columns})]
    frame = to_dataframe(two)
    assert frame.columns[:5].tolist() == ["sentence", "id", "text", "start", "end"]
    assert frame["id"].tolist() == [1, 2, 3, 4, 5, 1]
    assert frame["start"].tolist()[:5] == [7, 11, 20, 20, 28]
    back = from_dataframe(frame)
    assert [(s.tokens, s.tags, s.columns) for s in back] == [
        (s.tokens, s.tags, s.columns) for s in two
    ]
    nullable = frame.convert_dtypes()  # a sentence's number in its first row alone
    nullable["sentence"] = nullable["sentence"].where(nullable["id"] == 1)
    assert from_dataframe(nullable)[0].tokens == ADA.tokens
    own = {"sentence": [1, np.str_("")], "token": [np.str_("a"), np.str_("b")]}
    assert [s.tokens for s in from_dataframe(own)] == [["a", "b"]]
    assert ADA.to_dataframe().equals(to_dataframe([ADA]))
    documents = to_dataframe([[ADA], [], [ADA, ADA]])
    assert documents["document"].unique().tolist() == [1, 3]
    assert documents["sentence"].tolist() == [1] * 10 + [2] * 5


def test_documents_and_numbers_at_their_first_row_alone():
    """In a file and in a table, which say the same."""
    rows = {"document": ["d1", None, None, "d2"], "sentence": [1, None, 2, 1]}
    frame = pd.DataFrame(rows | {"token": list("abcd"), "tag": list("XYXY")})
    expected = [["a", "b"], ["c"], ["d"]]
    assert [s.tokens for s in from_dataframe(frame)] == expected
    stream = io.StringIO(frame.astype({"sentence": "Int64"}).to_csv(index=False))
    assert [s.tokens for s in read(stream, "csv")] == expected


def test_files_with_a_header():
    """As of Kaggle: the number of a sentence stands at its first word alone."""
    text = "Sentence #,Word,POS,Tag\nS: 1,NA,NNP,B-geo\n,null,NN,O\nS: 2,Hi,UH,O\n"
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False)
    one, two = from_dataframe(frame)
    assert (one.tokens, one.tags) == (["NA", "null"], ["B-geo", "O"])
    assert one.columns == {"POS": ["NNP", "NN"]} and two.tokens == ["Hi"]
    assert from_dataframe(frame, tags="POS", columns=())[1] == Sentence(["Hi"], ["UH"])
    with pytest.raises(ValueError, match="column 'Word', row 0: .*keep_default_na"):
        from_dataframe(pd.read_csv(io.StringIO(text)))
    with pytest.raises(
        ValueError, match="unknown column 'Tags'; did you mean 'Tag'[?] "
    ):
        from_dataframe(frame, tags="Tags")
    with pytest.raises(ValueError, match="name the column of each sentence, sentence="):
        from_dataframe({"word": ["a"]})
    for name in (rows := {"sentence": [1, 2], "token": ["a", "b"]}):
        for cell in (["a", "b"], np.array(["a", "b"]), {}):
            with pytest.raises(
                ValueError, match=f"'{name}', row 1: a .*, not one valu"
            ):
                from_dataframe(rows | {name: ["a", cell]})


# Hugging Face


class Dataset(list):
    """What is read of `datasets.Dataset`."""

    def __init__(self, rows, **names):
        super().__init__(rows)
        self.features = {field: None for field in rows[0]}
        for field, own in names.items():
            of_token = SimpleNamespace(names=own)
            self.features[field] = SimpleNamespace(feature=of_token)


NER = ["O", "B-PER", "I-PER"]
ROWS = [
    {"id": "1", "tokens": ["Ada", "L", "!"], "pos": [0, 0, 1], "ner_tags": [1, 2, 0]}
]


def test_labels_of_classes():
    [found] = from_dataset(Dataset(ROWS, ner_tags=NER))
    assert found == Sentence(ROWS[0]["tokens"], ["B-PER", "I-PER", "O"])
    several = Dataset(ROWS, ner_tags=NER, pos=["X", "PUNCT"])
    [found] = from_dataset(several, tags="ner_tags", columns=["pos"])
    assert found.columns == {"pos": ["X", "X", "PUNCT"]} and found.tags[0] == "B-PER"
    corpus = from_dataset({"train": several, "validation": several}, tags="pos")
    assert type(corpus) is Corpus and len(corpus.dev) == 1 and corpus.test == []
    assert from_dataset(ROWS, tags="ner_tags", names=NER)[0].tags[1] == "I-PER"
    with pytest.raises(
        ValueError, match="name the field of tags, tags=: there are 'po"
    ):
        from_dataset(several)
    with pytest.raises(ValueError, match="record 1: 'ner_tags': 1 has no name; give"):
        from_dataset(ROWS, tags="ner_tags")
    with pytest.raises(ValueError, match="^record 2: 1 tokens but 2 tags"):
        from_dataset([{"tokens": ["a"]}, {"tokens": ["a"], "tags": ["X", "Y"]}])
    numbers = [{"tokens": np.array(["a", "b"]), "tags": np.array([1, 0])}]
    assert from_dataset(numbers, names=NER)[0].tags == ["B-PER", "O"]
    frame = {"sentence": [1, 1], "token": ["a", "b"], "tag": [0, 2]}
    own = frame | {"tag": list(np.array([0, 2]))}
    assert from_dataframe(own, names=NER)[0].tags == ["O", "I-PER"]
    with pytest.raises(ValueError, match="record 1: no 'words': it has id, tok"):
        from_dataset(ROWS, tokens="words")


# Annotation tools

PRODIGY = {
    "text": "Ada errs.",
    "tokens": [
        {"text": "Ada", "start": 0, "end": 3, "id": 0},
        {"text": "errs", "start": 4, "end": 8, "id": 1},
        {"text": ".", "start": 8, "end": 9, "id": 2},
    ],
    "spans": [{"start": 0, "end": 8, "label": "X", "token_start": 0}],
    "answer": "accept",
}
NYC = {"start_offset": 0, "end_offset": 3, "label": "L"}
SKIPPED = {"result": [], "was_cancelled": True}
SPAN = {"start": 0, "end": 3, "text": "NYC", "labels": ["L"]}
STUDIO = [{"type": "relation"}, {"type": "labels", "value": SPAN}]
STUDIO = {"data": {"u": 3, "x": "NYC2"}, "annotations": [SKIPPED, {"result": STUDIO}]}
TEXTS = {
    "prodigy": (PRODIGY, ["Ada", "errs", "."], ["B-X", "I-X", "O"]),
    "doccano": (
        {"text": "In the-U.S. e\u0301", "label": [[7, 11, "LOC"], [0, 2, "P"]]},
        ["In", "the", "-", "U", ".", "S", ".", "\u00e9"],
        ["B-P", "O", "O", "B-LOC", "I-LOC", "I-LOC", "I-LOC", "O"],
    ),
    "offsets": ({"text": "NYC2", "entities": [NYC]}, ["NYC", "2"], ["B-L", "O"]),
    "doccano's": ({"text": "NYC2", "annotations": [NYC]}, ["NYC", "2"], ["B-L", "O"]),
    "label studio": (STUDIO, ["NYC", "2"], ["B-L", "O"]),
    "label studio, not yet": ({"data": {"text": "a"}, "annotations": []}, ["a"], None),
    "spacy 2": (["a[", {"entities": [[0, 1, "X"]]}], ["a", "["], ["B-X", "O"]),
    "none": ({"text": "a b", "spans": []}, ["a", "b"], ["O", "O"]),
    "text": ({"text": "a b"}, ["a", "b"], None),
}


@pytest.mark.parametrize("name", TEXTS)
def test_spans_of_characters(name):
    given, tokens, tags = TEXTS[name]
    for indent in (None, 1):
        array = io.StringIO(json.dumps([given, given], indent=indent))
        assert [(s.tokens, s.tags) for s in read(array)] == [(tokens, tags)] * 2
    [found] = read(io.StringIO(json.dumps(given)))
    assert (found.tokens, found.tags) == (tokens, tags)
    assert from_dataset([given]) == [found]


def test_what_was_rejected_is_left_out():
    lines = [PRODIGY | {"answer": answer} for answer in ("ignore", "accept", "reject")]
    lines.append({"data": {"text": "a"}, "annotations": [SKIPPED]})
    text = "\n".join(map(json.dumps, lines))
    assert len([*read(io.StringIO(text))]) == 1 == len(from_dataset(lines))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"spans": [{"start": 1, "end": 3, "label": "X"}]}, "cuts a token"),
        ({"spans": [[0, 3, "X"], [2, 9, "Y"]]}, "'X' and 'Y' overlap at character 2"),
        ({"spans": [[0, 99, "X"]]}, "is no span of the text; give start, end and l"),
        ({"spans": [{"start": 0}]}, "is no span of the text"),
        ({"spans": [[0.0, 3, "X"]]}, "is no span of the text"),
        ({"spans": [SPAN]}, "the span is 'NYC', but 'Ada' is there"),
        ({"data": {}, "annotations": [{"result": []}] * 2}, "task are several"),
        ({"data": {}, "annotations": [{"x": 1}]}, "no list of results"),
        ({"tokens": None, "paragraphs": []}, "the training JSON of spaCy 2; python"),
        ({"tokens": PRODIGY["tokens"][::-1]}, "or not in their order"),
        ({"tokens": [{"text": "a"}]}, "tokens without text, start and end"),
        ({"tokens": [{"words": [{}]}]}, "a token without words that have a text"),
    ],
)
def test_spans_that_cannot_be(change, message):
    given = PRODIGY | change
    lines = io.StringIO(f"\n{json.dumps(given)}")
    with pytest.raises(CorpusError, match=f":2: .*{message}"):
        [*read(lines, "jsonl")]
    with pytest.raises(ValueError, match=f"record 1: .*{message}"):
        from_dataset([given])


def test_what_annotate_writes_is_read():
    [found] = read(io.StringIO(as_json(ADA)))
    assert (found.tokens, found.tags, found.columns) == (
        ADA.tokens,
        ADA.tags,
        ADA.columns,
    )
    assert from_dataset([ADA.to_dict()]) == [found]


# spaCy


def token(i, text, head=0, dep="", iob="", label="", **more):
    own = {"pos_": "", "tag_": "", "lemma_": "", "morph": "", **more}
    own |= {"dep_": dep, "ent_iob_": iob, "ent_type_": label}
    return SimpleNamespace(i=i, text=text, is_space=text.isspace(), head=head, **own)


class Doc(list):
    """What is read of `spacy.tokens.Doc`."""

    has = {"SENT_START", "DEP", "ENT_IOB"}

    def has_annotation(self, name):
        return name in self.has

    @property
    def sents(self):
        return [self[:4], self[4:]]


def a_doc():
    tokens = [
        token(0, "Ada", 2, "nsubj", "B", "PER", pos_="PROPN"),
        token(1, "\n", 0, "dep", "O"),
        token(2, "errs", 2, "ROOT", "O", pos_="VERB"),
        token(3, ".", 1, "punct", "O"),  # hangs from white space
        token(4, "No", 4, "ROOT", "O"),
    ]
    for each in tokens:
        each.head = tokens[each.head]
    return Doc(tokens)


def test_of_a_doc():
    one, two = from_spacy(a_doc())
    assert one.tokens == ["Ada", "errs", "."] and one.tags == ["B-PER", "O", "O"]
    assert one.columns == {
        "pos": ["PROPN", "VERB", "_"],
        "head": ["2", "0", "1"],
        "deprel": ["nsubj", "ROOT", "punct"],
    }
    assert two == Sentence(["No"], ["O"], {"head": ["0"], "deprel": ["ROOT"]})
    plain = a_doc()
    plain.has = set()
    [whole] = from_spacy([plain])
    assert whole.tags == whole.columns["pos"] == ["PROPN", "VERB", "_", "_"]


@pytest.fixture
def made(monkeypatch):
    """The arguments of spaCy's `Doc`."""
    spacy, tokens = ModuleType("spacy"), ModuleType("spacy.tokens")
    tokens.Doc = lambda vocab, **given: SimpleNamespace(vocab=vocab, **given)
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    monkeypatch.setitem(sys.modules, "spacy.tokens", tokens)


def test_to_a_doc(made):
    doc = to_spacy([FOUND, Sentence([]), ADA], "vocab")
    assert doc.vocab == "vocab" and doc.words == 2 * ADA.tokens
    assert doc.spaces[:5] == [True, True, False, True, True]
    assert doc.heads == [4, 0, 4, 4, 4, 9, 5, 9, 9, 9]
    assert doc.deps == 2 * ADA.columns["deprel"] and not hasattr(doc, "morphs")
    assert doc.ents == ["B-PER", *"OOOO", "B-PER", "I-PER", *"OOO"]
    assert doc.pos == 2 * ADA.columns["pos"] and not hasattr(doc, "sent_starts")
    plain = Sentence(["a", "b"], ["X", "Y"]).to_spacy(None)
    assert plain.sent_starts == [True, False] and not hasattr(plain, "heads")
    assert not hasattr(plain, "ents")


@pytest.mark.slow
def test_spacy_itself():
    """With spaCy installed: there and back, and what displaCy draws."""
    spacy = pytest.importorskip("spacy")
    doc = to_spacy([ADA, FOUND], spacy.vocab.Vocab())
    assert doc.text == "Ada Lovelace doesn't <err> Ada Lovelace doesn't <err> "
    assert [span.text for span in doc.ents] == ["Ada Lovelace", "Ada"]
    back = from_spacy(doc)
    assert [s.tokens for s in back] == [ADA.tokens, ADA.tokens]
    assert back[0].tags == ADA.tags and back[0].columns == ADA.columns
    for style, drawn in (("dep", "nsubj"), ("ent", "PER")):
        assert drawn in spacy.displacy.render(doc, style, jupyter=False)
