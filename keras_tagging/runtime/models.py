"""A tagger and a parser that ONNX Runtime runs."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

import numpy as np

from keras_tagging.data.label_columns import (
    by_column,
    check_names,
    output_names,
    with_labels,
)
from keras_tagging.data.lemmas import is_script, lemmas_of, shown_pairs
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.projectivity import SEPARATOR, unlift
from keras_tagging.data.sentence import Corpus, Sentence, as_sentence, as_sentences
from keras_tagging.encoding.batching import plan_batches, slices
from keras_tagging.runtime.strings import encodable
from keras_tagging.utils import limits

PREDICTED = "predicted_tag"  # the column of a parser's own tags


class OnnxModel:
    """Base of taggers and parsers: sentences in, batches by length.

    Args:
        session: of ONNX Runtime.
        described: what the file says of itself.
        threads: batches that are run at the same time.

    Attributes:
        architecture: by which it was built.
        columns: that sentences must have, beside their words.
        metadata: the column of the tags in the training corpus, as `Tagger` has it.
    """

    kind = command = inventory = None
    answers = ()  # the outputs that `answer` gives, by name

    @classmethod
    def lists(cls, described: dict) -> dict[str, list[str]]:
        """The lists of strings that the description has, by what they are.

        Raises:
            ValueError: if it lacks something else.
        """
        budget = described.get("batch_tokens")
        if not (type(budget) is int and 1 <= budget <= limits.SENTENCE_TOKENS):
            raise ValueError("does not say how many tokens make a batch")
        return {key: described.get(key) for key in ("columns", cls.inventory)}

    @classmethod
    def inputs(cls, described: dict) -> dict[str, tuple[str, int]]:
        """The type and the number of axes of each input of a file."""
        names = ["tokens", *described["columns"]]
        lengths = {"lengths": ("tensor(int32)", 1)}
        return dict.fromkeys(names, ("tensor(string)", 2)) | lengths

    @classmethod
    def outputs(cls, described: dict) -> set[str]:
        """The outputs of a file that describes itself so."""
        raise NotImplementedError

    def __init__(self, session, described: dict, threads: int = 1):
        self._threads = threads
        self.session = session
        self.architecture = str(described.get("architecture"))
        self.columns = tuple(described["columns"])
        corpus = described.get("corpus")  # earlier files lack it
        self.metadata = {"corpus": corpus if isinstance(corpus, dict) else {}}
        self._batch_tokens = described["batch_tokens"]

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns that sentences must have: the name of models with Keras."""
        return self.columns

    def _answered(self, chunks, outputs) -> Iterator[tuple[list, Iterator]]:
        """Each slice of the sentences, with its answers.

        An answer is the number of a sentence that has tokens, and its part of the
        outputs. With several threads, the batches of the next slice are begun before
        the answers of this one are awaited.
        """
        if self._threads < 2:
            for chunk in chunks:
                yield chunk, self._answers(chunk, outputs, map)
            return
        # its threads are started when they are needed
        pool = ThreadPoolExecutor(self._threads)
        try:
            yield from one_ahead(
                (chunk, self._answers(chunk, outputs, pool.map)) for chunk in chunks
            )
        finally:
            pool.shutdown(cancel_futures=True)

    def _answers(self, sentences, outputs, mapped=map) -> Iterator:
        """The answers to one slice.

        Args:
            mapped: `map`, or that of threads: ONNX Runtime computes without Python's
                lock.
        """
        strings = flat_strings(sentences, self.columns)
        # a request to the file itself has these done in it, but for U+0000
        strings = {
            name: np.array([*map(encodable, values)], object)
            for name, values in strings.items()
        }
        lengths = np.array([len(s) for s in sentences], "int32")
        starts = np.cumsum([0, *lengths])

        def run(chosen):
            here = lengths[chosen]
            real = np.arange(here.max()) < here[:, None]
            places = (starts[chosen][:, None] + np.arange(here.max()))[real]
            feeds = {"lengths": here}
            for name, values in strings.items():
                feeds[name] = np.full(real.shape, "", object)
                feeds[name][real] = values[places]
            return chosen, here, self.session.run(outputs, feeds)

        plan = plan_batches(lengths, token_budget=self._batch_tokens)
        batches = (mapped if len(plan) > 1 else map)(run, plan)
        return (
            (int(i), [array[row, :length] for array in found])
            for chosen, here, found in batches
            for row, (i, length) in enumerate(zip(chosen, here, strict=True))
        )


