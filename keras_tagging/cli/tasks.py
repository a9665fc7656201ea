"""The work of `tag`, `parse`, `derive` and `annotate`, in this process or another."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import tee
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace

from keras_tagging import kinds
from keras_tagging.cli.loading import load_model, load_pipeline
from keras_tagging.cli.supertagged import OUTPUTS, SupertagWriter
from keras_tagging.data.annotation import (
    WRITERS,
    AutoWriter,
    BratWriter,
    ConlluWriter,
    CsvWriter,
    as_auto,
    as_drawing,
    as_json,
    as_spans,
    as_tagged_text,
    comments_of,
    conllu_columns,
)
from keras_tagging.data.conllu import as_conllu, conllu_field
from keras_tagging.data.html import as_html, language_of, preface
from keras_tagging.data.named_columns import field_of, with_labels
from keras_tagging.data.sentence import Sentence

#: the --output of `annotate` that writes each sentence for itself
SENTENCES = {"jsonl": as_json, "text": as_tagged_text, "spans": as_spans}
SENTENCES |= {"html": as_html, "tree": as_drawing}


class TextWriter:
    """The writer of results that are texts."""

    write = staticmethod(str)


#: the --output of `annotate` whose writers go from sentence to sentence
ANSWERS = {"brat": BratWriter, "auto": AutoWriter, "conllu": ConlluWriter}


@dataclass(frozen=True)
class Work:
    """A task with its model.

    Args:
        results: the function from items to what is made of each. Of an iterator it
            reads some ahead; a list is one slice.
        entries: what a token is given, as in `encoding.batching.slices`.
        preface: what stands before all results.
        model: what the command needs to know of the model; it can be sent to another
            process.
        writer: makes the object that writes results as text, one after the other.
        remark: what the user should know of sentences that are lines of text.
    """

    results: Callable[[Iterable], Iterator] | None
    entries: int = 1
    preface: str = ""
    model: SimpleNamespace | None = None
    writer: Callable = TextWriter
    remark: str = ""


@dataclass(frozen=True)
class Tagging:
    """The task of `tag`: an item, as of all tasks, is one of `inputs.Input`.

    Args:
        run, output, beta, probabilities, column, beam_width: as in the command.
    """

    run: Path
    output: str
    beta: float | None = None
    probabilities: bool = False
    column: str | None = None
    beam_width: int | None = None

    def load(self, threads: int | None = None) -> Work:
        """The task with its model.

        Args:
            threads: of ONNX Runtime; None for as many as there are cores.

        Raises:
            ValueError: if the model is not one for it.
        """
        model = load_model(self.run, self.beam_width, "tag", threads=threads)
        beta, preface = self.beta, ""
        if self.output in OUTPUTS:
            arguments = (self.output, self.beta, self.column, self.run)
            writer = SupertagWriter(model, *arguments)
            beta, preface = writer.beta, writer.preface

            def write(sentence, block, tags):
                return writer.write(sentence, tags)

        elif self.output == "conllu":
            fields = fields_of(model, self.column, self.run)

            def write(sentence, block, tags):
                return filled(sentence, block, fields(tags))

        elif self.output == "csv":
            names = [name or "tags" for name in model.column_names]
            probable = names if self.probabilities else []

            def write(sentence, block, tags):
                columns = tags if isinstance(tags, dict) else {"tags": tags}
                pairs = {name: columns[name] for name in probable}
                labels = {name: [tag for tag, _ in pairs[name]] for name in pairs}
                values = {name: [p for _, p in pairs[name]] for name in pairs}
                columns = columns | labels
                return Sentence(sentence.tokens, columns=columns, probabilities=values)

            tag = partial(model.tag, probabilities=self.probabilities)
            return as_csv(names, partial(results, tag, write), probable)
        else:
            check_output(model, self.output, self.beta)
            rows, named = WRITERS[self.output], model.column_names[0] is not None

            def write(sentence, block, tags):
                return rows(sentence.tokens, tags if named else {None: tags})

        tag = partial(model.tag, beta=beta, probabilities=self.probabilities)
        return Work(partial(results, tag, write), entries(model, beta), preface)


@dataclass(frozen=True)
class Parsing:
    """The task of `parse`.

    Args:
        run, beam_width: as in the command.
    """

    run: Path
    beam_width: int | None = None

    def load(self, threads: int | None = None) -> Work:
        """The task with its model: see `Tagging.load`."""
        model = load_model(self.run, self.beam_width, "parse", threads=threads)
        names = ("kind", "input_columns", "missing_column")
        about = SimpleNamespace(**{name: getattr(model, name) for name in names})
        return Work(partial(results, model.parse, self._write), model=about)

    @staticmethod
    def _write(sentence, block, tree) -> str:
        columns = tree.columns
        # CoNLL-U always has an XPOS, if only "_"
        tags = None if "xpos" in columns else columns.get("predicted_tag")
        write = block.with_trees if block else partial(as_conllu, sentence)
        return write(columns["head"], columns["deprel"], tags)


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
        derive = partial(model.derive, beta=self.beta, nbest=self.nbest or 1)
        return Work(
            partial(results, derive, answer),
            len(parser.tags),
            preface_of(model) if self.output == "html" else "",
            writer=partial(DerivationsWriter, self.output),
            remark=remark,
        )


class DerivationsWriter:
    """The derivations of sentences, those of each from the best on, as `derive` writes.

    Args:
        output: as in the command.
    """

    def __init__(self, output: str):
        self.output, self.count = output, 0

    def write(self, derivations: list[tuple[Sentence, float]]) -> str:
        """The text of the next sentence; "" for one without tokens, but in JSON."""
        self.count += 1
        words = derivations[0][0].tokens
        if self.output == "jsonl":
            scored = [
                {"score": score, **sentence.derivation.to_dict()}
                for sentence, score in derivations
                if words
            ]
            content = {"tokens": list(words), "derivations": scored}
            return json.dumps(content, ensure_ascii=False) + "\n"
        text = ""
        for rank, (sentence, score) in enumerate(derivations, 1):
            title = f"{rank} of {len(derivations)}, score {score:.2f}"
            several = len(derivations) > 1 and bool(words)
            if self.output == "html":
                text += f"<p>{title}</p>\n" * several + as_html(sentence)
            elif self.output == "tree":
                text += f"# {title}\n" * several + as_drawing(sentence)
            elif words:
                text += as_auto(sentence.derivation, self.count, rank)
        return text


@dataclass(frozen=True)
class Annotating:
    """The task of `annotate`.

    Args:
        run, output: as in the command.
        keeps: whether items have the lines of CoNLL-U that are written again.
        pipeline: what `run` holds, if this process has it.
        probabilities: whether they are written.
        parts: as in the command.
    """

    run: Path
    output: str
    keeps: bool
    pipeline: object = None
    probabilities: bool = False
    parts: str | None = None

    def load(self, threads: int | None = None) -> Work:
        """The task with its models: see `Tagging.load`."""
        pipeline = self.pipeline or load_pipeline(self.run, threads, self.parts)
        annotate = partial(annotated, pipeline, self.probabilities)
        if self.output == "csv":
            probable = pipeline.probability_columns if self.probabilities else ()
            work = partial(results, annotate, answer)
            return as_csv(pipeline.columns, work, probable)
        if self.keeps:
            columns = conllu_columns(pipeline.columns)

            def write(_, block, sentence):
                return block.with_columns(columns(sentence), comments_of(sentence))

            return Work(partial(results, annotate, write))
        if self.output in ANSWERS:  # in the first process: sentences are numbered
            work = partial(results, annotate, answer)
            return Work(work, writer=ANSWERS[self.output])
        form = SENTENCES[self.output]
        before = preface_of(pipeline) if self.output == "html" else ""
        write = partial(results, annotate, lambda _, block, sentence: form(sentence))
        return Work(write, preface=before)


def preface_of(model) -> str:
    """The lines that stand before the sentences of a page."""
    return preface(language_of(getattr(model, "metadata", {})))


def as_csv(columns: Iterable[str], results: Callable, probable=()) -> Work:
    """The work whose results are sentences, which are written as CSV."""
    writer = partial(CsvWriter, columns, probable)
    return Work(results, preface=writer().header, writer=writer)


def answer(sentence, block, answered):
    """The `write` of `results` that gives what the model says."""
    return answered


def results(answer: Callable, write: Callable, items: Iterable) -> Iterator:
    """The result of each item, written.

    Args:
        answer: from the sentences to what a model says of each, in order.
        write: from a sentence, its `Block` or None, and this answer to the result.
        items: a list, or an iterator, of which `answer` reads some ahead.
    """
    if isinstance(items, list):
        sentences = list(map(itemgetter(0), items))
    else:
        ahead, items = tee(items)
        sentences = map(itemgetter(0), ahead)
    for item, answered in zip(items, answer(sentences), strict=True):
        yield write(*item, answered)


def annotated(pipeline, probabilities: bool, sentences: Iterable) -> Iterable:
    """The sentences, annotated; those of a list together, as one slice."""
    if isinstance(sentences, list):
        return pipeline.annotate_together(sentences, probabilities)
    return pipeline.annotate(sentences, probabilities=probabilities)


def filled(sentence, block, columns: Mapping) -> str:
    """A sentence as CoNLL-U, with these columns beside its own."""
    if block:
        return block.with_columns(columns)
    # JSON may have a column `upos` of its own, where CoNLL-U's is `pos`
    columns = {field_of(name): values for name, values in columns.items()}
    return as_conllu(with_labels(sentence, columns))


def check_output(model, output: str, beta) -> None:
    """Refuse an --output that has no place for what the model gives.

    Raises:
        ValueError: naming another one.
    """
    names = model.column_names
    if len(names) > 1 and (
        output == "text" or (output == "conll" and beta is not None)
    ):
        raise ValueError(
            f"--output {output} has no place for {', '.join(names)}: use jsonl"
        )


def fields_of(model, column: str | None, run) -> Callable:
    """The function from what `tag` gives for a sentence to columns of CoNLL-U.

    Args:
        model: the tagger.
        column: of the tags of a tagger whose column has no name; None for that of its
            training corpus.
        run: where the model is, for messages.

    Raises:
        ValueError: if the column is not known, or was given for one with a name.
    """
    names = model.column_names
    if (named := names[0] is not None) and column is not None:
        raise ValueError(
            f"--column {column}: {run} has columns of its own, {', '.join(names)}"
        )
    if not named:
        corpus = getattr(model, "metadata", {}).get("corpus") or {}
        names = (column or corpus.get("tag_column"),)
    if names[0] is None:
        raise ValueError(
            f"{run} has tags without a column: give --column upos, or xpos"
        )
    for name in names:
        conllu_field(str(name))

    def fields(tags) -> dict[str, list[str]]:
        tags = tags if named else {names[0]: tags}
        # no field is empty
        return {name: [tag or "_" for tag in tags[name]] for name in names}

    return fields


def entries(model, beta) -> int:
    """The answers of `tag` for a token: see `metrics.multi_tagging.entries_of`."""
    if beta is None:
        return 1
    # which takes half a second
    from keras_tagging.metrics.multi_tagging import betas_of, entries_of

    tags = model.tags if isinstance(model.tags, dict) else {None: model.tags}
    return entries_of(betas_of(beta, list(tags)), list(map(len, tags.values())))
