"""Tag accuracy over tokens, unknown words and sentences."""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import zip_longest

from keras_tagging.data.sentence import Sentence


def token_accuracy(
    gold: Iterable[Sequence[str]],
    predicted: Iterable[Sequence[str]],
    *,
    sentences: Iterable[Sequence[str] | Sentence] | None = None,
    known_words: Container[str] | None = None,
) -> dict[str, float]:
    """The share of tokens, of unknown words and of sentences that are tagged correctly.

    Tags are compared as strings. A gold tag unseen in training counts as an error,
    because no tagger can predict it.

    Args:
        gold: the gold tags, one list a sentence.
        predicted: the predicted tags, in the same shape.
        sentences: the tokens of the tags, to tell known words from unknown ones.
        known_words: the training words, preferably as a set. Pass it together with
            `sentences`, or not at all.

    Returns:
        A dict. `accuracy` is over all tokens; `oov_accuracy` and `known_accuracy` are
        over the words outside and inside `known_words`; `sentence_accuracy` is the
        share of sentences without an error. All are fractions, and nan if there is
        nothing to count or if `known_words` is missing. `tokens`, `oov_tokens` and
        `sentences` are the counts behind them. Empty sentences are allowed but not
        counted: they would only raise `sentence_accuracy`.

    Raises:
        ValueError: if two inputs differ in their number of sentences, or in the length
            of one: the message has its number, counted from 1.
    """
    hits = [[g == p for g, p in zip(*x, strict=True)] for x in paired(gold, predicted)]
    every, oov = [hit for row in hits for hit in row], []
    if sentences is not None:
        words = [getattr(sentence, "tokens", sentence) for sentence in sentences]
        for row, tokens in paired(hits, words, "gold tags", "tokens"):
            oov += (h for h, w in zip(row, tokens, strict=True) if w not in known_words)
    known = 0 if sentences is None else len(every) - len(oov)
    filled = [row for row in hits if row]
    return {
        "accuracy": share(sum(every), len(every)),
        "oov_accuracy": share(sum(oov), len(oov)),
        "known_accuracy": share(sum(every) - sum(oov), known),
        "sentence_accuracy": share(sum(map(all, filled)), len(filled)),
        "tokens": len(every),
        "oov_tokens": len(oov),
        "sentences": len(filled),
    }


def share(part: int, whole: int) -> float:
    """`part / whole`, or nan if there is nothing to count."""
    return part / whole if whole else float("nan")


def paired(
    gold: Iterable[Sequence],
    predicted: Iterable[Sequence],
    gold_name: str = "gold tags",
    predicted_name: str = "predicted tags",
) -> Iterator[tuple[Sequence, Sequence]]:
    """Pairs of sentences, one at a time.

    Raises:
        ValueError: if the inputs, or two paired sentences, differ in length.
    """
    for number, pair in enumerate(zip_longest(gold, predicted), 1):
        left, right = ("no" if row is None else len(row) for row in pair)
        if left != right:
            what = f"{left} {gold_name} but {right} {predicted_name}"
            raise ValueError(f"sentence {number} has {what}")
        yield pair
