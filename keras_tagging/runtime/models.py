"""Taggers and parsers that ONNX Runtime runs, and the base of others that answer so."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from keras_tagging.data.named_columns import RESERVED, with_targets
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Labels, Sentences, as_sentences
from keras_tagging.data.trees import find_cycle
from keras_tagging.encoding.label_columns import ColumnRules, LabelColumn
from keras_tagging.kinds.joint import Joint
from keras_tagging.kinds.parsing import Parsing
from keras_tagging.kinds.predictor import Predictor
from keras_tagging.kinds.tagging import Tagging, lists_of
from keras_tagging.runtime.words import IDS, words_of
from keras_tagging.utils import limits

# Words in one call of a file, at most: what a loop reads at each step stays in the
# caches of a processor, and takes little memory.
BATCH_TOKENS = 512
#: what a step of recurrent layers and of a search takes, whatever the batch, in padded
#: tokens of a usual one
STEP = 3
#: the input of a tagger's file that says whether the best tags of each word are wanted;
#: they are where it is not given, and earlier files lack it
RANKED = "ranked"


class Evaluated:
    """A model without Keras that can be evaluated.

    The class for a kind has `measured(sentences, **options)`, a dict of figures.
    """

    #: the tables of `keras-tagging evaluate`, and the options of `evaluate`
    report_options: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    #: the columns of labels that it learnt
    column_names: tuple[str | None, ...] = ()

    def __reduce__(self):
        """Copies and pickles are read from the file again, with the checks of `load`.

        Raises:
            TypeError: if the model is of no file that is there.
        """
        from keras_tagging.runtime.onnx_file import read_again

        path, sha256 = Path(self.session.path), getattr(self.session, "sha256", None)
        if sha256 is None or not path.is_file():
            what = f"{path}: the model cannot be copied, as it is of no ONNX file there"
            raise TypeError(f"{what}: export it to a file, and load that")
        words = getattr(self, "words", None)
        return read_again, (path.resolve(), sha256, self._threads, words)

    def evaluate(
        self, x: Sentences, y: Labels = None, *, return_dict=False, **options: Any
    ) -> dict[str, float] | list[float]:
        """Evaluate the model on annotated sentences.

        Args:
            x: sentences with gold tags, trees or text.
            y: for lists of words their tags, as in `fit` of the Keras model.
            return_dict: whether to return a dict instead of the list of its values.
            **options: for parsers, `punctuation` and `subtypes`.

        Returns:
            The figures of the Keras model, up to rounding; those of a tagger without
            `oov_accuracy`, as the file does not tell which words training had.

        Raises:
            ValueError: if the annotation is missing.
        """
        sentences = as_sentences(with_targets(x, y, self.column_names))
        figures = self.measured(sentences, **options)
        return figures if return_dict else [*figures.values()]


class OnnxModel(Evaluated, Predictor):
    """A model that reads sentences: batches by length.

    Args:
        session: of ONNX Runtime.
        described: what the file says of itself.
        threads: batches that are run at the same time.

    Attributes:
        architecture: by which it was built.
        columns, input_columns: that sentences must have, beside their words.
        metadata: the column of the tags in the training corpus, as `Tagger` has it.
        labels: its inventory; of several columns a dict.
        answers: each `Output` that the service gives, by name.
        words_read: those of its pipeline that it reads: see `runtime.words.words_of`.
        words: the `Words` that have them.
    """

    words = None

    @classmethod
    def lists(cls, described: dict) -> dict[str, list[str]]:
        """The lists of strings that the description has, by what they are.

        Raises:
            ValueError: if it lacks something else.
        """
        budget = described.get("batch_tokens")
        if not (type(budget) is int and 1 <= budget <= limits.SENTENCE_TOKENS):
            raise ValueError("does not say how many tokens make a batch")
        names = ["columns", cls.inventory]
        columns = described.get("columns")
        named = [*map(str, columns)] if isinstance(columns, list) else []
        if len({*named, *RESERVED}) < len(named) + len(RESERVED):
            raise ValueError(f"cannot read the columns {', '.join(named)[:60]}")
        return {key: described.get(key) for key in names if key is not None}

    @classmethod
    def inputs(cls, described: dict) -> dict[str, tuple[str, int]]:
        """The type and the number of axes of each input of a file."""
        strings = dict.fromkeys(described["columns"], ("tensor(string)", 2))
        if words_of(described):
            tokens = {IDS: ("tensor(int32)", 3)}
        else:
            tokens = {"tokens": ("tensor(string)", 2)}
        return {**strings, **tokens, "lengths": ("tensor(int32)", 1)}

    def __init__(self, session, described: dict, threads: int = 1):
        self._threads = threads
        self.session = session
        self.architecture = str(described.get("architecture"))
        self.columns = self.input_columns = tuple(described["columns"])
        self.words_read = words_of(described)
        corpus = described.get("corpus")  # earlier files lack it
        self.metadata = {"corpus": corpus if isinstance(corpus, dict) else {}}
        self._batch_tokens = min(described["batch_tokens"], BATCH_TOKENS)
        self.labels = described.get(self.inventory, [])
        self._outputs = [output.name for output in session.get_outputs()]
        outputs = self.outputs(described).items()
        self._declared = {k: x for k, x in outputs if k in self._outputs}
        self.served_outputs = {k: x for k, x in self._declared.items() if x.served}
        # probabilities tell of weights that give no numbers, and cost nothing
        self._telling = [
            k for k, x in self._declared.items() if x.type == "float" and not x.ranked
        ]
        switches = session.get_overridable_initializers()
        self._has_switch = any(x.name == RANKED for x in switches)
        #: the values that an output may have; those that its numbers are for
        self._inventories: dict[str, frozenset] = {}

    def output_names(self) -> list[str]:
        return self._outputs

    def predict_arrays(self, chunks, names):
        """See `Predictor.predict_arrays`.

        With several threads, the batches of the next slice are begun before the answers
        of this one are awaited.
        """
        if self._threads < 2:
            for chunk in chunks:
                yield chunk, self._answers(chunk, names, map)
            return
        # its threads are started when they are needed
        pool = ThreadPoolExecutor(self._threads)
        try:
            yield from one_ahead(
                (chunk, self._answers(chunk, names, pool.map)) for chunk in chunks
            )
        finally:
            pool.shutdown(cancel_futures=True)

    def _answers(self, sentences, outputs, mapped) -> Iterator:
        """The answers to one slice.

        Args:
            mapped: `map`, or that of threads: ONNX Runtime computes without Python's
                lock.
        """
        strings = flat_strings(sentences, self.columns, self.marks)
        # a request to the file itself has these done in it, but for U+0000
        strings = {k: self.session.strings(values) for k, values in strings.items()}
        lengths, switch = np.array([len(s) for s in sentences], "int32"), {}
        if self._has_switch:
            ranked = any(
                x.ranked and x.served for x in map(self._declared.get, outputs)
            )
            switch = {RANKED: np.array(ranked)}
        starts = np.cumsum([0, *lengths])
        if self.words_read:
            ids = self.words.ids(self.words_read, strings.pop("tokens"))
        strings = {name: np.array(values, object) for name, values in strings.items()}

        def run(chosen):
            here = lengths[chosen]
            real = np.arange(here.max()) < here[:, None]
            places = (starts[chosen][:, None] + np.arange(here.max()))[real]
            feeds = {"lengths": here} | switch
            for name, values in strings.items():
                feeds[name] = np.full(real.shape, "", object)
                feeds[name][real] = values[places]
            if self.words_read:
                feeds[IDS] = np.zeros((*real.shape, ids.shape[1]), np.int32)
                feeds[IDS][real] = ids[places]
            return chosen, here, self._checked(outputs, feeds, real)

        plan = call_batches(lengths, self._batch_tokens)
        batches = (mapped if len(plan) > 1 else map)(run, plan)
        return (
            (int(i), [array[row, :length] for array in arrays])
            for chosen, here, arrays in batches
            for row, (i, length) in enumerate(zip(chosen, here, strict=True))
        )

    def _checked(self, names, feeds, real) -> list[np.ndarray]:
        """Outputs of a batch whose words are at `real`, `(batch, time)`.

        Raises:
            OSError: if the file cannot be run, or gives what cannot be.
        """
        arrays = self.session.answers([*dict.fromkeys(self._telling + names)], feeds)
        for name, array in arrays.items():
            rank = self._declared[name].rank
            if array.shape[:2] != real.shape or array.ndim != rank:
                raise self.session.wrong(f"does not give {name} for each word")
            if not self._possible(name, array, real):
                raise self.session.wrong(f"gives {name} that cannot be")
        return [arrays[name] for name in names]

    def _possible(self, name, array, real) -> bool:
        """Whether an output is one of those that the file lists, or heads are trees."""
        if name == "heads":
            return are_trees(array, real)
        if (labels := self._inventories.get(name)) is None:
            return True
        if array.dtype.kind == "f":
            return array.shape[2:] == (len(labels),)
        return labels.issuperset(array[real].ravel().tolist())


class OnnxTagger(Tagging, OnnxModel):
    """A tagger, as `Tagger`: see there."""

    @classmethod
    def lists(cls, described):
        return lists_of(described, super().lists(described))

    def __init__(self, session, described, threads: int = 1):
        super().__init__(session, described, threads)
        tags = self.labels if isinstance(self.labels, dict) else {None: self.labels}
        self.label_columns = tuple(LabelColumn.stored(*item) for item in tags.items())
        self._inventories = {
            column.output_names[base]: frozenset(column.labels)
            for column in self.label_columns
            for base in ("tags", "top_tags", "all_probabilities")
        }
        rules = described.get("rules") if session.has_all else None
        self.rules = ColumnRules.restored(rules, self.label_columns)

    def predict(self, sentences: Sentences) -> list[Any]:
        """Tag probabilities: one `(tokens, num_tags)` array a sentence, as `Tagger`."""
        return self.predictions(as_sentences(sentences))


class OnnxParser(Parsing, OnnxModel):
    """A parser, as `Parser`: see there."""

    report_options = ("punctuation", "subtypes")
    missing_column = (
        "tag it first, or name the column of a file in columns by --option "
        "'columns={{\"{name}\": 1}}'"
    )

    def __init__(self, session, described, threads: int = 1):
        super().__init__(session, described, threads)
        self._inventories = {"deprels": frozenset(["", *self.labels])}


class OnnxBiaffineParser(Joint, OnnxTagger):
    """A biaffine parser, as `BiaffineParser`: see there."""

    report_options = OnnxParser.report_options

    def __init__(self, session, described, threads: int = 1):
        super().__init__(session, described, threads)
        self.labels = described["labels"]
        self._inventories["deprels"] = frozenset(self.labels)

    @classmethod
    def lists(cls, described):
        if described.get("tags") == {}:
            described = described | {"tags": []}
        return super().lists(described) | {"labels": described.get("labels")}


def are_trees(heads, real) -> bool:
    """Whether heads are those of trees, `(batch, time)`."""
    lengths = real.sum(1)
    if ((heads < 0) | (heads > lengths[:, None]))[real].any():
        return False
    if (((heads == 0) & real).sum(1) > 1).any():
        return False
    rows = zip(heads.tolist(), lengths, strict=True)
    return not any(find_cycle(row[:length]) for row, length in rows)


def call_batches(lengths: np.ndarray, most: int) -> list[np.ndarray]:
    """Group sentences of similar length into the batches that take the least time.

    A batch costs its padded tokens, and `STEP` more for each of its steps. Of sentences
    in the order of their lengths, the cuts are the best ones.

    Args:
        lengths: `(sentences,)` token counts.
        most: padded tokens of a batch; a longer sentence is a batch of its own.

    Returns:
        Arrays of sentence indices; sentences without tokens are in none.
    """
    order = np.flatnonzero(lengths)
    order = order[np.argsort(lengths[order], kind="stable")]
    # cost[j]: of the best batches of the first j sentences, the last from first[j] on
    cost, first = np.zeros(len(order) + 1), [0] * (len(order) + 1)
    for j, length in enumerate(lengths[order].tolist(), 1):
        begin = max(0, j - max(1, most // length))
        costs = cost[begin:j] + length * (STEP + j - np.arange(begin, j))
        best = int(costs.argmin())
        cost[j], first[j] = costs[best], begin + best
    batches, end = [], len(order)
    while end:
        batches.append(order[first[end] : end])
        end = first[end]
    return batches[::-1]


def one_ahead(values: Iterable) -> Iterator:
    """The values, each once the next one has been made; an error comes in its place."""
    before = []
    try:
        for value in values:
            yield from before
            before = [value]
    except Exception:
        yield from before
        raise
    yield from before
