"""Embeddings of classes and of the prefixes of their paths, side by side."""

import keras
import numpy as np

from keras_tagging.layers import WordClassEmbedding


def test_a_layer_of_a_users_own_model():
    rows = [[0, 0], [1, 1], [2, 3], [2, 4]]
    layer = WordClassEmbedding(rows, 3)
    ids = np.array([[2, 3, 1]], "int32")
    found = keras.ops.convert_to_numpy(layer(ids))
    table = keras.ops.convert_to_numpy(layer.table)
    assert table.shape == (5, 3)
    expected = [
        np.concatenate([table[a], table[b]]) for a, b in [(2, 3), (2, 4), (1, 1)]
    ]
    np.testing.assert_allclose(found[0], expected)
    again = WordClassEmbedding.from_config(layer.get_config())
    assert again(ids).shape == layer.compute_output_shape((1, 3)) == (1, 3, 6)
