"""Architectures by name."""

from pathlib import Path

import keras

from keras_tagging.architectures import resolve_settings
from keras_tagging.models import ARCHITECTURES, PARSERS
from keras_tagging.models.parser import Parser
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.tagger import Tagger


def available() -> list[str]:
    """The names of all architectures."""
    return list(ARCHITECTURES)


def build(name: str, *, recipe: str = "fast", seed: int | None = None, **overrides):
    """A compiled tagger or parser of the named architecture; it needs no corpus.

    Args:
        name: one of `available()`.
        recipe: "paper" for the paper's features, optimiser, batch size, schedule,
            dropout and initialisation; "fast" for Adam, mini-batches, clipping and
            more subword features: what a user on a laptop wants.
        seed: of weights, dropout and the order of batches; None draws one, which
            the model keeps as `model.seed`.
        **overrides: keywords of the architecture, of its features
            (`TokenFeatures`) and of its training (`training.compile_settings`,
            `training.fit_settings`). `embeddings`: pretrained vectors that the word
            embeddings start as, a file of any common format, `WordVectors` or gensim's
            `KeyedVectors`. They give the size, `word_dim`, and words unseen in
            training that have one keep it.
            `trainable=False` leaves these embeddings as they are. `vectors`, for
            taggers: the same as one more feature beside the words, the fourth of
            Kadari et al. (2018). `min_count`, below which a tag is left out.

    Returns:
        A `Tagger`, or for the name of a parser a `Parser`.

    Raises:
        ValueError: for an unknown name, recipe or keyword, naming the nearest, and
            for vectors that cannot be read.
        OSError: if there is no such file of vectors.

    Example:
        >>> import keras_tagging
        >>> model = keras_tagging.build("bigru", units=100, seed=1)
        >>> model.settings["units"]
        100
    """
    model = Parser if name in PARSERS else Tagger
    return model(name, resolve_settings(name, recipe, overrides), seed=seed)


def load(path) -> Tagger | Parser:
    """A model saved by `model.save`; a folder stands for its `model.keras`.

    Raises:
        ValueError: if there is no such file, or it holds another model.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "model.keras"
    if not path.is_file():
        raise ValueError(
            f"{path}: no such model; train writes model.keras in its --out"
        )
    model = keras.saving.load_model(path)
    if not isinstance(model, SentenceModel):
        raise ValueError(f"{path}: holds a {type(model).__name__}, no tagger or parser")
    return model
