"""The program `keras-tagging`.

Keras and TensorFlow take seconds to import, so commands import what they need.
"""

import ast
import json
import os
import sys
import warnings
from importlib.util import find_spec
from itertools import tee
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.data import (
    Corpus,
    describe,
    detect_format,
    load_corpus,
    read,
)
from keras_tagging.output import (
    WRITERS,
    aligned,
    figures,
    levels_table,
    next_commands,
    percentages,
    progress,
    summary,
    tag_table,
    unknown_tags,
    without_nan,
)
from keras_tagging.startup import start_keras

app = typer.Typer(
    help="Recurrent sequence tagging on Keras 3.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

CORPUS = "'demo', a directory that holds the splits, a file or a pattern."
CorpusPath = Annotated[str, typer.Option("--corpus", help=CORPUS)]
Dev = Annotated[str | None, typer.Option(metavar="FILE", help="Development file.")]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="Test file.")]
Format = Annotated[str | None, typer.Option(help="Else it is recognised.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Of the format, such as tag_column=4 (columns are counted from 0).",
    ),
]
Errors = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="Stop at a malformed sentence, or leave it out."),
]
Run = Annotated[
    Path, typer.Argument(metavar="DIR", help="What train wrote, or a .keras file.")
]


def main(args: list[str] | None = None) -> None:
    """Runs the program; what its user can mend is told in one line.

    Exits with 0, with 2 after an error, with 130 after an interrupt.
    """
    warnings.formatwarning = lambda message, *_, **__: one_line("warning", message)
    try:
        args = args or sys.argv[1:] or ["--help"]
        code = app(args, prog_name="keras-tagging", standalone_mode=False) or 0
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        # the reader has gone, and the flush at exit must not find that out again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (ValueError, OSError, typer.BadParameter.__base__) as error:
        message = getattr(error, "format_message", error.__str__)()
        sys.stderr.write(one_line("error", message))
        code = 2
    if code == 130:
        sys.stderr.write(one_line("error", "interrupted"))
    sys.exit(code)


def one_line(kind: str, message) -> str:
    message = " ".join(str(message).splitlines())
    return f"keras-tagging: {kind}: {message}\n"


def example(*commands: str) -> str:
    """An epilog; after \b the lines stay as they are."""
    return "\n".join(["\b", "Example:", *(f"  keras-tagging {c}" for c in commands)])


@app.command("list", epilog=example("list", "list bigru"))
def list_architectures(
    arch: Annotated[str | None, typer.Argument(help="Show its keywords.")] = None,
) -> None:
    """List the architectures, or the keywords of one and what the recipes set."""
    start_keras()
    from keras_tagging.models import ARCHITECTURES
    from keras_tagging.models.settings import RECIPES, resolve_settings

    if arch is None:
        rows = [[k, m.__doc__.splitlines()[0]] for k, m in ARCHITECTURES.items()]
    else:
        recipes = [resolve_settings(arch, recipe, {}) for recipe in RECIPES]
        rows = [["keyword", *RECIPES]]
        rows += [[key, *(repr(r[key]) for r in recipes)] for key in recipes[0]]
    print(aligned(rows))


