"""The model that is trained, and its graph in ONNX."""

import keras
import numpy as np
import tensorflow as tf

from counter_kind import Counting
from keras_tagging.models import SentenceModel
from keras_tagging.onnx.graphs import of_words, outputs_of


@keras.saving.register_keras_serializable("counter_kind")
class Counter(Counting, SentenceModel):
    """Learns the column `vowels` of sentences."""

    figures, column_names = ("accuracy",), ("vowels",)

    def targets(self, sentences):
        return np.array([int(n) for s in sentences for n in s.columns["vowels"]], "i4")

    def answers_of(self, outputs, names):
        return [np.asarray(outputs).argmax(-1)]

    def evaluator(self, sentences, *calls):
        def figures():
            found = self.targets(self.predictions(sentences, *calls))
            return {"accuracy": float(np.mean(found == self.targets(sentences)))}

        return figures

    def serving(self, top_k):
        def answer(ids, real):
            best = tf.argmax(self.network(ids), -1, tf.int32)
            return {"counts": tf.where(real, best, -1)}

        return answer


def graph(xp, model, top_k):
    def answer(request):
        best = xp.cast(xp.argmax(outputs_of(request, model), -1), "int32")
        return {"counts": xp.where(request.real, best, -1)}

    return of_words(xp, model, answer)
