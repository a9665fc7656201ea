"""The network of a CCG parser: supertags and heads of the same states."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from keras_tagging.architectures.parser_network import Encoder, recurrent_stack
from keras_tagging.architectures.settings import TABLES, CCGSettings
from keras_tagging.utils.checks import Checked, Parts, Share, Units
from keras_tagging.utils.seeds import seeds


@dataclass(frozen=True, kw_only=True)
class SupertaggingNetwork(Checked):
    """Look-up tables, a stack of recurrent layers, and the tagger that reads it.

    Args:
        encoder: the stacked tagger whose cell the layers have.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        merge: "layer" or "top", as in `BidirectionalStack`.
        dropout: of the input of the recurrent layers.
        layer_dropout: of their output.
    """

    encoder: Encoder = "bigru"
    units: Units = 200
    num_layers: Parts = 2
    merge: Literal["top", "layer"] = "layer"
    dropout: Share = 0.5
    layer_dropout: Share = 0.5

    def supertagged(self, settings, features, tags, draw, *, seed, vector_dim):
        """The layers up to the logits of the categories.

        Args:
            settings, features, vector_dim: as in `CCGNetwork.build`.
            tags: the categories.
            draw: seeds.
            seed: of the cell.

        Returns:
            The inputs, their mask, the states `(batch, time, size)`, the logits of the
            categories, and the function from a seed to the initializer of kernels.
        """
        import keras

        from keras_tagging.architectures.embedding import INITIALIZERS, token_inputs

        _, of_kernels = INITIALIZERS[settings.tables.initializer]
        inputs, mask, x = token_inputs(
            settings, features, draw, dropout=self.dropout, vector_dim=vector_dim
        )
        stack = recurrent_stack(
            self.encoder,
            self.units,
            self.num_layers,
            draw,
            of_kernels,
            merge=self.merge,
            dropout=self.layer_dropout,
            name="stack",
            seed=seed,
        )
        states = stack(x, mask=mask)
        logits = keras.layers.Dense(
            len(tags),
            kernel_initializer=of_kernels(next(draw)),
            dtype="float32",
            name="logits",
        )(states)
        return inputs, mask, states, logits, of_kernels


@dataclass(frozen=True, kw_only=True)
class CCGNetwork(SupertaggingNetwork):
    r"""Two outputs behind the stack of recurrent layers.

    One gives the logits of each word's categories, the other those of its head
    (:class:`keras_tagging.layers.BiaffineHeads`), as in Yoshikawa et al. (2017),
    section 3.2, :cite:`yoshikawa2017`.

    Args:
        head_units: size of the vectors of words as dependents, and as heads.
        head_dropout: of these.
    """

    kind: ClassVar[str] = "ccg-parser"
    needs: ClassVar = (CCGSettings, *TABLES)

    head_units: Units = 150
    head_dropout: Share = 0.3

    def build(self, settings, features, vocabularies, *, seed, vector_dim=0):
        """The functional network.

        Args:
            settings: a `Settings`, for the options of the tables.
            features: an adapted `TokenFeatures`.
            vocabularies: whose "tags" are the categories.
            seed: of the initial weights and of dropout.
            vector_dim: size of the pretrained vectors, 0 without.

        Returns:
            A functional model from what `run_network` gives it to a dict of `tags`,
            logits `(batch, time, tags)`, and `heads`, logits `(batch, time, time + 1)`.
        """
        from keras_tagging.architectures.output import functional
        from keras_tagging.layers import BiaffineHeads

        draw, tags = seeds(seed), vocabularies["tags"]
        inputs, mask, x, logits, of_kernels = self.supertagged(
            settings, features, tags, draw, seed=seed, vector_dim=vector_dim
        )
        heads = BiaffineHeads(
            self.head_units,
            dropout=self.head_dropout,
            seed=next(draw),
            kernel_initializer=of_kernels(next(draw)),
            name="heads",
        )(x, mask=mask)
        return functional(inputs, None, {"tags": logits, "heads": heads}, name="scorer")
