"""Labels where each depends on those before it: what they add, and the search."""

from keras import ops

from keras_tagging.cells.label_embedding_cell import flat_table
from keras_tagging.layers.loop import over_time

# log p of a hypothesis that does not exist
IMPOSSIBLE = -1e9


def context_contribution(items, table, mask, past=True):
    """The contributions of all items of a context to each position.

    Args:
        items: what stands at each position: label ids `(batch, time)`, -1 for
            nothing, or `(batch, time, item)`.
        table: `(item, lags, size)`: what an item adds one, two, ... positions away.
        mask: `(batch, time)`, False at padding, which adds nothing.
        past: whether a position reads the items before it, or those after it.

    Returns:
        `(batch, time, size)`.
    """
    rows, lags, size = table.shape
    table = ops.reshape(table, (rows, lags * size))
    if len(items.shape) == 2:
        mask = mask & (items >= 0)
        products = ops.take(table, ops.maximum(items, 0), axis=0)
    else:
        products = ops.matmul(items, table)
    products = ops.where(ops.expand_dims(mask, -1), products, 0.0)
    padded = ops.pad(products, ((0, 0), (lags, lags), (0, 0)))
    total = 0.0
    for lag, part in enumerate(ops.split(padded, lags, axis=-1), 1):
        start = lags - lag if past else lags + lag
        total = total + part[:, start : (start - 2 * lags) or None]
    return total


def greedy_search(hidden_layer, choose, x, mask, labels, hidden, known=None):
    """The hidden states of a sentence whose every label is the best at its position.

    The state of the loop is what is known of the hidden layer's input at the next
    positions: a label or a hidden state is multiplied once for all of them.

    Args:
        hidden_layer, x, mask, labels, hidden: as in `beam_search`; labels may be None
            if hidden is not.
        choose: function from logits to what is fed back, `(batch, num_labels)`.
        known: a share `(batch, time, 1)` and `(batch, time, num_labels)`, which is fed
            back to this share in place of what was chosen; or None.

    Returns:
        `(batch, time, size)`, 0 where masked.
    """
    size = x.shape[-1]
    lags = (hidden if labels is None else labels).shape[1]
    labels, hidden = flat_table(labels), flat_table(hidden)
    if known is not None:
        x = ops.concatenate([x, *known], -1)

    def step(x, states):
        [coming] = states
        h, logits = hidden_layer(x[:, :size] + coming[:, :size])
        coming = _shift(coming, size)
        if labels is not None:
            fed = choose(logits)
            if known is not None:
                share, given = x[:, size : size + 1], x[:, size + 1 :]
                fed = share * given + (1 - share) * fed
            coming = coming + ops.matmul(fed, labels)
        if hidden is not None:
            coming = coming + ops.matmul(h, hidden)
        return h, [coming]

    nothing = ops.concatenate([ops.zeros_like(x[:, 0, :size])] * lags, -1)
    return over_time(step, x, [nothing], mask)


def beam_search(hidden_layer, x, mask, labels, hidden, width):
    """Keeps the `width` best label sequences of each sentence, position by position.

    Their order is that of :math:`\\sum_t \\log P(y_t | y_{t-c} \\dots y_{t-1}, x)`,
    the product of the probabilities in Eq. 2 of Dinarelli & Tellier (2016),
    :cite:`dinarelli2016`, who decode greedily. Of equal sums the one found first
    counts.

    Args:
        hidden_layer: function from its input `(batch, width, size)` to hidden states
            and logits.
        x: `(batch, time, size)`: what the hidden layer reads but for the contexts.
        mask: `(batch, time)`, False at padding.
        labels: `(num_labels, lags, size)`: what a label adds to the input of the
            hidden layer one, two, ... positions later.
        hidden: `(size, lags, size)`: the same of a hidden state, or None.
        width: hypotheses kept.

    Returns:
        The best sequence `(batch, time)` as floats, and the hidden states along it
        `(batch, time, size)`; 0 where masked.
    """
    num_labels, lags, size = labels.shape
    labels, hidden = flat_table(labels), flat_table(hidden)

    def step(x, states):
        coming, scores = states
        coming = ops.reshape(coming, (-1, width, lags * size))
        h, logits = hidden_layer(ops.expand_dims(x, 1) + coming[:, :, :size])
        totals = ops.expand_dims(scores, -1) + ops.log_softmax(logits)
        best, chosen = ops.top_k(ops.reshape(totals, (-1, width * num_labels)), width)
        chosen = ops.cast(chosen, "int32")
        parent = ops.one_hot(chosen // num_labels, width, dtype=x.dtype)
        label = chosen % num_labels
        coming = _shift(coming, size)
        if hidden is not None:
            coming = coming + ops.matmul(h, hidden)
        coming = ops.matmul(parent, coming)
        coming = coming + ops.matmul(
            ops.one_hot(label, num_labels, dtype=x.dtype), labels
        )
        kept = [ops.cast(label, x.dtype), _flat(parent), _flat(h)]
        best = best - best[:, :1]
        return ops.concatenate(kept, -1), [_flat(coming), best]

    def back(kept, states):
        [here] = states  # which hypothesis, one-hot
        label = ops.sum(here * kept[:, :width], -1, keepdims=True)
        parents = ops.reshape(kept[:, width : width + width**2], (-1, width, width))
        h = ops.reshape(kept[:, width + width**2 :], (-1, width, size))
        before = ops.matmul(ops.expand_dims(here, 1), parents)
        h = ops.matmul(before, h)[:, 0]
        return ops.concatenate([label, h], -1), [before[:, 0]]

    nothing = ops.zeros_like(x[:, 0])
    coming = ops.concatenate([nothing] * (lags * width), -1)
    first = ops.zeros_like(nothing[:, :1])
    others = ops.concatenate([first] * (width - 1), -1)
    scores = ops.concatenate([first, others + IMPOSSIBLE], -1)
    kept = over_time(step, x, [coming, scores], mask)
    best = ops.concatenate([first + 1, others], -1)
    path = over_time(back, kept, [best], mask, backwards=True)
    return ops.round(path[:, :, 0]), path[:, :, 1:]


def _shift(coming, size):
    """Moves what is coming one position on."""
    nothing = ops.zeros_like(coming[..., :size])
    return ops.concatenate([coming[..., size:], nothing], -1)


def _flat(x):
    return ops.reshape(x, (-1, x.shape[1] * x.shape[2]))
