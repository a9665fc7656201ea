"""The batches of moves from which parsers learn."""

from keras_tagging.encoding.move_batches import EncodedMoves, MoveBatches


def batches_of_moves(model, encoded, chosen, moves, fitting) -> MoveBatches:
    """The batches of sentences and their moves from which a model learns.

    Args:
        model: a model with a `TransitionScorer`.
        encoded: the `EncodedSentences`.
        chosen: their places among all sentences.
        moves: their `Moves`.
        fitting: the `FitSettings`.
    """
    names, scorer = model.features.names, model.scorer
    return MoveBatches(
        encoded,
        EncodedMoves.of(scorer.system, scorer.outputs, moves),
        chosen,
        word_column=names.index("word") if "word" in names else None,
        **model.batching(fitting),
    )
