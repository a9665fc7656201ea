"""A kind of models that count the vowels of words, as a user may register one."""

from dataclasses import dataclass, replace
from typing import ClassVar

import keras
import numpy as np

from keras_tagging.architectures import Architecture
from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.kinds import Kind, Output
from keras_tagging.kinds.predictor import Predictor
from keras_tagging.models import SentenceModel
from keras_tagging.onnx.graphs import Request, outputs_of
from keras_tagging.runtime.models import OnnxModel
from keras_tagging.utils.checks import Units, check_fields

KIND = Kind(
    name="counter",
    model="kinds.counter:Counter",
    architectures=("kinds.counter:COUNTER",),
    runtime="kinds.counter:OnnxCounter",
    graph="kinds.counter:graph",
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
        ids = keras.Input((None, len(features.names)), dtype="int32", name="ids")
        table = keras.layers.Embedding(features.sizes["word"], self.units)
        return keras.Model(ids, keras.layers.Dense(10)(table(ids[..., 0])))


COUNTER = Architecture(
    name="counter",
    summary="the number of vowels of each word, from its embedding",
    network=Network,
    paper={"suffixes": (), "batch_size": 8, "optimizer": "adam", "learning_rate": 0.05},
)


class Counting(Predictor):
    """From counts `(tokens,)` to a column of the sentence."""

    kind, gives = "counter", ("vowels",)

    @classmethod
    def outputs(cls, about):
        scores = Output("float", 0.0, ranked=True)
        return {"counts": Output("int32", -1), "scores": scores}

    def decoding(self):
        def annotated(sentence, outputs):
            vowels = [*map(str, outputs["counts"].tolist())]
            return replace(sentence, columns={**sentence.columns, "vowels": vowels})

        return ["counts"], annotated


@keras.saving.register_keras_serializable("counter_kind")
class Counter(Counting, SentenceModel):
    """Learns the column `vowels` of sentences."""

    figures, column_names = ("accuracy",), ("vowels",)

    def targets(self, sentences):
        return np.array([int(n) for s in sentences for n in s.columns["vowels"]], "i4")

    def output_arrays(self, outputs, names):
        return [np.asarray(outputs).argmax(-1)]

    def evaluator(self, sentences, *calls):
        def figures():
            counted = self.targets(self.predictions(sentences, *calls))
            return {"accuracy": float(np.mean(counted == self.targets(sentences)))}

        return figures


class OnnxCounter(Counting, OnnxModel):
    """A counter that ONNX Runtime runs."""


def graph(xp, model, top_k):
    request = Request(xp, model)
    scores = outputs_of(request, model)
    best = xp.cast(xp.argmax(scores, -1), "int32")
    counts = xp.where(request.real, best, -1)
    return request.answers({"counts": counts, "scores": scores})
