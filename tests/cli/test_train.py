import json
import re
import warnings

import numpy as np
import pytest

from keras_tagging import Ensemble, load, load_corpus
from keras_tagging.corpora.loading import hold_out
from keras_tagging.data import Corpus, Sentence
from keras_tagging.models.distillation import digest_of

pytestmark = pytest.mark.usefixtures("eagerly")


def test_train_writes_its_folder(trained, corpus_dir):
    folder, printed = trained
    names = {path.name for path in folder.iterdir()}
    assert names == {"model.keras", "metadata.json", "training.csv", "tensorboard"}
    assert list((folder / "tensorboard").rglob("events*"))
    metadata = json.loads((folder / "metadata.json").read_text())
    assert metadata["settings"]["units"] == 16
    assert metadata["corpus"]["sentences"] == {"train": 30, "dev": 12, "test": 12}
    assert len((folder / "training.csv").read_text().splitlines()) == 3
    for split in ("dev", "test"):
        accuracy = metadata["scores"][split]["accuracy"]
        [row] = [x for x in printed.splitlines() if x.split()[:1] == [split]]
        assert row.split()[2] == f"{100 * accuracy:.2f}"
    assert f"keras-tagging evaluate {folder} --corpus {corpus_dir}\n" in printed


def test_finished_run_is_kept(failing, run_dir, corpus_dir):
    before = (run_dir / "model.keras").read_bytes()
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", run_dir]
    assert "--force" in failing(*args)
    assert (run_dir / "model.keras").read_bytes() == before


def test_fine_tuning_starts_from_a_run(silently, run_dir, corpus_dir, tmp_path):
    corpus = tmp_path / "new.conll"
    known, _ = (corpus_dir / "train.conll").read_text("utf-8").split("\n", 1)
    corpus.write_text(f"{known}\nchat\tNom\n\n" * 5, "utf-8")
    args = ["train", "bigru", "--corpus", corpus, "--init", run_dir, "--epochs", 1]
    args += ["--freeze", "word_embedding", "--set", "learning_rate=0.01"]
    out = silently(*args, "--out", tmp_path / "out")
    old, new = load(run_dir), load(tmp_path / "out")
    assert f"Starts from {run_dir}\n" in out
    assert "bigru, fine-tuned, seed 0" in out
    assert new.settings["units"] == 16 and new.settings["learning_rate"] == 0.01
    started = new.metadata["started_from"]
    assert started["scores"] == old.metadata["scores"]
    tables = [
        m.network.get_layer("word_embedding").get_weights()[0] for m in (old, new)
    ]
    np.testing.assert_array_equal(tables[0], tables[1][:-1])


@pytest.mark.parametrize(
    "options, message",
    [
        (["bilstm", "--init", "RUN"], "holds a bigru, not a bilstm"),
        (["bigru", "--init", "RUN", "--set", "units=9"], "that is kept 'units'"),
        (["bigru", "--init", "RUN", "--freeze", "stock"], "did you mean 'stack'"),
        (["bigru", "--teacher-weight", 0], "there is no --teacher-weight"),
        (["bigru", "--teacher", "RUN", "--temperature", 0], "give a number above 0"),
        (["bilstm-crf", "--teacher", "RUN"], "a student needs decoder='softmax'"),
    ],
)
def test_starts_that_cannot_be(
    failing, run_dir, corpus_dir, tmp_path, options, message
):
    options = [run_dir if option == "RUN" else option for option in options]
    args = ["--corpus", corpus_dir, "--out", tmp_path / "out"]
    assert message in failing("train", *options, *args)
    assert not (tmp_path / "out" / "model.keras").exists()


def test_killed_run_goes_on(tiny, program, silently, corpus_dir, tmp_path, monkeypatch):
    args = ["train", "bigru", "--corpus", corpus_dir, *tiny, "--epochs", 2, "--out"]

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("keras_tagging.models.files.run_folder.save_run", interrupted)
        code, _, err = program(*args, tmp_path / "killed")
    assert code == 130
    assert err.endswith("keras-tagging: error: interrupted\n")
    names = {path.name for path in (tmp_path / "killed").iterdir()}
    assert {"resume.npz", "best.keras"} < names
    assert "model.keras" not in names
    out = silently(*args, tmp_path / "killed")
    assert "Continuing the run" in out
    assert "Epoch 1/" not in out
    names = {path.name for path in (tmp_path / "killed").iterdir()}
    assert names == {"model.keras", "metadata.json", "training.csv"}


