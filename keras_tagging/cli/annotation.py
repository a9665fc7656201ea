"""Commands that read sentences and write what models say: tag, parse, annotate."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.cli.destinations import Out, destinations, written
from keras_tagging.cli.inputs import Input, read_input, read_text, with_columns
from keras_tagging.cli.jobs import at_work
from keras_tagging.cli.loading import load_pipeline
from keras_tagging.cli.options import (
    BeamWidth,
    Errors,
    Form,
    InputFile,
    Jobs,
    Options,
    RunOrOnnx,
    one_line,
    pairs,
    refuse,
)
from keras_tagging.cli.progress import applied
from keras_tagging.cli.sharded import Sharding, annotate_shards
from keras_tagging.cli.supertagged import OUTPUTS
from keras_tagging.cli.talk import note
from keras_tagging.cli.tasks import Annotating, Parsing, Tagging
from keras_tagging.data.readers import source_name


def write_results(task, inputs: Iterable[Input], paths: list, jobs: int) -> int:
    """Write what a task makes of sentences, and count those that give no text.

    Args:
        task: one of `cli.tasks`.
        inputs, paths: each input, and where to write it, as `destinations` tells.
        jobs: the number of processes.
    """
    empty = 0
    with at_work(task, jobs) as work:
        for given, path in zip(inputs, paths, strict=True):
            if work.remark and given.is_text:
                note(one_line("note", work.remark))
            with written(path, given.encoding) as stream:
                stream.write(work.preface)
                write, items = work.writer(), given.items
                if work.model is not None:
                    items = with_columns(work.model, items, itemgetter(0))
                for _, result in applied(work.results, items, given.source):
                    text = write(result)
                    stream.write(text)
                    empty += not text
    return empty


def tag(
    run: RunOrOnnx,
    file: InputFile = "-",
    format: str | None = None,
    option: Options = None,
    errors: Errors = "raise",
    output: Annotated[
        Literal["conll", "jsonl", "json", "text", "conllu", "csv", "candc", "easyccg"],
        Form,
    ] = "conll",
    out: Out = None,
    column: str | None = None,
    beta: float | None = None,
    probabilities: bool = False,
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

    Examples:
        keras-tagging tag runs/demo sentences.txt > tagged.conll
        keras-tagging tag runs/demo sentences.txt --jobs 4 > tagged.conll
        keras-tagging tag runs/demo --beta 0.01 --output jsonl < sentences.txt
        keras-tagging tag tagger.onnx sentences.txt > tagged.conll
        keras-tagging tag runs/all corpus.conllu --output conllu > tagged.conllu
        keras-tagging tag runs/ccg sentences.txt --output easyccg > supertagged.txt
        keras-tagging tag runs/ccg corpus.conllu --output candc --beta 0.001 >
            supertagged.txt

    Args:
        format: By default recognised; standard input is 'text'.
        output: token TAB tag, JSON (jsonl, or json for short), word|tag between blanks,
            CoNLL-U in which only the columns of the model change, a table with a
            header, or supertags for the parsers C&C and EasyCCG.
        column: With --output conllu, where the tags go: upos, xpos, ...; by default the
            column that the model was trained on. With candc and easyccg, which column
            of a model is the supertag.
        beta: Give every tag with p >= beta * max p, with p; 0 gives all tags.
        probabilities: Give the tag's probability too.
    """
    if output in ("text", "conllu") and (beta is not None or probabilities):
        raise ValueError(f"--output {output} has no place for probabilities: use jsonl")
    if output == "csv" and beta is not None:
        raise ValueError("--output csv has no place for several tags: use jsonl")
    if output in OUTPUTS:
        refuse(
            f"--output {output} has probabilities with --beta, and no",
            {"probabilities": probabilities},
        )
    elif output != "conllu":
        refuse(f"with --output {output} there is no", {"column": column})
    options, keep = pairs("--option", option), output == "conllu"
    paths = destinations([file], out, output)
    given = read_input(file, format, options, "tag", errors, keep=keep)
    task = Tagging(run, output, beta, probabilities, column, beam_width)
    empty = write_results(task, [given], paths, jobs)
    if empty and output in OUTPUTS:
        what = f"{empty:,} sentences without tokens are left out"
        sys.stderr.write(one_line("warning", what))


