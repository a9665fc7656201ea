"""Greedy and beam search for the transitions of a sentence, in one compiled loop."""

from keras import ops

from keras_tagging.parsing import (
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    advance,
    features,
    legal,
    start,
)
from keras_tagging.parsing.transitions import (
    HEAD,
    LABEL,
    Configuration,
    with_label,
)

FORBIDDEN = -1e30  # a score below that of any sequence of legal moves
LARGEST = 1e6  # logit


def search(scorer, tokens, lengths, beam_width=1):
    """The most probable tree of every sentence, as far as the search finds it.

    All hypotheses of a sentence have as many moves, two for each word, so that they
    end together. The probability of a move is one among the legal moves. Each
    hypothesis has its own configuration and recurrent state.

    Args:
        scorer: a `TransitionScorer`.
        tokens: `(batch, words, size)`.
        lengths: `(batch,)`.
        beam_width: hypotheses kept; 1 is greedy search.

    Returns:
        Heads and labels `(batch, words)` int32, -1 and 0 beyond a sentence's end.
    """
    batch, words = ops.shape(tokens)[:2]
    lengths = ops.repeat(ops.cast(lengths, "int32"), beam_width)
    tables = scorer.tables(tokens)
    weights = list(scorer.cell.recurrent_weights())
    # the hypotheses of a sentence follow one another, the best first
    first = ops.expand_dims(ops.arange(batch) * beam_width, 1)
    nodes, top, front, _ = start(lengths, words + 2, ops)
    states = scorer.cell.get_initial_state(batch * beam_width)
    scores = ops.convert_to_tensor([[0.0] + [FORBIDDEN] * (beam_width - 1)], "float32")
    scores = ops.tile(scores, (batch, 1))
    last = 2 * ops.max(lengths)

    def not_done(step, *_):
        return step < last

    def move(step, nodes, top, front, scores, *states):
        configuration = Configuration(nodes, top, front, lengths)
        of_nodes, of_labels = (
            ops.reshape(x, (batch, beam_width, x.shape[-1]))
            for x in features(configuration, ops)
        )
        x = scorer.look_up(tables, of_nodes, of_labels)
        x = ops.reshape(x, (batch * beam_width, x.shape[-1]))
        hidden, states = scorer.cell.step(x, list(states), weights=weights)
        logits = ops.matmul(hidden, scorer.output_kernel)
        gains = move_scores(logits, configuration, scorer.arc_masks())
        gains = ops.reshape(gains, (batch, beam_width, gains.shape[-1]))
        totals = ops.expand_dims(scores, -1) + gains
        totals = ops.reshape(totals, (batch, beam_width * gains.shape[-1]))
        scores, chosen = ops.top_k(totals, beam_width)
        chosen = ops.cast(chosen, "int32")
        output = ops.reshape(chosen % gains.shape[-1], (-1,))
        if beam_width > 1:
            parents = ops.reshape(first + chosen // gains.shape[-1], (-1,))
            nodes, top, front, *states = (
                ops.take(x, parents, axis=0) for x in (nodes, top, front, *states)
            )
            configuration = Configuration(nodes, top, front, lengths)
        moves = move_of(output, scorer.num_labels)
        nodes, top, front, _ = advance(configuration, *moves, xp=ops)
        return step + 1, nodes, top, front, scores, *states

    loop = (ops.cast(0, "int32"), nodes, top, front, scores, *states)
    nodes = ops.while_loop(not_done, move, loop)[1]
    best = ops.reshape(nodes, (batch, beam_width, words + 2, 7))[:, 0, 2:]
    return best[:, :, HEAD] - 1, best[:, :, LABEL]


def move_of(outputs, num_labels):
    """Move and label of an output: 0 is SHIFT, then LEFT_ARC, RIGHT_ARC by label."""
    right = outputs > num_labels
    moves = ops.where(outputs == 0, SHIFT, ops.where(right, RIGHT_ARC, LEFT_ARC))
    return moves, ops.where(right, outputs - num_labels, outputs)


def move_scores(logits, configuration, masks=None):
    """Log probabilities of all outputs: `(batch, 2 V + 1)`.

    Illegal ones are `FORBIDDEN`, whatever the logits are: a network that has diverged
    gives trees too. A sentence that is parsed does one thing, which changes nothing,
    with a score of 0.

    Args:
        logits: `(batch, 2 V + 1)`.
        configuration: a `Configuration`.
        masks: see `TransitionScorer.arc_masks`.
    """
    labels = logits.shape[-1] // 2
    may = legal(configuration, ops)
    parsed = ~ops.any(may, 1, keepdims=True)
    left, right = (ops.repeat(may[:, i : i + 1], labels, 1) for i in (1, 2))
    if masks is not None:
        masks = [ops.convert_to_tensor(mask[None]) for mask in masks]
        left, right = with_label(configuration, left, right, masks, ops)
    may = ops.concatenate([may[:, :1] | parsed, left, right], 1)
    logits = ops.nan_to_num(ops.cast(logits, "float32"))  # half has no such number
    logits = ops.clip(logits, -LARGEST, LARGEST)
    return ops.log_softmax(ops.where(may, logits, FORBIDDEN))
