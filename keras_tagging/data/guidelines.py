"""Trees and words as Universal Dependencies has them, where a network has forgotten.

Its validator demands that auxiliaries, copulas and the later parts of a word that is
written as several have no dependents of their own, that punctuation crosses no arc, and
that such parts have neither lemma nor features.
"""

from collections.abc import Sequence

from keras_tagging.data.trees import dominates, is_crossed, is_projective

SPLIT = "goeswith"
LEAVES = {"aux", "cop", SPLIT}
BELOW_LEAVES = {SPLIT, "fixed", "reparandum", "conj", "cc", "punct"}
#: the parts of speech that a relation takes, the most frequent one first
UPOS = {"punct": ["PUNCT"], "nummod": ["NUM"], "aux": ["AUX"], "cop": ["AUX", "PRON"]}
UPOS |= {"advmod": ["ADV", "ADJ", "CCONJ", "DET", "PART", "SYM"]}
LONGEST = 300  # words of a sentence in which punctuation is looked at


def mended_heads(heads: Sequence[int], deprels: Sequence[str]) -> list[int]:
    """The heads of a tree, with other ones where the validator refuses them.

    A dependent of a leaf goes to the head above it. Punctuation goes to the first word
    that it can depend on, of those above it and of the heads whose arcs are around it.

    Args:
        heads: the number of each word's head, counted from 1; 0 for ROOT.
        deprels: relations.
    """
    heads, labels = [0, *heads], ["", *(label.partition(":")[0] for label in deprels)]
    for word, label in enumerate(labels):
        if label not in BELOW_LEAVES:
            while labels[heads[word]] in LEAVES and (above := heads[heads[word]]):
                heads[word] = above
    if len(labels) > LONGEST or is_projective(heads[1:]):
        return heads[1:]
    for mark in (word for word, label in enumerate(labels) if label == "punct"):
        above = [heads[mark]]
        while above[-1]:
            above.append(heads[above[-1]])
        arcs = [(w, h) for w, h in enumerate(heads) if min(w, h) < mark < max(w, h)]
        arcs = [(abs(w - h), h) for w, h in arcs if labels[w] != "punct"]
        around = [head for _, head in sorted(arcs)]
        for head in filter(None, above + around):
            if dominates(heads, mark, head):
                continue
            heads[mark] = head
            inside = all(dominates(heads, other, mark) for other in around)
            if inside and not is_crossed(heads, mark):
                break
        else:
            heads[mark] = above[0]
    return heads[1:]


def mended_columns(columns: dict[str, list[str]], heads, deprels) -> None:
    """Give words the parts of speech of their relations, and parts of words none.

    Args:
        columns: `upos`, `feats` and `lemma`, of which each may be missing; they change.
        heads, deprels: of the tree.
    """
    pairs = zip(heads, deprels, strict=True)
    wholes = {head - 1 for head, label in pairs if label in ("fixed", SPLIT)}
    for place, label in enumerate(deprels):
        allowed = UPOS.get(label.partition(":")[0])
        # the first word of a fixed expression has any
        if allowed and "upos" in columns and place not in wholes:
            if columns["upos"][place] not in allowed:
                columns["upos"][place] = allowed[0]
        if label != SPLIT:
            continue
        for name, value in {"upos": "X", "lemma": "_", "feats": "_"}.items():
            if name in columns:
                columns[name][place] = value
        if "feats" in columns:
            feats = {*columns["feats"][heads[place] - 1].split("|"), "Typo=Yes"} - {"_"}
            columns["feats"][heads[place] - 1] = "|".join(sorted(feats, key=str.lower))
