import re

import pytest

from keras_tagging.experiments.reproduction import read_results
from keras_tagging.experiments.reproduction.plan import embeddings_checksum
from keras_tagging.experiments.reproduction.store import Job, Store

JOB = Job("A row", 1, "a-row")
INFO = {"paper": "wu2016", "settings": {"units": 3, "dropped": (1, 2)}, "machine": "m"}


def test_results_are_read_again(store):
    store.open(INFO)
    rest = {key: {} for key in ("settings", "figures", "evidence")}
    rest |= {"best_epoch": 1, "epochs": 2, "parameters": 3, "seconds": 4.5}
    store.write(Job("B", 2, "b"), {"row": "B", "seed": 2, **rest})
    store.write(JOB, {"row": "A row", "seed": 1, **rest})
    names = {str(p.relative_to(store.folder)) for p in store.folder.rglob("*.*")}
    assert names == {"reproduction.json", "results/a-row.1.json", "results/b.2.json"}
    info, results = read_results(store.folder)
    assert info["settings"] == {"units": 3, "dropped": [1, 2]}
    assert [result["row"] for result in results] == ["A row", "B"]
    assert store.done(JOB) and not store.done(Job("A row", 2, "a-row"))


READING = {"path": "/here/c", "dev": None, "options": {"columns": (1, 2)}}
WHOLE = INFO | {"reading": READING, "fingerprint": "f", "sentences": {"train": 3}}


def test_a_corpus_that_has_moved_is_read_where_it_is(store):
    store.open(WHOLE)
    moved = {**READING, "path": "/there/c", "dev": "/there/d"}
    there = {**WHOLE, "corpus": "there/c", "reading": moved}
    assert store.check(there, whole=True)
    assert store.read_info()["reading"]["path"] == "/here/c"
    store.open({**there, "machine": "another"})
    info = store.read_info()
    assert info["reading"] == {**moved, "options": {"columns": [1, 2]}}
    assert (info["machine"], info["corpus"]) == ("m", "there/c")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"fingerprint": "g"}, "other sentences: 'f' there, 'g' here"),
        ({"sentences": {"train": 2}}, "{'train': 3} there, {'train': 2} here"),
        ({"reading": {**READING, "options": {}}}, "other reading: {'options': {'col"),
        ({"paper": "wu2017"}, "other paper: 'wu2016' there, 'wu2017' here; give"),
        (
            {"settings": {"units": 4, "dropped": [1, 2], "x": True}},
            "other settings: {'units': 3, 'x': None} there, {'units': 4, 'x': True} "
            "here; give the same",
        ),
        ({"epochs": 3}, "other epochs: None there, 3 here"),
    ],
)
def test_other_options_are_refused(store, changes, part):
    assert not store.check(changes) and not store.folder.exists()
    store.open(WHOLE)
    before = (store.folder / "reproduction.json").read_bytes()
    for refused in (
        lambda: store.open({**WHOLE, **changes}),
        lambda: store.check(changes),
    ):
        with pytest.raises(ValueError, match=re.escape(part)) as error:
            refused()
        assert "another --out" in str(error.value) and "\n" not in str(error.value)
    assert (store.folder / "reproduction.json").read_bytes() == before


def test_other_vectors_in_the_same_file_are_refused(store, tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    known = {**INFO, "embeddings": str(path)}
    store.open(known)  # as an older version did
    now = known | {"embeddings checksum": embeddings_checksum(str(path))}
    store.open(now)
    later = Store(tmp_path / "later")
    later.open(now)
    later.open(now)
    path.write_text("a 1 3\n")
    now["embeddings checksum"] = embeddings_checksum(str(path))
    with pytest.raises(ValueError, match="other vectors in the file of --embeddings"):
        later.open(now)
    assert embeddings_checksum("train") is embeddings_checksum(None) is None


def test_what_is_not_there_or_damaged(store):
    with pytest.raises(OSError, match="reproduction.json"):
        read_results(store.folder)
    assert store.epochs(JOB) == 0
    store.open(INFO)
    assert read_results(store.folder)[1] == []
    store.result(JOB).parent.mkdir()
    for damage in ('{"row": ', "[]", "null", "[" * 10**5, "\0"):
        store.result(JOB).write_text(damage)
        with pytest.raises(ValueError, match="a-row.1.json: is .*remove it"):
            read_results(store.folder)
    for damage in ("[]", "null", '{"paper": '):
        (store.folder / "reproduction.json").write_text(damage)
        with pytest.raises(ValueError, match="reproduction.json: is damaged .*remove"):
            store.read_info()


def test_a_failure_goes_when_the_job_succeeds(store):
    store.log(JOB).parent.mkdir(parents=True)
    lines = [f"line {i}" for i in range(500)]
    store.log(JOB).write_text("\n".join(lines))
    for name in ("resume.npz", ".123.resume.npz", ".keep", ".x.npz"):
        (store.training(JOB.name) / name).write_bytes(b"x")
    store.write_failure(JOB, "out of luck")
    text = store.failure(JOB).read_text()
    assert text.startswith("A row, seed 1: out of luck\n\nline 440\n")
    assert text.endswith("line 499\n")
    store.write(JOB, {})
    assert not store.failure(JOB).exists()
    left = {path.name for path in store.training(JOB.name).iterdir()}
    assert left == {"log.txt", ".keep", ".x.npz"}


def test_one_process_at_a_time(store):
    with store.locked():
        with pytest.raises(ValueError, match="another process"):
            with Store(store.folder).locked():
                raise AssertionError
