"""The schemes that write chunks as tags, and the tags that may follow each other.

========= ==========================================================================
scheme    a chunk of type X
========= ==========================================================================
`"iob2"`  `B-X I-X I-X`: it begins with B
`"iob1"`  `I-X I-X I-X`; it begins with B only directly after a chunk of its type
`"iobes"` `B-X I-X E-X`, and `S-X` if it is one token; BILOU writes L for E, U for S
========= ==========================================================================
"""

from collections.abc import Iterable, Sequence

import numpy as np

from keras_tagging.metrics.chunks import looks_like_chunks, split_tag

CHUNK_SCHEMES = ("iob2", "iob1", "iobes")


def may_follow(before: str | None, after: str | None, scheme: str) -> bool:
    """Whether a tag may follow another; None is the end of the sentence.

    Args:
        before, after: tags such as "O" or "B-NP"; None before the first token and
            after the last.
        scheme: "iob2", "iob1" or "iobes".
    """
    prefix, kind = split_tag(before or "O")
    prefix_after, kind_after = split_tag(after or "O")
    continues = prefix != "O" and kind == kind_after
    if scheme != "iobes" and prefix_after in ("E", "S"):
        return False
    if scheme == "iob2":
        return prefix_after != "I" or continues
    if scheme == "iob1":
        return prefix_after != "B" or continues
    if prefix in ("B", "I"):
        return prefix_after in ("I", "E") and continues
    return prefix_after in ("O", "B", "S")


def is_consistent(tags: Sequence[str], scheme: str) -> bool:
    """Whether the tags of one sentence follow the scheme."""
    pairs = zip([None, *tags], [*tags, None], strict=True)
    return all(may_follow(before, after, scheme) for before, after in pairs)


def chunk_scheme(sentences: Iterable[Sequence[str]]) -> str | None:
    """The scheme in which the tags of all sentences are consistent.

    Args:
        sentences: the tags of each sentence, for instance of a training corpus.

    Returns:
        The first of "iob2", "iob1" and "iobes" that fits; None if none does, or if
        the tags are not those of chunks.
    """
    sentences = [list(tags) for tags in sentences]
    if not looks_like_chunks(tag for tags in sentences for tag in tags):
        return None
    scheme, inconsistent = nearest_scheme(sentences)
    return None if inconsistent else scheme


def nearest_scheme(sentences: Sequence[Sequence[str]]) -> tuple[str, int]:
    """The scheme that the fewest sentences break, and how many break it.

    Args:
        sentences: the tags of each sentence, which are those of chunks.
    """
    counts = {
        scheme: sum(not is_consistent(tags, scheme) for tags in sentences)
        for scheme in CHUNK_SCHEMES
    }
    scheme = min(counts, key=counts.get)
    return scheme, counts[scheme]


def scheme_of_names(tags: Iterable[str]) -> str:
    """The scheme that a tag inventory looks like.

    The names cannot always tell IOB1 from IOB2: IOB1 is assumed if a type has I but no
    B. `chunk_scheme` looks at sentences, which do tell.

    Raises:
        ValueError: if the tags are not those of chunks, or are IOE1 or IOE2.
    """
    tags = list(tags)
    parts = {split_tag(tag) for tag in tags}
    prefixes = {prefix for prefix, _ in parts}
    if not looks_like_chunks(tags) or ("E" in prefixes and "B" not in prefixes):
        raise ValueError(
            "these tags are not of IOB1, IOB2, IOBES or BILOU, such as O, B-NP, I-NP: "
            f"{', '.join(tags[:5])}{' ...' if len(tags) > 5 else ''}"
        )
    if prefixes & {"E", "S"}:
        return "iobes"
    inside = {kind for prefix, kind in parts if prefix == "I"}
    begun = {kind for prefix, kind in parts if prefix == "B"}
    return "iob2" if inside <= begun else "iob1"


def allowed_transitions(
    tags: Sequence[str], scheme: str | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tags that may begin a sentence, follow each other, and end a sentence.

    Args:
        tags: the tag inventory, in the order of the ids.
        scheme: "iob2", "iob1" or "iobes"; None to tell by the names.

    Returns:
        Three boolean arrays: `(num_tags,)`, whether a tag may begin a sentence;
        `(num_tags, num_tags)`, whether the column's tag may follow the row's; and
        `(num_tags,)`, whether a tag may end a sentence.

    Raises:
        ValueError: for an unknown scheme, or tags that are not those of chunks.
    """
    if scheme not in (None, *CHUNK_SCHEMES):
        known = ", ".join(map(repr, CHUNK_SCHEMES))
        raise ValueError(f"unknown scheme {scheme!r}; known are {known}")
    named = scheme_of_names(tags)
    scheme = scheme or named
    start = [may_follow(None, tag, scheme) for tag in tags]
    between = [[may_follow(one, other, scheme) for other in tags] for one in tags]
    end = [may_follow(tag, None, scheme) for tag in tags]
    return np.array(start), np.array(between), np.array(end)
