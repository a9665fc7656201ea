import gzip
import json

import pyarrow
import pytest
from pyarrow import parquet

from keras_tagging.scale import reading
from keras_tagging.scale.reading import kind_of, read_units


@pytest.fixture
def written(tmp_path):
    def write(content, name="a.jsonl"):
        path = tmp_path / name
        path.write_text(content, "utf-8")
        return path

    return write


def test_kinds(tmp_path):
    names = ["a.txt", "a.TXT.gz", "a.ndjson", "a.conllu.gz", "a.parquet"]
    kinds = [kind_of(tmp_path / name) for name in names]
    assert kinds == ["text", "text", "jsonl", "conllu", "parquet"]
    assert kind_of(tmp_path / "a.parquet.gz") is kind_of(tmp_path / "a") is None


@pytest.mark.parametrize(("size", "parts"), [(5, 4), (18, 2), (10**6, 1)])
def test_text_is_cut_between_paragraphs(written, monkeypatch, size, parts):
    monkeypatch.setattr(reading, "SIZE", size)
    text = "one two\nthree\n\n \nfour\n\nf\xefve six\n\n\nseven"
    units = list(read_units(written(f"\ufeff{text}", "a.txt"), "text"))
    assert "".join(unit.text for unit in units) == text
    assert len(units) == parts
    for unit in units:
        assert unit.id == "a.txt" and text[unit.start :].startswith(unit.text)
        assert unit.text[0].strip()  # blank lines stay with what is before them
        assert not unit.start or not text[: unit.start].split("\n")[-2].strip()


def test_text_without_paragraphs_is_cut_at_last(written, monkeypatch):
    monkeypatch.setattr(reading, "SIZE", 2)
    monkeypatch.setattr(reading, "MOST", 5)
    units = read_units(written("a\nb\nc\nd\n", "a.txt"), "text")
    assert [unit.text for unit in units] == ["a\nb\nc\n", "d\n"]


def test_sentences_in_lines(tmp_path):
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wt", encoding="latin-1") as file:
        file.write("a b\n\n  \xe9t\xe9 .\n")
    units = list(read_units(path, "tokens", "latin-1"))
    assert [unit.sentence.tokens for unit in units] == [["a", "b"], ["\xe9t\xe9", "."]]
    assert [unit.start for unit in units] == [0, 7]


def test_rows(written, tmp_path):
    rows = [
        {"text": "a b", "id": 3, "stars": 2},
        {"tokens": ["a", "b"], "upos": ["D", "N"], "tags": ["x", "y"], "other": ["z"]},
        {"text": None},
    ]
    path = written("\n\n".join(map(json.dumps, rows)))
    units = list(read_units(path, "jsonl"))
    assert [unit.id for unit in units] == ["3", "a.jsonl:3", "a.jsonl:5"]
    assert [unit.text for unit in units] == ["a b", None, ""]
    assert units[1].sentence.columns == {"pos": ["D", "N"]}
    assert units[1].sentence.tags is None
    table = pyarrow.table({"tokens": [["a"], ["b", "c"]], "xpos": [["X"], ["Y", "Z"]]})
    parquet.write_table(table, tmp_path / "a.parquet")
    units = list(read_units(tmp_path / "a.parquet", "parquet"))
    assert [unit.id for unit in units] == ["a.parquet:1", "a.parquet:2"]
    assert units[1].sentence.columns == {"xpos": ["Y", "Z"]}


def test_blocks(written):
    row = "1\ta" + "\t_" * 8 + "\n\n"
    path = written(f"# sent_id = s1\n{row}{row}# the end\n", "a.conllu")
    units = list(read_units(path, "conllu"))
    assert [unit.id for unit in units] == ["s1", "a.conllu:4", "a.conllu:6"]
    assert "".join(line for u in units for line in u.block.lines) == path.read_text()


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "not JSON .*; write one object a line"),
        ("[1]", "no object; write"),
        ("{}", "has neither text nor tokens"),
        ('{"text": 3}', "text: Input should be a valid string"),
        ('{"tokens": ["a", ""]}', "tokens.1: String should have at least 1 character"),
        (f'{{"id": "{"x" * 1001}", "text": ""}}', "id has more than 1,000 characters"),
        ('{"text": "\\ud800"}', "text: .*unable to parse raw data"),
        (f'{{"tokens": {["a"] * 100_001}}}'.replace("'", '"'), "more than 100,000"),
    ],
)
def test_a_bad_row_is_named(written, line, message):
    path = written('{"text": "fine"}\n' * 3 + line + "\n")
    with pytest.raises(ValueError, match=f"a.jsonl:4: .*{message}"):
        list(read_units(path, "jsonl"))


def test_other_files_that_cannot_be_read(written, tmp_path):
    fine = "1\ta" + "\t_" * 8 + "\n\n"
    with pytest.raises(ValueError, match="a.conllu:7: "):
        list(read_units(written(fine * 3 + "1\ta\n\n", "a.conllu"), "conllu"))
    (tmp_path / "a.txt").write_bytes(b"fine\n\xff\n")
    with pytest.raises(ValueError, match="a.txt:2: byte 1 of the line is not utf-8"):
        list(read_units(tmp_path / "a.txt", "text"))
    with pytest.raises(ValueError, match="a.parquet: is no Parquet file, or damaged"):
        list(read_units(written("PAR1", "a.parquet"), "parquet"))
