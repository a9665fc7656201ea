"""The network of the label-dependency architectures: each brings its settings."""

import keras

from keras_tagging.cells.initializers import seeds
from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.architectures.embedding import INITIALIZERS, token_inputs
from keras_tagging.architectures.output import first_feedback, gold_labels

DIRECTIONS = ("forward", "backward", "bidirectional")


def label_network(
    features,
    num_tags,
    *,
    seed,
    vector_dim=0,
    word_dim=200,
    affix_dim=5,
    character_dim=5,
    window=7,
    window_over="features",
    window_gated=False,
    window_dropout=0.0,
    trainable=True,
    dropout=0.0,
    layer_dropout=0.0,
    units=100,
    direction="forward",
    label_input="embedding",
    label_context=6,
    hidden_context=0,
    initializer="glorot",
    feedback="predicted",
    **layer_options,
):
    r"""Look-up tables, a window of words, and a network that reads its own labels.

    Sections 2.2 to 2.4 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`; the
    equations are in :class:`keras_tagging.layers.LabelEmbeddingRNN`.

    With `direction="bidirectional"` a backward network predicts first; its labels and
    states are the future context of a forward one. Both are trained at once, each
    with its own loss. Departures: they share the look-up tables of words, where the
    paper trains the backward network beforehand.

    Args:
        features: an adapted `TokenFeatures`.
        num_tags: int.
        seed: int. Seed of the initial weights and of dropout.
        vector_dim: size of the pretrained vectors, 0 without.
        word_dim: size of the word embeddings, D.
        affix_dim: size of the embeddings of each suffix, prefix, shape,
            capitalisation and further column, such as word classes.
        character_dim: size of the embedding of each character.
        window, window_over, window_gated, window_dropout: the context window, see
            `embed_features`; 2w + 1 = 7 in the paper.
        trainable: whether the word embeddings are trained.
        dropout: of the hidden layer's input.
        layer_dropout: of the hidden layer.
        units: hidden units, of each direction.
        direction: "forward", "backward" or "bidirectional".
        initializer: of all matrices: "glorot" or "gaussian".
        label_input, label_context, hidden_context, feedback: as in
            `LabelEmbeddingRNN`; for feedback a pair of shares is the first and last
            epoch's.
        **layer_options: further keywords of `LabelEmbeddingRNN`.

    Returns:
        A functional model: ids `(batch, time, features)`, and where labels are read
        `(batch, time)` gold labels, to what `keras_tagging.architectures.output` describes.
    """
    draw = seeds(seed)
    of_tables, of_kernels = INITIALIZERS[initializer]
    ids, mask, x = token_inputs(
        features,
        draw,
        {
            "word": word_dim,
            "vector": vector_dim,
            "character": character_dim,
            "column": affix_dim,
        },
        dropout=dropout,
        initializer=initializer,
        window=window,
        window_over=window_over,
        window_gated=window_gated,
        window_dropout=window_dropout,
        trainable=trainable,
    )

    def layer(name, **options):
        return LabelEmbeddingRNN(
            units,
            num_tags,
            feedback=first_feedback(feedback),
            label_input=label_input,
            label_context=label_context,
            hidden_context=hidden_context,
            dropout=layer_dropout,
            seed=next(draw),
            kernel_initializer=of_kernels(next(draw)),
            label_initializer=of_tables(next(draw)),
            name=name,
            **layer_options,
            **options,
        )

    labels = gold_labels(label_input)
    given = {} if labels is None else {"labels": labels}
    inputs = ids if labels is None else [ids, labels]
    if direction == "bidirectional":
        future = layer("backward", go_backwards=True)(x, mask=mask, **given)
        rnn = layer(
            "forward",
            future_label_context=label_context,
            future_hidden_context=hidden_context,
        )
        given["future"] = future
    else:
        rnn = layer(direction, go_backwards=direction == "backward")
    found = rnn(x, mask=mask, **given)
    outputs = {name: found[name] for name in ("logits", "tags")}
    if direction == "bidirectional":
        outputs["other_logits"] = future["logits"]
    return keras.Model(inputs, outputs, name="tagger")
