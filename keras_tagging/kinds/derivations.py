"""The answers of CCG parsers: the derivation of each sentence."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar, normal
from keras_tagging.ccg.parsing import CCGDecoder, Search
from keras_tagging.data.named_columns import parts_of_speech
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds.answers import Answers
from keras_tagging.kinds.kind import Output
from keras_tagging.metrics.accuracy import share

OUTPUTS = {
    "tags": Output("string", ""),
    "tag_scores": Output("float", 0.0, ranked=True, served=False),
    "head_scores": Output("float", 0.0, ranked=True, served=False),
}
SCORES = ["tag_scores", "head_scores"]
#: those of single words, and those of derivations
OF_WORDS = ("accuracy", "head_accuracy", "joint_accuracy")
FIGURES = (*OF_WORDS, "supertags", "labelled", "unlabelled", "dependencies")
FIGURES += ("unlabelled_dependencies", "exact", "coverage")


class Deriving(Answers):
    """A CCG parser, with Keras or without.

    Attributes:
        tags: the categories of words, in the order of their scores.
        grammar: the rules that derivations keep to.
        search: how they are searched for.
    """

    kind, inventory = "ccg-parser", "tags"
    gives = ("tags",)
    figures = FIGURES
    #: the outputs that the decoder reads, and those of single words
    reads, of_words = SCORES, SCORES
    #: whether it reads the column `head`, where sentences have one
    reads_heads = False
    tags: Sequence[str]
    grammar: Grammar
    search: Search

    @classmethod
    def outputs(cls, about):
        return OUTPUTS

    @cached_property
    def decoder(self) -> CCGDecoder:
        """The search that makes derivations of the scores."""
        return CCGDecoder(self.grammar, self.tags, self.search)

    def nothing(self, name):
        return np.zeros((0, 0), "float32") if name in SCORES else super().nothing(name)

    def derive(self, sentences, *, beta=None, nbest=None):
        """Find the derivations of sentences.

        Every sentence gets one: where the grammar has none for the whole, its root has
        the category `FRAG`, and its children are the fewest parts that have one. A
        single part is the derivation, though no root of training may have its category.

        Args:
            sentences: an iterable of sentences, or of lists of words. A list or tuple
                gives a list; any other iterable gives a generator that reads a limited
                number of sentences ahead.
            beta: a word has the categories with p >= beta * max p; by default that of
                the model.
            nbest: give so many derivations, if there are, each with its score.
                The search then keeps more, and the best one may be another.

        Returns:
            For each sentence the sentence with its `derivation`, whose categories are
            its `tags`. With `nbest` a list of pairs of this and the logarithm that the
            derivation scores, best first. A sentence without words stays as it is.

        Raises:
            ValueError: for a `beta` outside of (0, 1], or `nbest` below 1.
        """
        if beta is not None and not 0 < beta <= 1:
            raise ValueError(f"beta={beta}: give a number above 0, up to 1")
        if nbest is not None and not 1 <= nbest <= 1000:
            raise ValueError(f"nbest={nbest}: give a whole number from 1 to 1,000")

        def derived(sentence, *arrays):
            if not len(sentence):
                return sentence if nbest is None else [(sentence, 0.0)]
            found = self._search(sentence, arrays, beta, nbest or 1)
            made = [(with_derivation(sentence, own), score) for own, score in found]
            return made[0][0] if nbest is None else made

        return self.streamed(sentences, self.reads, derived, entries=len(self.tags))

    def annotation(self):
        return self.reads, self._derived

    def _derived(self, sentence: Sentence, *arrays) -> Sentence:
        if not len(sentence):
            return sentence
        [(found, _)] = self._search(sentence, arrays)
        return with_derivation(sentence, found)

    def _search(self, sentence: Sentence, arrays, beta=None, nbest=1, **more) -> list:
        """The derivations of a sentence with words, and their scores."""
        words, pos = sentence.tokens, parts_of_speech(sentence, "X")
        return self.decoder.derive(words, pos, *arrays, beta, nbest, **more)

    def measured(self, sentences, *calls) -> dict[str, float]:
        """The figures on sentences with derivations: see `metrics.derivation_scores`.

        `accuracy` is that of the network's best category of each word, before there is
        a derivation; `supertags` that of the derivation.
        """
        from keras_tagging.metrics.derivations import (  # half a second
            derivation_counts,
            scores_of,
        )

        sentences = with_derivations(sentences)

        names = [*dict.fromkeys([*self.reads, *self.of_words])]

        def both(sentence, *arrays):
            named = dict(zip(names, arrays, strict=True))
            found = self._derived(sentence, *map(named.get, self.reads))
            return found.derivation, [named[name] for name in self.of_words]

        rows = self.items(slices(sentences, len(self.tags)), names, both, *calls)
        gold = [s.derivation for s in sentences if len(s)]
        found = [derivation for derivation, _ in rows if derivation is not None]
        scores = scores_of(derivation_counts(gold, found))._asdict()
        words = self._of_words(sentences, [scores for _, scores in rows])
        return {name: float({**scores, **words}[name]) for name in self.figures}

    def measured_words(self, sentences, *calls) -> dict[str, float]:
        """The figures of single words alone, for which nothing is searched."""

        def scores(sentence, *arrays):
            return arrays

        parts = slices(sentences, len(self.tags))
        found = self.items(parts, self.of_words, scores, *calls)
        return self._of_words(sentences, found)

    def _of_words(self, sentences, scores) -> dict[str, float]:
        right = np.zeros(3, int)
        ids: dict[str, int] = {}  # of categories, in whatever notation
        each = np.array([ids.setdefault(normal(t), len(ids)) for t in self.tags])
        for sentence, (tags, *heads) in zip(sentences, scores, strict=True):
            if not len(sentence):
                continue
            gold = [ids.get(normal(tag), -1) for tag in gold_tags(sentence)]
            same = own = each[tags.argmax(-1)] == gold
            if heads:
                own = heads[0][:, : len(gold) + 1].argmax(-1) == gold_heads(sentence)
            right += same.sum(), own.sum(), (same & own).sum()
        count = sum(map(len, sentences))
        shares = (share(int(n), count) for n in right)
        return dict(zip(OF_WORDS, shares, strict=True))


def with_derivation(sentence: Sentence, derivation: Derivation) -> Sentence:
    """The sentence with a derivation, whose categories are its tags."""
    tags = [leaf.category for leaf in derivation.leaves]
    return replace(sentence, tags=tags, derivation=derivation)


def with_derivations(sentences) -> list[Sentence]:
    """The sentences, after a check that each with words has a derivation.

    Those that have heads lose them: figures and training must not read gold trees.

    Raises:
        ValueError: if one has none.
    """
    sentences = as_sentences(sentences)
    for number, sentence in enumerate(sentences, 1):
        if sentence.derivation is None and len(sentence):
            raise ValueError(
                f"sentence {number}, {' '.join(sentence.tokens[:5])[:60]!r}, has no "
                "derivation, which a CCG parser learns from: read an .auto file"
            )
    return [_without_heads(sentence) for sentence in sentences]


def _without_heads(sentence: Sentence) -> Sentence:
    if "head" not in sentence.columns:
        return sentence
    kept = {k: v for k, v in sentence.columns.items() if k != "head"}
    return replace(sentence, columns=kept)


def gold_tags(sentence: Sentence) -> list[str]:
    """The categories of the words of a derivation."""
    return [leaf.category for leaf in sentence.derivation.leaves]


def gold_heads(sentence: Sentence) -> list[int]:
    """The heads of words by the categories of a derivation; 0 is ROOT."""
    return sentence.derivation.heads(by_category=True)
