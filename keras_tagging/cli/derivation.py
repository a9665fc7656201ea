"""The command that finds CCG derivations: derive."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging import kinds
from keras_tagging.cli.annotation import write_results
from keras_tagging.cli.destinations import Out, destinations
from keras_tagging.cli.inputs import read_input
from keras_tagging.cli.loading import load_model
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
)
from keras_tagging.cli.talk import note
from keras_tagging.cli.tasks import Work
from keras_tagging.data.annotation import as_auto, as_drawing
from keras_tagging.data.html import as_html, language_of, preface
from keras_tagging.data.sentence import Sentence


@dataclass(frozen=True)
class Deriving:
    """The task of `derive`.

    Args:
        run, output, beta, nbest, beam_width: as in the command.
    """

    run: Path
    output: str
    beta: float | None = None
    nbest: int | None = None
    beam_width: int | None = None

    def load(self, threads: int | None = None) -> Work:
        """The task with its model: see `Tagging.load`."""
        model = load_model(
            self.run, self.beam_width, "derive", threads=threads, beta=self.beta
        )
        parser, remark = model, ""
        if kinds.of(model).composed:
            parser = model.derivation_parser
            if model.segmenter is not None:
                remark = (
                    "a line is a sentence, with blanks between its words; for running "
                    f"text: keras-tagging annotate {self.run} --output {self.output}"
                )

        def derived(items: Iterable) -> Iterator[list]:
            # a list is one slice, an iterator is read some ahead
            sentences = (item[0] for item in items)
            sentences = list(sentences) if isinstance(items, list) else sentences
            yield from model.derive(sentences, beta=self.beta, nbest=self.nbest or 1)

        before = ""
        if self.output == "html":
            before = preface(language_of(getattr(model, "metadata", {})))
        writer = WRITERS[self.output]
        return Work(derived, len(parser.tags), before, writer=writer, remark=remark)


def auto_writer() -> Callable:
    """The function that writes derivations as `.auto` files have them, numbered."""
    numbers = count(1)

    def write(found) -> str:
        number = next(numbers)
        return "".join(
            as_auto(one.derivation, number, place)
            for place, (one, _) in enumerate(found, 1)
            if len(one)
        )

    return write


def as_json(found) -> str:
    """The derivations of a sentence as JSON, with their scores."""
    parts = [
        {"score": score, **one.derivation.to_dict()} for one, score in found if len(one)
    ]
    told = {"tokens": list(found[0][0].tokens), "derivations": parts}
    return json.dumps(told, ensure_ascii=False) + "\n"


def as_drawings(found) -> str:
    """The derivations of a sentence as text, each with a blank line after it."""
    return "".join(
        f"# {rank}\n" * bool(rank) + as_drawing(one) for rank, one in ranked(found)
    )


def as_figures(found) -> str:
    """The derivations of a sentence as HTML."""
    return "".join(
        f"<p>{rank}</p>\n" * bool(rank) + as_html(one) for rank, one in ranked(found)
    )


def ranked(found) -> Iterator[tuple[str, Sentence]]:
    """Each derivation of a sentence with its rank and its score as a text, which is ""
    for one without others."""
    for place, (one, score) in enumerate(found, 1):
        several = found[1:] and len(one)
        yield f"{place} of {len(found)}, score {score:.2f}" if several else "", one


#: by --output, what makes the function that writes the derivations of each sentence
WRITERS = {
    "auto": auto_writer,
    "jsonl": lambda: as_json,
    "tree": lambda: as_drawings,
    "html": lambda: as_figures,
}


def derive(
    run: RunOrOnnx,
    file: InputFile = "-",
    format: str | None = None,
    option: Options = None,
    errors: Errors = "raise",
    output: Annotated[Literal["auto", "jsonl", "json", "html", "tree"], Form] = "auto",
    out: Out = None,
    beta: float | None = None,
    nbest: Annotated[int | None, typer.Option(min=1, max=1000)] = None,
    beam_width: BeamWidth = None,
    jobs: Jobs = 1,
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
        format: By default recognised; standard input is 'text', and so are files that
            end in .txt or have no ending.
        output: The format of CCGbank; JSON with a sentence a line (jsonl, or json for
            short); a page with the derivations as tables; or the usual drawing as text.
        beta: A word has the categories with p >= beta * max p; by default that of the
            model.
        nbest: Give so many derivations of each sentence, if there are.
    """
    if beta is not None and not 0 < beta <= 1:
        raise ValueError(f"--beta {beta}: give a number above 0, up to 1")
    if format is None and Path(file).suffix.lower() in ("", ".txt"):
        format = "text"
    paths = destinations([file], out, output)
    options = pairs("--option", option)
    given = read_input(file, format, options, "derive", errors, keep=False)
    empty = write_results(
        Deriving(run, output, beta, nbest, beam_width), [given], paths, jobs
    )
    if empty and output != "jsonl":
        note(one_line("note", f"sentences without tokens are left out: {empty:,}"))
