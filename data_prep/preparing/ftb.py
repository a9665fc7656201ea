"""The French Treebank in its own XML."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from keras_tagging.data import CorpusError, Sentence
from keras_tagging.data.records import sentence_of
from preparing.archives import Member
from preparing.markup import Element, elements, left_out

# The 28 tags of Crabbe & Candito (2008), and PREF: by category and subcategory, or for
# verbs by the first letter of the morphology.
_TAGS = {
    "A": ("ADJ", {"int": "ADJWH"}),
    "ADV": ("ADV", {"int": "ADVWH"}),
    "C": ("CC", {"S": "CS"}),
    "CL": ("CLO", {"suj": "CLS", "refl": "CLR"}),
    "D": ("DET", {"int": "DETWH"}),
    "N": ("NC", {"P": "NPP"}),
    "PRO": ("PRO", {"int": "PROWH", "rel": "PROREL"}),
    "V": (
        "V",
        {"W": "VINF", "G": "VPR", "K": "VPP", "Y": "VIMP", "S": "VS", "T": "VS"},
    ),
    **{tag: (tag, {}) for tag in ("ET", "I", "P", "P+D", "P+PRO", "PONCT", "PREF")},
}

Tagset = Literal["cc", "cat", "ee"]
Compounds = Literal["joined", "split"]


def crabbe_candito(category: str, subcategory: str = "", morphology: str = "") -> str:
    """The tag of Crabbe & Candito for a word of the treebank.

    Any other category stays as it is.

    Example:
        >>> crabbe_candito("V", morphology="P3s"), crabbe_candito("N", "P", "ms")
        ('V', 'NPP')
    """
    tag, others = _TAGS.get(category, (category, {}))
    return others.get(morphology[:1] if category == "V" else subcategory, tag)


def read_ftb(
    member: Member,
    *,
    compounds: Compounds = "joined",
    tagset: Tagset = "cc",
    encoding: str | None = None,
    skipped: list[str] | None = None,
) -> Iterator[Sentence]:
    """The sentences of a file. Columns: `pos` (the category) and `lemma`.

    Args:
        member: the file: `SENT` elements with `w` elements inside phrases. A `w` whose
            parts are `w` elements is a compound.
        compounds: "joined" makes a compound one token, its parts joined by `_`.
            "split" makes each part a token, with the category of its `catint` or, if
            that is empty, with the compound's tag. In both, a blank in a token becomes
            `_`.
        tagset: "cc" for the 29 tags of Crabbe & Candito, "cat" for the category, "ee"
            for the whole tag of the treebank (a part has its category only).
        encoding: by default the encoding that the file declares, or else UTF-8.
        skipped: a list that collects a message for each sentence with a malformed
            word, which is then left out; by default that is an error.

    Raises:
        CorpusError: if the file is not well-formed, or a word has no text or category.
    """
    for sentence in elements(member, "SENT", encoding=encoding):
        rows = []
        with left_out(skipped, member, sentence):
            for word in sentence.elements("w"):
                rows += _rows(member, word, compounds, tagset)
            columns = list(zip(*rows, strict=True)) or [()] * 4
            tokens, tags, pos, lemmas = columns
            yield sentence_of(tokens, tags, {"pos": pos, "lemma": lemmas})


def _rows(member: Member, word: Element, compounds: str, tagset: str) -> list[tuple]:
    """Token, tag, category and lemma of a word, or of each part of a compound."""
    category = word.attributes.get("cat") or word.attributes.get("catint")
    if not category:
        what = "<w> has no cat"
        remedy = "add its category; parts of compounds alone do without"
        raise CorpusError(f"{member.name}:{word.line}: {what}; {remedy}")
    lemma = _joined(word.attributes.get("lemma", "")) or "_"
    tag = _tag(word, category, tagset)
    parts = list(word.elements("w"))
    if not parts:
        return [(_form(member, word), tag, category, lemma)]
    forms = [_form(member, part) for part in parts]
    if compounds == "joined":
        return [("_".join(forms), tag, category, lemma)]
    rows = []
    for part, form in zip(parts, forms, strict=True):
        own = part.attributes.get("catint", "")
        lemma = _joined(part.attributes.get("lemma", "")) or "_"
        own_tag = _tag(part, own, tagset) if own else tag
        rows.append((form, own_tag, own or category, lemma))
    return rows


def _tag(word: Element, category: str, tagset: str) -> str:
    if tagset == "cc":
        subcategory = word.attributes.get("subcat", "")
        return crabbe_candito(category, subcategory, word.attributes.get("mph", ""))
    whole = _joined(word.attributes.get("ee", "")) if tagset == "ee" else ""
    return whole or category


def _form(member: Member, word: Element) -> str:
    form = _joined(word.text())
    if not form:
        what = "<w> has no text"
        raise CorpusError(f"{member.name}:{word.line}: {what}; add it, or remove <w>")
    return form


def _joined(text: str) -> str:
    return re.sub(r"\s+", "_", text.strip())


def with_common_nouns_lowered(
    sentence: Sentence, tags: frozenset[str] = frozenset({"NC"})
) -> Sentence:
    """The sentence with common nouns that begin in lower case.

    D16 section 3.2: "nouns not corresponding to proper names and starting with a
    capital letter have been converted to lowercase".

    Args:
        sentence: a sentence with tags.
        tags: the tags of common nouns.
    """
    tokens = [
        token.lower() if tag in tags and token[:1].isupper() else token
        for token, tag in zip(sentence.tokens, sentence.tags, strict=True)
    ]
    return replace(sentence, tokens=tokens)