@app.command(
    epilog=example(
        "train bigru --corpus demo --out runs/demo --epochs 5",
        "train bigru --corpus my.conll --dev-share 0.1 --out runs/my --set units=200",
    )
)
def train(
    arch: Annotated[str, typer.Argument(help="A name that `list` shows.")],
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write.")],
    dev: Dev = None,
    test: Test = None,
    format: Format = None,
    option: Options = None,
    errors: Errors = "raise",
    dev_share: Annotated[
        float | None,
        typer.Option(help="Share of the training sentences to use for development."),
    ] = None,
    recipe: Annotated[
        Literal["fast", "paper"], typer.Option(help="Quick settings, or the paper's.")
    ] = "fast",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A keyword that `list ARCH` shows."
        ),
    ] = None,
    vectors: Annotated[
        str | None, typer.Option(metavar="FILE", help="Pretrained word vectors.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Else the recipe's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of weights, dropout and order.")] = 0,
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many epochs without a better one."),
    ] = None,
    monitor: Annotated[
        str | None,
        typer.Option(help="What tells the best epoch, such as val_accuracy."),
    ] = None,
    resume: Annotated[
        bool, typer.Option(help="Go on with the run that was stopped in DIR.")
    ] = True,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write events to DIR/tensorboard.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the finished model in DIR.")
    ] = False,
) -> None:
    """Train a model and keep its best epoch on the development sentences.

    Writes model.keras, metadata.json and training.csv into DIR. After a kill the same
    command goes on with the first unfinished epoch; until the end, best.keras is the
    best model so far.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file: --out is a folder")
    if (out / "model.keras").exists() and not force:
        raise ValueError(
            f"{out} holds a finished model: choose another --out, or give --force"
        )
    if tensorboard and not find_spec("tensorboard"):
        raise ValueError("--tensorboard needs: pip install tensorboard")
    overrides = pairs("--set", settings)
    if vectors is not None:
        overrides["vectors"] = vectors
    data = open_corpus(corpus, format, option, dev=dev, test=test, errors=errors)
    start_keras()
    import keras_tagging
    from keras_tagging.run_folder import hold_out, train_run

    if dev_share is not None:
        hold_out(data, dev_share, seed)
    model = keras_tagging.build(arch, recipe=recipe, seed=seed, **overrides)
    model.adapt(data.train)
    print(summary(data))
    sizes = f"{len(model.tags)} tags, {model.count_params():,} parameters"
    print(f"{arch}, {recipe} recipe, seed {seed}: {sizes}")
    if not data.dev:
        print("No development sentences (see --dev-share): the last epoch is kept")
    if resume and (out / "resume.npz").exists():
        print(f"Going on with the run in {out} (--no-resume starts anew)")
    scores = train_run(
        model,
        data,
        out,
        resume=resume,
        tensorboard=tensorboard,
        epochs=epochs,
        patience=patience,
        monitor=monitor,
        verbose=progress(),
    )
    if scores:
        print(f"\n{figures(scores)}")
    where = None
    if test or data.test:
        where = test or corpus
    elif data.dev and dev_share is None:
        where = dev or f"{corpus} --split dev"
    print(f"\nWritten to {out}. Next:\n{next_commands(out, where, option, format)}")


@app.command(
    epilog=example(
        "evaluate runs/demo --corpus demo",
        "evaluate runs/my --corpus held-out.conll --multi-tagging --json",
    )
)
def evaluate(
    run: Run,
    corpus: CorpusPath,
    split: Annotated[
        Literal["train", "dev", "test"],
        typer.Option(help="What to evaluate on; a single file is the test data."),
    ] = "test",
    format: Format = None,
    option: Options = None,
    errors: Errors = "raise",
    multi_tagging: Annotated[
        bool, typer.Option("--multi-tagging", help="Several tags a word, as a table.")
    ] = False,
    betas: Annotated[
        str | None, typer.Option(help="Its levels, such as 0.1,0.01.")
    ] = None,
    per_tag: Annotated[
        bool, typer.Option("--per-tag", help="Figures of every tag, or chunk type.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare a model's tags with the gold tags of a corpus."""
    data = open_corpus(corpus, format, option, errors=errors, require_train=False)
    sentences = getattr(data, split)
    if not sentences:
        present = ", ".join(name for name, _ in data.splits())
        raise ValueError(f"{corpus} has no {split} sentences, only {present}: --split")
    start_keras()
    import keras_tagging

    model = keras_tagging.load(run)
    if unknown := unknown_tags(model.tags, sentences):
        sys.stderr.write(one_line("warning", unknown))
    scores = without_nan(model.evaluate(sentences, return_dict=True))
    report = {"corpus": corpus, "split": split, "figures": scores}
    tables = [figures({split: scores})]
    if multi_tagging or betas:
        levels = {"betas": [float(beta) for beta in betas.split(",")]} if betas else {}
        table = model.multi_tagging(sentences, **levels)
        report["multi_tagging"] = table.to_dict("records")
        tables.append(levels_table(table))
    if per_tag:
        table = tag_table(model, sentences)
        report["per_tag"] = table.to_dict("records")
        tables.append(percentages(table, ["precision", "recall", "f1"]))
    if as_json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(tables))


