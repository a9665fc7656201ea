"""Attachment scores of dependency trees, and tables of their errors.

This is our own code, because the maintained scorer (udtools, that of CoNLL 2018) reads
only CoNLL-U files, has one rule for punctuation and no figures by sentence, which a
paired test needs. Figures that both compute are equal.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import index
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np

from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.metrics.accuracy import paired, share
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.tables import any_strings

if TYPE_CHECKING:
    import pandas as pd

PUNCTUATION = ("keep", "ptb", "unicode")

_PTB_PUNCTUATION = {"``", "''", ":", ",", "."}
_DISTANCES = ("root", "1", "2", "3-6", "7+")


@dataclass(frozen=True, eq=False, repr=False)
class AttachmentScores:
    """Attachment scores of a corpus, from one entry for each word that counts.

    Args:
        lengths: `(sentences,)`, the number of words of each, including words that do
            not count.
        sentences: `(words,)`, the number of the word's sentence, from 0.
        positions: `(words,)`, the number of the word in its sentence, from 1.
        gold_heads, heads: `(words,)`, positions; 0 is ROOT.
        gold_labels, labels: `(words,)`, indices into `names`.
        names: the relations, in alphabetical order.
    """

    lengths: np.ndarray
    sentences: np.ndarray
    positions: np.ndarray
    gold_heads: np.ndarray
    heads: np.ndarray
    gold_labels: np.ndarray
    labels: np.ndarray
    names: list[str]

    def __repr__(self) -> str:
        return (
            f"AttachmentScores(words={self.words}, uas={self.uas:.4f}, "
            f"las={self.las:.4f}, label_accuracy={self.label_accuracy:.4f})"
        )

    @property
    def words(self) -> int:
        """The number of words that count."""
        return len(self.sentences)

    @property
    def right_heads(self) -> np.ndarray:
        """`(words,)` bool: the head is the gold one."""
        return self.heads == self.gold_heads

    @property
    def right_labels(self) -> np.ndarray:
        """`(words,)` bool: the label is the gold one, whatever the head."""
        return self.labels == self.gold_labels

    @property
    def right_arcs(self) -> np.ndarray:
        """`(words,)` bool: head and label are the gold ones."""
        return self.right_heads & self.right_labels

    @property
    def uas(self) -> float:
        """Unlabelled attachment score: the share of words with the right head."""
        return share(np.count_nonzero(self.right_heads), self.words)

    @property
    def las(self) -> float:
        """Labelled attachment score: the share with the right head and label."""
        return share(np.count_nonzero(self.right_arcs), self.words)

    @property
    def label_accuracy(self) -> float:
        """The share of words with the right label, whatever their head."""
        return share(np.count_nonzero(self.right_labels), self.words)

    @property
    def ucm(self) -> float:
        """Unlabelled complete match: the share of sentences with all heads right.

        Sentences without a word that counts are left out, here and in `lcm`.
        """
        return self._complete(1)

    @property
    def lcm(self) -> float:
        """Labelled complete match: the share with all heads and labels right."""
        return self._complete(2)

    def _complete(self, column: int) -> float:
        counts = self.by_sentence
        counts = counts[counts[:, 0] > 0]
        return share(np.count_nonzero(counts[:, column] == counts[:, 0]), len(counts))

    @property
    def by_sentence(self) -> np.ndarray:
        """`(sentences, 3)`: words that count, heads right, heads and labels right."""
        return np.stack(self._counts(self.sentences, len(self.lengths)), axis=1)

    def _counts(self, groups: np.ndarray, size: int) -> list[np.ndarray]:
        """For each of `size` groups: words, heads right, heads and labels right.

        Args:
            groups: `(words,)`, the group of each word, from 0.
        """
        parts = groups, groups[self.right_heads], groups[self.right_arcs]
        return [np.bincount(part, minlength=size) for part in parts]

    @any_strings()
    def by_relation(self) -> "pd.DataFrame":
        """A row for each relation, the most frequent gold one first.

        Columns: `relation`; `gold`, `predicted` and `correct`, the numbers of arcs,
        which are correct if head and label are; `precision`, `recall` and `f1` of
        these; and `uas`, the share of the gold arcs whose head is right, whatever the
        label. A figure with nothing to count is nan. With `subtypes=True` these are the
        figures of the table "DEPREL + ATTACHMENT" of CoNLL-X's eval.pl.
        """
        size = len(self.names)
        gold, heads, arcs = self._counts(self.gold_labels, size)
        table = self._table({"relation": self.names, "gold": gold})
        table["predicted"] = np.bincount(self.labels, minlength=size)
        table["correct"] = arcs
        table["precision"] = table["correct"] / table["predicted"]
        table["recall"] = table["correct"] / table["gold"]
        table["f1"] = 2 * table["correct"] / (table["gold"] + table["predicted"])
        table["uas"] = heads / table["gold"]
        return table.sort_values(
            "gold", ascending=False, kind="stable", ignore_index=True
        )

    @any_strings()
    def by_sentence_length(self) -> "pd.DataFrame":
        """A row for sentences of 1 to 10 words, of 11 to 20, and so on.

        The bins are those of McDonald & Nivre (2007); bins without sentences are left
        out. The length includes words that do not count. Columns: `length`,
        `sentences`, `words` (that count), `uas`, `las`; nan if no word counts.
        """
        bins = (self.lengths - 1) // 10
        sentences = np.bincount(bins[bins >= 0])
        words, heads, arcs = self._counts(bins[self.sentences], len(sentences))
        names = [f"{10 * i + 1}-{10 * i + 10}" for i in range(len(sentences))]
        table = self._table({"length": names, "sentences": sentences, "words": words})
        table["uas"] = heads / table["words"]
        table["las"] = arcs / table["words"]
        return table[table["sentences"] > 0].reset_index(drop=True)

    @any_strings()
    def by_distance(self) -> "pd.DataFrame":
        """A row for each distance of head and dependent: root, 1, 2, 3-6, 7+.

        As in McDonald & Nivre (2007), precision is the share of the predicted arcs of a
        distance that are right, and recall the share of the gold arcs of that distance
        that were predicted. The bins are those of CoNLL-X's eval.pl, but its table
        differs: there an arc is right if its bin is.

        Columns: `distance`; `gold` and `predicted`, the numbers of arcs; `precision`
        and `recall`, without labels; `labelled_precision` and `labelled_recall`. A
        figure with nothing to count is nan.
        """
        size = len(_DISTANCES)
        gold, heads, arcs = self._counts(self._distances(self.gold_heads), size)
        table = self._table({"distance": _DISTANCES, "gold": gold})
        table["predicted"] = np.bincount(self._distances(self.heads), minlength=size)
        table["precision"] = heads / table["predicted"]
        table["recall"] = heads / table["gold"]
        table["labelled_precision"] = arcs / table["predicted"]
        table["labelled_recall"] = arcs / table["gold"]
        return table

    @staticmethod
    def _table(columns: dict) -> "pd.DataFrame":
        import pandas as pd  # takes longer than most commands that do not need it

        return pd.DataFrame(columns)

    def _distances(self, heads: np.ndarray) -> np.ndarray:
        """Indices into `_DISTANCES`; a word that is its own head has distance 1."""
        bins = 1 + np.digitize(np.abs(heads - self.positions), [2, 3, 7])
        return np.where(heads == 0, 0, bins)


def attachment_scores(
    gold: Iterable[Sentence],
    heads: Iterable[Sequence[int]],
    deprels: Iterable[Sequence[str]],
    *,
    punctuation: str = "keep",
    subtypes: bool = False,
) -> AttachmentScores:
    """Score predicted dependency trees.

    With the defaults, UAS and LAS are those of the CoNLL 2018 shared task on UD
    (Zeman et al. 2018) on gold tokens: every word counts, and a relation is compared up
    to its first colon (`nsubj:pass` is `nsubj`). That task's scorer refuses trees with
    cycles, without a root or with several; here they are scored word by word.

    Args:
        gold: sentences with the columns `head` and `deprel`.
        heads: for each sentence the predicted head of each word, counted from 1; 0 is
            ROOT.
        deprels: for each sentence the predicted relation of each word.
        punctuation: `"keep"`: every word counts. `"ptb"`: a word does not count if its
            gold tag is the Penn Treebank's for an opening or closing quotation mark, or
            `:`, `,` or `.` (Chen & Manning 2014); brackets and hyphens have other tags
            and count. The tag is in the column `xpos`, or in `pos` if there is no
            `xpos`. `"unicode"`: a word does not count if all its characters are in a
            Unicode category P (eval.pl of CoNLL-X, Buchholz & Marsi 2006); `$`, `+` and
            other symbols count.
        subtypes: whether to compare whole relations, including subtypes.

    Returns:
        The scores; all are nan if no word counts. Empty sentences are allowed.

    Raises:
        ValueError: if `punctuation` is unknown, the predictions differ in length from
            the sentences, a column is missing, or the tags for `"ptb"` are not those of
            the Penn Treebank (`_`, or UD's `PUNCT`). The message has the number of the
            sentence, counted from 1.
        TypeError: if a head is not an integer.
    """
    check_known("punctuation", punctuation, PUNCTUATION)
    gold, heads, deprels = as_sentences(gold), list(heads), list(deprels)
    for name, predicted in (("heads", heads), ("deprels", deprels)):
        for _ in paired(gold, predicted, "words", f"predicted {name}"):
            pass
    lengths = np.array([len(sentence) for sentence in gold], int)
    sentences = np.repeat(np.arange(len(gold)), lengths)
    starts = np.cumsum(lengths) - lengths
    positions = np.arange(len(sentences)) - starts[sentences] + 1
    counted = _counted(gold, punctuation)
    gold_labels, labels = (
        [
            name if subtypes else name.partition(":")[0]
            for name in compress(chain.from_iterable(every), counted)
        ]
        for every in (_column(gold, "deprel"), deprels)
    )
    names = sorted({*gold_labels, *labels})
    ids = {name: i for i, name in enumerate(names)}
    return AttachmentScores(
        lengths=lengths,
        sentences=sentences[counted],
        positions=positions[counted],
        gold_heads=_flat_heads(_column(gold, "head"))[counted],
        heads=_flat_heads(heads)[counted],
        gold_labels=np.array([ids[name] for name in gold_labels], int),
        labels=np.array([ids[name] for name in labels], int),
        names=names,
    )


def _column(sentences: list[Sentence], *names: str) -> list[list[str]]:
    """For each sentence, the first of the named columns that it has."""
    columns = []
    for number, sentence in enumerate(sentences, 1):
        present = [name for name in names if name in sentence.columns]
        if not present and sentence.tokens:
            wanted = " or ".join(map(repr, names))
            raise ValueError(f"sentence {number} has no column {wanted}")
        columns.append(sentence.columns[present[0]] if present else [])
    return columns


def _flat_heads(heads: Iterable[Sequence]) -> np.ndarray:
    """All heads, one sentence after the other: `(words,)`."""
    flat = chain.from_iterable(heads)
    return np.array([int(x) if isinstance(x, str) else index(x) for x in flat], int)


def _counted(sentences: list[Sentence], punctuation: str) -> np.ndarray:
    """Whether each word counts: `(words,)` bool."""
    if punctuation == "ptb":
        items = _column(sentences, "xpos", "pos")
        for number, tags in enumerate(items, 1):
            if not {"_", "PUNCT"}.isdisjoint(tags):
                what = "has no tags of the Penn Treebank: use punctuation='unicode'"
                raise ValueError(f"sentence {number} {what}")
        left_out = _PTB_PUNCTUATION
    else:
        items = [sentence.tokens for sentence in sentences]
        left_out = set()
        if punctuation == "unicode":
            # eval.pl's /^\p{Punctuation}+$/
            words = set().union(*items) - {""}
            left_out = {x for x in words if all(category(c)[0] == "P" for c in x)}
    return np.array([item not in left_out for item in chain.from_iterable(items)], bool)
