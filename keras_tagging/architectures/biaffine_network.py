"""The network of the biaffine parser: tags and trees of the same states."""

from dataclasses import dataclass
from typing import ClassVar

from keras_tagging.architectures.parser_network import Encoder, recurrent_stack
from keras_tagging.architectures.settings import TABLES, TaggerSettings
from keras_tagging.utils.checks import Checked, NonNegative, Parts, Rate, Share, Units
from keras_tagging.utils.seeds import seeds


@dataclass(frozen=True, kw_only=True)
class BiaffineNetwork(Checked):
    r"""Recurrent layers, logits of the tags, and biaffine scores of heads and labels.

    .. math::
        p_t &= \mathrm{softmax}(W^1 h^1_t + b^1), \quad
        x_t = [h^1_t; E p_t], \quad h_t = \mathrm{encoder}(x)_t \\
        y_t &= \mathrm{softmax}(W h_t + b)

    for each column of tags; :math:`h^1` is the first bidirectional layer, and the
    others read x. Heads and labels are those of :class:`keras_tagging.layers.
    BiaffineHeads` and :class:`keras_tagging.layers.ArcLabels` over h. Dozat & Manning
    (2017), :cite:`dozat2017`; tags of the same states as in Straka (2018),
    :cite:`straka2018`.

    Args:
        encoder: the stacked tagger whose cell the layers have.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        feed_dim: size of the vector :math:`E p_t` of each column, lemma scripts and
            chunk tags apart; 0 if the tags of the first layer are not predicted.
        dropout: of the input of the recurrent layers.
        layer_dropout: of their output.
        head_units, label_units: size of the vectors of words as dependents, and as
            heads, for scores of heads and of labels.
        head_dropout: of these. All dropout drops the same components of all tokens of a
            sentence.
        tree_weight: of the losses of heads and of labels, beside those of the columns.
        first_weight: of the loss of the tags of the first layer.
        constrained: whether only consistent chunks come out of a column of chunk tags,
            no I-LOC after O in IOB2; None: if those of training are consistent.
    """

    kind: ClassVar[str] = "biaffine-parser"
    needs: ClassVar = (TaggerSettings, *TABLES)

    encoder: Encoder = "bilstm"
    units: Units = 200
    num_layers: Parts = 2
    feed_dim: NonNegative = 50
    dropout: Share = 0.25
    layer_dropout: Share = 0.33
    head_units: Units = 150
    label_units: Units = 64
    head_dropout: Share = 0.33
    tree_weight: Rate = 1.4
    first_weight: Rate = 0.4
    constrained: bool | None = None

    def build(self, settings, features, columns, labels, *, seed, vector_dim=0):
        """The functional network.

        Args:
            settings: a `Settings`, for the options of the tables.
            features: an adapted `TokenFeatures`.
            columns: the `LabelColumn` of each column of tags; there may be none.
            labels: the dependency labels; there may be none.
            seed: of the initial weights and of dropout.
            vector_dim: size of the pretrained vectors, 0 without.

        Returns:
            A functional model from what `run_network` gives it to a dict: what
            `consistent` gives for each column by its name, the logits of the first
            layer under `first`, `heads`, if there are labels the outputs of `ArcLabels`
            as `dependents` and `label_heads`, and `lengths`.
        """
        import keras

        from keras_tagging.architectures.embedding import INITIALIZERS, token_inputs
        from keras_tagging.architectures.output import consistent, functional, linear
        from keras_tagging.layers import ArcLabels, BiaffineHeads

        draw = seeds(seed)
        _, of_kernels = INITIALIZERS[settings.tables.initializer]
        inputs, mask, x = token_inputs(
            settings,
            features,
            draw,
            dropout=self.dropout,
            variational=True,
            vector_dim=vector_dim,
        )

        def stack(num_layers, name):
            return recurrent_stack(
                self.encoder,
                self.units,
                num_layers,
                draw,
                of_kernels,
                merge="layer",
                dropout=self.layer_dropout,
                variational=True,
                name=name,
                seed=seed,
            )

        def logits(x, column, name):
            return linear(x, len(column), of_kernels(next(draw)), column.layer(name))

        outputs = {"lengths": keras.ops.sum(keras.ops.cast(mask, "int32"), 1)}
        fed = [x for x in columns if not (x.scripts or x.has_chunks)]
        if fed and self.feed_dim and self.num_layers > 1:
            x = stack(1, "lower_stack")(x, mask=mask)
            first = {column.name: logits(x, column, "first") for column in fed}
            vectors = [
                keras.layers.Dense(
                    self.feed_dim,
                    use_bias=False,
                    kernel_initializer=of_kernels(next(draw)),
                    name=f"fed_{name}",
                )(keras.ops.softmax(scores))
                for name, scores in first.items()
            ]
            outputs["first"] = first
            x = keras.ops.concatenate([x, *vectors], -1)
            x = stack(self.num_layers - 1, "stack")(x, mask=mask)
        else:
            x = stack(self.num_layers, "stack")(x, mask=mask)
        for column in columns:
            scores = logits(x, column, "logits")
            outputs[column.name] = consistent(scores, column, mask)
        options = {"dropout": self.head_dropout}
        outputs["heads"] = BiaffineHeads(
            self.head_units,
            seed=next(draw),
            kernel_initializer=of_kernels(next(draw)),
            name="heads",
            **options,
        )(x, mask=mask)
        if labels:
            outputs["dependents"], outputs["label_heads"] = ArcLabels(
                len(labels),
                self.label_units,
                seed=next(draw),
                kernel_initializer=of_kernels(next(draw)),
                name="arc_labels",
                **options,
            )(x, mask=mask)
        return functional(inputs, None, outputs, name="biaffine")
