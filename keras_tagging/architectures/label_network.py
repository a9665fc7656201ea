"""The network of the taggers that read their own labels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from keras_tagging.architectures.settings import TABLES, TaggerSettings, WindowSettings
from keras_tagging.architectures.stacked_network import Activation, Feedback
from keras_tagging.utils.checks import Checked, PartsOrNone, Share, Steps, Units
from keras_tagging.utils.seeds import seeds

# which inputs an option needs, to have an effect
_NEEDED = {
    "feedback": ("embedding", "one-hot", "probabilities"),
    "beam_width": ("embedding", "one-hot"),
}


#: keywords that are those of the layer
_OF_LAYER = ("label_dim", "label_context", "label_input", "hidden_context")
_OF_LAYER += ("combine", "activation", "beam_width")


@dataclass(frozen=True, kw_only=True)
class LabelNetwork(Checked):
    r"""Look-up tables, a window of words, and a network that reads its own labels.

    Sections 2.2 to 2.4 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`; the
    equations are in :class:`keras_tagging.layers.LabelEmbeddingRNN`.

    With `direction="bidirectional"` a backward network predicts first; its labels and
    states are the future context of a forward one. Both are trained at once, each
    with its own loss. Departures: they share the look-up tables of words, where the
    paper trains the backward network beforehand.

    Args:
        dropout: of the hidden layer's input.
        layer_dropout: of the hidden layer.
        units: hidden units, of each direction.
        direction: "forward", "backward" or "bidirectional".
        label_input, label_dim, label_context: as in `LabelEmbeddingRNN`.
        hidden_context, combine, activation, beam_width: as in `LabelEmbeddingRNN`.
        feedback: as there; a pair of shares is the first and last epoch's.
    """

    kind: ClassVar[str] = "tagger"
    needs: ClassVar = (TaggerSettings, *TABLES, WindowSettings)

    dropout: Share = 0.0
    layer_dropout: Share = 0.0
    units: Units = 100
    direction: Literal["forward", "backward", "bidirectional"] = "forward"
    label_input: Literal["embedding", "probabilities", "one-hot"] | None = "embedding"
    label_dim: Units = 200
    label_context: PartsOrNone = 6
    hidden_context: PartsOrNone = 0
    combine: Literal["sum", "concat"] = "sum"
    activation: Activation = "sigmoid"
    feedback: Feedback = "predicted"
    beam_width: Steps = 1

    def refuse_unused(self, overrides) -> None:
        """Refuses options of labels that are given where no label is read."""
        for name, needed in _NEEDED.items():
            if overrides.get(name, 1) != 1 and self.label_input not in needed:
                raise ValueError(
                    f"{name}={overrides[name]!r} has no effect with "
                    f"label_input={self.label_input!r}: it needs {' or '.join(needed)}"
                )

    def build(self, settings, features, columns, *, seed, vector_dim=0):
        """The functional network.

        Args:
            settings: a `Settings`, for the options of the tables and the window.
            features: an adapted `TokenFeatures`.
            columns: one `LabelColumn`, without a chunk scheme.
            seed: int. Seed of the initial weights and of dropout.
            vector_dim: size of the pretrained vectors, 0 without.

        Returns:
            A functional model from what `run_network` gives it to what
            `keras_tagging.architectures.output` describes.
        """
        from keras_tagging.architectures import embedding, output
        from keras_tagging.layers import LabelEmbeddingRNN

        [column] = columns
        draw = seeds(seed)
        of_tables, of_kernels = embedding.INITIALIZERS[settings.tables.initializer]
        inputs, mask, x = embedding.token_inputs(
            settings, features, draw, dropout=self.dropout, vector_dim=vector_dim
        )

        def layer(name, **options):
            return LabelEmbeddingRNN(
                self.units,
                len(column),
                **{name: getattr(self, name) for name in _OF_LAYER},
                feedback=output.first_feedback(self.feedback),
                dropout=self.layer_dropout,
                seed=next(draw),
                kernel_initializer=of_kernels(next(draw)),
                label_initializer=of_tables(next(draw)),
                return_dict=True,
                name=name,
                **options,
            )

        labels = output.gold_labels() if self.label_input else None
        options = {} if labels is None else {"labels": labels}
        if self.direction == "bidirectional":
            future = layer("backward", go_backwards=True)(x, mask=mask, **options)
            rnn = layer(
                "forward",
                future_label_context=self.label_context,
                future_hidden_context=self.hidden_context,
            )
            options["future"] = future
        else:
            rnn = layer(self.direction, go_backwards=self.direction == "backward")
        predictions = rnn(x, mask=mask, **options)
        outputs = {name: predictions[name] for name in ("logits", "tags")}
        if self.direction == "bidirectional":
            outputs["other_logits"] = future["logits"]
        return output.functional(inputs, labels, outputs)
