"""Embeddings of the classes of words, and of the prefixes of their paths."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_tagging.cells.configuration import Named, Tensor


@keras.saving.register_keras_serializable("keras_tagging")
class WordClassEmbedding(keras.layers.Layer):
    """Several embeddings for each id, next to each other.

    For Brown clusters these are the embeddings of a path and of its prefixes, as Koo et
    al. (2008), section 3.2, take prefixes of 4 and 6 steps beside the whole path. All
    are rows of one table.

    Args:
        rows: `(ids, parts)` integers: the rows of the parts of each id.
        dim: size of the embedding of a part.
        embeddings_initializer: of the table.
        **kwargs: arguments of `keras.layers.Layer`.

    Call with ids `(batch, time)`; returns `(batch, time, parts * dim)`.
    """

    def __init__(
        self, rows, dim: int, embeddings_initializer: Named = "uniform", **kwargs: Any
    ):
        super().__init__(**kwargs)
        self._rows = np.asarray(rows, "int32")
        self.dim = dim
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)

    def build(self, input_shape=None):
        # not "embeddings": its rows are no words of a vocabulary
        self.table = self.add_weight(
            (int(self._rows.max()) + 1, self.dim),
            self.embeddings_initializer,
            name="prefix_embeddings",
        )
        self.built = True

    def call(self, ids: Tensor) -> Tensor:
        rows = ops.take(ops.convert_to_tensor(self._rows), ids, axis=0)
        parts = ops.take(self.table, rows, axis=0)
        batch, time = ops.shape(ids)
        return ops.reshape(parts, (batch, time, self._rows.shape[1] * self.dim))

    def compute_output_shape(self, input_shape):
        return (*input_shape, self._rows.shape[1] * self.dim)

    def get_config(self):
        initializer = keras.initializers.serialize(self.embeddings_initializer)
        options = {"rows": self._rows.tolist(), "dim": self.dim}
        return super().get_config() | options | {"embeddings_initializer": initializer}
