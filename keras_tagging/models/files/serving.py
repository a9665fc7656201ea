"""The computation of a SavedModel, from ids to strings, in TensorFlow."""

import tensorflow as tf

from keras_tagging.architectures.output import read_outputs, run_network


def tag_answer(network, columns, top_k):
    """The function from ids, and a mask of the real ones, to the outputs of a tagger.

    Args:
        network: see `architectures.output`.
        columns: the `LabelColumn` of each of its outputs.
        top_k: the number of most probable tags for each token.
    """

    def answer(tokens, real):
        outputs = run_network(network, tokens)
        found = {}
        for column in columns:
            given = read_outputs(column.part(outputs), tf.argmax)
            answers = column_answer(*given, column.labels, real, top_k)
            found |= {column.output_names[name]: x for name, x in answers.items()}
        return found

    return answer


def column_answer(logits, chosen, labels, real, top_k):
    """The outputs that `models.export` lists, for one column of labels."""
    names = tf.constant(labels, tf.string)
    rows = tf.nn.softmax(logits) * tf.cast(real[:, :, None], logits.dtype)
    best, order = tf.math.top_k(rows, min(top_k, len(labels)))
    return {
        "tags": tf.where(real, tf.gather(names, chosen), ""),
        "probabilities": tf.gather(rows, chosen, batch_dims=2),
        "top_tags": tf.where(real[:, :, None], tf.gather(names, order), ""),
        "top_probabilities": best,
    }


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
