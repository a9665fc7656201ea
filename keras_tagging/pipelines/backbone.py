"""The trained part of a tagger or parser as a Keras layer, below a head of your own."""

from typing import Any

import keras

from keras_tagging.architectures.output import run_network
from keras_tagging.models.files.export import padded_ids
from keras_tagging.pipelines.any_model import load


@keras.saving.register_keras_serializable("keras_tagging")
class Backbone(keras.layers.Layer):
    """From words to the states of a trained network: see `backbone`.

    Args:
        model: a `Tagger` or `BiaffineParser` that is fitted, and reads words alone. The
            layer shares its weights.

    Call arguments:
        inputs: `(batch, time)` strings in NFC, "" where there is no word.

    Returns:
        `(batch, time, size)`: those of its recurrent layers. Its mask is that of the
        words.

    Raises:
        ValueError: if there is no such network, or it reads other columns.
    """

    def __init__(self, model, **kwargs):
        super().__init__(**kwargs)
        network = getattr(model, "network", None)
        if network is None or all(layer.name != "stack" for layer in network.layers):
            raise ValueError("a backbone is of a tagger or a biaffine parser")
        self.features = model.features
        if self.features.columns:
            raise ValueError(f"the model reads {', '.join(self.features.columns)}, too")
        self.encoder = keras.Model(network.inputs, network.get_layer("stack").output)
        self.described = keras.saving.serialize_keras_object(model)

    def call(self, inputs, training=False):
        ids = padded_ids(self.features, {"tokens": inputs}, inputs != "")
        return run_network(self.encoder, ids, training=training)

    def compute_mask(self, inputs, mask=None):
        return inputs != ""

    def get_config(self):
        return super().get_config() | {"model": self.described}

    @classmethod
    def from_config(cls, config):
        model = keras.saving.deserialize_keras_object(config.pop("model"))
        return cls(model, **config)


def backbone(model: Any, **options: Any) -> Backbone:
    """A layer from words to the states of a trained network, for a head of your own.

    ::

        words = keras.Input((None,), dtype="string")
        states = keras_tagging.backbone("en")(words)
        model = keras.Model(words, keras.layers.Dense(5)(states))

    Args:
        model: a model or a pipeline, or its path or name. Of a pipeline it is the
            parser, or else the tagger.
        **options: of the layer, such as ``trainable=False``.

    Raises:
        ValueError: as `Backbone`, for ONNX files, and as `load`.
    """
    model = model if isinstance(model, keras.Model) else load(model)
    parts = getattr(model, "parts", {})
    return Backbone(parts.get("parser") or parts.get("tagger") or model, **options)
