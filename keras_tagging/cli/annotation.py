"""Commands that read sentences and write what models say: tag, parse, derive, annotate.

They read and write in constant memory, and a file appears when it is whole.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import IO, Annotated, Literal

import typer

from keras_tagging.cli.jobs import at_work
from keras_tagging.cli.loading import Input, load_pipeline, read_input, with_columns
from keras_tagging.cli.options import (
    BeamWidth,
    Count,
    Errors,
    Form,
    InputFile,
    Jobs,
    Options,
    Run,
    pairs,
    refuse,
)
from keras_tagging.cli.output import is_quiet, remark, show, warn
from keras_tagging.cli.progress import Source, applied
from keras_tagging.cli.tasks import SUPERTAGS, annotating, deriving, parsing, tagging
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.raw_text import sentences_of_lines, text_lines
from keras_tagging.data.readers import source_name
from keras_tagging.utils.atomic import written_to

Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="PATH",
        help="Write a file, which appears when it is whole; or, into a folder, a file "
        "for each input. By default standard output.",
    ),
]
#: of `annotate`
OUTPUTS = ("conllu", "jsonl", "json", "text", "spans", "brat", "csv", "html")
OUTPUTS += ("auto", "tree")
#: endings of the files in a folder; that of any other --output is its name
SUFFIXES = dict.fromkeys(("text", "candc", "easyccg", "tree"), ".txt")
SUFFIXES |= {"spans": ".tsv", "brat": ".ann"}


@dataclass(frozen=True)
class OnRay:
    """The options of --engine ray.

    Args:
        workers: With --engine ray, processes; by default as many as it has CPUs.
        threads: With --engine ray, CPUs of each process; by default 1.
        address: Of a Ray cluster, such as HOST:6379 or auto; by default Ray runs on
            this machine.
    """

    workers: Count = None
    threads: Count = None
    address: str | None = None


#: whether the name of a file is that of annotated sentences or of a table
NO_TEXT = re.compile(r"\.(conllu?|jsonl?|csv|tsv|iob2?)$", re.I).search


def destinations(files: Sequence[str], out: str | None, output: str) -> list:
    """The path to write for each input, or None for standard output.

    Args:
        files: the inputs.
        out: a file, or a folder: one that exists, or whose name ends in a slash, or
            that of several inputs.
        output: the --output.

    Raises:
        ValueError: if two would be one, an input would be replaced, or there are
            several inputs without a folder.
    """
    if out is None:
        if len(files) > 1:
            raise ValueError(f"{files[1]}: a second file, which needs --out FOLDER")
        return [None]
    folder = Path(out)
    if len(files) == 1 and not folder.is_dir() and not out.endswith(("/", os.sep)):
        paths = [folder]
    elif "-" in files:
        raise ValueError(f"--out {out}: standard input has no name: name a file")
    else:
        suffix = SUFFIXES.get(output, f".{output}")
        paths = [folder / f"{Path(file).stem}{suffix}" for file in files]
    if twice := {str(path) for path in paths if paths.count(path) > 1}:
        raise ValueError(f"{min(twice)}: several files would be written there")
    replaced = {Path(file).resolve() for file in files if file != "-"}
    for path in paths:
        if path.resolve() in replaced:
            raise ValueError(f"{path}: would be replaced: give another --out")
    return paths


@contextmanager
def written(path: Path | None, encoding: str) -> Iterator[IO[str]]:
    """The stream to write to; without a path, or with -, it is standard output."""
    if path is None or str(path) == "-":
        sys.stdout.reconfigure(encoding=encoding, newline="\n")
        yield sys.stdout
        return
    with written_to(path) as partial:
        with open(partial, "w", encoding=encoding, newline="\n") as file:
            yield file


def write_results(task, inputs: Iterable[Input], paths: list, jobs: int) -> int:
    """Write what a task makes of sentences, and count those that give no text.

    Args:
        task: as in `at_work`.
        inputs, paths: each input, and where to write it, as `destinations` tells.
        jobs: the number of processes.
    """
    empty = 0
    with at_work(task, jobs) as work:
        for source, path in zip(inputs, paths, strict=True):
            if work.remark and source.is_text:
                remark(work.remark)
            with written(path, source.encoding) as stream:
                stream.write(work.preface)
                writer, items = work.writer(), source.items
                if work.model is not None:
                    items = with_columns(work.model, items, itemgetter(0))
                for _, result in applied(work.results, items, source.source):
                    text = writer.write(result)
                    stream.write(text)
                    empty += not text
    return empty


@dataclass(frozen=True)
class Processing:
    """The input of a model, how to process it, and where the output goes.

    Args:
        format: By default recognised; standard input is 'text', or, where CoNLL-U is
            written, 'conllu' if its first line after comments is a numbered row with
            tabs. For derive, files that end in .txt or have no ending are 'text' too.
    """

    file: InputFile = "-"
    format: str | None = None
    option: Options = None
    out: Out = None
    beam_width: BeamWidth = None
    jobs: Jobs = 1

    def write(
        self, task, output: str, errors: str = "raise", *, keep: bool = True
    ) -> int:
        """Write what a task makes of the input, and count what gives no text.

        Args:
            task: as in `at_work`.
            output: the --output.
            errors, keep: as in `read_input`.
        """
        paths = destinations([self.file], self.out, output)
        options = pairs("--option", self.option)
        source = read_input(self.file, self.format, options, errors, keep=keep)
        return write_results(task, [source], paths, self.jobs)


def tag(
    run: Run,
    process: Processing,
    *,
    errors: Errors = "raise",
    output: Annotated[
        Literal["conll", "jsonl", "json", "text", "conllu", "csv", "candc", "easyccg"],
        Form,
    ] = "conll",
    column: str | None = None,
    beta: float | None = None,
    probabilities: bool = False,
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
        output: token TAB tag, JSON (jsonl, or json for short), word|tag between blanks,
            CoNLL-U in which only the columns of the model change, a table with a
            header, or supertags for the parsers C&C and EasyCCG.
        column: With --output conllu, where the tags go: upos, xpos, ...; by default the
            column that the model was trained on. With candc and easyccg, which column
            of a model is the supertag.
        beta: Give every tag with p >= beta * max p, with p; 0 gives all tags.
        probabilities: Give the tag's probability too.
    """
    no_place = f"--output {output} is not jsonl, and has no"
    if output in ("text", "conllu", "csv"):
        refuse(no_place, {"beta": beta})
    if output in ("text", "conllu", *SUPERTAGS):
        refuse(no_place, {"probabilities": probabilities})
    if output not in ("conllu", *SUPERTAGS):
        refuse(no_place, {"column": column})
    task = partial(
        tagging, run, output, beta, probabilities, column, process.beam_width
    )
    empty = process.write(task, output, errors, keep=output == "conllu")
    if empty and output in SUPERTAGS:
        warn(f"{empty:,} sentences without tokens are left out")


