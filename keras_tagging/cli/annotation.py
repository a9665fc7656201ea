"""Commands that use a trained model: tag, parse, export."""

import sys
from functools import partial
from itertools import tee
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.cli.common import (
    BeamWidth,
    Errors,
    InputFile,
    Options,
    Run,
    RunOrOnnx,
    load_model,
    pairs,
    refuse,
    text_of_stdin,
)
from keras_tagging.cli.output import WRITERS, onnx_signature, signature
from keras_tagging.cli.treebanks import recognise, with_columns
from keras_tagging.data import detect_format, read
from keras_tagging.data.conllu import as_conllu, read_blocks


def tag(
    run: RunOrOnnx,
    file: InputFile = "-",
    format: Annotated[
        str | None,
        typer.Option(help="By default recognised; standard input is 'text'."),
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
    beam_width: BeamWidth = None,
) -> None:
    """Tag sentences: one row or item on standard output for every input token.

    Text has one sentence a line, with blanks between tokens; an empty line is an empty
    sentence, also in the output. Comments and the document marks of CoNLL-2003 are not
    tokens and are dropped. With conll, further tags and the probabilities follow the
    tag in columns of their own. At most 2000 sentences are read ahead, so memory does
    not grow with the input.
    """
    if output == "text" and (beta is not None or probabilities):
        raise ValueError("--output text has no place for probabilities: use jsonl")
    options = pairs("--option", option)
    if format is None and file == "-":
        format = text_of_stdin(options)
    if format is None and Path(file).is_file():  # a pipe can be read only once
        format = detect_format(file, encoding=options.get("encoding"))
        sys.stderr.write(f"{file} is read as {format}; use --format to change this\n")
    sentences = read(file, format, errors=errors, **options)
    model = load_model(run, beam_width, "tag")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    ahead, sentences = tee(sentences)
    tagged = model.tag(ahead, beta=beta, probabilities=probabilities)
    for sentence, tags in zip(sentences, tagged, strict=True):
        sys.stdout.write(WRITERS[output](sentence.tokens, tags))


def parse(
    run: RunOrOnnx,
    file: InputFile = "-",
    format: Annotated[
        str | None,
        typer.Option(
            help="By default recognised; standard input is 'conllu' if its first line "
            "after comments is a numbered row with tabs, otherwise 'text'."
        ),
    ] = None,
    option: Options = None,
    beam_width: BeamWidth = None,
) -> None:
    """Parse sentences and write CoNLL-U to standard output.

    For CoNLL-U and CoNLL-X, only HEAD and DEPREL change. All other formats, such as
    text with one sentence a line and blanks between tokens, are converted to CoNLL-U;
    an empty sentence is an empty line. In these, a parser with a tagger of its own
    (--tags predicted) writes its tags as XPOS. At most 2000 sentences are read ahead,
    so memory does not grow with the input.
    """
    options = pairs("--option", option)
    source, encoding = file, "utf-8"
    if format is None:
        source, format = recognise(file, options)
    if format in ("conllu", "conllx"):
        if unknown := set(options) - {"encoding"}:
            raise ValueError(
                f"--option {min(unknown)}: for {format}, parse takes encoding only"
            )
        encoding = options.get("encoding", encoding)
        blocks = read_blocks(source, **options)
        items = ((block.sentence, block.with_trees) for block in blocks)
    else:
        sentences = read(source, format, **options)
        items = ((sentence, partial(as_conllu, sentence)) for sentence in sentences)
    model = load_model(run, beam_width, "parse")
    sys.stdout.reconfigure(encoding=encoding, newline="\n")
    ahead, items = tee(items)
    parsed = model.parse(with_columns(model, (sentence for sentence, _ in ahead)))
    for (_, written), tree in zip(items, parsed, strict=True):
        columns = tree.columns  # CoNLL-U always has an XPOS, if only "_"
        tags = None if "xpos" in columns else columns.get("predicted_tag")
        sys.stdout.write(written(columns["head"], columns["deprel"], tags))


def export(
    run: Run,
    out: Annotated[
        Path, typer.Argument(help="Folder for the SavedModel, or a file NAME.onnx.")
    ],
    top_k: Annotated[
        int | None,
        typer.Option(
            help="For taggers, the number of tags to give for each token; 5 by default."
        ),
    ] = None,
    int8: Annotated[
        bool,
        typer.Option(
            "--int8",
            help="For ONNX, integers of 8 bits in recurrent layers: smaller, faster, "
            "and a few other tags.",
        ),
    ] = False,
    beam_width: BeamWidth = None,
) -> None:
    """Write a SavedModel, or ONNX: strings in, tags and probabilities, or trees, out.

    A name that ends in .onnx is a file for ONNX Runtime, any other one a folder for
    TensorFlow.
    """
    model = load_model(run, beam_width)
    if model.reads_trees:
        refuse(f"{run} holds a parser, which has no", {"top_k": top_k})
    options = {} if top_k is None else {"top_k": top_k}
    if int8:
        options["int8"] = True
    if out.suffix != ".onnx":
        model.export(out, **options)
        print(f"Written to {out}: serve it with TensorFlow\n{signature(out)}")
        return
    try:
        model.export(out, format="onnx", **options)
    except ImportError as error:
        raise ValueError(str(error)) from error
    print(f"Written to {out}: serve it with ONNX Runtime\n{onnx_signature(out)}")