class OnnxTagger(OnnxModel):
    """A tagger, as `Tagger`: see there.

    Attributes:
        tags: the tag inventory.
    """

    kind, command, inventory = "tagger", "tag", "tags"

    def __init__(self, session, described, threads=1):
        super().__init__(session, described, threads)
        self.tags = described["tags"]
        named = isinstance(self.tags, dict)
        self._inventories = self.tags if named else {None: self.tags}
        lemmas = self._inventories.get("lemma")
        self._scripts = bool(lemmas) and all(map(is_script, lemmas))
        names = [output_names(name) for name in self._inventories]
        kinds = ("tags", "probabilities", "top_tags", "top_probabilities")
        self.answers = tuple(outputs[kind] for outputs in names for kind in kinds)

    @classmethod
    def lists(cls, described):
        found = super().lists(described)
        if isinstance(tags := described.get("tags"), dict):
            check_names([*tags])
            if not tags:
                raise ValueError("does not list its tags")
            found |= {"tags": [*tags], **tags}
        return found

    @classmethod
    def outputs(cls, described):
        names = described["tags"] if isinstance(described["tags"], dict) else [None]
        return {output for name in names for output in output_names(name).values()}

    @property
    def column_names(self) -> tuple[str | None, ...]:
        """As `Tagger.column_names`."""
        return tuple(self._inventories)

    def tag(self, sentences, *, beta: float | None = None, probabilities=False):
        """Tags sentences: arguments and result are those of `Tagger.tag`."""
        _refuse_whole(sentences)
        levels, entries = dict.fromkeys(self._inventories), 1
        if beta is not None:
            # which takes half a second
            from keras_tagging.metrics.multi_tagging import betas_of, entries_of

            given = betas_of(beta, list(levels))
            entries = entries_of(given, list(map(len, self._inventories.values())))
            levels = dict(zip(levels, given, strict=True))
        parts = [
            self._part(name, levels[name], probabilities) for name in self._inventories
        ]
        whole = isinstance(sentences, (list, tuple))
        chunks = slices(map(as_sentence, sentences), entries, growing=not whole)
        found = self._decoded(chunks, parts)
        tagged = (row for _, rows in found for row in rows)
        return list(tagged) if whole else tagged

    def _part(self, name, beta=None, probabilities=False):
        """The outputs that a column needs, and the function from them to its items.

        The function takes the tokens first.
        """
        outputs, scripts = output_names(name), name == "lemma" and self._scripts
        if beta is not None:
            from keras_tagging.metrics import within_beta

            labels = self._inventories[name]

            def close_to_best(tokens, rows):
                found = within_beta(rows, labels, beta)
                return shown_pairs(found, tokens) if scripts else found

            return [outputs["all_probabilities"]], close_to_best

        def best(tokens, tags):
            return lemmas_of(tokens, tags.tolist()) if scripts else tags.tolist()

        def pairs(tokens, tags, values):
            return list(zip(best(tokens, tags), values.tolist(), strict=True))

        if not probabilities:
            return [outputs["tags"]], best

        return [outputs["tags"], outputs["probabilities"]], pairs

    def _decoded(self, chunks, parts, nothing=None):
        """Each slice of the sentences, with what the function of each column gives.

        Args:
            chunks: the slices.
            parts: the output of `_part` for each column.
            nothing: that of a sentence without tokens, for each column.
        """
        wanted = [name for names, _ in parts for name in names]
        nothing = [[] for _ in parts] if nothing is None else nothing
        for chunk, answers in self._answered(chunks, wanted):
            found = [by_column(self.column_names, list(nothing)) for _ in chunk]
            for i, arrays in answers:
                rest, tokens = iter(arrays), chunk[i].tokens
                items = [
                    item(tokens, *islice(rest, len(names))) for names, item in parts
                ]
                found[i] = by_column(self.column_names, items)
            yield chunk, found

    def answer(self, sentences, names) -> list[dict[str, list]]:
        """Outputs of the file for sentences, as it names them.

        For a column of lemmas, where the file gives scripts, they are lemmas.

        Args:
            sentences: as for `tag`.
            names: of `answers`.

        Returns:
            A dict a sentence: under each name a list with an item a token.
        """
        found = []
        chunks = slices(as_sentences(sentences))
        for chunk, answers in self._answered(chunks, list(names)):
            rows = [{name: [] for name in names} for _ in chunk]
            for i, arrays in answers:
                for name, array in zip(names, arrays, strict=True):
                    rows[i][name] = self._shown(name, array.tolist(), chunk[i].tokens)
            found += rows
        return found

    def _shown(self, output: str, items: list, tokens: list[str]) -> list:
        """The items of an output, with lemmas in place of scripts."""
        names = output_names("lemma")
        if self._scripts and output == names["tags"]:
            return lemmas_of(tokens, items)
        if self._scripts and output == names["top_tags"]:
            pairs = zip(tokens, items, strict=True)
            return [lemmas_of([token] * len(row), row) for token, row in pairs]
        return items

    def predict(self, sentences) -> list:
        """Tag probabilities: one `(tokens, num_tags)` array a sentence, as `Tagger`."""
        _refuse_whole(sentences)
        parts = [
            ([output_names(name)["all_probabilities"]], lambda tokens, rows: rows)
            for name in self._inventories
        ]
        nothing = [
            np.zeros((0, len(labels)), "float32")
            for labels in self._inventories.values()
        ]
        found = self._decoded(slices(as_sentences(sentences)), parts, nothing)
        return [row for _, rows in found for row in rows]

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with their tags, or columns, one after the other."""
        named = self.column_names[0] is not None
        parts = [self._part(name) for name in self._inventories]
        chunks = slices(map(as_sentence, sentences))
        for chunk, rows in self._decoded(chunks, parts):
            for sentence, tags in zip(chunk, rows, strict=True):
                yield with_labels(sentence, tags if named else {"tags": tags})


class OnnxParser(OnnxModel):
    """A parser, as `Parser`: see there.

    Attributes:
        labels: the dependency labels.
    """

    kind, command, inventory = "parser", "parse", "labels"
    missing_column = (
        "tag it first, or name the column of a file in columns by --option "
        "'columns={{\"{name}\": 1}}'"
    )

    def __init__(self, session, described, threads=1):
        super().__init__(session, described, threads)
        self.labels = described["labels"]
        # of a parser that has a tagger of its own
        outputs = {output.name for output in session.get_outputs()}
        self._predicted = sorted(outputs & {"predicted_tags"})
        self.answers = ("heads", "deprels", *self._predicted)

    @classmethod
    def outputs(cls, described):
        return {"heads", "deprels"}

    def parse(self, sentences):
        """Parses sentences: arguments and result are those of `Parser.parse`."""
        _refuse_whole(sentences)
        whole = isinstance(sentences, (list, tuple))
        chunks = slices(map(as_sentence, sentences), growing=not whole)
        answered = self._answered(chunks, list(self.answers))
        parsed = (tree for chunk in answered for tree in self._parse(*chunk))
        return list(parsed) if whole else parsed

    def answer(self, sentences, names) -> list[dict[str, list]]:
        """Outputs of the file for sentences, as `OnnxTagger.answer`.

        Heads are integers, and what was lifted for training is put back, as in `parse`.
        """
        found = []
        for tree in self.parse(as_sentences(sentences)):
            given = {
                "heads": [*map(int, tree.columns["head"])],
                "deprels": tree.columns["deprel"],
                "predicted_tags": tree.columns.get(PREDICTED),
            }
            found.append({name: given[name] for name in names})
        return found

    def _parse(self, sentences, answers):
        trees = [([], []) for _ in sentences]
        tags = [{PREDICTED: []} if self._predicted else {} for _ in sentences]
        for i, [heads, deprels, *found] in answers:
            for predicted in found:
                tags[i] = {PREDICTED: predicted.tolist()}
            heads, deprels = heads.tolist(), deprels.tolist()
            if any(SEPARATOR in deprel for deprel in deprels):
                heads, deprels = unlift(heads, deprels)
                heads = heads.tolist()
            trees[i] = heads, deprels
        for sentence, own, (heads, deprels) in zip(sentences, tags, trees, strict=True):
            tree = {"head": list(map(str, heads)), "deprel": deprels}
            yield replace(sentence, columns={**sentence.columns, **own, **tree})


def one_ahead(values: Iterable) -> Iterator:
    """The values, each once the next one has been made; an error comes in its place."""
    values, before, error = iter(values), [], None
    while True:
        try:
            after = [next(values)]
        except StopIteration:
            after = []
        except Exception as raised:
            after, error = [], raised
        yield from before
        if error is not None:
            raise error
        if not after:
            return
        before = after


def _refuse_whole(sentences):
    if isinstance(sentences, (str, Corpus)):
        as_sentences(sentences)  # refuses them at once, not in a generator
