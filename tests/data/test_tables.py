"""CSV and TSV with a header, beside pandas' own reading of them."""

import io
from dataclasses import replace

import pandas as pd
import pytest

from keras_tagging import CorpusError, Sentence, load_corpus
from keras_tagging.data import detect_format, from_dataframe, read, to_dataframe
from keras_tagging.data.annotation import CsvWriter
from keras_tagging.data.formats import tables
from keras_tagging.data.surface import Surface

TWO = [
    Sentence(
        ["Ada", '"', "a,b", "null"],
        None,
        {"pos": ["X"] * 4, "ner": ["B-PER", "O", "O", "O"], "head": ["0", *"111"]},
        Surface('Ada " a,b null', [(0, 3), (4, 5), (6, 9), (10, 14)], [1] * 4),
    ),
    Sentence(["Yes"], None, {"pos": ["INTJ"], "ner": ["O"], "head": ["0"]}),
]


def found(text, **options):
    return list(read(io.StringIO(text), **options))


def fields(sentences):
    return [(s.tokens, s.tags, s.columns) for s in sentences]


def test_what_annotate_writes_is_read():
    writer = CsvWriter(["pos", "ner", "head"])
    text = writer.header + "".join(map(writer.write, TWO))
    assert fields(found(text)) == fields(TWO)
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False)
    assert fields(from_dataframe(frame)) == fields(TWO)
    assert fields(found(text + text)) == fields(TWO * 2)  # files joined
    writer = CsvWriter(["tags", "feats"])
    tagged = Sentence(["a"], ["B-X"])
    assert found(writer.header + writer.write(tagged)) == [tagged]


def test_probabilities_of_labels_are_no_columns():
    values = {"pos": [0.25, 1.0, 0.12345678, 0.0], "ner": [0.5] * 4}
    sentence = replace(TWO[0], probabilities=values)
    writer = CsvWriter(["pos", "ner", "head"], ["pos", "ner"])
    text = writer.header + writer.write(sentence) + writer.write(TWO[1])
    header, first, *_, last = text.splitlines()
    assert header.endswith(",upos,ner,head,upos_probability,ner_probability")
    assert first.endswith(",X,B-PER,0,0.25,0.5") and ",X,O,1,0.123457,0.5" in text
    assert last.endswith(",INTJ,O,0,,")
    assert fields(found(text)) == fields(TWO)
    frame = sentence.to_dataframe()
    assert frame["upos_probability"].tolist() == [0.25, 1.0, 0.123457, 0.0]
    assert fields(from_dataframe(frame)) == fields(TWO[:1])
    own = found("text,x_probability\na,1\n", format="csv")  # of no labels
    assert own[0].columns == {"x_probability": ["1"]}


def test_rows_of_a_sentence_without_end_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("keras_tagging.utils.limits.SENTENCE_TOKENS", 3)
    split = tables._splitter(",", True)
    lines = ((i, f"1,{i}") for i in range(2, 99))
    [record] = tables._records(lines, "sentence,text", split, [0], 2)
    assert len(record) <= 4


def test_what_pandas_writes_is_read():
    frame = to_dataframe([TWO, TWO])  # two documents
    for separator in ",\t;":
        assert fields(found(frame.to_csv(sep=separator))) == fields(TWO * 2)
    assert fields(from_dataframe(frame)) == fields(TWO * 2)


def test_names_of_columns():
    text = "nr;Wort;Art;x\n1;Wir;PRON;a\n;da;ADV;b\n2;Ja;INTJ;c\n"
    options = {"sentence": "nr", "token": "Wort", "tags": "Art", "format": "csv"}
    whole = found(text, **options)
    assert whole[0] == Sentence(["Wir", "da"], ["PRON", "ADV"], {"x": ["a", "b"]})
    assert found(text, columns=(), **options)[1] == Sentence(["Ja"], ["INTJ"])
    assert found(text, columns="x,nr", **options)[1].columns["nr"] == ["2"]
    many = ",".join([*map(str, range(30)), "word"])
    assert found(f"{many}\n{many[:-4]}a\n", token="word")[0].tokens == ["a"]


def test_blank_lines_end_sentences_that_have_no_column():
    plain = [Sentence(["a", '"'], ["X", "Y"]), Sentence(["b"], ["Z"])]
    assert found('Word\tTag\na\tX\n"\tY\n\n\nb\tZ\n', quotes=False) == plain
    assert found('word,upos,label\n"a",_,X\n"""",_,Y\n\nb,_,Z\n', columns=()) == plain


@pytest.mark.parametrize(
    "text, message",
    [
        ("sentence,word\n1,a\n2,b\n1,c\n", ":4: the rows of the sentence '1' do not f"),
        ("sentence,word\n1,a\n2\n", ":3: 1 cells, but the header has 2; put cells wit"),
        ("word,tag\na,\nb,X\n", ":2: an empty cell in the column 'tag'; fill it"),
        ("word,tag\n,X\n", ":2: an empty cell in the column 'word'; fill it"),
        ('word,tag\n"a,X\nb",X\n', ":2: a cell in quotes does not end.*quotes=False"),
        ("word,tag,tag\n", ":1: two columns are called 'tag'; rename one"),
        ("text,tag\nAda errs,P O\n\nB,P\n", ":2: 'Ada errs' in 'text' is no word; "),
        ("\nLaura,B-PER\n", ":2: name the column of each token, token=.*separator=','"),
    ],
)
def test_tables_that_cannot_be(text, message):
    with pytest.raises(CorpusError, match=message):
        found(text, format="csv")
    rows = found('word , tag\n "New York",B-L  \n\nAda, B-P\n"a b", O\n')
    assert [s.tokens for s in rows] == [["New York"], ["Ada", "a b"]]
    assert [s.tags for s in rows] == [["B-L"], ["B-P", "O"]]


def test_a_table_is_recognised_by_its_name_or_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Laura,B-PER\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a.csv:1: .*recognised as 'csv'"):
        list(read(path))
    assert found("text\tNN\n\nword\tNN\n")[0].tokens == ["text"]  # rows of CoNLL


@pytest.mark.parametrize("separator", "\t;")
def test_options_tell_a_table_from_rows(tmp_path, separator):
    """Where neither the name nor the header do, also to `load_corpus`."""
    path = tmp_path / "a.tsv"
    rows = f"Wort{separator}Art\n\nAda{separator}B-PER\nlacht{separator}O\n"
    path.write_text(rows, encoding="utf-8")
    expected = [Sentence(["Ada", "lacht"], ["B-PER", "O"])]
    options = {"token": "Wort", "tags": "Art"}
    assert list(read(path, **options)) == expected
    assert load_corpus(path, **options).train == expected
    assert detect_format(path, default="conll") != "csv"
    assert detect_format(path, options=["columns"], default="conll") != "csv"
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a"]}\n', encoding="utf-8")
    assert detect_format(tmp_path / "a.jsonl", options=options) == "jsonl"


def test_sentences_of_a_frame_follow_one_another():
    frame = {"sentence": [1, 1, 2, 1], "word": list("abcd"), "tag": list("XXXX")}
    with pytest.raises(ValueError, match="the sentence 1 goes on in row 3, behind oth"):
        from_dataframe(frame)
    frame["sentence"] = [1, 1, 2, 2]
    frame["tag"] = [0, 1, 1, 2]
    names = ["O", "B-X", "I-X"]
    assert from_dataframe(frame, names=names)[1].tags == ["B-X", "I-X"]
    for odd, given in ((0, None), (2, names[:2])):
        with pytest.raises(ValueError, match=f"'tag', row .: {odd} has no name; give"):
            from_dataframe(frame, names=given)
