"""Pretraining of a tagger's embeddings of words and labels."""

import numpy as np
from keras import ops

from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.training.context_embeddings import cbow_embeddings, window_embeddings

METHODS = {"window": window_embeddings, "cbow": cbow_embeddings}


def pretrain_tables(
    model,
    sentences,
    method="window",
    *,
    word_epochs=20,
    label_epochs=10,
    seed=None,
    verbose=0,
):
    """Set the look-up tables of a tagger that has vocabularies.

    Arguments, result and errors are those of `Tagger.pretrain`.
    """
    encoded = model.encode(sentences, targets=True)
    options = {"seed": model.seed if seed is None else seed}
    if method == "window":  # gensim shows no progress
        options["verbose"] = verbose
    set_tables = []

    def train(variable, ids, first, **more):
        # rows before the first belong to no word and keep their initial values
        rows, dim = variable.shape
        table = np.array(ops.convert_to_numpy(variable))
        table[first:] = METHODS[method](
            ids - first, encoded.lengths, rows - first, dim, **options, **more
        )
        variable.assign(table)
        set_tables.append(variable.path)
        return table

    names = model.features.names
    if word_epochs and "word" in names and model.settings.task.embeddings is None:
        train(
            model.network.get_layer("word_embedding").embeddings,
            encoded.ids[:, names.index("word")],
            FIRST_ID,
            context=model.settings.window.window // 2 or 3,
            epochs=word_epochs,
        )
    layers = (x for x in model.network.layers if isinstance(x, LabelEmbeddingRNN))
    first, *others = [layer for layer in layers if layer.embeds] or [None]
    if label_epochs and first:
        context = max(1, first.label_context)
        table, ids = first.label_embeddings, encoded.targets
        labels = train(table, ids, 0, context=context, epochs=label_epochs)
        for layer in others:  # both directions start from the same table
            layer.label_embeddings.assign(labels)
            set_tables.append(layer.label_embeddings.path)
    return set_tables