def parse(
    run: RunOrOnnx,
    file: InputFile = "-",
    format: str | None = None,
    option: Options = None,
    out: Out = None,
    beam_width: BeamWidth = None,
    jobs: Jobs = 1,
) -> None:
    """Parse sentences and write CoNLL-U.

    For CoNLL-U and CoNLL-X, only HEAD and DEPREL change. All other formats, such as
    text with one sentence a line and blanks between tokens, are converted to CoNLL-U;
    an empty sentence is an empty line. In these, a parser with a tagger of its own
    (--tags predicted) writes its tags as XPOS. At most 2000 sentences are read ahead,
    with --jobs 4000 for each, so memory does not grow with the input.

    Examples:
        keras-tagging parse runs/parser tagged.conllu > parsed.conllu
        keras-tagging parse runs/words-only < sentences.txt > parsed.conllu
        keras-tagging parse runs/parser tagged.conllu --jobs 4 > parsed.conllu

    Args:
        format: By default recognised; standard input is 'conllu' if its first line
            after comments is a numbered row with tabs, otherwise 'text'.
    """
    paths = destinations([file], out, "conllu")
    given = read_input(file, format, pairs("--option", option), "parse")
    write_results(Parsing(run, beam_width), [given], paths, jobs)


@contextmanager
def own_encoding() -> Iterator[None]:
    """Errors of readers name --encoding, where other commands have --option."""
    try:
        yield
    except ValueError as error:
        message = str(error).replace("pass encoding= with", "pass --encoding with")
        raise ValueError(message) from error


