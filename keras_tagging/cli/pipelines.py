"""The command that annotates text: annotate."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import tee
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.cli.common import InputFile, load_model, load_onnx, one_line
from keras_tagging.data.annotation import (
    ConlluWriter,
    as_json,
    as_spans,
    as_tagged_text,
)
from keras_tagging.data.conllu import conllu_field, read_blocks
from keras_tagging.data.raw_text import sentences_of_lines, text_lines
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.tables import aligned

#: figures of `evaluate`, as the shared tasks call them
NAMES = {"tokens": "Tokens", "sentences": "Sentences", "words": "Words"}
NAMES |= {name: name.upper() for name in ("upos", "xpos", "feats", "lemma")}
NAMES |= {"uas": "UAS", "las": "LAS"}
WRITERS = {"jsonl": as_json, "text": as_tagged_text, "spans": as_spans}


def annotate(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The name of an installed model, the --out of train, the folder of a "
            "pipeline, or a model's file.",
        ),
    ],
    file: InputFile = "-",
    input: Annotated[
        Literal["text", "tokens", "conllu"],
        typer.Option(
            help="Running text; one sentence a line with blanks between tokens; or "
            "CoNLL-U, whose tokens are kept."
        ),
    ] = "text",
    output: Annotated[
        Literal["conllu", "jsonl", "text", "spans"],
        typer.Option(
            help="CoNLL-U with offsets, JSON with a sentence a line, word|tag between "
            "blanks, or a row for each entity: start, end, label, probability, text."
        ),
    ] = "conllu",
    encoding: Annotated[
        str | None, typer.Option(help="Of the input; by default UTF-8.")
    ] = None,
) -> None:
    """Annotate text with all models of a pipeline, or with a single one.

    Offsets count characters (code points) from the beginning of the input. Without a
    segmenter, text is read as tokens: one sentence a line. With CoNLL-U as input and
    output, only the columns of the models change. Memory does not grow with the input.
    """
    reading = {"conllu": _blocks, "tokens": _tokens, "text": _text}[input]
    source = reading(file, encoding)  # before the models, which take seconds
    pipeline = load_pipeline(run)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if input == "conllu" and output == "conllu":
        _fill(pipeline, source)
        return
    if input == "conllu":
        source = (block.sentence for block in source)
    if input == "text" and pipeline.segmenter is None:
        what = f"{run} has no segmenter: a line of the text is a sentence, with blanks "
        sys.stderr.write(one_line("note", what + "between its words"))
    write = ConlluWriter().write if output == "conllu" else WRITERS[output]
    if output == "spans" and not pipeline.gives_spans:
        raise ValueError(
            f"{run} has no tagger with chunk tags (B-X, I-X, O), which --output spans "
            "needs: use conllu or jsonl"
        )
    for sentence in pipeline.annotate(source):
        sys.stdout.write(write(sentence))


def export_parts(pipeline, out: Path, format: str, options: Mapping) -> None:
    """Write the models of a pipeline for serving, and say what is left out."""
    if out.suffix == ".onnx":
        raise ValueError(
            f"{out}: a pipeline has several files: name a folder and give --onnx, or "
            "export one of its models"
        )
    left_out = pipeline.export(out, format=format, **options)
    for name, reason in left_out.items():
        sys.stderr.write(one_line("note", f"the {name} is left out: {reason}"))
    written = ", ".join(name for name in pipeline.parts if name not in left_out)
    print(f"Written to {out}: {written}")


def scores_table(scores: Mapping) -> str:
    """The scores of a pipeline as text, in per cent."""
    rows = [["", "precision %", "recall %", "F1 %"]]
    for name, counts in scores.items():
        values = (counts.precision, counts.recall, counts.f1)
        rows.append([NAMES[name], *(f"{100 * value:.2f}" for value in values)])
    return aligned(rows)


def _text(file: str, encoding: str | None) -> Iterator[str]:
    return text_lines(file, encoding)


def _tokens(file: str, encoding: str | None) -> Iterator[Sentence]:
    return sentences_of_lines(text_lines(file, encoding))


def _blocks(file: str, encoding: str | None) -> Iterator:
    return read_blocks(file, encoding)


def load_pipeline(run: Path):
    """A pipeline, or the pipeline of a single model."""
    is_onnx = run.suffix == ".onnx"
    load = partial(load_onnx, beam_width=None, command="annotate")
    model = load(run) if is_onnx else load_model(run, pipeline=True)
    if model.kind == "pipeline":
        return model
    from keras_tagging.models.pipeline import Pipeline

    return Pipeline(**{model.kind: model})


def _fill(pipeline, blocks: Iterator) -> None:
    """Write CoNLL-U in which only the columns of the models change."""
    columns = _columns(pipeline)
    ahead, blocks = tee(blocks)
    annotated = pipeline.annotate(block.sentence for block in ahead)
    for block, sentence in zip(blocks, annotated, strict=True):
        sys.stdout.write(block.with_columns(columns(sentence)))


def _columns(pipeline) -> Callable[[Sentence], dict[str, list[str]]]:
    """The function from an annotated sentence to the columns that the models fill.

    Raises:
        ValueError: if CoNLL-U has no such column.
    """
    names = list(pipeline.columns)
    for name in names:
        try:
            conllu_field(name)
        except ValueError as error:
            raise ValueError(f"{error}: give --output jsonl or spans") from None

    def filled(sentence: Sentence) -> dict[str, list[str]]:
        values = {name: sentence.columns.get(name, []) for name in names}
        return {k: [value or "_" for value in row] for k, row in values.items()}

    return filled
