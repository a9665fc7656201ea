"""Make a list of English words and lemmas for `make.py`, of WordNet 3.0.

    pip install spacy-lookups-data==1.0.5      # its data, under WordNet's licence
    python models/wordnet.py models/en/lemmas.tsv.gz

Base forms, which are lemmas that are known, have UPOS. Irregular forms have their Penn
Treebank tags, which are those of EWT, and so have regular forms that two base forms may
have: *staring* is of *stare*, as *starring* is of *star*. Of several lemmas of a form,
the most frequent one is its own.
"""

import gzip
import json
import re
import sys
from collections import defaultdict
from importlib.resources import files

UPOS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
#: base forms that double their last letter before -ed, -ing, -er and -est
DOUBLING = re.compile("[^aeiou]*[aeiou][^aeiouwxy]")
#: base forms that have -es and not -s
SIBILANT = re.compile(".*(s|x|z|ch|sh|o)")


def table(name: str) -> dict:
    path = files("spacy_lookups_data") / "data" / f"en_{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def tags_of(form: str, kind: str) -> list[str]:
    if kind == "noun":
        return ["NNS"]
    if kind == "verb":
        if form.endswith("ing"):
            return ["VBG"]
        return ["VBZ"] if form.endswith("s") else ["VBD", "VBN"]
    ends = {"er": "R", "st": "S"}
    tag = ("JJ" if kind == "adj" else "RB") + ends.get(form[-2:], "")
    return [tag] if tag[2:] else []


def regular(base: str, rules: list[list[str]]):
    """What WordNet's morphy reads as forms of a base form, and whether they are."""
    for ending, old in rules:
        if base.endswith(old):
            wrong = ending == "es" and not old and not SIBILANT.fullmatch(base)
            if ending in ("ed", "ing", "er", "est"):
                wrong |= bool(DOUBLING.fullmatch(base))
            yield base[: len(base) - len(old)] + ending, not wrong


def rows():
    irregular, known, rules = (table(f"lemma_{x}") for x in ("exc", "index", "rules"))
    frequency = table("lexeme_prob")
    for kind, upos in UPOS.items():
        read, has = defaultdict(dict), set()
        for form, lemmas in irregular[kind].items():
            for tag in tags_of(form, kind):
                has |= {(form, tag)} | {(tag, lemma) for lemma in lemmas}
                if (lemma := lemmas[0]) != form and "_" not in lemma:
                    yield form, tag, lemma
        for base in sorted(known[kind]):
            if not base.replace("-", "").isalpha():
                continue
            yield base, upos, base
            for form, right in regular(base, rules[kind]):
                for tag in tags_of(form, kind):
                    read[form, tag][base] = right and (tag, base) not in has
        for (form, tag), lemmas in read.items():
            if len(lemmas) > 1 and (form, tag) not in has:
                right = [lemma for lemma in lemmas if lemmas[lemma]] or lemmas
                yield form, tag, max(right, key=lambda x: frequency.get(x, -100.0))


if __name__ == "__main__":
    text = "".join(sorted("\t".join(row) + "\n" for row in rows()))
    with open(sys.argv[1], "wb") as file:
        # without the time, equal lists are equal files
        file.write(gzip.compress(text.encode("utf-8"), mtime=0))
