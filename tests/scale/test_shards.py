"""Shards without Ray: cut, annotated, checked, and the folder that they are in."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from keras_tagging.data.raw_text import text_lines
from keras_tagging.data.sentence import as_sentence
from keras_tagging.scale import cluster, shards
from keras_tagging.scale.checking import check
from keras_tagging.scale.folder import opened
from keras_tagging.scale.model_files import model_name
from keras_tagging.scale.units import units_of
from keras_tagging.scale.worker import Worker

pytestmark = pytest.mark.usefixtures("eagerly")

KINDS = ["text.txt", "tokens.txt", "objects.jsonl", "blocks.conllu", "rows.parquet"]


def units(plan):
    """The units of all shards, each as long as its shard is open."""
    return (unit for shard in plan.shards for unit in units_of(shard))


def told(unit):
    text = None if unit.text is None else "".join(unit.text)
    return unit.id, text, unit.sentence, unit.block


def columns_of(sentence):
    return [sentence.columns[name] for name in ("pos", "xpos", "feats")]


def done_by(worker, shard):
    return worker({"shard": json.dumps(asdict(shard))})


@pytest.fixture
def worker(work, pipeline):
    return Worker(work, lambda _: pipeline)


# Planning


@pytest.mark.parametrize("name", [*KINDS[2:], "texts.parquet"])
@pytest.mark.parametrize("size", [1, 100])
def test_units_do_not_depend_on_shards(planned, name, size):
    found, whole = ([*map(told, units(planned(name, size=n)))] for n in (size, 10**6))
    assert len(planned(name, size=size).shards) > 4
    # what follows the last sentence of a file has none
    assert [unit for unit in found if unit[1:3] != (None, as_sentence([]))] == [
        unit for unit in whole if unit[1:3] != (None, as_sentence([]))
    ]
    assert len({identifier for identifier, *_ in found}) == len(found) > 5
    if name == "blocks.conllu":
        assert [unit[0] for unit in found[:3]] == ["blocks.conllu:1", "s1", "s2"]
        lines = "".join("".join(block.lines) for *_, block in found)
        [shard] = planned(name, size=10**6).shards
        assert lines == Path(shard.path).read_text("utf-8")


def test_text_is_cut_between_paragraphs(planned, inputs):
    parts = planned("text.txt").shards
    whole = "".join(text_lines(inputs / "text.txt"))
    texts = [text for _, text, *_ in map(told, units(planned("text.txt")))]
    assert len(parts) > 4 and "".join(texts) == whole
    for shard, text in zip(parts, texts, strict=True):
        before = whole[: shard.character]
        assert whole[shard.character :].startswith(text)
        assert shard.line == before.count("\n") + 1
        assert not before or not before.split("\n")[-2].strip()
        assert text[0].strip()  # blank lines stay with what is before them
    assert [shard.number for shard in parts] == [*range(len(parts))]


def test_what_cannot_be_cut_is_one_shard(planned, inputs, tmp_path):
    packed = planned("packed.txt.gz", size=1)
    assert [shard.end for shard in packed.shards] == [None]
    [(_, text, *_)] = map(told, units(packed))
    assert "the dog barks" in text and text.endswith("\n")
    path = tmp_path / "latin.txt"
    path.write_bytes("\xe9t\xe9\n\n\xe9t\xe9\n".encode("latin-1"))
    latin = shards.plan([path], encoding="latin-1", size=1)
    assert [told(u)[1] for u in units(latin)] == ["\xe9t\xe9\n\n\xe9t\xe9\n"]


def test_folders_and_names(inputs, tmp_path, monkeypatch):
    found = shards.plan([inputs]).inputs
    assert len(found) == 7 and [x["path"] for x in found] == sorted(
        x["path"] for x in found
    )
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.txt").write_text("a b\n")
    monkeypatch.chdir(tmp_path)
    [shard] = shards.plan(["a"]).shards  # which a worker in another folder reads
    assert shard.path == str(tmp_path / "a" / "same.txt")
    documents = [
        s.document for s in shards.plan([tmp_path / "a", tmp_path / "b"]).shards
    ]
    assert documents == [str(tmp_path / x / "same.txt") for x in "ab"]
    with pytest.raises(ValueError, match="same.txt: is given twice"):
        shards.plan([tmp_path / "a", tmp_path / "a" / "same.txt"])


def test_a_fingerprint_is_of_the_content(tmp_path):
    path = tmp_path / "a.txt"
    found = []
    for text in ("one\n", "two\n", "one\n"):
        path.write_text(text)
        found += shards.plan([path]).inputs
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.xml", b"a", "does not say what it holds.*--input text"),
        ("a.txt", b"fine\n\xff\n", "a.txt:2: byte 1 of the line is not utf-8"),
        ("a.parquet", b"PAR1", "a.parquet: is no Parquet file, or damaged"),
    ],
)
def test_what_cannot_be_planned(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        shards.plan([path])


def test_other_inputs_are_refused(tmp_path, inputs):
    for given, message in (
        (tmp_path / "none.txt", "no such file"),
        (tmp_path, "no file to annotate"),
        ("-", "standard input"),
    ):
        with pytest.raises(ValueError, match=message):
            shards.plan([given])
    with pytest.raises(ValueError, match="a shard of 0 bytes"):
        shards.plan([inputs], size=0)


# Units


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "not JSON .*; write one object a line"),
        ("[1]", "no object; write"),
        ("{}", "has neither text nor tokens"),
        ('{"text": 3}', "its text is no string"),
        ('{"tokens": ["a", 3]}', "its tokens are no list of strings"),
        ('{"tokens": "a"}', "its tokens are no list of strings"),
        ('{"tokens": ["a", ""]}', "has an empty token"),
        ('{"id": [], "text": ""}', "its id is no string or integer"),
        (f'{{"id": "{"x" * 1001}", "text": ""}}', "id has more than 1,000 characters"),
        ('{"text": "\\ud800"}', "half of a surrogate pair"),
        ('{"tokens": ["\\ud800"]}', "half of a surrogate pair"),
        (f'{{"tokens": {["a"] * 100_001}}}'.replace("'", '"'), "more than 100,000"),
    ],
)
def test_a_bad_row_is_named(tmp_path, line, message):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "fine"}\n' * 3 + line + "\n")
    last = shards.plan([path], size=1).shards[3]
    with pytest.raises(ValueError, match=f"a.jsonl:4: .*{message}"):
        list(units_of(last))


def test_a_bad_row_of_conllu_is_named(tmp_path, worker):
    path = tmp_path / "a.conllu"
    fine = "1\ta" + "\t_" * 8 + "\n\n"
    path.write_text(fine * 3 + "1\ta\n\n")
    last = shards.plan([path], size=1).shards[3]
    assert done_by(worker, last)["error"].startswith(f"{path}:7: ")


def test_rows_may_have_columns_that_a_parser_reads(tmp_path):
    path = tmp_path / "a.jsonl"
    row = {"tokens": ["a", "b"], "upos": ["D", "N"], "tags": ["x", "y"], "other": ["z"]}
    path.write_text(json.dumps(row))
    [unit] = units_of(*shards.plan([path]).shards)
    assert unit.sentence.columns == {"pos": ["D", "N"]} and unit.sentence.tags is None


# Annotating and checking


@pytest.mark.parametrize("output", ["conllu", "jsonl"])
def test_shards_are_what_the_pipeline_gives(planned, worker, pipeline, output):
    """Whole documents and sentences: a text is cut, and each part segmented alone."""
    names = ["objects.jsonl", "blocks.conllu", "rows.parquet", "texts.parquet"]
    worker.work = replace(worker.work, output=output)
    for shard in planned(*names).shards:
        done = done_by(worker, shard)
        assert done["error"] is None
        assert check(worker.work, shard) == (done["sentences"], done["words"])
        wanted = []
        for unit in units_of(shard):
            text = unit.text if unit.sentence is None else [unit.sentence.tokens]
            wanted += [s for s in pipeline.annotate(text) if s.tokens]
        written = worker.work.path(shard).read_text("utf-8")
        if output == "conllu":
            rows = [x.split("\t") for x in written.split("\n") if x[:1].isdecimal()]
            found = [row[1:6] for row in rows if row[0].isdecimal()]
            # what CoNLL-U cannot hold is "_"
            assert [row[0] for row in found] == [x for s in wanted for x in s.tokens]
            assert [row[2] for row in found] == [
                x for s in wanted for x in s.columns["pos"]
            ]
        else:
            rows = map(json.loads, written.splitlines())
            names = ("id", "text", "upos", "xpos", "feats")
            words = [
                [{k: w[k] for k in names} for t in row["tokens"] for w in t["words"]]
                for row in rows
            ]
            assert words == [
                [
                    {"id": i, "text": word, "upos": upos, "xpos": xpos, "feats": feats}
                    for i, (word, upos, xpos, feats) in enumerate(
                        zip(s.tokens, *columns_of(s), strict=True), 1
                    )
                ]
                for s in wanted
            ]


@pytest.mark.parametrize("kind", ["text", "tokens"])
def test_offsets_and_identifiers_are_those_of_the_whole_text(planned, worker, kind):
    parts = planned("text.txt", kind=kind).shards
    whole = "".join(text_lines(parts[0].path))
    ids, covered = [], 0
    for shard in parts:
        done_by(worker, shard)
        lines = worker.work.path(shard).read_text("utf-8").split("\n")
        assert ("# newdoc id = text.txt" in lines) == (shard is parts[0])
        assert "# newpar" in lines
        ids += [line[12:] for line in lines if line.startswith("# sent_id = ")]
        for cells in (line.split("\t") for line in lines if "TokenRange=" in line):
            begin, end = map(int, cells[9].split("TokenRange=")[1].split(":"))
            assert whole[begin:end] == cells[1]
            covered += end - begin
    assert covered == len("".join(whole.split()))
    assert len(set(ids)) == len(ids)
    assert ids[0] == "text.txt:0" and all(i.startswith("text.txt:") for i in ids)
    if kind == "tokens":
        assert len(ids) == 40


LOST = {
    "the first sentence": lambda items: items[1:],
    "the last sentence": lambda items: items[:-1],
    "one in the middle": lambda items: items[:1] + items[2:],
    "doubled": lambda items: items[:1] + items,
    "the last one doubled": lambda items: items + items[-1:],
    "another order": lambda items: items[::-1],
    "nothing": lambda items: [],
}


@pytest.mark.parametrize("output", ["conllu", "jsonl"])
@pytest.mark.parametrize("name", ["text.txt", "blocks.conllu", "objects.jsonl"])
def test_what_is_lost_or_doubled_is_found(planned, worker, name, output):
    worker.work = replace(worker.work, output=output)
    shard = planned(name, size=300).shards[1 if name == "text.txt" else 0]
    done_by(worker, shard)
    path = worker.work.path(shard)
    end = "\n\n" if output == "conllu" else "\n"
    items = path.read_text("utf-8").removesuffix(end).split(end)
    assert len(items) > 2
    for what, changed in LOST.items():
        path.write_text("".join(item + end for item in changed(items)), "utf-8")
        with pytest.raises(ValueError, match=f"{path}: is not what .*{name}") as caught:
            check(worker.work, shard)
        assert "remove this file" in str(caught.value), what
    path.write_text("".join(item + end for item in items), "utf-8")
    check(worker.work, shard)
    # words of a sentence
    content = path.read_text("utf-8")
    path.write_text(content[: len(content) // 2], "utf-8")
    with pytest.raises(ValueError, match="is not what"):
        check(worker.work, shard)


# The folder


def test_what_is_done_is_kept(planned, work, worker):
    plan = planned()
    with opened(work, plan) as missing:
        assert missing == plan.shards
        for shard in missing[::2]:
            done_by(worker, shard)
    inodes = {path: path.stat().st_ino for path in map(work.path, plan.shards[::2])}
    with opened(work, planned()) as missing:
        assert missing == plan.shards[1::2]
        with pytest.raises(ValueError, match="another run writes to"):
            with opened(work, plan):
                pass
    assert {path: path.stat().st_ino for path in inodes} == inodes
    names = {path.name for path in (work.path(plan.shards[0]).parent).iterdir()}
    assert names == {"shards.json", *(path.name for path in inodes)}


def test_another_run_is_refused(planned, work, tmp_path):
    with opened(work, planned()):
        pass
    for other, plan, what in (
        (replace(work, sha256="0"), planned(), "another model"),
        (replace(work, output="jsonl"), planned(), "another --output"),
        (work, planned("text.txt"), "other inputs"),
        (work, planned(size=200), "other shards .*--shard-size"),
    ):
        with pytest.raises(ValueError, match=f"holds shards of {what}"):
            with opened(other, plan):
                pass
    moved = replace(work, model="elsewhere", threads=2)
    with opened(moved, planned()) as missing:
        assert missing == planned().shards
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").touch()
    with pytest.raises(ValueError, match="holds notes and no shards.json"):
        with opened(replace(work, out=str(tmp_path / "full")), planned()):
            pass


def test_a_shard_that_ends_its_workers_is_told(planned, work, worker):
    shard = planned("text.txt").shards[2]
    work.tries(shard).parent.mkdir(parents=True)
    work.tries(shard).write_bytes(b"....")  # the fifth may succeed
    assert done_by(worker, shard)["error"] is None
    assert not work.tries(shard).exists()
    work.tries(shard).write_bytes(b".....")
    error = done_by(worker, shard)["error"]
    assert error.startswith(f"{shard.path}:{shard.line}: 5 workers have died")


def test_a_killed_worker_leaves_no_part_of_a_shard(planned, work, worker, monkeypatch):
    def fail(_):
        raise KeyboardInterrupt

    shard = planned("text.txt").shards[0]
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        done_by(worker, shard)
    assert not work.path(shard).exists()


# Models


def test_models_are_named_not_given(pipeline, onnx, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="Pipeline: workers load the model themselves"):
        model_name(pipeline)
    with pytest.raises(ValueError, match="no such model"):
        model_name(tmp_path / "none")
    monkeypatch.chdir(onnx.parent)
    assert model_name(onnx.name) == str(onnx)


def test_a_model_that_differs_on_a_machine_is_refused(work, planned):
    worker = Worker(replace(work, sha256="0"))
    error = done_by(worker, planned().shards[0])["error"]
    assert "is another model here, on" in error


def test_ray_that_is_missing_is_told(monkeypatch, work, planned):
    monkeypatch.setitem(os.sys.modules, "ray", None)
    with pytest.raises(ImportError, match="pip install 'keras-tagging\\[ray\\]'"):
        list(cluster.run(work, planned()))


def test_empty_files_have_no_shards(monkeypatch, work, tmp_path):
    monkeypatch.setattr(cluster, "imported_ray", lambda: None)  # it is not started
    (tmp_path / "empty.txt").touch()
    plan = shards.plan([tmp_path / "empty.txt"], size=100)
    assert not plan.shards and list(cluster.run(work, plan)) == []


def test_sentences_are_tagged_together(planned, worker, pipeline, monkeypatch):
    """Else a row of few words would be a batch of its own."""
    calls = []
    annotate = type(pipeline.tagger).annotate

    def counted(self, sentences, **options):
        calls.append(list(sentences))
        return annotate(self, calls[-1], **options)

    monkeypatch.setattr(type(pipeline.tagger), "annotate", counted)
    [shard] = planned("objects.jsonl", size=10**6).shards
    done = done_by(worker, shard)
    assert len(calls) == 1 and len(calls[0]) >= done["sentences"] > 20
    assert as_sentence(calls[0][0]) is calls[0][0]
