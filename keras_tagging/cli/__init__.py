"""The program `keras-tagging`.

Keras and TensorFlow take seconds to import, so commands import what they need.
"""

import os
import sys
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from keras_tagging.cli.analysis import analyse
from keras_tagging.cli.annotation import annotate, parse, tag
from keras_tagging.cli.commands import BROKEN_PIPE, command
from keras_tagging.cli.corpora import describe_corpus, list_corpora
from keras_tagging.cli.demo import demo
from keras_tagging.cli.evaluation import evaluate
from keras_tagging.cli.exports import export
from keras_tagging.cli.models import list_architectures, list_models
from keras_tagging.cli.options import one_line
from keras_tagging.cli.reproduction import reproduce
from keras_tagging.cli.service import serve
from keras_tagging.cli.training import train
from keras_tagging.utils.atomic import FULL

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS = {
    "list": (list_architectures, "list", "list bigru"),
    "train": (
        train,
        "train bigru --corpus demo --out runs/demo --epochs 5",
        "train bigru --corpus my.conll --dev-share 0.1 --out runs/my --set units=200",
        "train bigru --corpus ud-en-ewt --out runs/all --tags upos,xpos,feats",
        "train bigru --corpus my.conll --out runs/tuned --init runs/demo",
        "train lstm-parser --corpus ud-en-ewt --out runs/parser",
        "train segmenter --corpus ud-en-ewt --out runs/segmenter",
        "train pipeline --corpus ud-en-ewt --out runs/en --set tagger.epochs=5",
        "train pipeline --corpus ud-en-ewt --entities uner/ --out runs/en",
        "train --config run.toml",
    ),
    "evaluate": (
        evaluate,
        "evaluate runs/demo --corpus demo",
        "evaluate runs/my --corpus held-out.conll --multi-tagging --json",
        "evaluate runs/parser --corpus ud-en-ewt --split dev --tables",
        "evaluate runs/segmenter --corpus ud-en-ewt --split dev",
    ),
    "analyse": (
        analyse,
        "analyse runs/demo --corpus demo",
        "analyse runs/parser --corpus ud-en-ewt --split dev --out ewt.html --csv ewt/",
    ),
    "tag": (
        tag,
        "tag runs/demo sentences.txt > tagged.conll",
        "tag runs/demo sentences.txt --jobs 4 > tagged.conll",
        "tag runs/demo --beta 0.01 --output jsonl < sentences.txt",
        "tag tagger.onnx sentences.txt > tagged.conll",
        "tag runs/all corpus.conllu --output conllu > tagged.conllu",
        "tag runs/ccg sentences.txt --output easyccg > supertagged.txt",
        "tag runs/ccg corpus.conllu --output candc --beta 0.001 > supertagged.txt",
    ),
    "parse": (
        parse,
        "parse runs/parser tagged.conllu > parsed.conllu",
        "parse runs/words-only < sentences.txt > parsed.conllu",
        "parse runs/parser tagged.conllu --jobs 4 > parsed.conllu",
    ),
    "annotate": (
        annotate,
        "annotate en book.txt > book.conllu",
        "annotate served/ book.txt > book.conllu",
        "annotate runs/en book.txt --jobs 4 > book.conllu",
        "annotate runs/en --output jsonl < book.txt",
        "annotate runs/en corpus.conllu --input conllu > annotated.conllu",
        "annotate runs/ner mail.txt --output spans",
        "annotate en one.txt two.txt --out annotated/ --output csv",
        "annotate en books/ --engine ray --out annotated --workers 8",
    ),
    "export": (
        export,
        "export runs/demo served/",
        "export runs/demo tagger.onnx",
        "export runs/demo small.onnx --int8",
        "export en served/ --onnx",
    ),
    "serve": (
        serve,
        "serve tagger.onnx",
        "serve runs/demo",
        "serve en",
        "serve en=english.onnx fr=french.onnx --port 9000 --workers 2",
    ),
    "models": (list_models, "models", "models en"),
    "corpora": (list_corpora, "corpora", "corpora ud-en-ewt"),
    "describe": (
        describe_corpus,
        "describe demo",
        "describe ud-en-ewt --vectors glove.6B.100d.txt --plot ewt.png",
    ),
    "reproduce": (
        reproduce,
        "reproduce",
        "reproduce wu2016",
        "reproduce wu2016 --table 2 --corpus demo --recipe fast --seeds 3 "
        "--scale units=32,word_dim=32 --epochs 3 --out runs/wu2016",
        "reproduce dinarelli2016 --table 4 --corpus atis --rows i-rnn-forward --jobs 4",
        "reproduce --report --out runs/wu2016",
    ),
    "demo": (demo, "demo --out demo-model"),
}


def show_versions(wanted: bool) -> None:
    """Print the versions that a report of a bug needs, and exit."""
    if not wanted:
        return
    found = [f"Python {sys.version.split()[0]}"]
    for name in ("keras", "tensorflow", "onnxruntime"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    print(f"keras-tagging {version('keras-tagging')} ({', '.join(found)})")
    raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=show_versions,
        is_eager=True,
        help="Show the version and exit.",
    ),
]


@app.callback()
def program(version: Version = False) -> None:
    """Recurrent sequence tagging and dependency parsing on Keras 3."""


#: those that the user can mend; packages that are missing say what to install
ERRORS = (ValueError, OSError, ImportError)


def main(args: list[str] | None = None) -> None:
    """Run the program; errors that the user can mend are printed in one line.

    The exit code is 0, 2 after an error, 130 after an interrupt, and 141 if nobody
    reads the output to its end.
    """
    warnings.formatwarning = lambda message, *_, **__: one_line("warning", message)
    try:
        args = args or sys.argv[1:] or ["--help"]
        code = app(args, prog_name="keras-tagging", standalone_mode=False) or 0
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        forget_output()
        code = BROKEN_PIPE
    except (*ERRORS, typer.BadParameter.__base__) as error:
        message = getattr(error, "format_message", error.__str__)()
        if getattr(error, "errno", None) in FULL and error.filename is None:
            message += ": standard output"  # errors of files name the file
            forget_output()
        sys.stderr.write(one_line("error", message))
        code = 2
    if code == 130:
        sys.stderr.write(one_line("error", "interrupted"))
    sys.exit(code)


def forget_output() -> None:
    """Keep the flush at exit from failing again on an unwritable standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def example(*commands: str) -> str:
    """An epilog; typer keeps the lines after \b as they are."""
    return "\n".join(["\b", "Example:", *(f"  keras-tagging {c}" for c in commands)])


for name, (function, *examples) in COMMANDS.items():
    app.command(name, epilog=example(*examples))(command(function))
