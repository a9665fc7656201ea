"""The batches in which a file is called: with little padding, and not too many."""

import numpy as np

#: what a step of recurrent layers and of a search takes, whatever the batch, in padded
#: tokens of a usual one
STEP = 3


def call_batches(lengths: np.ndarray, most: int) -> list[np.ndarray]:
    """Group sentences of similar length into the batches that take the least time.

    A batch costs its padded tokens, and `STEP` more for each of its steps. Of sentences
    in the order of their lengths, the cuts are the best ones.

    Args:
        lengths: `(sentences,)` token counts.
        most: padded tokens of a batch; a longer sentence is a batch of its own.

    Returns:
        Arrays of sentence indices; sentences without tokens are in none.
    """
    order = np.flatnonzero(lengths)
    order = order[np.argsort(lengths[order], kind="stable")]
    # cost[j]: of the best batches of the first j sentences, the last from first[j] on
    cost, first = np.zeros(len(order) + 1), [0] * (len(order) + 1)
    for j, length in enumerate(lengths[order].tolist(), 1):
        begin = max(0, j - max(1, most // length))
        costs = cost[begin:j] + length * (STEP + j - np.arange(begin, j))
        best = int(costs.argmin())
        cost[j], first[j] = costs[best], begin + best
    batches, end = [], len(order)
    while end:
        batches.append(order[first[end] : end])
        end = first[end]
    return batches[::-1]
