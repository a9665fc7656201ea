"""A training of word vectors that reads files, and goes on after a kill.

The state after each epoch is an `.npz` file of plain arrays. gensim's own `save` writes
pickles, which run code when they are loaded: whoever can write into the folder of a run
could exchange one.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import StoredArrays
from keras_tagging.vectors.stored import UNREADABLE
from keras_tagging.vectors.training import new_model, pieces
from keras_tagging.vectors.word_vectors import WordVectors, composed

STATE = "state.npz"
# the learning rates of gensim, from the first to the last word
_FIRST_RATE, _LAST_RATE = 0.025, 0.0001


@dataclass(frozen=True)
class VectorOptions:
    """The options of a training.

    Args:
        method: "word2vec" or "fasttext".
        dim: The dimension of a vector.
        window: Words on each side that are the context of a word: with 2, words with
            the same syntax get similar vectors, with 5 and more those of one topic.
        min_count: Leave out words that occur less often.
        epochs: Passes over the text.
        skip_gram: Skip-gram instead of continuous bag of words.
        seed: Of all random numbers.
    """

    method: str = "word2vec"
    dim: int = 100
    window: int = 2
    min_count: int = 5
    epochs: int = 5
    skip_gram: bool = False
    seed: int = 0


class SentenceFiles:
    """Sentences of files, which can be read again and again.

    Args:
        paths: in each line a sentence, with tabs between its words.
    """

    def __init__(self, paths: Sequence[Path]):
        self.paths = paths

    def __iter__(self) -> Iterator[list[str]]:
        for path in self.paths:
            with path.open(encoding="utf-8", newline="\n") as stream:
                for line in stream:
                    yield from pieces(line.removesuffix("\n").split("\t"))


class VectorRun:
    """The training in a folder: from the beginning, or from its last whole epoch.

    Each epoch begins with a seed of its own, so that with one worker a run that was
    killed gives the same vectors as one that was not.

    Args:
        folder: of the run, which this process has locked.
        sentences: lists of words, the same each time that they are read.
        options: the options.
        workers: threads of gensim.

    Attributes:
        epoch: the number of finished epochs.
        words: the number of words of the text.

    Raises:
        ValueError: if no word occurs often enough, or the folder has the state of
            another run, or a damaged one.
    """

    def __init__(
        self,
        folder: Path,
        sentences: Iterable[list[str]],
        options: VectorOptions,
        workers: int = 1,
    ):
        self.path, self.sentences, self.options = folder / STATE, sentences, options
        self.run = asdict(options)
        self.model = new_model(
            options.method,
            size=options.dim,
            window=options.window,
            min_count=options.min_count,
            seed=options.seed,
            skip_gram=options.skip_gram,
            workers=workers,
        )
        self.epoch = 0
        if self.path.exists():
            self._restore()
            return
        found, self.lines = _counts(sentences)
        self.words = sum(found.values())
        often = [(w, n) for w, n in found.items() if n >= options.min_count]
        if not often:
            raise ValueError(
                f"no word occurs {options.min_count} times in the text: give more of "
                "it, or a lower min_count (--min-count)"
            )
        self._count(dict(sorted(often, key=lambda pair: (-pair[1], pair[0]))))

    def _count(self, counts: Mapping[str, int]) -> None:
        self.counts = counts
        # gensim reads, and empties, what it is given
        self.model.build_vocab_from_freq(dict(counts), corpus_count=self.lines)

    def epochs(self, watch: Callable[[Iterable], Iterable] = iter) -> Iterator[int]:
        """Train each further epoch and save the state; its number comes after that.

        Args:
            watch: from the sentences to the same, such as to show progress.
        """
        fall, last = _FIRST_RATE - _LAST_RATE, self.options.epochs
        for epoch in range(self.epoch, last):
            self.model.random = np.random.RandomState([self.options.seed, epoch])
            self.model.train(
                watch(self.sentences),
                total_examples=self.lines,
                epochs=1,
                start_alpha=_FIRST_RATE - fall * epoch / last,
                end_alpha=_FIRST_RATE - fall * (epoch + 1) / last,
            )
            self.epoch = epoch + 1
            self._save()
            yield self.epoch

    def vectors(self) -> WordVectors:
        """The vectors, the most frequent words first."""
        return composed(self.model.wv)

    def _arrays(self) -> dict[str, tuple[object, str]]:
        """The owner and the attribute of each array that training changes."""
        found = {"hidden": (self.model, "syn1neg")}
        names = ("vectors",)
        if self.options.method == "fasttext":
            names = ("vectors_vocab", "vectors_ngrams")
        return found | {name: (self.model.wv, name) for name in names}

    def _save(self) -> None:
        header = {"run": self.run, "epoch": self.epoch, "lines": self.lines}
        header |= {"words": self.words, "counts": self.counts}
        content = np.frombuffer(json.dumps(header).encode(), np.uint8)
        own = {name: getattr(*place) for name, place in self._arrays().items()}
        with replacing(self.path) as partial:
            np.savez(partial, header=content, **own)

    def _restore(self) -> None:
        remedy = "begin again with --no-resume"
        try:
            with StoredArrays(self.path) as arrays:
                header = json.loads(arrays["header"].tobytes())
                run = header["run"]
                if run.keys() != self.run.keys():
                    raise ValueError("another version of the package wrote it")
                if run == self.run:
                    self._take(header, arrays)
        except (*UNREADABLE, KeyError, AttributeError, TypeError) as error:
            text = " ".join(str(error).split())
            raise ValueError(f"{self.path}: is damaged ({text}): {remedy}") from None
        for name, value in self.run.items():
            if run.get(name) != value:
                raise ValueError(
                    f"{self.path}: saved by a run with other {name}; repeat that run's "
                    f"options, or {remedy}"
                )

    def _take(self, header: Mapping, arrays: StoredArrays) -> None:
        numbers = [header[name] for name in ("epoch", "lines", "words")]
        numbers += header["counts"].values()
        if any(type(n) is not int or not 0 < n < limits.NUMBER for n in numbers):
            raise ValueError("it has counts that are none")
        if header["epoch"] > self.options.epochs:
            raise ValueError("it has more epochs than the run")
        self.epoch, self.lines, self.words = numbers[:3]
        self._count(header["counts"])
        for name, (owner, attribute) in self._arrays().items():
            saved, own = arrays[name], getattr(owner, attribute)
            if saved.shape != own.shape or saved.dtype != own.dtype:
                raise ValueError(f"{name} does not fit")
            if not np.isfinite(saved).all():
                raise ValueError(f"{name} has a value that is no finite number")
            setattr(owner, attribute, saved)
        if self.options.method == "fasttext":
            self.model.wv.adjust_vectors()


def _counts(sentences: Iterable[list[str]]) -> tuple[Counter, int]:
    """The words with their numbers, and the number of sentences.

    As in word2vec, the rarest words are forgotten whenever there are too many.
    """
    counts, lines, least = Counter(), 0, 1
    for lines, words in enumerate(sentences, 1):  # noqa: B007
        counts.update(words)
        if len(counts) > limits.VECTOR_TYPES:
            least += 1
            counts = Counter({w: n for w, n in counts.items() if n >= least})
    return counts, lines
