"""The command that tests whether one model is better than another: compare."""

import json
from dataclasses import asdict
from glob import glob
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging import kinds
from keras_tagging.cli.loading import Reading, gold_sentences, load_model, refuse_others
from keras_tagging.cli.options import BeamWidth, CorpusPath

SIDE = (
    "The --out of train, a .keras file, the folder of an ensemble, or in quotes a "
    "pattern that fits one model for each seed."
)


def compare(
    first: Annotated[str, typer.Argument(metavar="FIRST", help=SIDE)],
    second: Annotated[
        str,
        typer.Argument(metavar="SECOND", help="The same; as many models as FIRST."),
    ],
    corpus: CorpusPath,
    *,
    split: Literal["train", "dev", "test"] = "test",
    reading: Reading,
    figure: str | None = None,
    beta: float | None = None,
    units: Literal["tokens", "sentences"] | None = None,
    punctuation: Literal["keep", "ptb", "unicode"] | None = None,
    beam_width: BeamWidth = None,
    resamples: Annotated[int, typer.Option(min=1)] = 9999,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Compare two models on a corpus, and test the difference between them.

    Print a figure of both, the difference, and the p-value of a paired permutation
    test: how often a difference is as large if the answers of the two are exchanged at
    random, unit by unit. Where a side is a pattern, figures are means over its models.

    Examples:
        keras-tagging compare runs/gru runs/lstm --corpus path/to/corpus
        keras-tagging compare "runs/gru-*" "runs/lstm-*" --corpus my.conll --units
            sentences
        keras-tagging compare runs/a runs/b --corpus ud-en-ewt --figure uas --split dev

    Args:
        split: What to compare on; a single file is the test data.
        figure: accuracy, f1, word or sent for taggers, upos_accuracy for one of several
            columns, uas or las for parsers; labelled, dependencies and others for CCG
            parsers. By default the one that selects the best epoch.
        beta: The level of word and sent: tags are kept down to this share of the best.
        units: What is exchanged. The tokens of a sentence depend on each other, so
            sentences are stricter. By default tokens for accuracy and word; other
            figures have sentences alone.
        punctuation: For parsers, as in evaluate. Default: keep.
        resamples: Number of random exchanges.
        seed: Of the exchanges.
        as_json: Print JSON.
    """
    names = (first, second)
    paths = [runs(name) for name in names]
    sides = [[load_model(path, beam_width) for path in side] for side in paths]
    columns = dict(kinds.of(sides[0][0]).reading, surfaces=False)
    _, sentences = reading.split(corpus, split, **columns)
    for name, models in zip(names, sides, strict=True):
        for model in models:
            refuse_others(Path(name), model, {"punctuation": punctuation})
            sentences = gold_sentences(model, sentences)
    from keras_tagging.experiments import comparison

    result = comparison.compare(
        *sides,
        sentences,
        figure,
        beta=beta,
        units=units,
        punctuation=punctuation or "keep",
        resamples=resamples,
        seed=seed,
    )
    print(json.dumps(asdict(result), indent=2) if as_json else result)


def runs(pattern: str) -> list[Path]:
    """The models of a side: a path or a name, or the models that fit a pattern.

    Raises:
        ValueError: for a pattern that fits nothing.
    """
    if Path(pattern).exists() or not set(pattern) & set("*?["):
        return [Path(pattern)]
    paths = sorted(map(Path, glob(pattern)))
    # beside a .keras file are its metadata, and perhaps an .onnx file
    models = [path for path in paths if path.is_dir() or path.suffix == ".keras"]
    if not models:
        raise ValueError(f"{pattern}: no .keras file and no folder fits this pattern")
    return models
