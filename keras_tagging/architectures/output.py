"""The output layer that every architecture ends in, and what comes out of it.

A network gives either logits `(batch, time, num_tags)`, or, where the best tags are
more than the best logits, a dict with at least `logits`, whose softmax are the
probabilities of each token's tags, and `tags` `(batch, time)`, the best path. In such a
dict, `emissions` are the scores a CRF was given, and `other_logits` those of a second
network that is trained too. With named columns of labels, it gives a dict of what it
gives for each of them.

A network reads ids `(batch, time, features)`. With a character network it has a second
input, letters `(rows, characters)`: see `TokenFeatures`. One whose output layer reads
labels has a last input: gold labels `(batch, time)`, read in training only.
"""

import keras
from keras import ops

from keras_tagging.architectures.embedding import INITIALIZERS
from keras_tagging.encoding.batching import ids_of
from keras_tagging.layers import CRF, ChunkDecoder, LabelEmbeddingRNN


def output_layer(x, column, mask, settings, labels, seed):
    """A linear layer named "logits", and behind it a search; or an I-RNN.

    Its softmax is Eq. 17 of Wu et al. (2016), :cite:`wu2016`, and Eq. 21 of Wu et al.
    (2017), :cite:`wu2017`. Departures: those show no bias.

    Args:
        x: `(batch, time, features)`.
        column: the `LabelColumn`. A softmax or CRF keeps to its chunk scheme, if any.
        mask: `(batch, time)`, False at padding.
        settings: whose network has a `decoder`: "softmax" (which itself is in the loss
            and in prediction), "crf", or "i-rnn": a hidden layer that reads the labels
            before, too.
        labels: `(batch, time)`, the gold labels, for "i-rnn".
        seed: int, of the initial weights.

    Returns:
        What the network is to give: logits, or a dict.
    """
    of_tables, of_kernels = INITIALIZERS[settings.tables.initializer]
    decoder, label_decoder = settings.network.decoder, settings.label_options
    if decoder == "i-rnn":
        rnn = LabelEmbeddingRNN(
            label_decoder.label_units,
            len(column),
            label_dim=label_decoder.label_dim,
            label_context=label_decoder.label_context,
            activation=label_decoder.label_activation,
            feedback=first_feedback(label_decoder.feedback),
            beam_width=label_decoder.beam_width,
            kernel_initializer=of_kernels(seed),
            label_initializer=of_tables(seed + 10),
            seed=seed,
            return_dict=True,
            name="label_rnn",
        )
        outputs = rnn(x, labels=labels, mask=mask)
        return {name: outputs[name] for name in ("logits", "tags")}
    logits = linear(x, len(column), of_kernels(seed), column.layer("logits"))
    tags, scheme = column.labels, column.scheme
    if decoder == "crf":
        chunks = {"tags": tags, "constrained": True, "scheme": scheme} if scheme else {}
        crf = CRF(return_dict=True, name=column.layer("crf"), **chunks)
        return crf(logits, mask=mask)
    return consistent(logits, column, mask)


def consistent(logits, column, mask):
    """The outputs for a column without a CRF: logits, or for chunk tags a dict.

    That dict has the tags of the best path that keeps to the scheme of the column.
    """
    if column.scheme is None:
        return logits
    name = column.layer("chunks")
    search = ChunkDecoder(column.labels, column.scheme, from_logits=True, name=name)
    return {"logits": logits, "tags": search(logits, mask=mask)}


def linear(x, size, initializer, name="logits"):
    """Logits `(..., size)` of a layer in float32.

    Under a mixed policy many tags would have the same rounded logit.
    """
    options = {"kernel_initializer": initializer, "dtype": "float32", "name": name}
    return keras.layers.Dense(size, **options)(x)


def gold_labels():
    """The network's input for gold labels."""
    return keras.Input((None,), dtype="int32", name="labels")


def functional(inputs, labels, outputs, name="tagger"):
    """The functional network.

    Args:
        inputs: the list that `token_inputs` gives.
        labels: the input for gold labels, or None.
        outputs: of the network.
        name: of the model.
    """
    inputs = inputs if labels is None else [*inputs, labels]
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs, name=name)


def reads_labels(network) -> bool:
    """Whether a network has an input for gold labels."""
    return any(x.name == "labels" for x in network.inputs)


def run_network(network, tokens, labels=None, training=False):
    """Calls a network with or without inputs for letters and gold labels.

    Args:
        network: of one of the architectures.
        tokens: ids `(batch, time, features)`, or a dict of them and "letters".
        labels: `(batch, time)` gold labels, or None where they are not known.
        training: whether dropout and gold labels count.
    """
    inputs = [ids_of(tokens)]
    if isinstance(tokens, dict):
        inputs.append(tokens["letters"])
    if reads_labels(network):
        if labels is None:
            labels = ops.zeros_like(inputs[0][:, :, 0]) - 1
        inputs.append(labels)
    return network(inputs if len(inputs) > 1 else inputs[0], training=training)


def first_feedback(feedback):
    """The feedback of the first epoch: of a pair, the first share."""
    return feedback[0] if isinstance(feedback, (list, tuple)) else feedback


def read_outputs(outputs, argmax):
    """Logits and best tag ids of what a network gave for one column.

    Args:
        outputs: arrays or tensors, as the module's docstring says.
        argmax: the function for them; of equal logits it takes the first.
    """
    if isinstance(outputs, dict):
        return outputs["logits"], outputs["tags"]
    return outputs, argmax(outputs, -1)


def path_loss(crf, y_true, outputs, sample_weight, weighted=False):
    """-log p of the gold paths over the number of real tokens of the batch.

    So its size, and with it the learning rate, is that of a mean cross-entropy. With
    weights it is the weighted mean of -log p(tag | tags before it): see `CRFLoss`.

    Args:
        crf: the `CRF` of the network.
        y_true: `(batch, time)` tag ids, -1 for a tag outside the inventory.
        outputs: what the network gave.
        sample_weight: `(batch, time)`, 1 for a real token and 0 in the padding.
        weighted: whether real tokens have other weights than 1.
    """
    if weighted:
        arguments = outputs["emissions"], y_true, sample_weight > 0
        total = ops.sum(sample_weight * crf.token_log_likelihoods(*arguments))
        return -total / ops.maximum(ops.sum(sample_weight), keras.config.epsilon())
    paths = crf.log_likelihood(outputs["emissions"], y_true, sample_weight > 0)
    return -ops.sum(paths) / ops.maximum(ops.sum(sample_weight), 1)
