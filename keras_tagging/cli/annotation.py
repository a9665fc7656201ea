"""Commands that use a trained model: tag, parse, export."""

import sys
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging import kinds
from keras_tagging.cli.common import (
    BeamWidth,
    Errors,
    InputFile,
    Options,
    Run,
    RunOrOnnx,
    load_model,
    one_line,
    pairs,
    refuse,
    text_of_stdin,
)
from keras_tagging.cli.jobs import Jobs, at_work
from keras_tagging.cli.output import onnx_signature, signature
from keras_tagging.cli.pipelines import export_parts
from keras_tagging.cli.progress import Source, applied
from keras_tagging.cli.supertagged import OUTPUTS
from keras_tagging.cli.tasks import Parsing, Tagging
from keras_tagging.cli.treebanks import recognise, treebank, with_columns
from keras_tagging.data import detect_format, read


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
        Literal["conll", "jsonl", "text", "conllu", "candc", "easyccg"],
        typer.Option(
            help="token TAB tag, JSON, word|tag between blanks, CoNLL-U in which only "
            "the columns of the model change, or supertags for the parsers C&C and "
            "EasyCCG."
        ),
    ] = "conll",
    column: Annotated[
        str | None,
        typer.Option(
            help="With --output conllu, where the tags go: upos, xpos, ...; by default "
            "the column that the model was trained on. With candc and easyccg, which "
            "column of a model is the supertag."
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            help="Give every tag with p >= beta * max p, with p; 0 gives all tags."
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Give the tag's probability too.")
    ] = False,
    beam_width: BeamWidth = None,
    jobs: Jobs = 1,
) -> None:
    """Tag sentences: one row or item on standard output for every input token.

    Text has one sentence a line, with blanks between tokens; an empty line is an empty
    sentence, also in the output. Comments and the document marks of CoNLL-2003 are not
    tokens and are dropped. With conll, further tags and the probabilities follow the
    tag in columns of their own, and so do the tags of further columns (train --tags).
    With conllu, standard input is CoNLL-U if it looks so, as in `parse`. candc is
    word|POS|supertag, and with --beta C&C's rows of several supertags a word; easyccg
    has a --beta of 0.0001 unless given. At most 2000 sentences are read ahead, with
    --jobs 4000 for each, so memory does not grow with the input.
    """
    if output in ("text", "conllu") and (beta is not None or probabilities):
        raise ValueError(f"--output {output} has no place for probabilities: use jsonl")
    if output in OUTPUTS:
        refuse(
            f"--output {output} has probabilities with --beta, and no",
            {"probabilities": probabilities},
        )
    options = pairs("--option", option)
    task = Tagging(run, output, beta, probabilities, column, beam_width)
    if output == "conllu":
        source, stream, format = opened(file, format, options)
        items, encoding = treebank(stream, format, options, "tag", errors)
        with at_work(task, jobs) as work:
            sys.stdout.reconfigure(encoding=encoding, newline="\n")
            for _, text in applied(work.results, items, source):
                sys.stdout.write(text)
        return
    if output not in OUTPUTS:
        refuse(f"with --output {output} there is no", {"column": column})
    if format is None and file == "-":
        format = text_of_stdin(options)
    if format is None and Path(file).is_file():  # a pipe can be read only once
        format = detect_format(file, encoding=options.get("encoding"))
        sys.stderr.write(f"{file} is read as {format}; use --format to change this\n")
    source = Source(file)
    sentences = read(source.stream, format, errors=errors, **options)
    empty = 0
    with at_work(task, jobs) as work:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        sys.stdout.write(work.preface)
        for _, text in applied(work.results, sentences, source):
            sys.stdout.write(text)
            empty += not text
    if empty:  # of supertags
        what = f"{empty:,} sentences without tokens are left out"
        sys.stderr.write(one_line("warning", what))


def opened(file: str, format: str | None, options: dict):
    """The `Source` of a file for progress, the source for `data.read`, and the format.

    The format is that of `recognise`, if none was given.
    """
    stream = file
    if format is None:
        stream, format = recognise(file, options)
    source = Source(file)
    return source, source.stream if stream == file else stream, format


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
    jobs: Jobs = 1,
) -> None:
    """Parse sentences and write CoNLL-U to standard output.

    For CoNLL-U and CoNLL-X, only HEAD and DEPREL change. All other formats, such as
    text with one sentence a line and blanks between tokens, are converted to CoNLL-U;
    an empty sentence is an empty line. In these, a parser with a tagger of its own
    (--tags predicted) writes its tags as XPOS. At most 2000 sentences are read ahead,
    with --jobs 4000 for each, so memory does not grow with the input.
    """
    options = pairs("--option", option)
    source, stream, format = opened(file, format, options)
    items, encoding = treebank(stream, format, options, "parse")
    with at_work(Parsing(run, beam_width), jobs) as work:
        sys.stdout.reconfigure(encoding=encoding, newline="\n")
        items = with_columns(work.model, items, itemgetter(0))
        for _, text in applied(work.results, items, source):
            sys.stdout.write(text)


def export(
    run: Run,
    out: Annotated[
        Path,
        typer.Argument(
            help="Folder for the SavedModel, or, with --onnx, for the ONNX files of a "
            "pipeline; or a file NAME.onnx."
        ),
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
    onnx: Annotated[
        bool,
        typer.Option("--onnx", help="Of a pipeline, ONNX files, not SavedModels."),
    ] = False,
    beam_width: BeamWidth = None,
) -> None:
    """Write a SavedModel, or ONNX: strings in, tags and probabilities, or trees, out.

    A name that ends in .onnx is a file for ONNX Runtime, any other one a folder for
    TensorFlow. A pipeline is written into a folder, one SavedModel for each of its
    models, or with --onnx one file, which annotate and serve read. ONNX needs the extra
    onnx: pip install 'keras-tagging[onnx]'.
    """
    if int8 and out.suffix != ".onnx" and not onnx:
        raise ValueError(
            f"--int8 is of ONNX files: give a name that ends in .onnx, not {out}, or, "
            "for a pipeline, --onnx"
        )
    options = {} if top_k is None else {"top_k": top_k}
    if int8:
        options["int8"] = True
    model = load_model(run, pipeline=True)
    if kinds.of(model).composed:
        refuse(f"{run} holds a pipeline, which has no", {"beam_width": beam_width})
        export_parts(model, out, "onnx" if onnx else "tf_saved_model", options)
        return
    no_pipeline = f"{run} is no pipeline: name a file NAME.onnx, as there is no"
    refuse(no_pipeline, {"onnx": onnx})
    if beam_width is not None:
        model.beam_width = beam_width
    if "top_k" not in kinds.of(model).options:
        refuse(f"{run} holds a {model.kind}, which has no", {"top_k": top_k})
    if out.suffix != ".onnx":
        model.export(out, **options)
        print(f"Written to {out}: serve it with TensorFlow\n{signature(out)}")
        return
    try:
        model.export(out, format="onnx", **options)
    except ImportError as error:
        raise ValueError(str(error)) from error
    print(f"Written to {out}: for keras-tagging {model.command} and ONNX Runtime")
    print(onnx_signature(out))
