"""Pretraining of a tagger's embeddings of words and labels."""

import numpy as np
from keras import ops

from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.training.context_embeddings import cbow_embeddings, window_embeddings
from keras_tagging.utils.checks import check_choice

METHODS = {"window": window_embeddings, "cbow": cbow_embeddings}


def has_words(model) -> bool:
    """Whether a tagger has word embeddings that do not start as pretrained vectors."""
    return "word" in model.features.names and model.settings.task.embeddings is None


def has_tables(model) -> bool:
    """Whether a tagger has embeddings of words or labels to pretrain."""
    layers = (x for x in model.network.layers if isinstance(x, LabelEmbeddingRNN))
    return has_words(model) or any(layer.embeds for layer in layers)


def refuse_trained(model) -> None:
    """Raise a ValueError if the weights of a tagger have been trained."""
    if int(model.optimizer.iterations):
        raise ValueError(
            "this model is trained, and pretraining would replace its embeddings: "
            "call pretrain before fit"
        )


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
    check_choice("method", method, METHODS)
    epochs = {"word_epochs": word_epochs, "label_epochs": label_epochs}
    for name, number in epochs.items():
        if number < 0:
            raise ValueError(f"{name}={number}: 0 leaves the table as it is")
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

    if word_epochs and has_words(model):
        column = model.features.names.index("word")
        train(
            model.network.get_layer("word_embedding").embeddings,
            encoded.ids[:, column],
            FIRST_ID,
            context=model.settings.window.window // 2 or 3,
            epochs=word_epochs,
        )
    labels = None
    for layer in model.network.layers:
        if not label_epochs or not isinstance(layer, LabelEmbeddingRNN):
            continue
        if layer.embeds:
            if labels is None:  # both directions start from the same table
                labels = train(
                    layer.label_embeddings,
                    encoded.targets,
                    0,
                    context=max(1, layer.label_context),
                    epochs=label_epochs,
                )
            else:
                layer.label_embeddings.assign(labels)
                set_tables.append(layer.label_embeddings.path)
    if not set_tables:
        raise ValueError(
            f"{model.architecture} has neither words nor label embeddings to pretrain"
        )
    return set_tables
