"""The settings beside those of a network: what it reads, and what is learnt.

No Keras here.
"""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from keras_tagging.ccg.parsing import Search
from keras_tagging.data.named_columns import check_names
from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.encoding.vocabulary import VECTOR
from keras_tagging.transitions import transition_system
from keras_tagging.utils.checks import (
    Checked,
    Level,
    NonNegative,
    Positive,
    Rate,
    Rule,
    Share,
    Steps,
    Units,
    Weight,
    Window,
    check_fields,
)


@dataclass(frozen=True, kw_only=True)
class Embeddings(Checked):
    """The sizes of the look-up tables, and how all weights start.

    Args:
        word_dim: of the word embeddings.
        affix_dim: of the embeddings of each suffix, prefix, shape, capitalisation and
            further column.
        character_dim: of the embedding of each of the first and last characters.
        trainable: whether the word embeddings are trained.
        trainable_vectors: whether the vectors that are a feature beside the words are.
        initializer: of all weights but the orthogonal recurrent ones: "glorot" (Keras'
            own), "wide" (the same, with tables of a standard deviation of 0.3),
            "gaussian" (Wu et al.) or "uniform" (Elkaref & Bohnet).
    """

    word_dim: Units = 100
    affix_dim: Units = 5
    character_dim: Units = 5
    trainable: bool = True
    trainable_vectors: bool = True
    initializer: Literal["glorot", "wide", "gaussian", "uniform"] = "glorot"

    @property
    def frozen(self) -> list[str]:
        """The names of the tables that are not trained."""
        trained = {"word": self.trainable, VECTOR: self.trainable_vectors}
        return [name for name, learns in trained.items() if not learns]


@dataclass(frozen=True, kw_only=True)
class CharacterNetwork(Checked):
    """The network that reads all characters of a token: `layers.CharacterEncoder`.

    Its vector is one more feature. It is computed once for each distinct token of a
    batch. A character that training does not have is the unknown one, which
    `unknown_rate` trains.

    Args:
        character_network: "lstm", "coupled-lstm" (that of Lample et al. 2016), "gru" or
            "cnn" (Ma & Hovy 2016); None for no such network.
        character_units: of each direction, or the number of filters of "cnn".
        character_embedding_dim: of the embedding of a character.
        character_dropout: of the embedded characters.
        max_characters: of a longer token the first and the last half of this are read.
    """

    character_network: Literal["gru", "lstm", "coupled-lstm", "cnn"] | None = None
    character_units: Units = 50
    character_embedding_dim: Units = 25
    character_dropout: Share = 0.0
    max_characters: Steps = 40

    def refuse_unused(self, overrides) -> None:
        """Refuses options of the network that are given where there is none."""
        names = [field.name for field in fields(self)[1:] if field.name in overrides]
        if names and self.character_network is None:
            raise ValueError(
                f"{names[0]}={overrides[names[0]]!r} is of a character network, and "
                'character_network=None: give one, such as "lstm"'
            )

    @property
    def letters(self) -> int:
        """The characters that are read of a token: 0 without the network."""
        return self.max_characters if self.character_network else 0

    @property
    def size(self) -> int:
        """The size of the vector of a token: 0 without the network."""
        directions = {None: 0, "cnn": 1}.get(self.character_network, 2)
        return directions * self.character_units


@dataclass(frozen=True, kw_only=True)
class WindowSettings(Checked):
    """The window of words that a tagger reads around each token.

    Args:
        window: positions, an odd number; 0 and 1 are the current token alone.
        window_over: "words" (word and pretrained vector) or "features" (everything).
        window_gated: whether a gate weighs each position.
        window_dropout: share of the positions that are dropped in training.
    """

    window: Window = 0
    window_over: Literal["words", "features"] = "words"
    window_gated: bool = False
    window_dropout: Share = 0.0


#: the settings of every network that reads words
TABLES = (FeatureSettings, Embeddings, CharacterNetwork)


# The task: to learn tags, trees or derivations

Vectors = Annotated[
    object, Rule(lambda x: x is not None, "a name or a file of vectors")
]
ColumnNames = Annotated[tuple[str, ...], Rule(bool, "names of columns")]
System = Annotated[str, Rule(bool, "'arc-standard'")]
TagWeights = Annotated[
    tuple[float, ...],
    Rule(lambda x: all(0 < w < float("inf") for w in x), "numbers above 0"),
]


