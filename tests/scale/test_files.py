"""Files annotated with Ray, and by its functions without it."""

import json
import sys

import pytest
from pages import examples
from pipelines.test_ccg_pipeline import program as run

import keras_tagging
from keras_tagging.data.raw_text import text_lines
from keras_tagging.scale import files, reading
from keras_tagging.scale.dataset import model_name
from keras_tagging.scale.files import FileAnnotator, annotate_files

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray and what it imports
KINDS = {
    "text.txt": "text",
    "tokens.txt": "tokens",
    "packed.txt.gz": "text",
    "objects.jsonl": "jsonl",
    "blocks.conllu": "conllu",
    "rows.parquet": "parquet",
    "texts.parquet": "parquet",
}


@pytest.fixture
def annotated(onnx, pipeline, tmp_path, monkeypatch):
    """What is written for a file."""
    monkeypatch.setattr(files, "load_pipeline", lambda *_: pipeline)

    def run(path, kind, output="conllu"):
        annotator = FileAnnotator(str(onnx), 1, output)
        batch = {"file": [0], "path": [str(path)], "kind": [kind]}
        pieces = (
            {name: values[0] for name, values in piece.items()}
            for batch in files._read(batch, None)
            for piece in annotator(batch)
        )
        counts = files._write(path, tmp_path / "out", pieces)
        return (tmp_path / "out").read_text("utf-8"), counts

    return run


@pytest.mark.parametrize("output", ["conllu", "jsonl"])
@pytest.mark.parametrize("name", KINDS)
def test_files_are_what_the_pipeline_gives(inputs, annotated, pipeline, name, output):
    text, counts = annotated(inputs / name, KINDS[name], output)
    sentences = []
    for unit in reading.read_units(inputs / name, KINDS[name]):
        part = unit.text if unit.sentence is None else [unit.sentence.tokens]
        sentences += [s for s in pipeline.annotate(part) if s.tokens]
    assert counts == (len(sentences), sum(map(len, sentences)))
    if output == "conllu":
        rows = [x.split("\t") for x in text.split("\n") if x[:1].isdecimal()]
        rows = [row[1:6] for row in rows if row[0].isdecimal()]
        # what CoNLL-U cannot hold is "_"
        assert [row[0] for row in rows] == [x for s in sentences for x in s.tokens]
        pos = [x for s in sentences for x in s.columns["pos"]]
        assert [row[2] for row in rows] == pos
        return
    words = [
        [w for t in json.loads(line)["tokens"] for w in t["words"]]
        for line in text.splitlines()
    ]
    for row, sentence in zip(words, sentences, strict=True):
        assert [w["text"] for w in row] == sentence.tokens
        for name in ("pos", "xpos", "feats"):
            key = "upos" if name == "pos" else name
            assert [w[key] for w in row] == sentence.columns[name]


@pytest.mark.parametrize("kind", ["text", "tokens"])
def test_offsets_and_identifiers_are_those_of_the_whole_text(
    inputs, annotated, monkeypatch, kind
):
    monkeypatch.setattr(reading, "SIZE", 100)
    monkeypatch.setattr(files, "UNITS", 3)
    path = inputs / "text.txt"
    whole = "".join(text_lines(path))
    text, _ = annotated(path, kind)
    lines = text.split("\n")
    assert lines[0] == "# newdoc id = text.txt" and lines.count(lines[0]) == 1
    assert "# newpar" in lines
    ids = [line[12:] for line in lines if line.startswith("# sent_id = ")]
    covered = 0
    for cells in (line.split("\t") for line in lines if "TokenRange=" in line):
        begin, end = map(int, cells[9].split("TokenRange=")[1].split(":"))
        assert whole[begin:end] == cells[1]
        covered += end - begin
    assert covered == len("".join(whole.split()))
    assert len(set(ids)) == len(ids)
    assert ids[0] == "text.txt:0" and all(i.startswith("text.txt:") for i in ids)
    if kind == "tokens":
        assert len(ids) == 40


def test_of_conllu_only_the_columns_of_the_models_change(inputs, annotated):
    text, _ = annotated(inputs / "blocks.conllu", "conllu")
    before = (inputs / "blocks.conllu").read_text("utf-8")

    def rest(lines):
        cells = (line.split("\t") for line in lines.split("\n"))
        return [row[:3] + row[6:] for row in cells]

    assert rest(text) == rest(before)


