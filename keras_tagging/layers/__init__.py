"""The layers that run cells, read labels, search and decode."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "biaffine": ["ArcLabels", "BiaffineHeads"],
        "bidirectional_stack": ["BidirectionalStack"],
        "character_encoder": ["CharacterEncoder"],
        "chunk_decoder": ["ChunkDecoder"],
        "context_window": ["ContextWindow"],
        "crf": ["CRF", "CRFAccuracy", "CRFLoss"],
        "label_embedding_rnn": ["LabelEmbeddingRNN"],
        "projected_rnn": ["ProjectedRNN"],
        "transition_scorer": ["TransitionScorer"],
        "word_class_embedding": ["WordClassEmbedding"],
    },
    layers_alone=True,
)
