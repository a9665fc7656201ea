"""Several networks that score the moves of one parser: an ensemble in the search."""

from collections.abc import Callable, Sequence

import numpy as np

from keras_tagging.transitions.search import search


class JointScorer:
    """Scorers of the same moves as one: the mean of their probabilities of each move.

    Each has states of its own. The mean is over the probabilities of all outputs; the
    search then compares those that are legal.

    Args:
        scorers: a `layers.TransitionScorer` each, of one transition system. The numbers
            of labels and outputs are those of the first.
        labels: the names of the labels of each, whose ids count from 1; None if they
            have the same in the same order.

    Raises:
        ValueError: if the systems or the labels differ.
    """

    def __init__(self, scorers, labels: Sequence[Sequence[str]] | None = None):
        first, *others = self.scorers = list(scorers)
        self.system, self.outputs = first.system, first.outputs
        for other in others:
            if other.system.name != self.system.name:
                raise ValueError(
                    f"the transition systems are {self.system.name!r} and "
                    f"{other.system.name!r}: join parsers that have the same"
                )
        self._orders = [None] * len(self.scorers)
        if labels is not None:
            self._orders = [
                _order(labels[0], names, scorer.outputs, self.outputs)
                for names, scorer in zip(labels, self.scorers, strict=True)
            ]

    @property
    def beam_width(self) -> int:
        """Hypotheses kept in parsing: those of the first scorer."""
        return self.scorers[0].beam_width

    def arc_masks(self):
        """See `TransitionScorer.arc_masks`: what any of the scorers allows."""
        masks = [scorer.arc_masks() for scorer in self.scorers]
        if any(pair is None for pair in masks):
            return None
        masks = [
            pair if order is None else [mask[order[1]] for mask in pair]
            for pair, order in zip(masks, self._orders, strict=True)
        ]
        return [np.any(masks_of_all, 0) for masks_of_all in zip(*masks, strict=True)]

    def search(self, engine, parts: Sequence[tuple[Callable, list]], lengths, width):
        """The trees: see `transitions.search`.

        Args:
            engine: an `Engine`, whose library also has `exp` and `log`.
            parts: the function `score` of each scorer, and its initial states.
            lengths, width: as there.
        """
        states = [state for _, initial in parts for state in initial]
        return search(
            engine,
            self.system,
            self.outputs,
            self._score(engine, parts) if len(parts) > 1 else parts[0][0],
            states,
            lengths,
            width,
            self.beam_width,
            self.arc_masks(),
        )

    def _score(self, engine, parts):
        xp = engine.xp

        def score(nodes, labels, states):
            logs, after, begin = [], [], 0
            for (score_one, initial), order in zip(parts, self._orders, strict=True):
                end = begin + len(initial)
                renamed = labels if order is None else xp.take(order[0], labels, axis=0)
                logits, new = score_one(nodes, renamed, states[begin:end])
                if order is not None:
                    logits = xp.take(logits, order[1], axis=1)
                logs.append(engine.log_softmax(logits))
                after, begin = [*after, *new], end
            # relative to the largest: none is lost, however improbable a move is
            best = logs[0]
            for x in logs[1:]:
                best = xp.maximum(best, x)
            shares = [xp.exp(x - best) for x in logs]
            total = sum(shares[1:], start=shares[0]) * np.float32(1 / len(logs))
            return best + xp.log(total), after

        return score


def _order(first, names, outputs, all_outputs):
    """The ids of a scorer's labels, and its outputs, in the order of the first one.

    None if they are the same.
    """
    if set(first) != set(names):
        raise ValueError(
            "the labels of the parsers differ "
            f"({', '.join(sorted(set(first) ^ set(names))[:5])}): join parsers that "
            "have the same"
        )
    if list(first) == list(names):
        return None
    ids = {label: i for i, label in enumerate(names, 1)}
    labels = np.array([0, *map(ids.get, first)], "int32")
    moves = zip(outputs.actions.tolist(), outputs.labels.tolist(), strict=True)
    places = {move: i for i, move in enumerate(moves)}
    moves = zip(all_outputs.actions, labels[all_outputs.labels], strict=True)
    return labels, np.array([places[int(a), int(b)] for a, b in moves], "int32")
