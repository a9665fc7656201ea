import os
import signal
import time

import pytest

from keras_tagging import cli
from keras_tagging.cli.options import pairs

TRAIN_DEMO = ["train", "bigru", "--corpus", "demo", "--out", "x"]


def test_help_shows_an_example(silently):
    for command in cli.COMMANDS:
        out = silently(command, "--help")
        assert f"Example:\n    keras-tagging {command}" in out


def test_list(program):
    assert "bigru" in program("list")[1]
    _, out, _ = program("list", "bigru")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert rows["keyword"] == ["fast", "best", "paper", "possible"]
    assert rows["optimizer"][:3] == ["'adam'", "'adam'", "'sgd'"]
    assert rows["capitals"][3:] == ["True", "or", "False"]
    assert rows["input_layer"][3:] == ["'tanh',", "'linear',", "None"]
    assert rows["layer_dropout"][3:] == ["from", "0,", "below", "1"]


def test_starts_without_tensorflow(start, tmp_path):
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
    assert err.startswith("keras-tagging: warning: 1 malformed sentence left out")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["list", "bigrü"], "bigru"),
        (["train", "bigru", "--out", "x"], "--corpus"),
        ([*TRAIN_DEMO, "--epochs", "0"], "epochs"),
        (["evaluate", "nowhere", "--corpus", "demo"], "nowhere"),
        (["tag", "nowhere", "no-such.txt"], "no-such.txt"),
        (["tag", "nowhere", "--format", "xml"], "'xml'"),
        (["describe", "no-such-corpus"], "no-such-corpus"),
        (["describe", "demo", "--no-such-option"], "--no-such-option"),
        (["describe", "demo", "--vectors", "no-such.vec"], "no-such.vec"),
        (["describe", "demo", "--plot", "x.odd"], "'odd' is not supported"),
        (["corpora", "atsi"], "did you mean 'atis'?"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_errors_are_one_line(failing, args, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert part in failing(*args)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("3", 3), ("None", None), ("(1, 2)", (1, 2)), ("sum", "sum")],
        *[("a=b", "a=b"), ("{[]:1}", "{[]:1}"), (10**5 * "-", 10**5 * "-")],
    ],
    ids=lambda value: str(value)[:9],
)
def test_values_are_literals_or_strings(text, value):
    assert pairs("--set", [f"key={text}"]) == {"key": value}


def test_describe(program, failing, corpus_dir, tmp_path):
    assert " 30 " in program("describe", corpus_dir)[1]
    path = tmp_path / "broken.conll"
    path.write_text("a\tx\nb\ty\n\nc\n\nd\tx\n")
    with pytest.warns(UserWarning, match="1 malformed"):
        code, out, _ = program("describe", path)
    assert code == 0
    assert "1 malformed sentence left out" in out
    assert f"{path}:4:" in failing("describe", path, "--errors", "raise")


def test_options_reach_the_reader(program, tmp_path):
    path = tmp_path / "columns.txt"
    path.write_text("a,X,1\nb,Y,1\n\nc,Z,1\n")
    args = ["--format", "conll", "--option", "separator=,"]
    _, out, _ = program("describe", path, *args, "--option", "tag_column=1")
    assert int(out.split("\n")[3].split()[5]) == 3
    _, out, _ = program("describe", path, *args)
    assert "all tokens have the label '1', so that there is nothing to learn" in out


@pytest.fixture(scope="module")
def onnx(trained, silently, tmp_path_factory):
    """A tagger that starts in a second."""
    path = tmp_path_factory.mktemp("onnx") / "tagger.onnx"
    assert silently("export", trained[0], path, "--quiet") == ""
    return path


def test_tag_is_quiet_where_its_reader_goes(start, onnx):
    with start("tag", onnx) as process:
        process.stdout.close()
        process.stdin.write("a b c\n" * 3)
        process.stdin.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_interrupt_is_one_line(start, onnx, tmp_path):
    os.mkfifo(tmp_path / "input")
    with start("tag", onnx, tmp_path / "input", "--format", "text") as process:
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


def test_what_needs_the_whole_package(failing, monkeypatch):
    def broken(*args, **kwargs):
        raise ModuleNotFoundError("No module named 'filelock'")

    monkeypatch.setattr(cli, "app", broken)
    assert "the whole package: pip install . in a clone" in failing("demo")
