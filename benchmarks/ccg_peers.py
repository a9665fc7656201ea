"""Our chart search for CCG beside depccg's A*: the same scores, grammar and sentences.

    python -m venv peers && peers/bin/pip install depccg
    python benchmarks/ccg_peers.py MODEL TREEBANK --peers-python peers/bin/python \
        [--split dev] [--every 10] [--gold-heads] [--gold-tags]

MODEL gives the scores of categories, and a `ccg-parser` those of heads; for a parser by
moves, which has none, heads are gold. Printed are the figures of both, a sentence
without a derivation counting as one without brackets, and the sentences that each
searches in a second of processor time. What the network needs is not in it. depccg
scores categories and heads alone; ours has two roads here, one with the rules' shares,
orders and haste, which is the parser's, and one without, as depccg has it. Both try the
same categories of a word, and take as many constituents from the agenda at most.
"""

import argparse
import json
import subprocess
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import keras_tagging
from keras_tagging.ccg import Derivation
from keras_tagging.ccg.astar import AStar, Weights
from keras_tagging.ccg.auto import FRAGMENTS
from keras_tagging.ccg.grammar import head_of, normal
from keras_tagging.ccg.parsing import CCGDecoder, Search, log_softmax
from keras_tagging.ccg.words import escaped
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds.derivations import gold_heads, gold_tags
from keras_tagging.metrics import derivation_scores

DROPPED = -1000.0  # the score of a category that is not tried
SHOWN = ("coverage", "labelled", "unlabelled", "dependencies", "exact")


def scored(model, sentences, gold_of_heads: bool, gold_of_tags: bool) -> list[tuple]:
    """For each sentence the logits of categories and of heads."""
    names = ["tag_scores"] if gold_of_heads else ["tag_scores", "head_scores"]

    def arrays(sentence, tags, heads=None):
        if gold_of_tags:
            chosen = [
                [99.0 * (normal(tag) == normal(own)) for tag in model.tags]
                for own in gold_tags(sentence)
            ]
            tags = np.array(chosen, "float32")
        if heads is None:
            heads = np.zeros((len(sentence), len(sentence) + 1), "float32")
            heads[np.arange(len(sentence)), gold_heads(sentence)] = 10
        return tags, heads[:, : len(sentence) + 1]

    return model.items(slices(sentences, len(model.tags)), names, arrays)


def ours(decoder: CCGDecoder, sentences, scores) -> tuple[list, float]:
    """Derivations, None for fragments, and the seconds of processor time."""
    found, start = [], time.process_time()
    for sentence, (tags, heads) in zip(sentences, scores, strict=True):
        [(made, _)] = decoder.derive(sentence.tokens, ["X"] * len(tags), tags, heads)
        found.append(None if made.category == FRAGMENTS else made)
    return found, time.process_time() - start


def theirs(python: str, model, sentences, scores, beta: float, steps: int):
    """The same by depccg, in the environment of another Python."""
    rules = [
        [parts, [[whole, head_of(*parts, whole) if parts[1:] else 0] for whole in made]]
        for parts, made in model.grammar.rules.items()
    ]
    tags = [normal(tag) for tag in model.tags]
    about = {
        "tags": tags,
        "roots": [*model.grammar.roots],
        "rules": rules,
        "words": [[*map(escaped, sentence.tokens)] for sentence in sentences],
        "steps": steps,
    }
    arrays = {"about": np.array(json.dumps(about))}
    for i, (rows, heads) in enumerate(scores):
        rows = log_softmax(rows)
        # depccg 3.0 compares probabilities with a logarithm: its own beta drops nothing
        rows[rows < rows.max(-1, keepdims=True) + np.log(beta)] = DROPPED
        arrays[f"tags{i}"] = rows.astype("float32")
        arrays[f"heads{i}"] = log_softmax(heads).astype("float32")
    script = Path(__file__).with_name("depccg_search.py")
    with TemporaryDirectory() as folder:
        given, found = Path(folder, "scores.npz"), Path(folder, "found.json")
        np.savez(given, **arrays)
        subprocess.run([python, script, given, found], check=True)
        answer = json.loads(found.read_text("utf-8"))
    lines = answer["derivations"]
    return [line and Derivation.from_auto(line) for line in lines], answer["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("treebank")
    parser.add_argument("--peers-python", required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--every", type=int, default=10, help="sentence of the split")
    parser.add_argument("--gold-heads", action="store_true")
    parser.add_argument("--gold-tags", action="store_true")
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=20_000)
    args = parser.parse_args()
    model = keras_tagging.load(args.model)
    if getattr(model, "parts", None):
        [model] = (m for m in model.parts.values() if hasattr(m, "grammar"))
    corpus = keras_tagging.load_corpus(args.treebank)
    sentences = getattr(corpus, args.split)[:: args.every]
    gold = [sentence.derivation for sentence in sentences]
    gold_of_heads = args.gold_heads or "head_scores" not in model.reads
    scores = scored(model, sentences, gold_of_heads, args.gold_tags)
    search = Search(args.beta, agenda=args.steps)
    decoder = CCGDecoder(model.grammar, model.tags, search)
    plain = CCGDecoder(model.grammar, model.tags, search)
    weights = Weights(rule=0.0, order=0.0, haste=0.0)
    plain._astar = AStar(plain.rules, weights, args.steps)
    own = (model, sentences, scores, args.beta, args.steps)
    roads = {
        "ours": partial(ours, decoder, sentences, scores),
        "ours, categories and heads alone": partial(ours, plain, sentences, scores),
        "depccg": partial(theirs, args.peers_python, *own),
    }
    for name, road in roads.items():
        found, seconds = road()
        made = [one is not None for one in found]
        figures = derivation_scores(gold, found)._asdict()
        figures["coverage"] = sum(made) / len(made)
        shown = "  ".join(f"{key} {100 * figures[key]:.1f}" for key in SHOWN)
        print(
            f"{name}: {shown}  sentences a second {len(gold) / seconds:.1f}", flush=True
        )


if __name__ == "__main__":
    main()