@app.command(
    epilog=example(
        "tag runs/demo sentences.txt > tagged.conll",
        "tag runs/demo --beta 0.01 --output jsonl < sentences.txt",
    )
)
def tag(
    run: Run,
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="'-' is standard input.")
    ] = "-",
    format: Annotated[
        str | None,
        typer.Option(help="Else recognised; standard input is 'text'."),
    ] = None,
    option: Options = None,
    errors: Errors = "raise",
    output: Annotated[
        Literal["conll", "jsonl", "text"],
        typer.Option(help="token TAB tag, JSON, or word|tag between blanks."),
    ] = "conll",
    beta: Annotated[
        float | None,
        typer.Option(help="Give every tag with p >= beta * max p, with p."),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Give the tag's probability too.")
    ] = False,
) -> None:
    """Tag sentences, to standard output: one row or item for every input token.

    Text is one sentence a line, its tokens between blanks; an empty line is an empty
    sentence, which is an empty line in the output as well. In conll, further tags and
    the probabilities follow the tag in columns of their own. The input is read up to
    2000 sentences ahead, so that memory does not grow with it.
    """
    if output == "text" and (beta is not None or probabilities):
        raise ValueError("--output text has no place for probabilities: use jsonl")
    if format is None and file == "-":
        format = "text"
    if format is None and Path(file).is_file():  # a pipe can be read only once
        format = detect_format(file)
        sys.stderr.write(f"{file} is read as {format}; --format says otherwise\n")
    sentences = read(file, format, errors=errors, **pairs("--option", option))
    start_keras()
    import keras_tagging

    model = keras_tagging.load(run)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    ahead, sentences = tee(sentences)
    tagged = model.tag(ahead, beta=beta, probabilities=probabilities)
    for sentence, tags in zip(sentences, tagged, strict=True):
        sys.stdout.write(WRITERS[output](sentence.tokens, tags))


@app.command(epilog=example("export runs/demo served/"))
def export(
    run: Run,
    out: Annotated[Path, typer.Argument(help="Folder for the SavedModel.")],
    top_k: Annotated[
        int, typer.Option(help="How many tags a token to give beside the best.")
    ] = 5,
) -> None:
    """Write a SavedModel: strings in, tags and probabilities out."""
    start_keras()
    import keras_tagging

    keras_tagging.load(run).export(out, top_k=top_k)
    print(f"Written to {out}: serve it with TensorFlow")


@app.command("describe", epilog=example("describe demo", "describe corpora/atis"))
def describe_corpus(
    corpus: Annotated[str, typer.Argument(help=CORPUS)],
    dev: Dev = None,
    test: Test = None,
    format: Format = None,
    option: Options = None,
    errors: Errors = "skip",
) -> None:
    """Count sentences, tokens, labels and unseen words, and look for problems."""
    files = {"dev": dev, "test": test, "require_train": not Path(corpus).is_dir()}
    print(describe(open_corpus(corpus, format, option, errors=errors, **files)))


@app.command(epilog=example("demo --out demo-model"))
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR")] = Path("demo-model"),
    epochs: Annotated[int, typer.Option(min=1)] = 8,
) -> None:
    """Train on the embedded corpus, evaluate, tag, export: what `make demo` runs."""
    start_keras()
    from keras_tagging.demo import run_demo

    run_demo(out, epochs)


def pairs(name: str, items: list[str] | None) -> dict:
    """`key=value` items; a value is a Python literal, or else a string."""
    found = {}
    for item in items or ():
        key, separator, value = item.partition("=")
        if not separator:
            raise ValueError(f"{name} {item}: write {name} key=value")
        try:
            found[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[key] = value
    return found


def open_corpus(corpus, format, option, **kwargs) -> Corpus:
    return load_corpus(corpus, format, **kwargs, **pairs("--option", option))
