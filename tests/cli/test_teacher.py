"""`train --teacher`: a pupil of a run, of an ensemble, and what is refused."""

import json
import warnings

import pytest

from keras_tagging import Ensemble, load
from keras_tagging.models.distillation import digest_of

pytestmark = [
    pytest.mark.usefixtures("eagerly"),
    pytest.mark.filterwarnings("ignore:member 2 of the ensemble"),
]


@pytest.fixture(scope="module")
def ensemble_dir(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensembles") / "two"
    with warnings.catch_warnings():  # a fixture has no marks
        warnings.filterwarnings("ignore", "member 2 of the ensemble")
        Ensemble([load(trained[0])] * 2).save(folder)
    return folder


def test_a_pupil_learns_from_an_ensemble(
    tiny, program, corpus_dir, ensemble_dir, tmp_path
):
    out = tmp_path / "pupil"
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", out, *tiny]
    args += ["--teacher", ensemble_dir, "--teacher-weight", 0.7, "--temperature", 2]
    code, printed, _ = program(*args, "--epochs", 1)
    assert code == 0
    assert (
        f"Learns from {ensemble_dir} (ensemble of bigru, bigru), with the weight 0.7 "
        "and the temperature 2" in printed
    )
    assert {p.name for p in out.iterdir()} == {
        "model.keras",
        "metadata.json",
        "training.csv",
    }
    about = json.loads((out / "metadata.json").read_text())["teacher"]
    assert about == {
        "path": str(ensemble_dir),
        "sha256": digest_of(ensemble_dir),
        "model": "ensemble of bigru, bigru",
        "weight": 0.7,
        "temperature": 2.0,
    }


@pytest.mark.parametrize(
    "options, message",
    [
        (["bigru", "--teacher-weight", 0], "there is no --teacher-weight"),
        (["bigru", "--teacher", "RUN", "--temperature", 0], "give a number above 0"),
        (["bilstm-crf", "--teacher", "RUN"], "a CRF learns whole paths"),
    ],
)
def test_what_is_refused(failing, run_dir, corpus_dir, tmp_path, options, message):
    options = [run_dir if option == "RUN" else option for option in options]
    args = ["--corpus", corpus_dir, "--out", tmp_path / "out"]
    assert message in failing("train", *options, *args)
    assert not (tmp_path / "out" / "model.keras").exists()


def test_text_without_annotation(tiny, program, failing, corpus_dir, run_dir, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("show me the flights\nwhat did she say ?\n" * 9, "utf-8")
    out = tmp_path / "pupil"
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", out, *tiny]
    args += ["--epochs", 1, "--teacher", run_dir]
    assert "no such file" in failing(*args, "--unlabelled", tmp_path / "none.txt")
    code, printed, _ = program(*args, "--unlabelled", text, "--unlabelled", text)
    assert code == 0
    assert "the temperature 1, also on text without annotation" in printed
    about = json.loads((out / "metadata.json").read_text())["teacher"]
    assert about["unlabelled"] == f"CorpusFiles({text}, {text})"
