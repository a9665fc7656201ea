"""The work of `tag`, `parse` and `annotate`, in this process or in another one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import tee
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace

from keras_tagging.cli.common import load_model
from keras_tagging.cli.supertagged import OUTPUTS, SupertagWriter
from keras_tagging.cli.tagged import WRITERS, check_output, fields_of, filled
from keras_tagging.data.conllu import as_conllu


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
    """

    results: Callable[[Iterable], Iterator] | None
    entries: int = 1
    preface: str = ""
    model: SimpleNamespace | None = None


@dataclass(frozen=True)
class Tagging:
    """The task of `tag`: from sentences to text.

    Args:
        run, output, beta, probabilities, column, beam_width: as in the command. With
            the output "conllu" an item is a pair of a sentence and its `Block`, or
            None.
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
        if self.output == "conllu":
            return Work(partial(self._filled, model, self._fields(model)))
        beta, preface = self.beta, ""
        if self.output in OUTPUTS:
            arguments = (self.output, self.beta, self.column, self.run)
            writer = SupertagWriter(model, *arguments)
            beta, preface, write = writer.beta, writer.preface, writer.write
        else:
            check_output(model, self.output, self.beta)
            write = self._write(model)
        tag = partial(model.tag, beta=beta, probabilities=self.probabilities)
        return Work(partial(written, tag, write), entries(model, beta), preface)

    def _write(self, model) -> Callable:
        write = WRITERS[self.output]
        if model.column_names[0] is None:
            return lambda sentence, tags: write(sentence.tokens, {None: tags})
        return lambda sentence, tags: write(sentence.tokens, tags)

    def _fields(self, model) -> Callable:
        return fields_of(model, self.column, self.run)

    def _filled(self, model, fields, items) -> Iterator[str]:
        def write(item, tags):
            (sentence, block), columns = item, fields(tags)
            return block.with_columns(columns) if block else filled(sentence, columns)

        return written(lambda pairs: model.tag(firsts(pairs)), write, items)


@dataclass(frozen=True)
class Parsing:
    """The task of `parse`: from pairs of a sentence and its `Block`, or None, to text.

    Args:
        run, beam_width: as in the command.
    """

    run: Path
    beam_width: int | None = None

    def load(self, threads: int | None = None) -> Work:
        """The task with its model: see `Tagging.load`."""
        model = load_model(self.run, self.beam_width, "parse", threads=threads)
        names = ("kind", "input_columns", "missing_column")
        known = SimpleNamespace(**{name: getattr(model, name) for name in names})
        parse = partial(
            written, lambda pairs: model.parse(firsts(pairs)), self._written
        )
        return Work(parse, model=known)

    @staticmethod
    def _written(item, tree) -> str:
        (sentence, block), columns = item, tree.columns
        # CoNLL-U always has an XPOS, if only "_"
        tags = None if "xpos" in columns else columns.get("predicted_tag")
        write = block.with_trees if block else partial(as_conllu, sentence)
        return write(columns["head"], columns["deprel"], tags)


@dataclass(frozen=True)
class Annotating:
    """The task of `annotate`: from sentences to sentences.

    Args:
        run: as in the command.
    """

    run: Path

    def load(self, threads: int | None = None) -> Work:
        """The task with its models: see `Tagging.load`."""
        from keras_tagging.cli.pipelines import load_pipeline

        return Work(load_pipeline(self.run, threads).annotate_together)


def written(function: Callable, write: Callable, items: Iterable) -> Iterator[str]:
    """The text of each item.

    Args:
        function: from the items to their results, in order.
        write: from an item and its result to text.
        items: a list, or an iterator, of which the function reads some ahead.
    """
    ahead = items
    if not isinstance(items, list):
        ahead, items = tee(items)
    for item, result in zip(items, function(ahead), strict=True):
        yield write(item, result)


def firsts(pairs: Iterable) -> Iterable:
    """The first ones of pairs: of a list in a list."""
    found = map(itemgetter(0), pairs)
    return list(found) if isinstance(pairs, list) else found


def entries(model, beta) -> int:
    """The answers of `tag` for a token: see `metrics.multi_tagging.entries_of`."""
    if beta is None:
        return 1
    # which takes half a second
    from keras_tagging.metrics.multi_tagging import betas_of, entries_of

    tags = model.tags if isinstance(model.tags, dict) else {None: model.tags}
    return entries_of(betas_of(beta, list(tags)), list(map(len, tags.values())))
