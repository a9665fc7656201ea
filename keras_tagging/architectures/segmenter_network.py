"""The network of a segmenter, and what it is given beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from keras_tagging.architectures.parser_network import Encoder, stack_of
from keras_tagging.utils.checks import Checked, Parts, Share, Units, whole
from keras_tagging.utils.seeds import seeds

#: characters that a network reads at once
Characters = Annotated[int, whole(8, 10_000)]
CLASS_DIM = 8


@dataclass(frozen=True, kw_only=True)
class SegmenterSettings(Checked):
    """The windows of a text that a segmenter reads, and what it reads beside.

    Args:
        window: characters in a window of training.
        context: characters that a window of prediction reads before and after its own:
            what the network says of them does not count.
        min_batches: batches that an epoch has at least: it reads a small text several
            times, each time cut elsewhere. 0 for one pass.
        lexicon: whether the network reads where words of the training sentences
            stand. None decides by their text: it does if few tokens end before white
            space, or many have white space inside.
    """

    window: Characters = 150
    context: Characters = 50
    min_batches: Annotated[int, whole(0, 100_000)] = 0
    lexicon: bool | None = False


@dataclass(frozen=True, kw_only=True)
class SegmenterNetwork(Checked):
    """Look-up tables of characters, a stack of recurrent layers, an output layer.

    Args:
        encoder: the stacked tagger whose cell the layers have, with its defaults.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        merge: "layer" or "top", as in `BidirectionalStack`.
        character_dim: of the embedding of a character.
        dropout: of the input of the recurrent layers.
        layer_dropout: of their output.
    """

    kind: ClassVar[str] = "segmenter"
    needs: ClassVar = (SegmenterSettings,)

    encoder: Encoder = "bigru"
    units: Units = 64
    num_layers: Parts = 1
    merge: Literal["top", "layer"] = "layer"
    character_dim: Units = 32
    dropout: Share = 0.0
    layer_dropout: Share = 0.0

    def build(self, features, labels: Sequence[str], *, seed: int):
        """The functional network, from ids `(batch, time, features)` to logits.

        Args:
            features: adapted `CharacterFeatures`.
            labels: the inventory.
            seed: of the initial weights and of dropout.
        """
        import keras
        from keras import ops

        from keras_tagging.architectures.embedding import uniform
        from keras_tagging.architectures.output import linear

        draw = seeds(seed)
        glorot = keras.initializers.GlorotUniform
        ids = keras.Input((None, len(features.names)), dtype="int32", name="ids")
        mask = ops.not_equal(ids[:, :, 0], 0)
        dims = {"character": self.character_dim}
        tables = [
            keras.layers.Embedding(
                features.sizes[name],
                dims.get(name, CLASS_DIM),
                embeddings_initializer=uniform(next(draw)),
                name=f"{name}_embedding",
            )(ids[:, :, column])
            for column, name in enumerate(features.names)
        ]
        x = ops.concatenate(tables, -1)
        x = keras.layers.Dropout(self.dropout, seed=next(draw), name="input_dropout")(x)
        x = stack_of(self, draw, glorot, seed)(x, mask=mask)
        logits = linear(x, len(labels), glorot(seed=next(draw)))
        return keras.Model(ids, logits, name="segmenter")
