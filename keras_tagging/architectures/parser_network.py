"""The network that the parsers share: each brings its hidden layer."""

import keras

from keras_tagging.cells.initializers import seeds
from keras_tagging.layers import BidirectionalStack, TransitionScorer
from keras_tagging.architectures import bigru
from keras_tagging.architectures import bilstm
from keras_tagging.architectures import highway_bilstm
from keras_tagging.architectures import rhn
from keras_tagging.architectures import shortcut_bilstm
from keras_tagging.architectures import skip_bilstm
from keras_tagging.architectures.embedding import INITIALIZERS, token_inputs

ENCODERS = {
    "bilstm": bilstm,
    "bigru": bigru,
    "skip-bilstm": skip_bilstm,
    "shortcut-bilstm": shortcut_bilstm,
    "highway-bilstm": highway_bilstm,
    "rhn": rhn,
    None: None,
}


def parser_network(
    cell_class,
    features,
    num_labels,
    *,
    seed,
    word_dim=100,
    affix_dim=100,
    character_dim=5,
    trainable=True,
    label_dim=100,
    units=256,
    input_dropout=0.3,
    dropped="configurations",
    hidden_dropout=0.3,
    truncation="sliding",
    truncation_limit=5,
    beam_width=1,
    initializer="glorot",
    encoder=None,
    encoder_units=200,
    encoder_layers=2,
    encoder_merge="layer",
    encoder_dropout=0.3,
    **cell_options,
):
    r"""A vector for each token, and the layer that scores the parser's moves.

    Section 3 of Elkaref & Bohnet (2017), :cite:`elkaref2017`. With an encoder it is
    what section 6 proposes: the vectors are those of a bidirectional recurrent stack
    over the sentence (Kiperwasser & Goldberg 2016b), :cite:`kiperwasser2016`.

    Args:
        cell_class: the hidden layer.
        features: an adapted `TokenFeatures`.
        num_labels: int.
        seed: int. Seed of the initial weights and of dropout.
        word_dim: size of the word embeddings.
        affix_dim: size of the embeddings of tags, and of each further feature.
        character_dim: size of the embedding of each character.
        trainable: whether the word embeddings are trained.
        label_dim: size of the embeddings of dependency labels.
        units: hidden units.
        input_dropout, dropped, hidden_dropout: see
            :class:`keras_tagging.layers.TransitionScorer`.
        truncation, truncation_limit, beam_width: see there.
        initializer: of all weights: "uniform" is the paper's, "glorot", "gaussian".
        encoder: None, or the stacked architecture whose cell the encoder has.
        encoder_units: of each direction.
        encoder_layers: bidirectional layers.
        encoder_merge: "layer" or "top", as in `BidirectionalStack`.
        encoder_dropout: of the encoder's input and of its layers.
        **cell_options: keywords of the hidden layer.

    Returns:
        A functional model, ids `(batch, time, features)` to vectors `(batch, time,
        size)`, and a built `TransitionScorer`.
    """
    draw = seeds(seed)
    of_tables, of_kernels = INITIALIZERS[initializer]
    ids, mask, x = token_inputs(
        features,
        draw,
        {"word": word_dim, "character": character_dim, "column": affix_dim},
        dropout=encoder_dropout if encoder else 0.0,
        initializer=initializer,
        trainable=trainable,
    )
    if encoder:
        cell = ENCODERS[encoder].CELL(
            encoder_units,
            kernel_initializer=keras.initializers.GlorotUniform(seed=next(draw)),
            recurrent_initializer=keras.initializers.Orthogonal(seed=next(draw)),
        )
        x = BidirectionalStack(
            cell,
            num_layers=encoder_layers,
            merge=encoder_merge,
            # a cell with skips skips from a layer of its own size
            input_layer="tanh" if "skip" in cell.reads else None,
            dropout=[encoder_dropout] * encoder_layers,
            seed=next(draw),
            name="encoder",
        )(x, mask=mask)
    network = keras.Model(ids, x, name="tokens")
    recurrent = keras.initializers.Orthogonal(seed=next(draw))
    if initializer == "uniform":  # the paper's, of all weights
        recurrent = of_kernels(next(draw))
    cell = cell_class(
        units,
        kernel_initializer=of_kernels(next(draw)),
        recurrent_initializer=recurrent,
        **cell_options,
    )
    scorer = TransitionScorer(
        cell,
        num_labels,
        label_dim=label_dim,
        truncation=truncation,
        truncation_limit=truncation_limit,
        input_dropout=input_dropout,
        dropped=dropped,
        hidden_dropout=hidden_dropout,
        beam_width=beam_width,
        initializer=of_kernels(next(draw)),
        table_initializer=of_tables(next(draw)),
        seed=next(draw),
        name="scorer",
    )
    scorer.build((None, None, x.shape[-1]))
    return network, scorer
