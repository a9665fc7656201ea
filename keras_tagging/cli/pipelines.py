"""The command that annotates text: annotate."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.cli.common import load_model, one_line, refuse
from keras_tagging.cli.jobs import Jobs, at_work
from keras_tagging.cli.progress import Source, applied
from keras_tagging.cli.sharded import (
    Address,
    Out,
    ShardSize,
    Threads,
    Workers,
    annotate_shards,
)
from keras_tagging.cli.tasks import Annotating
from keras_tagging.data.annotation import (
    ConlluWriter,
    as_json,
    as_spans,
    as_tagged_text,
    conllu_columns,
)
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.raw_text import sentences_of_lines, text_lines
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.tables import aligned

#: figures of `evaluate`, as the shared tasks call them
NAMES = {"tokens": "Tokens", "sentences": "Sentences", "words": "Words"}
NAMES |= {name: name.upper() for name in ("upos", "xpos", "feats", "lemma")}
NAMES |= {"uas": "UAS", "las": "LAS"}
WRITERS = {"jsonl": as_json, "text": as_tagged_text, "spans": as_spans}


@contextmanager
def own_encoding() -> Iterator[None]:
    """Errors of readers name --encoding, where other commands have --option."""
    try:
        yield
    except ValueError as error:
        told = str(error).replace("pass encoding= with", "pass --encoding with")
        raise ValueError(told) from error


@own_encoding()
def annotate(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The name of an installed model, the --out of train, the folder of a "
            "pipeline, also of ONNX files, or a model's file, .keras or .onnx.",
        ),
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]",
            help="'-', which is the default, is standard input. With --engine ray "
            "several files, or folders.",
        ),
    ] = None,
    input: Annotated[
        Literal["text", "tokens", "conllu"] | None,
        typer.Option(
            help="Running text, which is the default; one sentence a line with blanks "
            "between tokens; or CoNLL-U, whose tokens are kept. With --engine ray, the "
            "default is what a file's name says."
        ),
    ] = None,
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
    jobs: Jobs = 1,
    engine: Annotated[
        Literal["ray"] | None,
        typer.Option(help="Spread the work over processes and machines with Ray."),
    ] = None,
    out: Out = None,
    workers: Workers = None,
    threads: Threads = None,
    address: Address = None,
    shard_size: ShardSize = None,
) -> None:
    """Annotate text with all models of a pipeline, or with a single one.

    Offsets count characters (code points) from the beginning of the input. Without a
    segmenter, text is read as tokens: one sentence a line. With CoNLL-U as input and
    output, only the columns of the models change. Memory does not grow with the input.
    With --jobs the first process reads, segments and writes, and the others tag and
    parse.

    --engine ray cuts the files (.txt, .jsonl, .conllu, .parquet) into shards, each of
    which becomes a file of the folder --out. A run that was killed goes on when the
    same command is given again. In the end every shard is compared with its input.
    """
    ray = {"out": out, "workers": workers, "threads": threads, "address": address}
    ray["shard_size"] = shard_size
    if engine == "ray":
        refuse("--engine ray has --workers, and no", {"jobs": jobs > 1})
        annotate_shards(run, files, input, output, encoding, **ray)
        return
    refuse("without --engine ray there is no", ray)
    [file, *others] = files or ["-"]
    if others:
        raise ValueError(f"{others[0]}: is a second file, which needs --engine ray")
    if Path(file).is_dir():
        raise ValueError(f"{file}: is a folder, which needs --engine ray --out DIR")
    input = input or "text"
    reading = {"conllu": read_blocks, "tokens": _tokens, "text": text_lines}[input]
    source = Source(file)
    items = reading(source.stream, encoding)  # before the models, which take seconds
    pipeline = load_pipeline(run, threads=None if jobs == 1 else 1)
    if input != "conllu":
        refuse_columns(run, pipeline, f"--input {input}")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if input == "conllu" and output == "conllu":
        columns = conllu_columns(pipeline.columns)
        with annotating(pipeline, run, jobs) as function:
            _fill(function, columns, items, source)
        return
    if input == "conllu":
        items = (block.sentence for block in items)
    if input == "text" and pipeline.segmenter is None:
        what = f"{run} has no segmenter: a line of the text is a sentence, with blanks "
        sys.stderr.write(one_line("note", what + "between its words"))
    write = ConlluWriter().write if output == "conllu" else WRITERS[output]
    if output == "spans" and not pipeline.gives_spans:
        raise ValueError(
            f"{run} has no tagger with chunk tags (B-X, I-X, O), which --output spans "
            "needs: use conllu or jsonl"
        )
    sentences = pipeline.sentences(items)
    with annotating(pipeline, run, jobs) as function:
        for _, sentence in applied(function, sentences, source):
            sys.stdout.write(write(sentence))


def refuse_columns(run: Path, pipeline, input: str) -> None:
    """Refuse text for a model that reads columns of annotated sentences."""
    first = pipeline.tagger or pipeline.parser
    if first is None or not first.input_columns:
        return
    remedy = "use --input conllu"
    if pipeline.tagger is None:
        remedy += ", or a pipeline that has a tagger"
    raise ValueError(
        f"{run} reads the column {first.input_columns[0]!r}, which {input} does not "
        f"have: {remedy}"
    )


@contextmanager
def annotating(pipeline, run: Path, jobs: int) -> Iterator[Callable]:
    """The function from sentences to annotated ones, in order.

    Args:
        pipeline: that of this process.
        run: where it is.
        jobs: the number of processes, 1 for this one.
    """
    if jobs == 1:
        yield pipeline.annotate
        return
    with at_work(Annotating(run), jobs) as work:
        yield work.results


def export_parts(pipeline, out: Path, format: str, options: Mapping) -> None:
    """Write the models of a pipeline for serving, and say what is left out."""
    if out.suffix == ".onnx":
        raise ValueError(
            f"{out}: a pipeline has several files: name a folder and give --onnx, or "
            "export one of its models"
        )
    try:
        left_out = pipeline.export(out, format=format, **options)
    except ImportError as error:
        raise ValueError(str(error)) from error
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


def _tokens(file, encoding: str | None) -> Iterator[Sentence]:
    return sentences_of_lines(text_lines(file, encoding))


def load_pipeline(run: Path, threads: int | None = None):
    """A pipeline, or the pipeline of a single model.

    Args:
        run: where it is.
        threads: of ONNX Runtime; None for as many as there are cores.
    """
    model = load_model(run, command="annotate", pipeline=True, threads=threads)
    from keras_tagging.runtime.pipeline import pipeline_of

    return pipeline_of(model)


def _fill(function, columns: Callable, blocks: Iterator, source: Source) -> None:
    """Write CoNLL-U in which only the columns of the models change.

    Args:
        function: from sentences to annotated ones.
        columns: from an annotated sentence to the columns.
        blocks: of the input.
        source: the input.
    """

    def annotated(ahead):
        return function(block.sentence for block in ahead)

    for block, sentence in applied(annotated, blocks, source):
        sys.stdout.write(block.with_columns(columns(sentence)))