def test_no_resume_starts_anew(tiny, silently, corpus_dir, tmp_path):
    (tmp_path / "resume.npz").write_bytes(b"of some other run")
    args = ["--corpus", corpus_dir, "--option", "tag_column=1", "--epochs", 1]
    args += ["--no-resume", "--monitor", "val_loss", "--out", tmp_path]
    out = silently("train", "bigru", *args, *tiny)
    assert not (tmp_path / "resume.npz").exists()
    assert (tmp_path / "model.keras").exists()
    # the next command reads as this one did
    [line] = [line for line in out.splitlines() if "tagging evaluate" in line]
    assert line.endswith(f"--corpus {corpus_dir} --option tag_column=1")


def test_hold_out_moves_a_share_that_depends_on_the_seed():
    sentences = [Sentence([str(i)], ["x"]) for i in range(50)]
    parts = []
    for seed in (1, 1, 2):
        corpus = Corpus(list(sentences))
        hold_out(corpus, 0.1, seed)
        assert len(corpus.dev) == 5
        assert sorted([*corpus.train, *corpus.dev], key=sentences.index) == sentences
        parts.append(corpus.dev)
    assert parts[0] == parts[1] != parts[2]
    with pytest.raises(ValueError, match="already"):
        hold_out(corpus, 0.1, 1)
    for share in (0, 0.001, 1, 2, -0.5, np.inf, np.nan):
        with pytest.raises(ValueError, match="of 50 sentences"):
            hold_out(Corpus(list(sentences)), share, 0)


def test_untagged_test_sentences_are_refused_before_training(tiny, failing, tmp_path):
    for name, tags in (("train", ["A", "B"]), ("test", None)):
        sentence = {"tokens": ["They", "left"], **({"tags": tags} if tags else {})}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(sentence) + "\n")
    out = tmp_path / "run"
    given = ["--corpus", tmp_path, "--format", "jsonl", "--out", out]
    assert "has no tags" in failing("train", "bigru", *given, *tiny)
    assert not (out / "training.csv").exists()


def test_embeddings_from_a_file(
    tiny, program, failing, corpus_dir, tmp_path, monkeypatch, built
):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    corpus = load_corpus(str(corpus_dir))
    word = corpus.test[0].tokens[-1]
    tokens = [t for s in corpus.train for t in s.tokens]
    share = round(100 * tokens.count(word) / len(tokens), 1)
    path = tmp_path / "vectors.txt"
    path.write_text(f"{word} 1 2\nelsewhere 3 4\n")
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", tmp_path / "out", *tiny]
    for options, count in ([], 2), (["--corpus-words"], 1):
        options = ["--embeddings", path, *options, "--set", "trainable=False"]
        code, printed, err = program(*args, *options)
        assert code == 0, err
        line = re.search("(.) vectors of 2 numbers: (.*)% of the training tok", printed)
        assert (line[1], float(line[2])) == (str(count), share)
        settings = built.pop()[0].settings
        expected = str(path) if count == 2 else "1 vectors given as an object"
        assert settings["embeddings"] == expected
        assert settings["word_dim"] == 2 and settings["trainable"] is False
    message = failing(*args, "--embeddings", tmp_path / "no")
    assert message.endswith("/no: there is no such file; check the path\n")
    assert "without --embeddings" in failing(*args, "--corpus-words")


