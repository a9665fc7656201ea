"""The predictions of a model as a table: one row a token."""

from collections import Counter

import numpy as np
import pandas as pd

from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import normal
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.kinds.derivations import gold_tags, with_derivations
from keras_tagging.metrics import AttachmentScores, attachment_scores


def tagged_tokens(model, sentences: list[Sentence]) -> pd.DataFrame:
    """Tag all sentences.

    Returns:
        A table with `sentence` and `position`, both from 1, `length` (of the sentence),
        `word`, `form` (the normal form that the model reads), `gold`, `predicted`,
        `accuracy` (whether these two are equal) and `confidence`, the probability of
        the predicted tag.
    """
    tokens = _places(model, sentences)
    tokens["gold"] = [tag for s in sentences for tag in s.tags]
    # keep all probabilities for one slice of sentences at a time, then only the best
    pairs = [pair for s in model.tag(sentences, probabilities=True) for pair in s]
    tokens["predicted"] = [tag for tag, _ in pairs]
    tokens["accuracy"] = tokens["gold"] == tokens["predicted"]
    tokens["confidence"] = np.array([p for _, p in pairs], float)
    return tokens


def parsed_tokens(
    model, sentences: list[Sentence], **counting
) -> tuple[pd.DataFrame, AttachmentScores]:
    """Parse all sentences.

    Args:
        model: a `Parser`.
        sentences: sentences with trees.
        counting: `punctuation` and `subtypes`, see `metrics.attachment_scores`.

    Returns:
        A table of the tokens that count, with the columns `sentence` to `form` as in
        `tagged_tokens`, `gold` and `predicted` (relations), `gold_head` and `head`
        (positions, 0 is ROOT), `uas` (whether the head is right) and `las` (whether
        head and relation are right); and the scores.
    """
    trees = model.predict(sentences)
    heads, deprels = ([tree[i] for tree in trees] for i in (0, 1))
    scores = attachment_scores(sentences, heads, deprels, **counting)
    tokens = _places(model, sentences)
    starts = np.cumsum(scores.lengths) - scores.lengths
    tokens = tokens.iloc[starts[scores.sentences] + scores.positions - 1]
    names = np.array(scores.names, object)
    tokens = tokens.assign(
        gold=names[scores.gold_labels],
        predicted=names[scores.labels],
        gold_head=scores.gold_heads,
        head=scores.heads,
        uas=scores.right_heads,
        las=scores.right_arcs,
    )
    return tokens.reset_index(drop=True), scores


def derived_tokens(
    model, sentences: list[Sentence]
) -> tuple[pd.DataFrame, list[Derivation]]:
    """Derive all sentences.

    Args:
        model: a `CCGParser`.
        sentences: sentences with derivations.

    Returns:
        A table with the columns `sentence` to `form` as in `tagged_tokens`, `gold` and
        `predicted` (categories in the derivations, in normal form), `derivation`
        (whether these are equal) and `network` (whether the network's best one is
        right); and the derivations of the sentences with words.
    """
    sentences = [s for s in with_derivations(sentences) if len(s)]
    tokens = _places(model, sentences)
    tags = np.array(model.tags, object)
    needed, derive = model.annotation()
    outputs = [*dict.fromkeys([*needed, "tag_scores"])]

    def both(sentence, *arrays):
        named = dict(zip(outputs, arrays, strict=True))
        found = derive(sentence, *map(named.get, needed)).derivation
        return found, tags[named["tag_scores"].argmax(-1)]

    rows = model.streamed(sentences, outputs, both, entries=len(tags))
    found = [derivation for derivation, _ in rows]
    tokens["gold"] = [normal(tag) for s in sentences for tag in gold_tags(s)]
    tokens["predicted"] = [normal(leaf.category) for x in found for leaf in x.leaves]
    tokens["derivation"] = tokens["gold"] == tokens["predicted"]
    best = np.array([normal(tag) for _, own in rows for tag in own], object)
    tokens["network"] = tokens["gold"].to_numpy() == best
    return tokens, found


def _places(model, sentences) -> pd.DataFrame:
    lengths = np.array([len(sentence) for sentence in sentences], int)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    return pd.DataFrame(
        {
            "sentence": sentence + 1,
            "position": np.arange(len(sentence)) - starts[sentence] + 1,
            "length": lengths[sentence],
            "word": [word for s in sentences for word in s.tokens],
            "form": word_forms(model, sentences),
        }
    )


class TrainingCounts:
    """The frequencies of words and labels in training.

    Args:
        model: the model, whose features give the normal forms of words.
        train: the training sentences.
        labels: the gold labels of all their tokens.

    Attributes:
        words: the frequency of each word, by its normal form.
        labels: the frequency of each label.
    """

    def __init__(self, model, train: list[Sentence], labels):
        self.words = Counter(word_forms(model, train))
        self.labels = Counter(labels)
        self._model = model
        self._fingerprint = Corpus(train).fingerprint()

    def mismatch(self) -> str | None:
        """A warning if the model was trained on other sentences, else None.

        Sentences count as the same if their fingerprints are equal, or if they give the
        same vocabularies in the same order: a fingerprint also changes with irrelevant
        columns.
        """
        model, least = self._model, self._model.settings.features.word_min_count
        if model.metadata.get("training_sentences") == self._fingerprint:
            return None
        same = True
        if (known := model.features.vocabularies.get("word")) is not None:
            words = count_vocabulary(self.words, least)
            same = known[: len(words)] == words
        least = model.settings.get("min_count")
        if least is not None:
            same &= count_vocabulary(self.labels, least) == model.vocabularies["tags"]
        if same:
            return None
        return (
            "the model was trained on other sentences than the training sentences "
            "here, which the tables by frequency use"
        )


def word_forms(model, sentences: list[Sentence]) -> list[str]:
    """The normal forms of all words; as written if the model reads no words."""
    words = flat_strings(sentences)["tokens"]
    return model.features.normal_forms(words) if reads_words(model) else words


def reads_words(model) -> bool:
    return "word" in model.features.names
