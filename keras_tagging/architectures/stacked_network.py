"""The network that the stacked taggers share: each brings its cell."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from keras_tagging.architectures.settings import TABLES, TaggerSettings, WindowSettings
from keras_tagging.data.named_columns import by_column
from keras_tagging.utils.checks import (
    Checked,
    Parts,
    PartsOrNone,
    Rule,
    Share,
    Steps,
    Units,
)
from keras_tagging.utils.seeds import seeds

# "gold", "predicted", a share of gold labels, or that of the first and the last epoch
_SHARE = Rule(lambda x: 0 <= x <= 1, "a share of gold labels from 0 to 1")
_SHARES = Rule(
    lambda pair: len(pair) == 2 and all(0 <= x <= 1 for x in pair),
    "the shares of the first and the last epoch",
)
Activation = Literal[
    "sigmoid",
    "tanh",
    "relu",
    "leaky_relu",
    "elu",
    "selu",
    "gelu",
    "silu",
    "mish",
    "softplus",
    "softsign",
    "hard_sigmoid",
    "linear",
]
Feedback = (
    Literal["gold", "predicted"]
    | Annotated[float, _SHARE]
    | Annotated[tuple[float, ...], _SHARES]
)


@dataclass(frozen=True, kw_only=True)
class LabelDecoder(Checked):
    """The hidden layer of `decoder="i-rnn"`: see `layers.LabelEmbeddingRNN`."""

    label_units: Units = 200
    label_dim: Units = 30
    label_context: PartsOrNone = 6
    label_activation: Activation = "relu"
    feedback: Feedback = "predicted"
    beam_width: Steps = 1


@dataclass(frozen=True, kw_only=True)
class StackedNetwork(Checked):
    r"""Look-up tables, a stack of bidirectional recurrent layers, an output layer.

    .. math::
        h_t = [\overrightarrow{h}_t; \overleftarrow{h}_t], \quad
        y_t = \mathrm{softmax}(W h_t + b)

    Section 2.2 of Kadari et al. (2018), :cite:`kadari2018`, section 5 of Wu et al.
    (2016), :cite:`wu2016`, section 4 of Wu et al. (2017), :cite:`wu2017`.

    Args:
        dropout: of the input of the recurrent layers.
        recurrent_initializer: of the matrices that read h_tm1: "orthogonal", or
            "glorot", with which Wu et al. (2016) compare it in section 6.1.2.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        merge: "top" (each direction is a stack of its own) or "layer" (each layer reads
            both directions).
        input_layer: "tanh" or "linear", an input-to-hidden layer of `units`; or None.
        layer_dropout: of the output of recurrent layers.
        dropped_layers: "all" of them, or "ends": the first and the last.
        variational_dropout: whether `dropout` and `layer_dropout` drop the same
            components of all tokens of a sentence (Gal & Ghahramani 2016,
            :cite:`gal2016`), not others of each token.
        hidden_layer: "tanh", a layer of `units` between the recurrent ones and the
            output (Lample et al. 2016, section 4.1, :cite:`lample2016`); or None.
        decoder: "softmax"; "crf" for a CRF behind the logits; "i-rnn" for a hidden
            layer that also reads the labels before (`LabelDecoder`).
        constrained: whether only consistent chunks come out, no I-NP after O in IOB2
            for instance, by a Viterbi search behind a softmax or a CRF; None: if all
            training sentences have consistent chunk tags.
    """

    kind: ClassVar[str] = "tagger"
    needs: ClassVar[tuple[type, ...]] = (
        TaggerSettings,
        *TABLES,
        WindowSettings,
        LabelDecoder,
    )

    dropout: Share = 0.0
    units: Units = 300
    num_layers: Parts = 2
    merge: Literal["top", "layer"] = "top"
    input_layer: Literal["tanh", "linear"] | None = None
    layer_dropout: Share = 0.0
    dropped_layers: Literal["all", "ends"] = "all"
    variational_dropout: bool = False
    recurrent_initializer: Literal["orthogonal", "glorot"] = "orthogonal"
    hidden_layer: Literal["tanh"] | None = None
    decoder: Literal["softmax", "crf", "i-rnn"] = "softmax"
    constrained: bool | None = None

    def refuse_unused(self, overrides) -> None:
        """Refuses options of labels that are given where no label is read."""
        names = [x for x in LabelDecoder.__dataclass_fields__ if x in overrides]
        if names and self.decoder != "i-rnn":
            raise ValueError(
                f"{names[0]}={overrides[names[0]]!r} is of decoder='i-rnn': "
                f"decoder={self.decoder!r} reads no labels"
            )
        if self.constrained and self.decoder == "i-rnn":
            raise ValueError(
                "constrained=True has no effect with decoder='i-rnn', which searches "
                "among its own labels: it needs decoder='softmax' or 'crf'"
            )

    def build(self, settings, features, columns, *, seed, vector_dim=0):
        """The functional network.

        Args:
            settings: a `Settings`, for the options of the tables, the window, the cell
                and the label decoder.
            features: an adapted `TokenFeatures`.
            columns: a `LabelColumn` for each output.
            seed: int. Seed of the initial weights and of dropout.
            vector_dim: size of the pretrained vectors, 0 without.

        Returns:
            A functional model from what `run_network` gives it to what
            `keras_tagging.architectures.output` describes.
        """
        import keras

        from keras_tagging.architectures import embedding, output
        from keras_tagging.layers import BidirectionalStack

        draw = seeds(seed)
        _, of_kernels = embedding.INITIALIZERS[settings.tables.initializer]
        inputs, mask, x = embedding.token_inputs(
            settings,
            features,
            draw,
            dropout=self.dropout,
            variational=self.variational_dropout,
            vector_dim=vector_dim,
        )

        # Recurrent layers
        recurrent = {
            "orthogonal": keras.initializers.Orthogonal,
            "glorot": keras.initializers.GlorotUniform,
        }[self.recurrent_initializer]
        cell = settings.cell(
            self.units,
            seed=seed,
            kernel_initializer=of_kernels(next(draw)),
            recurrent_initializer=recurrent(seed=next(draw)),
        )
        rates = [self.layer_dropout] * self.num_layers
        if self.dropped_layers == "ends":
            rates[1:-1] = [0.0] * max(0, self.num_layers - 2)
        stack = BidirectionalStack(
            cell,
            num_layers=self.num_layers,
            merge=self.merge,
            input_layer=self.input_layer,
            dropout=rates,
            variational=self.variational_dropout,
            seed=next(draw),
            name="stack",
        )
        x = stack(x, mask=mask)
        if self.hidden_layer:
            x = keras.layers.Dense(
                self.units,
                activation=self.hidden_layer,
                kernel_initializer=of_kernels(next(draw)),
                name="hidden_layer",
            )(x)

        # Output
        labels = output.gold_labels() if self.decoder == "i-rnn" else None
        outputs = [
            output.output_layer(x, column, mask, settings, labels, next(draw))
            for column in columns
        ]
        outputs = by_column([column.name for column in columns], outputs)
        return output.functional(inputs, labels, outputs)
