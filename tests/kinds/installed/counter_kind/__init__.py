"""A kind of models that count the vowels of words. No Keras here."""

from dataclasses import dataclass, replace
from typing import ClassVar

from keras_tagging.architectures import Architecture
from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.kinds import Kind, Output
from keras_tagging.kinds.answers import Answers
from keras_tagging.runtime.models import OnnxModel
from keras_tagging.utils.checks import Units, check_fields

KIND = Kind(
    name="counter",
    model="counter_kind.model:Counter",
    architectures=("counter_kind:COUNTER",),
    runtime="counter_kind:OnnxCounter",
    graph="counter_kind.model:graph",
    route="count",
    stage=3,
)


@dataclass(frozen=True, kw_only=True)
class Network:
    """A table of words, and a linear layer that gives a logit for each count."""

    kind: ClassVar = "counter"
    needs: ClassVar = (FeatureSettings,)
    units: Units = 16

    def __post_init__(self):
        check_fields(self)

    def build(self, settings, features, vocabularies, *, seed):
        import keras

        ids = keras.Input((None, len(features.names)), dtype="int32", name="ids")
        table = keras.layers.Embedding(features.sizes["word"], self.units)
        return keras.Model(ids, keras.layers.Dense(10)(table(ids[..., 0])))

    def least_weights(self, settings, vocabularies, vector_dim):
        return self.units * (len(vocabularies["word"]) + 10)


COUNTER = Architecture(
    name="counter",
    summary="the number of vowels of each word, from its embedding",
    network=Network,
    paper={"suffixes": (), "batch_size": 8, "optimizer": "adam", "learning_rate": 0.05},
)


class Counting(Answers):
    """From counts `(tokens,)` to a column of the sentence."""

    kind, gives = "counter", ("vowels",)

    @classmethod
    def outputs(cls, about):
        return {"counts": Output("int32", -1)}

    def annotation(self):
        def annotated(sentence, counts):
            own = {"vowels": [*map(str, counts.tolist())]}
            return replace(sentence, columns={**sentence.columns, **own})

        return ["counts"], annotated


class OnnxCounter(Counting, OnnxModel):
    """A counter that ONNX Runtime runs."""