def test_a_student_of_an_ensemble(
    tiny, silently, failing, corpus_dir, run_dir, tmp_path
):
    teacher, text, out = (tmp_path / name for name in ("two", "text.txt", "student"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "member 2 of the ensemble")
        Ensemble([load(run_dir)] * 2).save(teacher)
    text.write_text("show me the flights\nwhat did she say ?\n" * 9, "utf-8")
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", out, *tiny]
    args += ["--teacher", teacher, "--teacher-weight", 0.7, "--temperature", 2]
    assert "no such file" in failing(*args, "--unlabelled", tmp_path / "none.txt")
    args += ["--unlabelled", text, "--unlabelled", text]
    printed = silently(*args, "--epochs", 1)
    assert (
        f"Learns from {teacher} (ensemble of bigru, bigru), with the weight 0.7 "
        "and the temperature 2, also on text without annotation" in printed
    )
    names = {path.name for path in out.iterdir()}
    assert names == {"model.keras", "metadata.json", "training.csv"}
    about = json.loads((out / "metadata.json").read_text())["teacher"]
    assert about.pop("unlabelled sentences") == 36
    assert about == {
        "path": str(teacher),
        "sha256": digest_of(teacher),
        "model": "ensemble of bigru, bigru",
        "weight": 0.7,
        "temperature": 2.0,
    }


MISTAKES = [
    (["bigru", "--recipe", "bets"], "'bets' is not one of 'fast', 'best', 'paper'"),
    (["bigru", "--out", __file__], "is a file: --out is a folder"),
    (["bigru", "--freeze", "stack"], "without --init there is no --freeze"),
    (["bigru", "--set", "unit"], "--set unit: write --set key=value"),
    (["bigruu"], "did you mean 'bigru'?"),
    (["pipeline", "--tags", "upos"], "trains several models, and has no --tags"),
    (["pipeline", "--parts", "lemmatizer"], "unknown part"),
    (["bigru", "--parts", "tagger"], "bigru is a single model, and has no --parts"),
    (["segmenter", "--teacher", "."], "a segmenter has no --teacher"),
    (["bigru", "--set", "langage=en"], "did you mean 'language'? Known: affix_dim,"),
    (["bigru", "--set", "unit=3"], "did you mean 'units'?"),
    (["bigru", "--set", "units=-3"], "units=-3: it is from 1 to"),
    (["bigru", "--set", "language=xx"], "no word vectors and no word classes are"),
    (["bigru", "--recipe", "best", "--set", "units=no"], "units="),
    (["bigru", "--corpus", "none.conll"], "none.conll"),
    (["bigru", "--teacher", "none"], "none: no such model"),
    (["bigru", "--teacher", "runs/none"], "runs/none: no such model"),
    (["bigru", "--init", "runs/none"], "runs/none: no such model"),
    (["bigru", "--teacher", ".", "--unlabelled", "none.txt"], "none.txt"),
    (["bigru", "--teacher", ".", "--unlabelled", "-"], "--unlabelled -: give a file"),
    (["bigru", "--embeddings", "none.vec"], "none.vec: there is no such file"),
    (["bigru", "--set", "vectors=no/vec"], "no/vec: there is no such file"),
    (["pipeline", "--set", "parser.word_classes=a.tsv"], "a.tsv: there is no such"),
    (["lstm-parser", "--bootstrap", "runs/none"], "runs/none: no such model"),
    (["bigru", "--init", ".", "--set", "language=en"], "has its own words"),
    (["segmenter"], "the demo corpus has no text"),
    (["pipeline", "--set", "units=3"], "part of the pipeline, parser.units="),
    (["pipeline", "--set", "parser.unit=3"], "did you mean 'units'?"),
    (["pipeline", "--set", "parser.units=-3"], "units=-3: it is from 1 to"),
    (["pipeline", "--set", "taggr.units=3"], "unknown part of a pipeline 'taggr'"),
    (["pipeline", "--set", "language=xx"], "no word vectors and no word classes are"),
]


def test_mistakes_are_told_before_keras_is_imported(start, tmp_path):
    lines = [
        ["train", args[0], "--out", "x", "--corpus", "demo", *args[1:]]
        for args, _ in MISTAKES
    ]
    code = (
        "import json, sys\n"
        "from keras_tagging.cli import main\n"
        "for line in json.loads(sys.argv[1]):\n"
        "    try: main(line)\n"
        "    except SystemExit as ended: print(ended.code, 'keras' in sys.modules)"
    )
    process = start(json.dumps(lines), code=code, cwd=tmp_path)
    out, err = process.communicate()
    assert out.splitlines() == ["2 False"] * len(MISTAKES)
    for (_, message), told in zip(MISTAKES, err.splitlines(), strict=True):
        assert message in told
    assert not list(tmp_path.iterdir())
