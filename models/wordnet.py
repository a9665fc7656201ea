"""Make a list of English words and lemmas for `make.py`, of WordNet 3.0.

    pip install spacy-lookups-data==1.0.5      # its data, under WordNet's licence
    python models/wordnet.py models/en/lemmas.tsv.gz

Irregular forms have their Penn Treebank tags, which are those of EWT, and verbs, which
are lemmas that are known, have UPOS.
"""

import gzip
import json
import sys
from importlib.resources import files


def table(name: str) -> dict:
    path = files("spacy_lookups_data") / "data" / f"en_lemma_{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def tags_of(form: str, kind: str) -> list[str]:
    if kind == "noun":
        return ["NNS"]
    if kind == "verb":
        if form.endswith("ing"):
            return ["VBG"]
        return ["VBZ"] if form.endswith("s") else ["VBD", "VBN"]
    return ["JJS"] if form.endswith("st") else ["JJR"]


def rows():
    irregular, known = table("exc"), table("index")
    for kind in ("noun", "verb", "adj"):
        for form, lemmas in irregular[kind].items():
            if kind != "adj" or form.endswith(("er", "st")):
                for tag in tags_of(form, kind):
                    yield form, tag, lemmas[0]
    for verb in known["verb"]:
        if verb.isalpha():
            yield verb, "VERB", verb


if __name__ == "__main__":
    text = "".join(sorted("\t".join(row) + "\n" for row in rows()))
    with open(sys.argv[1], "wb") as file:
        # without the time, equal lists are equal files
        file.write(gzip.compress(text.encode("utf-8"), mtime=0))
