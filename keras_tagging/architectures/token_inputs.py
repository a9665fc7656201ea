"""The settings of what every network begins with: tables, characters, a window."""

from dataclasses import dataclass, fields
from typing import Literal

from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.utils.checks import Checked, Share, Steps, Units, Window


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
            own), "gaussian" (Wu et al.) or "uniform" (Elkaref & Bohnet).
    """

    word_dim: Units = 100
    affix_dim: Units = 5
    character_dim: Units = 5
    trainable: bool = True
    trainable_vectors: bool = True
    initializer: Literal["glorot", "gaussian", "uniform"] = "glorot"

    @property
    def frozen(self) -> list[str]:
        """The names of the tables that are not trained."""
        trained = {"word": self.trainable, "vector": self.trainable_vectors}
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
