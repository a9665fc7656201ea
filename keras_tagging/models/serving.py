"""The computation of a SavedModel, from ids to strings, in TensorFlow."""

import tensorflow as tf

from keras_tagging.architectures.output import read_outputs, run_network


def tag_answer(network, tags, top_k):
    """The function from ids, and a mask of the real ones, to the outputs of a tagger.

    Args:
        network: see `architectures.output`.
        tags: the tag inventory.
        top_k: the number of most probable tags for each token.
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
    """The function from ids, and a mask of the real ones, to the outputs of a parser.

    Args:
        parse: function from ids to `heads` and `labels`.
        labels: the dependency labels; the first has id 1.
    """
    names = tf.constant(["", *labels], tf.string)

    def answer(tokens, real):
        trees = parse(tokens)
        return {
            "heads": tf.where(real, trees["heads"], -1),
            "deprels": tf.where(real, tf.gather(names, trees["labels"]), ""),
        }

    return answer
