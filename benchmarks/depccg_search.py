"""The A* search of depccg on scores of ours: run by `ccg_peers.py`, where depccg is.

    peers/bin/python benchmarks/depccg_search.py scores.npz found.json

It needs nothing but depccg, and none of its models: categories are plain strings, and
rules those of a grammar learnt from a treebank.
"""

import argparse
import json
import time

import numpy as np
from depccg.parsing import run
from depccg.types import CombinatorResult, ScoringResult, Token


def auto_of(tree) -> str:
    """A tree as a line of CCGbank's `.auto` format."""
    if tree.is_leaf:
        return f"(<L {tree.cat} X X {tree.token.word} {tree.cat}>)"
    head = 0 if tree.head_is_left else 1
    parts = " ".join(map(auto_of, tree.children))
    return f"(<T {tree.cat} {head} {len(tree.children)}> {parts} )"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scores", help="what ccg_peers.py has written")
    parser.add_argument("found", help="gets derivations and seconds")
    args = parser.parse_args()
    with np.load(args.scores) as arrays:
        about = json.loads(str(arrays["about"]))
        sentences = range(len(about["words"]))
        scores = [
            ScoringResult(arrays[f"tags{i}"], arrays[f"heads{i}"]) for i in sentences
        ]
    rules = {
        tuple(parts): [
            CombinatorResult(whole, "rule", "<rule>", side == 0)
            for whole, side in wholes
        ]
        for parts, wholes in about["rules"]
    }
    documents = [[*map(Token.of_word, words)] for words in about["words"]]
    start = time.process_time()
    found = run(
        documents,
        scores,
        about["tags"],
        about["roots"],
        lambda left, right: rules.get((left, right), []),
        lambda child: rules.get((child,), []),
        use_beta=False,  # the scores say which categories are tried
        max_step=about["steps"],
        max_chunk_size=len(documents),  # in this process
    )
    seconds = time.process_time() - start
    lines = [
        auto_of(ranked[0].tree) if np.isfinite(ranked[0].score) else None
        for ranked in found
    ]
    with open(args.found, "w", encoding="utf-8") as stream:
        json.dump({"seconds": seconds, "derivations": lines}, stream)


if __name__ == "__main__":
    main()
