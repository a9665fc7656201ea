"""Several taggers as one: the mean of the probabilities of each label."""

import math

from keras import ops

from keras_tagging.architectures.output import run_network
from keras_tagging.data.named_columns import by_column
from keras_tagging.encoding.batching import ids_of
from keras_tagging.layers import ChunkDecoder
from keras_tagging.models.ensemble import Ensemble
from keras_tagging.models.tagger.decoding import logits_of
from keras_tagging.models.tagger.figures import MeasuredTagging
from keras_tagging.models.tagger.tagger import Tagger


class TaggerEnsemble(MeasuredTagging, Ensemble):
    """An ensemble of taggers: see `Ensemble`."""

    def __init__(self, members, **kwargs):
        super().__init__(members, **kwargs)
        first = self.members[0]
        self.rules = first.rules
        self.label_columns = tuple(first.label_columns)
        # for each member and column, its place among the member's own, and the order
        # in which its labels are those of the first
        self._places = [
            [_place(column, model) for column in first.label_columns]
            for model in self.members
        ]
        self._decoders = [
            ChunkDecoder(column.labels, column.scheme, from_logits=True)
            if column.scheme
            else None
            for column in first.label_columns
        ]

    default_monitor = Ensemble.default_monitor  # the recipe of the first may have one
    output_arrays = Tagger.output_arrays

    def call(self, inputs, training=False):
        """The joined outputs of the networks, for the tokens that each reads."""
        pairs = zip(self.members, inputs, strict=True)
        outputs = [run_network(model.network, tokens) for model, tokens in pairs]
        return self.joined(outputs, ids_of(inputs[0])[:, :, 0] > 0)

    def joined(self, outputs, real):
        """The outputs of the networks as one: see `architectures.output`.

        The logits are the logarithms of mean probabilities.

        Args:
            outputs: of the network of each member.
            real: `(batch, time)`, False in the padding.
        """
        means = []
        for i, decoder in enumerate(self._decoders):
            logs = []
            for model, of_member, places in zip(
                self.members, outputs, self._places, strict=True
            ):
                place, order = places[i]
                logits = logits_of(model.label_columns[place].part(of_member))
                log = ops.log_softmax(ops.cast(logits, "float32"))
                logs.append(log if order is None else ops.take(log, order, axis=-1))
            mean = ops.logsumexp(ops.stack(logs, 0), 0) - math.log(len(logs))
            if decoder is not None:
                mean = {"logits": mean, "tags": decoder(mean, mask=real)}
            means.append(mean)
        return by_column(self.column_names, means)

    def described(self, top_k=5):
        about = super().described(top_k)
        return about | {"rules": self.rules and self.rules.config()}


def _place(column, model):
    """The place of a column among those of a tagger, and the order of its labels.

    The order is None if the labels are in that of the column.
    """
    named = {other.name: other for other in model.label_columns}
    other = named.get(column.name)
    if other is None or set(other.labels) != set(column.labels):
        raise ValueError(
            "join taggers that learnt the same columns and labels: those in "
            f"{column.name or 'tags'!r} differ"
        )
    order = [other.ids[label] for label in column.labels]
    return [*named].index(column.name), None if order == sorted(order) else order
