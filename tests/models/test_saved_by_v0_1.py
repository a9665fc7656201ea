"""What version 0.1 has saved is loaded, used and trained further.

`fixtures/v0_1/tagger.keras` was trained on the corpus beside it, and `run` is a folder
of `keras-tagging train` that was killed in its second epoch, with the options below;
`uninterrupted.csv` is the log of the same run without the kill.
"""

import csv
import shutil
import warnings
from pathlib import Path

import pytest

import keras_tagging
from keras_tagging.cli import main

SAVED = Path(__file__).parents[1] / "fixtures" / "v0_1"
RUN = """--epochs 4 --seed 1 --set units=4 --set num_layers=1 --set word_dim=4
    --set affix_dim=2 --set suffixes=(2,) --set prefixes=() --set shapes=False
    --set learning_rate=0.1 --set token_budget=40 --set dropout=0.1
    --set layer_dropout=0.1 --set optimizer=sgd --set momentum=0.9
    --set decay=linear""".split()
# sentences all of whose tags are more probable than any other by 0.38 at least
TAGGED = [
    "Remain/(S[b]\\NP)/NP Nora/N/N Norson/N ./.",
    "This/NP is/(S[dcl]\\NP)/NP the/NP[nb]/N green/N/N nurse/N ./.",
    "Order/(S[b]\\NP)/NP the/NP[nb]/N metal/N/N drink/N ./.",
    "What/S[wq]/(S[q]/NP) does/(S[q]/(S[b]\\NP))/NP she/NP read/(S[b]\\NP)/NP ?/.",
    # unlike the gold tags: "becomes" is tagged as a transitive verb
    "What/S[wq]/(S[q]/NP) she/NP reads/(S[dcl]\\NP)/NP becomes/(S[dcl]\\NP)/NP "
    "the/NP[nb]/N neighbor/N soon/(S\\NP)\\(S\\NP) ./.",
]


def test_the_tagger_tags_as_it_did():
    model = keras_tagging.load(SAVED / "tagger.keras")
    pairs = [[t.split("/", 1) for t in line.split()] for line in TAGGED]
    words = [[word for word, _ in sentence] for sentence in pairs]
    assert model.tag(words) == [[tag for _, tag in sentence] for sentence in pairs]
    assert model.settings["suffixes"] == (2,) and model.seed == 1


def test_the_run_goes_on_as_if_never_killed(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    shutil.copytree(SAVED / "run", tmp_path / "run")
    corpus = ["--corpus", str(SAVED / "corpus")]
    with pytest.raises(SystemExit) as end:
        main(["train", "bigru", *corpus, "--out", str(tmp_path / "run"), *RUN])
    assert not end.value.code
    shown = capfd.readouterr().out
    assert "Epoch 2/4" in shown and "Epoch 1/4" not in shown
    assert logged(tmp_path / "run" / "training.csv") == [
        pytest.approx(row, rel=1e-3) for row in logged(SAVED / "uninterrupted.csv")
    ]
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"metadata.json", "model.keras", "training.csv"} <= names
    assert keras_tagging.load(tmp_path / "run").metadata["epochs"] == 4


def logged(path):
    with open(path, newline="") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
