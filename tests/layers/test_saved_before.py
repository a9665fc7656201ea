"""A model saved by version 0.1, before cells had to be told what they read."""

from pathlib import Path

import keras
import numpy as np
import pytest

import keras_tagging.layers

SAVED = Path(__file__).parent / "saved"


@pytest.mark.slow("jax")  # which compiles each of its layers
def test_model_of_version_0_1_gives_what_it_gave():
    """Cells that read appended inputs, stacks, label networks and a CRF."""
    assert keras_tagging.layers
    model = keras.saving.load_model(SAVED / "layers-0.1.keras")
    with np.load(SAVED / "layers-0.1.npz") as saved:
        expected = dict(saved)
    x, mask = expected.pop("x"), expected.pop("mask")
    gold = np.zeros(mask.shape, "int32")
    found = model({"x": x, "mask": mask, "gold": gold})
    found = {name: keras.ops.convert_to_numpy(array) for name, array in found.items()}
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name][mask], array[mask], atol=1e-5)
