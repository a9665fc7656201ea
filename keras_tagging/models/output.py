"""The output layer that every architecture ends in, and what comes out of it.

A network gives either logits `(batch, time, num_tags)`, or, where the best tags are
more than the best logits, a dict with at least `logits`, whose softmax are the
probabilities of each token's tags, and `tags` `(batch, time)`, the best path.
"""

import keras
from keras import ops

from keras_tagging.layers import CRF

DECODERS = ("softmax", "crf")


def check_decoder(decoder="softmax", label_smoothing=0.0):
    """Refuses what cannot be decoded or trained.

    Raises:
        ValueError: for an unknown decoder, or label smoothing with a CRF.
    """
    if decoder not in DECODERS:
        known = ", ".join(map(repr, DECODERS))
        raise ValueError(f"decoder={decoder!r}: known are {known}")
    if decoder == "crf" and label_smoothing:
        raise ValueError(
            f"label_smoothing={label_smoothing} has no meaning with decoder='crf', "
            "whose loss is the likelihood of the whole path: set it to 0"
        )


def output_layer(
    x,
    num_tags,
    mask,
    decoder="softmax",
    *,
    seed,
    initializer=keras.initializers.GlorotUniform,
):
    """A linear layer named "logits", and behind it a CRF if asked for.

    Its softmax is Eq. 17 of Wu et al. (2016), :cite:`wu2016`, and Eq. 21 of Wu et al.
    (2017), :cite:`wu2017`. Departures: those show no bias.

    Args:
        x: `(batch, time, features)`.
        num_tags: int.
        mask: `(batch, time)`, False at padding.
        decoder: "softmax" (which itself is in the loss and in prediction) or "crf".
        seed: int, of the initial weights.
        initializer: function of a seed that gives the kernel's initializer.

    Returns:
        What the network is to give: logits, or the dict of `layers.CRF`.
    """
    check_decoder(decoder)
    # float32: under a mixed policy many tags would have the same rounded logit
    dense = keras.layers.Dense(
        num_tags, kernel_initializer=initializer(seed), dtype="float32", name="logits"
    )
    logits = dense(x)
    if decoder == "crf":
        return CRF(name="crf")(logits, mask=mask)
    return logits


def read_outputs(outputs, argmax):
    """Logits and best tag ids of what a network gave.

    Args:
        outputs: arrays or tensors, as the module's docstring says.
        argmax: the function for them; of equal logits it takes the first.
    """
    if isinstance(outputs, dict):
        return outputs["logits"], outputs["tags"]
    return outputs, argmax(outputs, -1)


def path_loss(crf, y_true, outputs, sample_weight):
    """-log p of the gold paths over the number of real tokens of the batch.

    So its size, and with it the learning rate, is that of a mean cross-entropy.

    Args:
        crf: the `CRF` of the network.
        y_true: `(batch, time)` tag ids, -1 for a tag outside the inventory.
        outputs: what the network gave.
        sample_weight: `(batch, time)`, 1 for a real token and 0 in the padding.
    """
    paths = crf.log_likelihood(outputs["emissions"], y_true, sample_weight > 0)
    return -ops.sum(paths) / ops.maximum(ops.sum(sample_weight), 1)
