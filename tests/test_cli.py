import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

from keras_tagging import cli, load, load_corpus
from keras_tagging.data import Corpus, Sentence, write
from keras_tagging.run_folder import hold_out

TINY = ["--set", "units=16", "--set", "num_layers=1", "--set", "batch_size=16"]
TRAIN_DEMO = ["train", "bigru", "--corpus", "demo", "--out", "x"]


@pytest.fixture
def program(capfd, monkeypatch):
    """Runs the program here: exit code, standard output, standard error."""

    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)

    def run(*args, stdin=""):
        stream = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        capfd.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.main([str(arg) for arg in args])
        return caught.value.code, *capfd.readouterr()

    return run


@pytest.fixture
def failing(program):
    """Runs the program into an error and gives its message."""

    def run(*args, **kwargs):
        code, out, err = program(*args, **kwargs)
        assert code == 2
        assert err.startswith("keras-tagging: error: ")
        assert err.count("\n") == 1
        return err

    return run


@pytest.fixture(scope="session")
def corpus_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    corpus = load_corpus("demo")
    for name, sentences in corpus.splits():
        sentences = [Sentence(s.tokens, s.tags) for s in sentences[:150]]
        write(sentences, folder / f"{name}.conll")
    return folder


@pytest.fixture(scope="session")
def trained(corpus_dir, tmp_path_factory):
    """A folder with a model, and what `train` printed."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", folder, "--epochs", 2]
    printed = io.StringIO()
    before, sys.stdout = sys.stdout, printed
    try:
        with pytest.raises(SystemExit) as caught:
            cli.main([*map(str, args), *TINY, "--tensorboard"])
    finally:
        sys.stdout = before
    assert caught.value.code == 0
    return folder, printed.getvalue()


@pytest.fixture
def run_dir(trained):
    return trained[0]


COMMANDS = ["list", "train", "evaluate", "tag", "export", "describe", "demo"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(program, command):
    code, out, _ = program(command, "--help")
    assert code == 0
    assert f"Example:\n    keras-tagging {command}" in out


def test_list(program):
    assert "bigru" in program("list")[1]
    _, out, _ = program("list", "bigru")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert rows["keyword"] == ["fast", "paper"]
    assert rows["optimizer"] == ["'adam'", "'sgd'"]


def start(*args, code=None, **kwargs):
    """Starts the program, or some code, in a process of its own."""
    what = ["-c", code] if code else ["-m", "keras_tagging"]
    # TensorFlow in this process has set its own variables
    env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, *what, *map(str, args)]
    # a shell that runs these tests in the background has them ignore interrupts
    kwargs["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, env=env, text=True, **pipes, **kwargs)


def test_starts_without_tensorflow(tmp_path):
    path = tmp_path / "broken.conll"
    path.write_text("a\tx\nb\ty\n\nc\n\nd\tx\n")
    code = (
        "import sys\n"
        "program, sys.argv[0] = sys.argv[1:], 'keras-tagging'\n"
        "from keras_tagging.cli import main\n"
        "try: main(program)\n"
        "finally: print('tensorflow' in sys.modules)"
    )
    process = start("describe", path, code=code)
    out, err = process.communicate()
    assert process.returncode == 0
    assert out.endswith("\nFalse\n")
    assert err.startswith("keras-tagging: warning: 1 malformed sentences left out")
    assert err.count("\n") == 1


def test_train_writes_its_folder(trained):
    folder, printed = trained
    names = {path.name for path in folder.iterdir()}
    assert names == {"model.keras", "metadata.json", "training.csv", "tensorboard"}
    assert list((folder / "tensorboard").rglob("events*"))
    metadata = json.loads((folder / "metadata.json").read_text())
    assert metadata["settings"]["units"] == 16
    assert metadata["corpus"]["sentences"] == {"train": 150, "dev": 150, "test": 150}
    assert len((folder / "training.csv").read_text().splitlines()) == 3
    for split in ("dev", "test"):
        accuracy = metadata["scores"][split]["accuracy"]
        [row] = [x for x in printed.splitlines() if x.split()[:1] == [split]]
        assert row.split()[2] == f"{100 * accuracy:.2f}"
    assert f"keras-tagging evaluate {folder} --corpus" in printed


def test_finished_run_is_kept(failing, run_dir, corpus_dir):
    before = (run_dir / "model.keras").read_bytes()
    args = ["train", "bigru", "--corpus", corpus_dir, "--out", run_dir]
    assert "--force" in failing(*args)
    assert (run_dir / "model.keras").read_bytes() == before


def test_killed_run_goes_on(program, corpus_dir, tmp_path, monkeypatch):
    args = ["train", "bigru", "--corpus", corpus_dir, *TINY, "--epochs", 2, "--out"]

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("keras_tagging.run_folder.save_run", interrupted)
        code, _, err = program(*args, tmp_path / "killed")
    assert code == 130
    assert err.endswith("keras-tagging: error: interrupted\n")
    names = {path.name for path in (tmp_path / "killed").iterdir()}
    assert {"resume.npz", "best.keras"} < names
    assert "model.keras" not in names
    code, out, _ = program(*args, tmp_path / "killed")
    assert code == 0
    assert "Going on with the run" in out
    assert "Epoch 1/" not in out
    names = {path.name for path in (tmp_path / "killed").iterdir()}
    assert names == {"model.keras", "metadata.json", "training.csv"}


def test_no_resume_starts_anew(program, corpus_dir, tmp_path):
    (tmp_path / "resume.npz").write_bytes(b"of some other run")
    args = ["--corpus", corpus_dir / "train.conll", "--out", tmp_path, "--no-resume"]
    code, out, _ = program("train", "bigru", *args, *TINY, "--epochs", 1)
    assert code == 0
    assert "No development sentences" in out
    assert not (tmp_path / "resume.npz").exists()
    assert (tmp_path / "model.keras").exists()


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


@pytest.mark.parametrize("share", [0, 0.001, 1, 2, -0.5])
def test_hold_out_refuses_to_empty_a_part(share):
    with pytest.raises(ValueError, match="of 50 sentences"):
        hold_out(Corpus([Sentence(["a"], ["x"])] * 50), share, 0)


def test_evaluate(program, run_dir, corpus_dir):
    sentences = load_corpus(corpus_dir).dev
    expected = load(run_dir).evaluate(sentences, return_dict=True)
    split = ["--corpus", corpus_dir, "--split", "dev"]
    extra = ["--betas", "0.5,0.01", "--per-tag"]
    _, out, _ = program("evaluate", run_dir, *split, *extra, "--json")
    report = json.loads(out)
    assert report["figures"] == pytest.approx(expected)
    assert [row["beta"] for row in report["multi_tagging"]] == [0.5, 0.01]
    assert sum(row["gold"] for row in report["per_tag"]) == sum(map(len, sentences))
    code, out, _ = program("evaluate", run_dir, *split, *extra)
    assert code == 0
    assert f"{100 * expected['accuracy']:.2f}" in out
    assert "categories_per_word" in out
    assert "recall %" in out
    # a file alone is the test data
    file = ["--corpus", corpus_dir / "dev.conll"]
    report = json.loads(program("evaluate", run_dir, *file, "--json")[1])
    assert report["figures"] == pytest.approx(expected)


ODD = "Who read it ?\n\n  \nna\u00efve\u00a0x \u200b , 3/4 a|b \u2028\nit\n"
ODD_TOKENS = [
    ["Who", "read", "it", "?"],
    [],
    [],
    ["na\u00efve\u00a0x", "\u200b", ",", "3/4", "a|b", "\u2028"],
    ["it"],
]


@pytest.mark.parametrize("source", ["file", "-", None])
def test_tag_gives_every_token_its_row(program, run_dir, tmp_path, source):
    path = tmp_path / "odd.txt"
    path.write_bytes(ODD.encode())
    args = {"file": [path, "--format", "text"], "-": ["-"], None: []}[source]
    code, out, err = program("tag", run_dir, *args, stdin=ODD)
    assert (code, err) == (0, "")
    blocks = [[]]
    for line in out.split("\n")[:-1]:
        if line:
            blocks[-1].append(tuple(line.split("\t")))
        else:
            blocks.append([])
    assert blocks.pop() == []
    expected = load(run_dir).tag(ODD_TOKENS)
    pairs = zip(ODD_TOKENS, expected, strict=True)
    assert blocks == [list(zip(*pair, strict=True)) for pair in pairs]


def test_tag_other_outputs(program, run_dir):
    model = load(run_dir)
    tags = model.tag(ODD_TOKENS)
    ranked = model.tag(ODD_TOKENS, beta=0.2)
    _, out, _ = program("tag", run_dir, "--output", "jsonl", stdin=ODD)
    rows = [json.loads(line) for line in out.split("\n")[:-1]]
    assert [row["tokens"] for row in rows] == ODD_TOKENS
    assert [row["tags"] for row in rows] == tags
    _, out, _ = program("tag", run_dir, "--output", "text", stdin=ODD)
    items = [line.split(" ") if line else [] for line in out.split("\n")[:-1]]
    assert [[item.rsplit("|", 1)[1] for item in row] for row in items] == tags
    _, out, _ = program("tag", run_dir, "--beta", "0.2", stdin=ODD)
    fields = [line.split("\t") for line in out.split("\n") if line]
    entries = [entry for sentence in ranked for entry in sentence]
    assert [f[1::2] for f in fields] == [[t for t, _ in e] for e in entries]
    shares = [[float(p) for p in f[2::2]] for f in fields]
    assert shares == [pytest.approx([p for _, p in e], rel=1e-3) for e in entries]
    args = ["--beta", "0.2", "--output", "jsonl"]
    rows = program("tag", run_dir, *args, stdin=ODD)[1].split("\n")[:-1]
    found = [json.loads(row) for row in rows]
    assert [r["tags"] for r in found] == [
        [[t for t, _ in e] for e in s] for s in ranked
    ]
    _, out, _ = program("tag", run_dir, "--probabilities", stdin="it\n")
    token, tag, p = out.strip().split("\t")
    assert (token, [[tag]]) == ("it", model.tag([["it"]]))
    assert 0 < float(p) <= 1


def test_tag_reads_corpora_and_no_sentence(program, run_dir, corpus_dir):
    _, out, _ = program("tag", run_dir, corpus_dir / "test.conll")
    gold = (corpus_dir / "test.conll").read_text().split("\n")
    tagged = out.split("\n")
    assert [x.split("\t")[0] for x in tagged] == [x.split("\t")[0] for x in gold]
    assert program("tag", run_dir)[:2] == (0, "")
    assert program("tag", run_dir, stdin="\n")[:2] == (0, "\n")


def test_tag_refuses_what_the_output_cannot_hold(failing, run_dir):
    odd = '{"tokens": ["a\\tb"]}\n'
    assert "jsonl" in failing("tag", run_dir, "--format", "jsonl", stdin=odd)
    args = ["--format", "jsonl", "--output", "text"]
    assert "jsonl" in failing("tag", run_dir, *args, stdin='{"tokens": ["a b"]}\n')
    assert "jsonl" in failing("tag", run_dir, "--beta", 0.1, "--output", "text")


def test_tag_is_quiet_where_its_reader_goes(run_dir):
    with start("tag", run_dir) as process:
        process.stdout.close()
        process.stdin.write("a b c\n" * 3)
        process.stdin.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_interrupt_is_one_line(run_dir, tmp_path):
    os.mkfifo(tmp_path / "input")
    with start("tag", run_dir, tmp_path / "input", "--format", "text") as process:
        while process.poll() is None:
            try:  # fails until the program, with the model loaded, opens its input
                writer = os.open(tmp_path / "input", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.1)
            else:
                process.send_signal(signal.SIGINT)
                break
        _, err = process.communicate()
    os.close(writer)
    assert (process.returncode, err) == (130, "keras-tagging: error: interrupted\n")


def test_export(program, run_dir, tmp_path):
    import tensorflow as tf

    code, _, err = program("export", run_dir, tmp_path / "served", "--top-k", 3)
    assert (code, err) == (0, "")
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    tokens = tf.constant([["Who", "read", "it"]])
    served = serve(tokens=tokens, lengths=tf.constant([3]))
    assert served["top_tags"].shape == (1, 3, 3)
    [tags] = load(run_dir).tag([["Who", "read", "it"]])
    assert [tag.decode() for tag in served["tags"].numpy()[0]] == tags


def test_describe(program, failing, corpus_dir, tmp_path):
    assert "150" in program("describe", corpus_dir)[1]
    path = tmp_path / "broken.conll"
    path.write_text("a\tx\nb\ty\n\nc\n\nd\tx\n")
    with pytest.warns(UserWarning, match="1 malformed"):
        code, out, _ = program("describe", path)
    assert code == 0
    assert "1 malformed sentences left out" in out
    assert f"{path}:4:" in failing("describe", path, "--errors", "raise")


def test_options_reach_the_reader(program, tmp_path):
    path = tmp_path / "columns.txt"
    path.write_text("a,X,1\nb,Y,1\n\nc,Z,1\n")
    args = ["--format", "conll", "--option", "separator=,"]
    _, out, _ = program("describe", path, *args, "--option", "tag_column=1")
    assert int(out.split("\n")[3].split()[5]) == 3


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["list", "bigrü"], "bigru"),
        (["train", "bigru", "--out", "x"], "--corpus"),
        (["train", "bigru", "--out", "x", "--corpus", "no.conll"], "no.conll"),
        (["train", "bigruu", "--corpus", "demo", "--out", "x"], "'bigru'"),
        ([*TRAIN_DEMO, "--set", "unit=3"], "units"),
        ([*TRAIN_DEMO, "--set", "unit"], "key=value"),
        ([*TRAIN_DEMO, "--epochs", "0"], "epochs"),
        (["evaluate", "nowhere", "--corpus", "demo"], "nowhere"),
        (["tag", "nowhere", "-"], "nowhere"),
        (["tag", "nowhere", "no-such.txt"], "no-such.txt"),
        (["export", "nowhere", "x"], "nowhere"),
        (["tag", "nowhere", "--format", "xml"], "'xml'"),
        (["describe", "no-such-corpus"], "no-such-corpus"),
        (["describe", "demo", "--no-such-option"], "--no-such-option"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_errors_are_one_line(failing, args, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert part in failing(*args)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("None", None), ("(1, 2)", (1, 2)), ("sum", "sum"), ("a=b", "a=b")],
)
def test_values_are_literals_or_strings(text, value):
    assert cli.pairs("--set", [f"key={text}"]) == {"key": value}


def test_next_command_reads_as_training_did(program, corpus_dir, tmp_path):
    given = ["--corpus", corpus_dir, "--option", "tag_column=1", "--epochs", 1]
    given += ["--monitor", "val_loss"]
    _, out, _ = program("train", "bigru", *given, "--out", tmp_path / "run", *TINY)
    [line] = [line for line in out.splitlines() if "tagging evaluate" in line]
    assert line.endswith(f"--corpus {corpus_dir} --option tag_column=1")


def test_unknown_gold_tags_are_told(program, run_dir, tmp_path):
    path = tmp_path / "other.conll"
    write([Sentence(["They", "left"], ["PRON", "VERB"])], path)
    code, _, err = program("evaluate", run_dir, "--corpus", path)
    assert code == 0
    assert "2 of 2 gold tags are unknown to the model" in err


@pytest.mark.parametrize(
    "pair, part",
    [("tag_column=five", "counted from 0"), ("encoding=nope", "'nope' is not known")],
)
def test_odd_reader_options(failing, corpus_dir, pair, part):
    assert part in failing("describe", corpus_dir, "--option", pair)


def test_output_folder_is_no_file(failing, corpus_dir, tmp_path):
    (tmp_path / "x").touch()
    given = ["--corpus", corpus_dir, "--out", tmp_path / "x"]
    assert "is a file" in failing("train", "bigru", *given)


def test_tag_reads_a_pipe_once(program, run_dir, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rows = "They left .\nShe reads the book .\n" * 300 + "Yes .\n"
    writer = threading.Thread(target=pipe.write_text, args=(rows,))
    writer.start()
    code, out, _ = program("tag", run_dir, pipe, "--output", "text")
    writer.join()
    assert code == 0
    assert out.count("\n") == 601


def test_untagged_test_sentences_are_refused_before_training(failing, tmp_path):
    for name, tags in (("train", ["A", "B"]), ("test", None)):
        sentence = {"tokens": ["They", "left"], **({"tags": tags} if tags else {})}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(sentence) + "\n")
    out = tmp_path / "run"
    given = ["--corpus", tmp_path, "--format", "jsonl", "--out", out]
    assert "has no tags" in failing("train", "bigru", *given, *TINY)
    assert not (out / "training.csv").exists()
