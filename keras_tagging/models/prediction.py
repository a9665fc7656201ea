"""What a tagger does with sentences once it has weights."""

from collections.abc import Callable

import numpy as np

from keras_tagging.architectures.output import read_outputs
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Corpus, as_sentence, as_sentences
from keras_tagging.encoding.batching import plan_batches, round_up
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.metrics import assigned, multi_tagging
from keras_tagging.models.decoding import (
    Batches,
    best_tags,
    figures,
    slices,
    tag_probabilities,
    with_probability,
    within_beta,
)

PREDICTION_TOKENS = 4096  # padded tokens in one call of the network
# The Viterbi search holds (batch, tags, tags) floats: 64 MB
PATH_FLOATS = 2**24


class SentencePrediction:
    """The part of `Tagger` that evaluates, predicts and tags.

    It needs a `SentenceModel` that has `tags`.
    """

    def evaluator(self, sentences) -> Callable[[], dict]:
        """A function that evaluates the model as it then is on these sentences."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        words = self._words(sentences, encoded)
        return lambda: figures(
            sentences, encoded, self._outputs(encoded), self.tags, words
        )

    def _words(self, sentences, encoded) -> dict:
        """The words as training knows them, and which it knows; {} without words."""
        known = self._plain.vocabularies.get("word")
        if known is None:
            return {}
        if self.settings.get("embeddings") is None:
            size = self.features.sizes["word"]
            # by their ids: all but the unknown one stood in the training sentences
            words = [encoded.ids[a:b, 0].tolist() for a, b in encoded.spans()]
            return {"sentences": words, "known_words": range(FIRST_ID, size)}
        # words that only the vectors know have ids too
        forms = self.features.normal_forms(flat_strings(sentences)["tokens"])
        words = [forms[a:b] for a, b in encoded.spans()]
        known = set(known[: self._plain.training_words])
        return {"sentences": words, "known_words": known}

    def evaluate(self, x, y=None, *, return_dict=False, **kwargs):
        """Figures on sentences with gold tags, over their real tokens.

        Returns:
            With `return_dict` a dict, else the list of its values: `loss` (mean
            cross-entropy of a token whose gold tag is in the inventory; with a CRF
            too, from the marginals that `predict` gives),
            `accuracy`, `oov_accuracy` (over words unseen in training, in their
            normalised form; nan if there is none), `sentence_accuracy`, and where
            the tags are chunks `precision`, `recall` and `f1` as conlleval counts
            them. A gold tag outside the inventory is an error.
        """
        if y is not None or kwargs:
            extra = ", ".join(["y"] * (y is not None) + list(kwargs))
            raise ValueError(f"evaluate takes sentences and return_dict, not {extra}")
        found = self.evaluator(x)()
        return found if return_dict else list(found.values())

    def multi_tagging(self, sentences, **kwargs):
        """K18 Table 4 on sentences with gold tags: see `metrics.multi_tagging`."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        gold = (encoded.targets[a:b] for a, b in encoded.spans())
        rows = (p for s in slices(sentences) for p in self._probabilities(s))
        return multi_tagging(gold, rows, **kwargs)

    # Prediction

    def predict(self, x, **kwargs):
        """Tag probabilities: a list with one `(tokens, num_tags)` array a sentence.

        With a CRF they are the marginals of each token; of a network that reads its
        labels, those after the labels before on the path it found.
        """
        if kwargs:
            raise ValueError(f"predict takes sentences only, not {', '.join(kwargs)}")
        parts = map(self._probabilities, slices(as_sentences(x)))
        return [rows for part in parts for rows in part]

    def tag(self, sentences, *, beta=None, probabilities=False):
        """Tags sentences.

        With a CRF the tags are those of the best path, which need not be the most
        probable of each token; `beta` goes by the probabilities alone.

        Args:
            sentences: an iterable of sentences, or of lists of words. A list or
                tuple gives a list; any other iterable gives a generator that reads
                a limited number of sentences ahead.
            beta: also give every tag with p >= beta * max p, best first.
            probabilities: give the probability with the tag.

        Returns:
            For each sentence a list with one entry a token: the tag; with
            `probabilities` `(tag, p)`; with `beta` a list of `(tag, p)`.
        """
        self._require_network()
        if isinstance(sentences, (str, Corpus)):
            as_sentences(sentences)  # refuses them at once, not in the generator
        if beta is not None:
            assigned(np.ones((1, 1)), beta)  # a wrong beta is told at once
        chunks = slices(map(as_sentence, sentences))
        tagged = (
            row for chunk in chunks for row in self._tag(chunk, beta, probabilities)
        )
        return list(tagged) if isinstance(sentences, (list, tuple)) else tagged

    def _tag(self, sentences, beta, probabilities):
        if beta is not None:
            rows = self._probabilities(sentences)
            return [within_beta(row, self.tags, beta) for row in rows]
        encoded = self.encode(sentences)
        batches = self._outputs(encoded)
        if probabilities:
            return with_probability(batches, encoded.lengths, self.tags)
        return best_tags(batches, encoded.lengths, self.tags)

    def _probabilities(self, sentences) -> list[np.ndarray]:
        encoded = self.encode(sentences)
        batches = self._outputs(encoded)
        return tag_probabilities(batches, encoded.lengths, len(self.tags))

    def _outputs(self, encoded) -> Batches:
        """Sentence indices, logits and best tag ids, a batch at a time."""
        lengths = round_up(encoded.lengths, self.length_multiple)
        budget = PREDICTION_TOKENS
        if self.settings.get("decoder") == "crf":
            budget = min(budget, max(1, PATH_FLOATS // len(self.tags) ** 2))
        for chosen in plan_batches(lengths, token_budget=budget):
            ids, _, _ = encoded.batch(chosen, self.length_multiple, token_budget=budget)
            outputs = read_outputs(self.predict_on_batch(ids), np.argmax)
            # without the rows of padding
            logits, tag_ids = (np.asarray(part)[: len(chosen)] for part in outputs)
            yield chosen, logits.astype("float32", copy=False), tag_ids