@own_encoding()
def annotate(
    run: Annotated[Path, typer.Argument(metavar="MODEL")],
    *,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    input: Literal["text", "lines", "tokens", "conllu"] | None = None,
    output: Annotated[
        Literal[
            "conllu",
            "jsonl",
            "json",
            "text",
            "spans",
            "brat",
            "csv",
            "html",
            "auto",
            "tree",
        ],
        Form,
    ] = "conllu",
    out: Out = None,
    parts: str | None = None,
    probabilities: bool = False,
    encoding: str | None = None,
    jobs: Jobs = 1,
    engine: Literal["ray"] | None = None,
    sharding: Sharding,
) -> None:
    """Annotate text with all models of a pipeline, or with a single one.

    Offsets count characters (code points) from the beginning of the input. Without a
    segmenter, text is read as tokens: one sentence a line. With CoNLL-U as input and
    output, only the columns of the models change. Memory does not grow with the input.
    With --jobs the first process reads, segments and writes, and the others tag and
    parse.

    --engine ray cuts the files (.txt, .jsonl, .conllu, .parquet), also those of
    folders, into shards, each of which becomes a file of the folder --out. A run that
    was killed goes on when the same command is given again. In the end every shard is
    compared with its input.

    Examples:
        keras-tagging annotate en book.txt > book.conllu
        keras-tagging annotate served/ book.txt > book.conllu
        keras-tagging annotate runs/en book.txt --jobs 4 > book.conllu
        keras-tagging annotate runs/en --output jsonl < book.txt
        keras-tagging annotate runs/en corpus.conllu --input conllu > annotated.conllu
        keras-tagging annotate runs/ner mail.txt --output spans
        keras-tagging annotate runs/ner mail.txt --output brat > mail.ann
        keras-tagging annotate en mail.txt --output html > mail.html
        keras-tagging annotate runs/ccg book.txt --output auto > book.auto
        keras-tagging annotate en-ccg book.txt --output tree
        keras-tagging annotate en-ccg book.txt --parts segmenter,tagger > tagged.conllu
        keras-tagging annotate en one.txt two.txt --out annotated/ --output csv
        keras-tagging annotate en mail.txt --output jsonl --probabilities > mail.jsonl
        keras-tagging annotate en books/ --engine ray --out annotated --workers 8

    Args:
        run: The name of an installed model, the --out of train, the folder of a
            pipeline, also of ONNX files, or a model's file, .keras or .onnx.
        files: '-', which is the default, is standard input. Of several files each is a
            document, and becomes a file of the folder --out.
        input: Running text, which is the default; lines, each of which is a sentence of
            running text; one sentence a line with blanks between tokens; or CoNLL-U,
            whose tokens are kept. With --engine ray, the default is what a file's name
            says.
        output: CoNLL-U with offsets, JSON with a sentence a line (jsonl, or json for
            short), word|tag between blanks, a row for each entity (start, end, label,
            probability, text), the same as brat's standoff (.ann), a table with a row
            for each word, a page with marked entities, trees and derivations, or CCG
            derivations as CCGbank has them, or drawn.
        parts: Of a pipeline, those that are used, such as segmenter,tagger; by default
            all.
        probabilities: Give those of the taggers' labels too: with jsonl in each word,
            with csv in columns of their own. Heads and relations have none.
        encoding: Of the input; by default UTF-8.
        engine: Spread the work over processes and machines with Ray.
    """
    if engine == "ray":
        own = {"jobs": jobs > 1, "probabilities": probabilities, "parts": parts}
        own["input lines"] = input == "lines"
        refuse("--engine ray has --workers, and no", own)
        folder = out and Path(out)
        annotate_shards(run, files, input, output, encoding, folder, sharding)
        return
    refuse("without --engine ray there is no", vars(sharding))
    if probabilities and output not in ("jsonl", "csv"):
        what = f"--output {output} has no place for probabilities"
        raise ValueError(f"{what}: use jsonl, or csv")
    if output in ("spans", "brat") and input == "conllu":
        raise ValueError(
            f"--output {output} has offsets in a text, which --input conllu is not: "
            "use conllu or jsonl"
        )
    files, input = files or ["-"], input or "text"
    for file in files:
        if Path(file).is_dir():
            raise ValueError(f"{file}: is a folder, which needs --engine ray --out DIR")
        source_name(file)  # raises if there is none; before the models: they are slow
    paths = destinations(files, out, output)
    pipeline = load_pipeline(run, None if jobs == 1 else 1, parts)
    if input != "conllu":
        refuse_columns(run, pipeline, f"--input {input}")
    if input in ("text", "lines") and pipeline.segmenter is None:
        what = f"{run} has no segmenter: a line of the text is a sentence, with blanks "
        note(one_line("note", what + "between its words"))
    if output in ("spans", "brat") and not pipeline.gives_spans:
        raise ValueError(
            f"{run} has no tagger with chunk tags (B-X, I-X, O), which --output "
            f"{output} needs: use conllu or jsonl"
        )
    if output in ("auto", "tree") and not pipeline.gives_derivations:
        raise ValueError(
            f"{run} has no CCG parser, which --output {output} needs: use conllu or "
            "jsonl"
        )
    if probabilities:
        pipeline.check_probabilities()
    keeps = input == output == "conllu"
    inputs = (annotated_input(file, input, encoding, pipeline, keeps) for file in files)
    given = pipeline if jobs == 1 else None
    task = Annotating(run, output, keeps, given, probabilities, parts)
    write_results(task, inputs, paths, jobs)


def annotated_input(file: str, kind: str, encoding, pipeline, keeps: bool) -> Input:
    """The input of `annotate`, segmented; with `keeps` its lines of CoNLL-U too."""
    found, source = read_text(file, kind, encoding)
    if kind == "conllu":
        items = ((block.sentence, block if keeps else None) for block in found)
    else:
        sentences = pipeline.sentences(found, lines=kind == "lines")
        items = ((sentence, None) for sentence in sentences)
    return Input(items, source)


def refuse_columns(run: Path, pipeline, input: str) -> None:
    """Refuse text for a model that reads columns of annotated sentences."""
    if not pipeline.input_columns:
        return
    remedy = "use --input conllu"
    if pipeline.tagger is None:
        remedy += ", or a pipeline that has a tagger"
    raise ValueError(
        f"{run} reads the column {pipeline.input_columns[0]!r}, which {input} does not "
        f"have: {remedy}"
    )
