"""The command that analyses the errors of a model: analyse."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging import kinds
from keras_tagging.cli.loading import Reading, load_model, refuse_others, with_columns
from keras_tagging.cli.messages import warn
from keras_tagging.cli.options import BeamWidth, CorpusPath, Run
from keras_tagging.cli.output import percentages


def analyse(
    run: Run,
    corpus: CorpusPath,
    *,
    split: Literal["train", "dev", "test"] = "test",
    out: Annotated[Path | None, typer.Option(metavar="FILE.html")] = None,
    reading: Reading,
    beam_width: BeamWidth = None,
    punctuation: Literal["keep", "ptb", "unicode"] | None = None,
    subtypes: bool = False,
    rows: Annotated[int, typer.Option(min=1)] = 25,
) -> None:
    """Analyse the errors of a model, and write the result as one HTML file.

    The page shows confusions, the share of right tokens by gold label, by frequency of
    the word in training and by sentence length, and the worst sentences. It opens
    offline. The frequencies are those of the corpus's training sentences.

    Examples:
        keras-tagging analyse runs/demo --corpus demo
        keras-tagging analyse runs/parser --corpus ud-en-ewt --split dev --out ewt.html

    Args:
        split: What to analyse; a single file is the test data.
        out: Default: analysis-SPLIT.html beside the model.
        punctuation: For parsers, as in evaluate. Default: keep.
        subtypes: nsubj:pass is not nsubj.
        rows: Rows to show of each table.
    """
    if out is not None and out.is_dir():
        raise ValueError(
            f"{out} is a folder: --out is a file, such as {out}/report.html"
        )
    model = load_model(run, beam_width)
    counting = {"punctuation": punctuation, "subtypes": subtypes}
    counting = refuse_others(run, model, counting)
    from keras_tagging.experiments.analysis import analyse as find

    columns = {k: v for k, v in kinds.of(model).reading.items() if k != "surfaces"}
    data, sentences = reading.split(corpus, split, **columns)
    sentences = list(with_columns(model, sentences))
    folder = run if run.is_dir() else run.parent
    analysis = find(
        model,
        sentences,
        data.train,
        title=f"Error analysis: {run} on {corpus}, {split} sentences",
        **counting,
    )
    for warning in analysis.warnings:
        warn(warning)
    print(percentages(analysis.overall, ["value", "low", "high"]))
    path = analysis.to_html(out or folder / f"analysis-{split}.html", rows)
    print(f"\nWritten to {path}")