def parse(run: Run, process: Processing) -> None:
    """Parse sentences and write CoNLL-U.

    For CoNLL-U and CoNLL-X, only HEAD and DEPREL change, and the tags that a
    biaffine-parser predicts. All other formats, such as text with one sentence a line
    and blanks between tokens, are converted to CoNLL-U; an empty sentence is an empty
    line. In these, a parser with a tagger of its own (--tags predicted) writes its tags
    as XPOS. At most 2000 sentences are read ahead, with --jobs 4000 for each, so memory
    does not grow with the input.

    Examples:
        keras-tagging parse runs/parser tagged.conllu > parsed.conllu
        keras-tagging parse runs/biaffine < sentences.txt > parsed.conllu
        keras-tagging parse runs/parser tagged.conllu --jobs 4 > parsed.conllu
    """
    process.write(partial(parsing, run, process.beam_width), "conllu")


def derive(
    run: Run,
    process: Processing,
    *,
    errors: Errors = "raise",
    output: Annotated[Literal["auto", "jsonl", "json", "html", "tree"], Form] = "auto",
    beta: float | None = None,
    nbest: Annotated[int | None, typer.Option(min=1, max=1000)] = None,
) -> None:
    """Find the CCG derivations of sentences.

    Text has one sentence a line, with blanks between tokens, also for a pipeline, whose
    CCG parser is used: annotate takes raw text. Every sentence gets a derivation: where
    the grammar has none for the whole, its root has the category FRAG, and its children
    are the fewest parts that have one. A single part is the derivation, though no root
    of training may have its category.

    Examples:
        keras-tagging derive runs/ccg sentences.txt > sentences.auto
        keras-tagging derive runs/ccg --output tree < sentences.txt
        keras-tagging derive en-ccg sentences.txt --nbest 3 --output jsonl
        keras-tagging derive runs/ccg sentences.txt --output html > derivations.html
        keras-tagging derive runs/ccg sentences.txt --output html --beta 0.01

    Args:
        output: The format of CCGbank; JSON with a sentence a line (jsonl, or json for
            short); a page with the derivations as tables; or the usual drawing as text.
        beta: A word has the categories with p >= beta * max p; by default that of the
            model.
        nbest: Give so many derivations of each sentence, if there are.
    """
    if process.format is None and Path(process.file).suffix.lower() in ("", ".txt"):
        process = replace(process, format="text")
    task = partial(deriving, run, output, beta, nbest, process.beam_width)
    if empty := process.write(task, output, errors, keep=False):
        remark(f"sentences without tokens are left out: {empty:,}")