def test_sentences_are_tagged_together(inputs, annotated, pipeline, monkeypatch):
    """Else a row of few words would be a batch of its own."""
    calls = []
    annotate = type(pipeline.tagger).annotate

    def counted(self, sentences, **options):
        calls.append(list(sentences))
        return annotate(self, calls[-1], **options)

    monkeypatch.setattr(type(pipeline.tagger), "annotate", counted)
    _, (sentences, _) = annotated(inputs / "blocks.conllu", "conllu")
    assert max(map(len, calls)) >= sentences > 15


def test_an_error_leaves_no_file(annotated, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n{')
    with pytest.raises(ValueError, match=f"^{path}:2: not JSON"):
        annotated(path, "jsonl")
    assert not (tmp_path / "out").exists()


def test_models_are_named(onnx, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="no such model"):
        model_name(tmp_path / "none")
    monkeypatch.chdir(onnx.parent)
    assert model_name(onnx.name) == str(onnx)


def test_ray_that_is_missing_is_told(monkeypatch, onnx):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="pip install 'pyarrow>=17' 'ray"):
        list(annotate_files(onnx, {}, []))


# With Ray


def test_a_run_goes_on_and_an_error_is_one_line(ray, onnx, tmp_path, capsys):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for name in "ab":
        (source / f"{name}.jsonl").write_text('{"tokens": ["the", "dog"]}\n' * 500)
    (source / "empty.txt").touch()
    command = ["annotate", onnx, source, "--engine", "ray", "--out", out]
    command += ["--workers", 1]
    assert run(*command) == 0
    assert capsys.readouterr() == (
        f"{out}: 3 files; annotated 1,000 sentences, 2,000 words\n",
        "",
    )
    assert (out / "empty.conllu").read_text() == ""
    lines = (out / "b.conllu").read_text().split("\n")
    ids = [int(line.rpartition(":")[2]) for line in lines if "sent_id" in line]
    assert ids == [*range(1, 501)]
    (out / "a.conllu").write_text("")  # what is there stays
    (out / "b.conllu").unlink()
    (source / "c.jsonl").write_text('{"text": "a"}\n{}\n')
    assert run(*command) == 2
    place = f"{source / 'c.jsonl'}:2: has neither text nor tokens"
    assert capsys.readouterr().err.startswith(f"keras-tagging: error: {place}")
    names = {path.name for path in out.iterdir()}
    assert names == {"a.conllu", "b.conllu", "empty.conllu"}
    (source / "c.jsonl").unlink()
    assert run(*command) == 0
    assert ": 3 files, 3 of them before; annotated 0 sent" in capsys.readouterr().out
    assert (out / "a.conllu").read_text() == ""


@pytest.mark.slow
def test_the_example_of_the_page(ray, folder, tmp_path):
    """As printed, by a pipeline that is not the English one."""
    code = examples("scale")[0].replace('"en"', repr(str(folder)))
    # Ray's workers have the folder in which Ray was started
    out = str(tmp_path / "annotated-reviews")
    code = code.replace('"annotated-reviews"', repr(out))
    names = {}
    exec(code, names)
    rows = names["ray"].data.read_parquet(out).take_all()
    assert sorted(row["id"] for row in rows) == ["a", "b"]
    pipeline = keras_tagging.load(folder)
    for row in rows:
        wanted = [*pipeline.annotate(row["text"])]
        assert plain(row["tokens"]) == [s.tokens for s in wanted]
        assert plain(row["upos"]) == [s.columns["pos"] for s in wanted]
        assert plain(row["head"]) == [[*map(int, s.columns["head"])] for s in wanted]
        for name in ("xpos", "feats", "deprel"):
            assert plain(row[name]) == [s.columns[name] for s in wanted]


def plain(values):
    return [list(row) for row in values]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["a.txt", "--engine", "ray"], "a folder to write in --out"),
        (["--engine", "ray", "--out", "x"], "--engine ray needs files"),
        (["a.txt", "--workers", "2"], "without --engine ray there is no --workers"),
        (["none.txt", "--engine", "ray", "--out", "x"], "none.txt: there is no such"),
        (["a.txt", "--engine", "ray", "--input", "lines"], "and no --input lines"),
    ],
)
def test_what_is_refused(arguments, message, onnx, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("annotate", onnx, *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
