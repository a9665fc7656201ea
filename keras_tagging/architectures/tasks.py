"""The settings of what is learnt: tags, or trees. No Keras here."""

from dataclasses import dataclass
from typing import Annotated, Literal

from keras_tagging.utils.checks import NonNegative, Positive, Rule, check_fields

Vectors = Annotated[object, Rule(lambda x: x is not None, "a file of vectors")]


@dataclass(frozen=True, kw_only=True)
class TaggerSettings:
    """What a tagger is given beside its network.

    Args:
        embeddings: pretrained vectors that the word embeddings start as: a file of any
            common format, `WordVectors` or gensim's `KeyedVectors`.
        vectors: the same as one more feature beside the words, the fourth of Kadari et
            al. (2018).
        min_count: tags that occur less often are left out of the inventory.
        pretrain: how the embeddings of words and labels are learnt before the first
            epoch: "window", "cbow" or None.
        monitor: the figure that tells the best epoch; None for that of the task.
    """

    embeddings: Vectors | None = None
    vectors: Vectors | None = None
    min_count: NonNegative = 1
    pretrain: Literal["window", "cbow"] | None = None
    monitor: Literal["val_accuracy", "val_f1"] | None = None

    def __post_init__(self):
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class ParserSettings:
    """What a parser is given beside its network.

    Args:
        embeddings: as in `TaggerSettings`.
        tags: the tags that it reads: "gold" (the finest there are), "predicted" (those
            of a tagger of its own), the name of a column, or None.
        nonprojective: "skip" leaves trees with crossing arcs out of training, "lift"
            makes them projective.
        tagger: the architecture of its own tagger.
        folds: parts of the training sentences whose tags are predicted in turn.
        tagger_epochs: of each tagger.
    """

    embeddings: Vectors | None = None
    tags: str | None = "gold"
    nonprojective: Literal["skip", "lift"] = "skip"
    tagger: str = "bigru"
    folds: Positive = 5
    tagger_epochs: Positive = 5

    def __post_init__(self):
        check_fields(self)