def annotate(
    run: Annotated[Path, typer.Argument(metavar="MODEL")],
    *,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    input: Literal["text", "lines", "tokens", "conllu"] | None = None,
    output: Annotated[Literal[OUTPUTS], Form] = "conllu",
    out: Out = None,
    parts: str | None = None,
    probabilities: bool = False,
    encoding: str | None = None,
    jobs: Jobs = 1,
    engine: Literal["ray"] | None = None,
    ray: OnRay,
) -> None:
    """Annotate text with all models of a pipeline, or with a single one.

    Offsets count characters (code points) from the beginning of the input. Without a
    segmenter, text is read as tokens: one sentence a line. With CoNLL-U as input and
    output, only the columns of the models change. Memory does not grow with the input.
    With --jobs the first process reads, segments and writes, and the others tag and
    parse.

    --engine ray spreads files (.txt, .jsonl, .conllu, .parquet), also those of folders,
    over processes and machines. Each becomes a file of the folder --out. It skips files
    that are there already, so the same command goes on with a run that was killed.

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
        keras-tagging annotate en-ccg book.txt --parts segmenter,parser > trees.conllu
        keras-tagging annotate en one.txt two.txt --out annotated/ --output csv
        keras-tagging annotate en mail.txt --output jsonl --probabilities > mail.jsonl
        keras-tagging annotate en books/ --engine ray --out annotated --workers 8

    Args:
        run: The name of an installed model, the --out of train, the folder of a
            pipeline, also of ONNX files, or a model's file, .keras or .onnx.
        files: '-', which is the default, is standard input. Each of several files is a
            document, and becomes a file of the folder --out.
        input: Running text, which is the default; lines, each of which is a sentence of
            running text; tokens, one sentence a line with blanks between tokens; or
            CoNLL-U, whose tokens are kept. With --engine ray, the default is what a
            file's name says.
        output: CoNLL-U with offsets, JSON with a sentence a line (jsonl, or json for
            short), word|tag between blanks, a row for each entity (start, end, label,
            probability, text), the same as brat's standoff (.ann), a table with a row
            for each word, a page with marked entities, trees and derivations, or CCG
            derivations as CCGbank has them, or drawn.
        parts: Of a pipeline, those that are used, such as segmenter,parser; by default
            all.
        probabilities: Give those of labels too: with jsonl in each word, with csv in
            columns of their own. A biaffine parser gives those of heads and relations.
        encoding: Of the input; by default UTF-8.
        engine: Spread the work over processes and machines with Ray.
    """
    if engine == "ray":
        single = {"jobs": jobs > 1, "probabilities": probabilities, "parts": parts}
        single["input lines"] = input == "lines"
        refuse("--engine ray has --workers, and no", single)
        annotate_on_ray(run, files, input, output, out, encoding, ray)
        return
    refuse("without --engine ray there is no", vars(ray))
    if probabilities and output not in ("jsonl", "csv"):
        raise ValueError("--probabilities needs --output jsonl or csv: give one")
    if output in ("spans", "brat") and input == "conllu":
        raise ValueError(f"--output {output} needs a text, and no --input conllu")
    files = files or ["-"]
    for file in files:
        if input is None and NO_TEXT(file):
            raise ValueError(f"{file}: is no running text: give --input conllu or text")
        if Path(file).is_dir():
            raise ValueError(f"{file}: is a folder, which needs --engine ray --out DIR")
        source_name(file)  # raises if there is none; before the models: they are slow
    paths, input = destinations(files, out, output), input or "text"
    pipeline = load_pipeline(run, None if jobs == 1 else 1, parts)
    check_pipeline(run, pipeline, input, output)
    if probabilities:
        pipeline.check_probabilities()
    keeps = input == output == "conllu"
    inputs = (annotated_input(file, input, encoding, pipeline, keeps) for file in files)
    loaded = pipeline if jobs == 1 else None
    task = partial(annotating, run, output, keeps, probabilities, parts, loaded)
    write_results(task, inputs, paths, jobs)


