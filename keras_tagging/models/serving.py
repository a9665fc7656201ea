"""What a SavedModel computes, from ids to strings, in TensorFlow."""

import tensorflow as tf

from keras_tagging.architectures.output import read_outputs, run_network


def tag_answer(network, tags, top_k):
    """The function from ids, and which of them are real, to the answer of a tagger.

    Args:
        network: see `architectures.output`.
        tags: the inventory.
        top_k: how many tags a token beside the best.
    """
    names = tf.constant(tags, tf.string)
    top_k = min(top_k, len(tags))

    def answer(tokens, real):
        logits, chosen = read_outputs(run_network(network, tokens), tf.argmax)
        rows = tf.nn.softmax(logits) * tf.cast(real[:, :, None], logits.dtype)
        best, order = tf.math.top_k(rows, top_k)
        return {
            "tags": tf.where(real, tf.gather(names, chosen), ""),
            "probabilities": tf.gather(rows, chosen, batch_dims=2),
            "top_tags": tf.where(real[:, :, None], tf.gather(names, order), ""),
            "top_probabilities": best,
        }

    return answer


def tree_answer(parse, labels):
    """The function from ids, and which of them are real, to the answer of a parser.

    Args:
        parse: from ids to `heads` and `labels`.
        labels: the dependency labels; the first has id 1.
    """
    names = tf.constant(["", *labels], tf.string)

    def answer(tokens, real):
        found = parse(tokens)
        return {
            "heads": tf.where(real, found["heads"], -1),
            "deprels": tf.where(real, tf.gather(names, found["labels"]), ""),
        }

    return answer
