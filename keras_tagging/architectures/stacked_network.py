"""The network that the stacked architectures share: each brings its cell."""

import keras

from keras_tagging.cells.initializers import seeds
from keras_tagging.layers import BidirectionalStack
from keras_tagging.architectures.embedding import INITIALIZERS, token_inputs
from keras_tagging.architectures.output import first_feedback, gold_labels, output_layer


def stacked_network(
    cell_class,
    features,
    num_tags,
    *,
    seed,
    vector_dim=0,
    word_dim=100,
    affix_dim=5,
    character_dim=5,
    window=0,
    window_over="words",
    window_gated=False,
    window_dropout=0.0,
    trainable=True,
    dropout=0.0,
    units=300,
    num_layers=2,
    merge="top",
    input_layer=None,
    layer_dropout=0.0,
    dropped_layers="all",
    initializer="glorot",
    decoder="softmax",
    label_units=200,
    label_dim=30,
    label_context=6,
    label_activation="relu",
    feedback="predicted",
    beam_width=1,
    **cell_options,
):
    r"""Look-up tables, a stack of bidirectional recurrent layers, an output layer.

    .. math::
        h_t = [\overrightarrow{h}_t; \overleftarrow{h}_t], \quad
        y_t = \mathrm{softmax}(W h_t + b)

    Section 2.2 of Kadari et al. (2018), :cite:`kadari2018`, section 5 of Wu et al.
    (2016), :cite:`wu2016`, section 4 of Wu et al. (2017), :cite:`wu2017`.

    Args:
        cell_class: the cell, which states the recurrence.
        features: an adapted `TokenFeatures`.
        num_tags: int.
        seed: int. Seed of the initial weights and of dropout.
        vector_dim: size of the pretrained vectors, 0 without.
        word_dim: size of the word index embeddings.
        affix_dim: size of the embeddings of each suffix, prefix, shape,
            capitalisation and further column.
        character_dim: size of the embedding of each character.
        window, window_over, window_gated, window_dropout: the context window, see
            `embed_features`.
        trainable: whether the word embeddings are trained.
        dropout: of the input of the recurrent layers.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        merge: "top" (each direction a stack of its own) or "layer" (each layer reads
            both directions).
        input_layer: "tanh" or "linear", an input-to-hidden layer of `units`; or None.
        layer_dropout: of the output of recurrent layers.
        dropped_layers: "all" of them, or "ends": the first and the last.
        initializer: of all weights but the orthogonal recurrent ones: "glorot"
            (Keras' own) or "gaussian" (`cells.initializers.gaussian`).
        decoder: "softmax"; "crf" for a CRF behind the logits; "i-rnn" for a hidden
            layer that also reads the labels before.
        label_units, label_dim, label_context, label_activation, feedback, beam_width:
            of the decoder "i-rnn", see `LabelEmbeddingRNN`.
        **cell_options: keywords of the cell.

    Returns:
        A functional model: ids `(batch, time, features)`, and gold labels for
        "i-rnn", to what `keras_tagging.architectures.output` describes.
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

    # Recurrent layers
    if "gate" in cell_options and "bernoulli" in (cell_options["gate"] or ""):
        cell_options["seed"] = seed
    cell = cell_class(
        units,
        kernel_initializer=of_kernels(next(draw)),
        recurrent_initializer=keras.initializers.Orthogonal(seed=next(draw)),
        **cell_options,
    )
    rates = [layer_dropout] * num_layers
    if dropped_layers == "ends":
        rates[1:-1] = [0.0] * max(0, num_layers - 2)
    stack = BidirectionalStack(
        cell,
        num_layers=num_layers,
        merge=merge,
        input_layer=input_layer,
        dropout=rates,
        seed=next(draw),
        name="stack",
    )
    x = stack(x, mask=mask)

    inputs, label_options = ids, {}
    if decoder == "i-rnn":
        labels = gold_labels()
        inputs = [ids, labels]
        label_options = {
            "labels": labels,
            "units": label_units,
            "label_dim": label_dim,
            "label_context": label_context,
            "activation": label_activation,
            "feedback": first_feedback(feedback),
            "beam_width": beam_width,
        }
    outputs = output_layer(
        x,
        num_tags,
        mask,
        decoder,
        seed=next(draw),
        initializer=of_kernels,
        table_initializer=of_tables,
        **label_options,
    )
    return keras.Model(inputs, outputs, name="tagger")
