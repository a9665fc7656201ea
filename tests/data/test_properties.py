"""Whatever is written is read back unchanged, or refused."""

import io
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_tagging.data import Sentence, read, write
from keras_tagging.data.annotation import WRITERS
from keras_tagging.data.conllu import as_conllu

# No database: a folder in the working directory.
checked = settings(max_examples=60, deadline=None, database=None)

# What files trip over comes more often than by chance.
ODD = "\t\n\r #|\ufeff\u00a0\u2028\u200b\x00\x1c\x85\"\\'[]{}_0é\u0301"
CHARACTERS = (
    ODD + "aAz9./~\u00df\u00c9\u05d0\u0e33\u1112\u4e2d\ufb01\ue000\u0378\U0001f600"
)
TRAPS = ["", " ", "# x", "## x", "#", "\ufeffx", "x\r", "x\ty", "x\ny", "\u00a0", "_"]
anything = st.sampled_from(TRAPS) | st.text(CHARACTERS, max_size=6)


# A cell that any format with tabs can hold.
PLAIN = [c for c in CHARACTERS if c not in "\t\n\r \ufeff#"]
cells = st.text(PLAIN, min_size=1, max_size=6)
NAMES = st.sampled_from(["pos", "head", "x y"])


def nfc(text):
    return unicodedata.normalize("NFC", text)


@st.composite
def corpora(draw, values, least=0, names=NAMES):
    """Sentences that have all the same columns, and tags or none."""
    columns = draw(st.lists(names, unique=True, max_size=2))
    is_tagged = draw(st.booleans())
    sentences = []
    for length in draw(st.lists(st.integers(least, 5), max_size=4)):
        row = st.lists(values, min_size=length, max_size=length)
        tokens = list(map(nfc, draw(row)))
        tags = draw(row) if is_tagged else None
        sentences.append(Sentence(tokens, tags, {name: draw(row) for name in columns}))
    return sentences


def written(sentences, format):
    stream = io.StringIO()
    write(sentences, stream, format)
    return stream.getvalue()


def read_rows(text, sentences):
    """Columns, with the options that say which they are."""
    source = io.BytesIO(text.encode())
    first = sentences[0]
    if first.tags is None and not first.columns:
        return list(read(source, "tokens"))
    columns = {name: index for index, name in enumerate(first.columns, 1)}
    tag_column = None if first.tags is None else len(columns) + 1
    options = {"separator": "\t", "columns": columns, "tag_column": tag_column}
    return list(read(source, "conll", **options))


@settings(checked, max_examples=120)
@given(corpora(cells) | corpora(anything))
def test_conll_refuses_what_would_change(sentences):
    filled = [sentence for sentence in sentences if sentence.tokens]
    try:
        text = written(sentences, "conll")
    except ValueError as error:
        assert "cannot be a CoNLL row: write 'jsonl' instead" in str(error)
        values = [
            value
            for s in sentences
            for column in (s.tokens, s.tags or (), *s.columns.values())
            for value in column
        ]
        # a row of one column is read at blanks
        alone = (s.tokens for s in sentences if s.tags is None and not s.columns)
        values += ["\t" for tokens in alone if " " in "".join(tokens)]
        odd = re.compile("|.*[\t\n].*|#+ .*|.*[\r ]|[\ufeff ].*", re.DOTALL)
        assert any(map(odd.fullmatch, values))
    else:
        assert not filled or read_rows(text, filled) == filled


@pytest.mark.parametrize(
    "first, word, tag",
    [
        ([], "# x", "N"),
        (["x"], "## x", "N"),
        ([], "\ufeffx", "N"),
        (["x"], "x", "N\r"),
        (["x"], " ", " "),
        (["x"], "x ", "N"),
        (["x"], "x", " N"),
    ],
)
def test_conll_refuses(first, word, tag):
    sentences = [Sentence(first, ["N"] * len(first)), Sentence([word], [tag])]
    with pytest.raises(ValueError, match="cannot be a CoNLL row: write 'jsonl'"):
        written(sentences, "conll")


@checked
@given(corpora(anything, names=anything.filter(lambda n: n not in ("tokens", "tags"))))
def test_jsonl(sentences):
    text = written(sentences, "jsonl")
    assert list(read(io.BytesIO(text.encode()), "jsonl")) == sentences


@st.composite
def treebanks(draw, values=cells):
    """Sentences with all the columns of CoNLL-U."""
    sentences = []
    for length in draw(st.lists(st.integers(1, 5), max_size=4)):
        row = st.lists(values, min_size=length, max_size=length)
        heads = st.integers(0, length).map(str)
        columns = {name: draw(row) for name in "pos xpos feats deprel lemma".split()}
        columns["head"] = draw(st.lists(heads, min_size=length, max_size=length))
        tags = None if set(columns["pos"]) == {"_"} else columns["pos"]
        sentences.append(Sentence(list(map(nfc, draw(row))), tags, columns))
    return sentences


@checked
@given(treebanks())
def test_conllu_and_what_tag_prints(sentences):
    text = "".join(as_conllu(s) for s in sentences)
    for format in ("conllu", "conllx"):
        assert list(read(io.BytesIO(text.encode()), format)) == sentences
    assert written(sentences, "conllu") == text
    tagged = [Sentence(s.tokens, s.columns["pos"]) for s in sentences]
    for format in ("conll", "jsonl"):
        text = "".join(WRITERS[format](s.tokens, {None: s.tags}) for s in tagged)
        assert list(read(io.BytesIO(text.encode()), format)) == tagged
