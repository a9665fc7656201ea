"""The tables of `describe`: lists of rows, each a dict."""

import re
from collections import Counter
from collections.abc import Iterable

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.sentence import Corpus, Sentence

PERCENTILES = (5, 25, 50, 75, 95, 99, 100)
MAX_MISSING = 10  # words without a vector to list


def statistics(corpus: Corpus) -> list[dict]:
    """The sizes of each split."""
    train_words = {token for sentence in corpus.train for token in sentence.tokens}
    train_tags = {tag for sentence in corpus.train for tag in sentence.tags or ()}
    rows = []
    for split, sentences in corpus.splits():
        lengths = [len(sentence) for sentence in sentences]
        tags = Counter(tag for sentence in sentences for tag in sentence.tags or ())
        unseen = sum(t not in train_words for s in sentences for t in s.tokens)
        is_compared = split != "train" and bool(corpus.train)
        rows.append(
            {
                "split": split,
                "sentences": len(sentences),
                "tokens": sum(lengths),
                "mean length": sum(lengths) / len(lengths),
                "max length": max(lengths),
                "labels": len(tags),
                "rare labels": sum(count < 10 for count in tags.values()),
                "unseen words %": (
                    100 * unseen / max(1, sum(lengths)) if is_compared else None
                ),
                "unseen labels": len(tags.keys() - train_tags) if is_compared else None,
            }
        )
    return rows


def length_percentiles(corpus: Corpus) -> list[dict]:
    """Percentiles of the sentence lengths in tokens, for each split."""
    rows = []
    for split, sentences in corpus.splits():
        lengths = sorted(map(len, sentences))
        ranks = {p: -(-p * len(lengths) // 100) for p in PERCENTILES}  # rounded up
        rows.append({"split": split} | {f"{p} %": lengths[ranks[p] - 1] for p in ranks})
    return rows


def label_counts(corpus: Corpus) -> dict[str, Counter]:
    """The number of times each label occurs in each split."""
    return {
        split: Counter(tag for sentence in sentences for tag in sentence.tags or ())
        for split, sentences in corpus.splits()
    }


def leakage(corpus: Corpus) -> list[dict]:
    """The sentences of a split that an earlier one contains too.

    "alike" counts sentences that are equal except for case, digits and tokens without a
    letter or digit, including the equal ones.
    """
    rows, before = [], []
    for split, sentences in corpus.splits():
        sentences = [sentence for sentence in sentences if sentence.tokens]
        for other, known, known_alike in before:
            same = [s for s in sentences if tuple(s.tokens) in known]
            retagged = sum(s.tags not in known[tuple(s.tokens)] for s in same)
            alike = sum(_outline(s) in known_alike for s in sentences)
            tokens = sum(map(len, sentences))
            rows.append(
                {
                    "split": split,
                    "also in": other,
                    "sentences": len(same),
                    "sentences %": 100 * len(same) / max(1, len(sentences)),
                    "tokens %": 100 * sum(map(len, same)) / max(1, tokens),
                    "with other tags": retagged,
                    "alike": alike,
                    "alike %": 100 * alike / max(1, len(sentences)),
                }
            )
        known: dict[tuple, list] = {}
        for sentence in sentences:
            known.setdefault(tuple(sentence.tokens), []).append(sentence.tags)
        before.append((split, known, set(map(_outline, sentences))))
    return rows


def _outline(sentence: Sentence) -> tuple[str, ...]:
    words = (re.sub(r"\d", "0", token.lower()) for token in sentence.tokens)
    outline = tuple(word for word in words if any(map(str.isalnum, word)))
    return outline or tuple(sentence.tokens)


def trees(corpus: Corpus) -> list[dict]:
    """The number of trees, and of non-projective ones, among sentences with heads."""
    from keras_tagging.data.trees import check_tree, is_projective  # NumPy

    rows = []
    for split, sentences in corpus.splits():
        count, crossing, broken, first = 0, 0, 0, None
        for number, sentence in enumerate(sentences, 1):
            heads = sentence.columns.get("head", ["_"])
            if not heads or set(heads) == {"_"}:
                continue
            count += 1
            try:
                heads = list(map(int, heads))
                check_tree(heads)
            except ValueError:
                broken += 1
                continue
            if not is_projective(heads):
                crossing += 1
                first = first or number
        if count:
            rows.append(
                {
                    "split": split,
                    "with heads": count,
                    "no trees": broken,
                    "not projective": crossing,
                    "not projective %": 100 * crossing / count,
                    "the first": first,
                }
            )
    return rows


def word_forms(word: str) -> tuple[str, str, str]:
    """A word in NFC; in lower case; in lower case with digits as 0."""
    word = to_nfc(word)
    lower = to_nfc(word.lower())
    return word, lower, re.sub(r"\d", "0", lower)


def vector_coverage(corpus: Corpus, words: Iterable[str]) -> list[dict]:
    """The share of tokens and types with a vector, and frequent words without one.

    Words are looked up as written, else in lower case, else with digits as 0 too.
    """
    known = set(map(to_nfc, words))
    kinds = ("as written", "lower case", "digits as 0", "missing")
    rows = []
    for split, sentences in corpus.splits():
        tokens = Counter(token for sentence in sentences for token in sentence.tokens)
        by_kind: dict[str, list[str]] = {kind: [] for kind in kinds}
        for word in tokens:
            has_vector = [form in known for form in word_forms(word)]
            by_kind[kinds[[*has_vector, True].index(True)]].append(word)
        row = {"split": split}
        for kind, names in by_kind.items():
            count = sum(tokens[name] for name in names)
            row[f"{kind}, tokens %"] = 100 * count / max(1, sum(tokens.values()))
        row["missing, types %"] = 100 * len(by_kind["missing"]) / max(1, len(tokens))
        missing = sorted(by_kind["missing"], key=lambda name: (-tokens[name], name))
        row["most frequent of them"] = " ".join(missing[:MAX_MISSING])
        rows.append(row)
    return rows
