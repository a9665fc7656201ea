"""A SavedModel against the tagger that it was made of."""

import numpy as np

import keras_tagging


def check_served(model, folder, sentences, top_k=3):
    """Its tags with their probabilities, and the best labels of each token."""
    model.export(folder, top_k=top_k)
    names = ["tags", "probabilities", "top_tags", "top_probabilities"]
    served = keras_tagging.load(folder, safe_mode=False)
    answers = served.predict_rows(sentences, names)
    rows, tagged = model.predict(sentences), model.tag(sentences, probabilities=True)
    for answer, pairs, row in zip(answers, tagged, rows, strict=True):
        assert answer["tags"] == [tag for tag, _ in pairs]
        expected = [p for _, p in pairs]
        np.testing.assert_allclose(answer["probabilities"], expected, atol=1e-5)
        expected = np.sort(row, -1)[:, ::-1][:, :top_k]
        best = np.array(answer["top_probabilities"]).reshape(expected.shape)
        np.testing.assert_allclose(best, expected, atol=1e-5)
        for p, tags, values in zip(row, answer["top_tags"], best, strict=True):
            expected = [p[model.tags.index(tag)] for tag in tags]
            np.testing.assert_allclose(values, expected, atol=1e-5)