def annotate_on_ray(
    run: Path,
    files: Sequence[str],
    input: str | None,
    output: str,
    out: str | None,
    encoding: str | None,
    ray: OnRay,
) -> None:
    """Annotate files with Ray, each into a file of a folder, if that is not there yet.

    Raises:
        ValueError: if --out or files are missing, or as in `scale.annotate_files`.
    """
    from rich.console import Console
    from rich.progress import track

    from keras_tagging.scale.files import annotate_files
    from keras_tagging.scale.reading import kind_of

    if out is None or not files:
        raise ValueError("--engine ray needs files, and a folder to write in --out")
    if output not in ("conllu", "jsonl"):
        raise ValueError(f"--engine ray writes conllu or jsonl, not {output}")
    paths: list[Path] = []
    for path in map(Path, files):
        paths += sorted(filter(kind_of, path.iterdir())) if path.is_dir() else [path]
        source_name(paths[-1] if paths else path)  # raises if there is none
    targets = destinations([*map(str, paths)], f"{out}/", output)
    todo = {
        path: target
        for path, target in zip(paths, targets, strict=True)
        if not target.exists()
    }
    sentences = words = 0
    if todo:
        kinds = [kind_of(path) or "text" for path in todo]
        # what a name says of JSON and Parquet holds
        kinds = [k if k in ("jsonl", "parquet") else input or k for k in kinds]
        steps = annotate_files(
            run,
            todo,
            kinds,
            output=output,
            encoding=encoding,
            workers=ray.workers,
            threads=ray.threads or 1,
            address=ray.address,
        )
        display = {"console": Console(stderr=True), "transient": True}
        display["disable"] = is_quiet() or not sys.stderr.isatty()
        for of_file in track(steps, "files", len(todo), **display):
            sentences, words = sentences + of_file[0], words + of_file[1]
    before = f", {len(paths) - len(todo):,} of them before" * (len(todo) < len(paths))
    show(
        f"{out}: {len(paths):,} files{before}; annotated {sentences:,} sentences, "
        f"{words:,} words"
    )


def annotated_input(file: str, kind: str, encoding, pipeline, keeps: bool) -> Input:
    """The input of `annotate`, segmented; with `keeps` its lines of CoNLL-U too."""
    source = Source(file)
    if kind == "conllu":
        blocks = read_blocks(source.stream, encoding)
        items = ((block.sentence, block if keeps else None) for block in blocks)
        return Input(items, source)
    text = text_lines(source.stream, encoding)
    text = sentences_of_lines(text) if kind == "tokens" else text
    sentences = pipeline.sentences(text, lines=kind == "lines")
    return Input(((sentence, None) for sentence in sentences), source)


def check_pipeline(run: Path, pipeline, input: str, output: str) -> None:
    """Refuse a pipeline that cannot read the --input, or lacks what --output writes.

    Raises:
        ValueError: naming the remedy.
    """
    if input != "conllu" and pipeline.input_columns:
        remedy = "use --input conllu"
        if pipeline.tagger is None:
            remedy += ", or a pipeline that has a tagger"
        raise ValueError(
            f"{run} reads the column {pipeline.input_columns[0]!r}: {remedy}"
        )
    if input in ("text", "lines") and pipeline.segmenter is None:
        remark(
            f"{run} has no segmenter: a line of the text is a sentence, with blanks "
            "between its words"
        )
    for outputs, gives, part in (
        (("spans", "brat"), "gives_spans", "tagger with chunk tags (B-X, I-X, O)"),
        (("auto", "tree"), "gives_derivations", "CCG parser"),
    ):
        if output in outputs and not getattr(pipeline, gives):
            raise ValueError(
                f"{run} has no {part}, which --output {output} needs: use conllu or "
                "jsonl"
            )
