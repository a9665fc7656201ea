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
    gold = list(gold)
    if sentences is None:
        # So no word is unknown; `known_accuracy` is set to nan below.
        seen = [[True] * len(tags) for tags in gold]
    else:
        words = [getattr(sentence, "tokens", sentence) for sentence in sentences]
        for _ in paired(gold, words, "gold tags", "tokens"):
            pass
        seen = [[word in known_words for word in tokens] for tokens in words]

    tokens = right = oov_tokens = oov_right = counted = right_sentences = 0
    for (gold_tags, tags), in_seen in zip(paired(gold, predicted), seen, strict=True):
        hits = [g == p for g, p in zip(gold_tags, tags, strict=True)]
        oov_hits = [hit for hit, k in zip(hits, in_seen, strict=True) if not k]
        tokens += len(hits)
        right += sum(hits)
        oov_tokens += len(oov_hits)
        oov_right += sum(oov_hits)
        if hits:
            counted += 1
            right_sentences += all(hits)
    known_tokens = 0 if sentences is None else tokens - oov_tokens
    return {
        "accuracy": share(right, tokens),
        "oov_accuracy": share(oov_right, oov_tokens),
        "known_accuracy": share(right - oov_right, known_tokens),
        "sentence_accuracy": share(right_sentences, counted),
        "tokens": tokens,
        "oov_tokens": oov_tokens,
        "sentences": counted,
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
    for number, (left, right) in enumerate(zip_longest(gold, predicted), 1):
        if left is None or right is None:
            short, long = gold_name, predicted_name
            if right is None:
                short, long = long, short
            raise ValueError(
                f"the {short} end after {number - 1} sentences, the {long} go on"
            )
        if len(left) != len(right):
            raise ValueError(
                f"sentence {number} has {len(left)} {gold_name} "
                f"but {len(right)} {predicted_name}"
            )
        yield left, right