@dataclass(frozen=True, kw_only=True)
class PretrainedSettings(Checked):
    """The vectors of words that a model is given.

    Args:
        embeddings: pretrained vectors that the word embeddings start as: a file of any
            common format, `WordVectors` or gensim's `KeyedVectors`.
        vectors: the same as one more feature beside the words, the fourth of Kadari et
            al. (2018).
    """

    embeddings: Vectors | None = None
    vectors: Vectors | None = None


@dataclass(frozen=True, kw_only=True)
class TaggerSettings(PretrainedSettings):
    """The settings of a tagger beside those of its network.

    Args:
        tags: columns of the sentences that are learnt together, each with an output of
            its own: "upos", "xpos" and "feats" for instance. None for `Sentence.tags`.
        tag_weights: of the loss of each of these columns; None for 1.
        consistent: whether answers keep to what training has: labels of one word that
            occur together, and lemmas that are words. See `encoding.label_columns`.
        min_count: tags that occur less often are left out of the inventory.
        pretrain: how the embeddings of words and labels are learnt before the first
            epoch: "window", "cbow" or None.
        monitor: the figure that tells the best epoch; None for that of the task.
    """

    tags: ColumnNames | None = None
    tag_weights: TagWeights | None = None
    consistent: bool = True
    min_count: NonNegative = 1
    pretrain: Literal["window", "cbow"] | None = None
    monitor: Literal["val_accuracy", "val_f1"] | None = None

    def __post_init__(self):
        check_fields(self)
        check_names(self.tags or ())
        if self.tag_weights and len(self.tag_weights) != len(self.tags or ()):
            raise ValueError(
                f"tag_weights={self.tag_weights}: give one for each column of tags="
            )

    @property
    def columns(self) -> tuple[str | None, ...]:
        """The names of the columns that are learnt; (None,) for `Sentence.tags`."""
        return self.tags or (None,)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the losses of the columns."""
        return self.tag_weights or (1.0,) * len(self.columns)


@dataclass(frozen=True, kw_only=True)
class ParserSettings(PretrainedSettings):
    """The settings of a parser beside those of its network.

    Args:
        tags: the tags that it reads: "gold" (the finest there are), "predicted" (those
            of a tagger of its own), the name of a column, or None.
        system: the name of the transition system: "arc-standard", or one
            that is registered.
        nonprojective: "skip" leaves trees with crossing arcs out of training, "lift"
            makes them projective.
        tagger: the architecture of its own tagger.
        folds: parts of the training sentences whose tags are predicted in turn.
        tagger_epochs: of each tagger.
    """

    tags: str | None = "gold"
    system: System = "arc-standard"
    nonprojective: Literal["skip", "lift"] = "skip"
    tagger: str = "bigru"
    folds: Positive = 5
    tagger_epochs: Positive = 5

    def __post_init__(self):
        check_fields(self)
        transition_system(self.system)


@dataclass(frozen=True, kw_only=True)
class CCGSettings(TaggerSettings, Search):
    """The settings of a CCG parser beside those of its network: also its search.

    Args:
        tags: as for taggers; "tags" are the categories.
    """

    tags: ColumnNames = ("tags",)

    def __post_init__(self):
        super().__post_init__()
        if "tags" not in self.tags:
            raise ValueError(f"tags={self.tags}: 'tags', the categories, are missing")


@dataclass(frozen=True, kw_only=True)
class CCGMovesSettings(PretrainedSettings):
    """The settings of a shift-reduce CCG parser beside those of its network.

    Args:
        beta: a word has the categories with p >= beta * max p.
        tag_weight: of the logarithms of these p, beside the scores of moves.
        beam_width: hypotheses kept in the search; 1 is greedy.
        head_weight: of the agreement with the heads that sentences have, beside the
            log probability of moves; 0 for no reading of heads.
    """

    beta: Level = 0.01
    tag_weight: Rate = 1.0
    beam_width: Steps = 8
    head_weight: Weight = 0.0  # as files have it that do not say so
