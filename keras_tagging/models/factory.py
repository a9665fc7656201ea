"""Models by name, or from a file."""

import io
import sys
import warnings
import zipfile
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType

import keras
import numpy as np

from keras_tagging import kinds
from keras_tagging.architectures import architecture, of_kind
from keras_tagging.data.sentence import Corpus
from keras_tagging.models.given_vectors import GivenVectors, described
from keras_tagging.models.model_file import check_model_file
from keras_tagging.models.run_files import model_file
from keras_tagging.models.saved_config import PRETRAINED
from keras_tagging.models.shared_words import shared_in, tables_beside, whole
from keras_tagging.utils.named_models import find_model
from keras_tagging.vectors.languages import TRAINABLE, installed_for, language_of_words


def build(
    name: str,
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus=None,
    language: str | None = None,
    defaults: Mapping[str, object] = MappingProxyType({}),
    **overrides,
):
    """A compiled model of the named architecture; it needs no corpus.

    Args:
        name: one of :func:`keras_tagging.available`.
        recipe: "fast" for Adam, mini-batches, clipping and more subword features: the
            best figures within ten minutes of a laptop. "best" for the best within an
            hour. "paper" for the paper's features, optimiser, batch size, schedule,
            dropout and initialisation.
        seed: seed of weights, dropout and the order of batches; None draws one, which
            the model keeps as `model.seed`.
        corpus: training sentences, or a `Corpus` with them, from which the vocabularies
            and the weights are made at once. Without it the first `fit` makes them.
            Keras Tuner needs them to load its best models.
        language: a code of ISO 639, such as "en": the word vectors and word classes
            that are installed for it are taken, where `overrides` do not name others or
            None, and a line on standard error says so. By default that of a `Corpus`,
            with the recipe "best" alone; "" for none.
        defaults: keywords that a program changes in the recipe: unlike `overrides`,
            they give way where a keyword of the user contradicts them.
        **overrides: keywords of the network, its cell, features and training;
            ``keras-tagging list NAME`` shows them with their values. `embeddings`:
            pretrained vectors to initialise the word embeddings: a file of any common
            format, `WordVectors` or gensim's `KeyedVectors`. They determine the size,
            `word_dim`; another one is an error. Words unseen in training keep theirs.
            `trainable=False` freezes these embeddings. `vectors`: the same
            as one more feature beside the words, the fourth of Kadari et al. (2018).
            `min_count`: rarer tags are left out. `tags`: columns of the sentences that
            a tagger learns together, ``("upos", "xpos", "feats")``.

    Returns:
        A model of the architecture's kind: a `Tagger`, a `Parser` or a `Segmenter`.

    Raises:
        ValueError: for an unknown name, recipe or keyword, with the nearest known one,
            for vectors that cannot be read, and for sentences that are not annotated.
        OSError: if there is no such file of vectors.

    Example:
        >>> import keras_tagging
        >>> model = keras_tagging.build("bigru", units=100, seed=1)
        >>> model.settings["units"]
        100
    """
    entry = architecture(name)
    if name not in of_kind(entry.kind):
        raise ValueError(
            f"the network of {name!r} says that its kind is {entry.kind!r}, which does "
            "not have this architecture: name the kind that has it"
        )
    entry.check_keywords(overrides, others=["language"])
    of_corpus = corpus.language if isinstance(corpus, Corpus) else ""
    code = language_of_words(recipe, language, of_corpus)
    words = installed_for(code, required=language is not None)
    known = words.settings(entry.keywords, overrides)
    frozen = words.frozen(recipe, entry.keywords, overrides)
    if known:
        trains = f"{TRAINABLE}=True" if frozen else None
        sys.stderr.write(f"{name}: {words.told(known, trains=trains)}\n")
    own = {**defaults, **known, **frozen}
    settings = entry.settings(recipe, own, **overrides)
    sources = {key: settings[key] for key in PRETRAINED if key in settings}
    prefixes = settings.get("class_prefixes", ())
    given = GivenVectors.read(**sources, class_prefixes=prefixes)
    changes = {key: described(source) for key, source in sources.items()}
    if given.embeddings:
        changes["word_dim"] = size = given.embeddings.matrix.shape[1]
        if overrides.get("word_dim", size) != size:
            raise ValueError(
                f"word_dim={overrides['word_dim']}, but the vectors of embeddings= "
                f"have {size} values: leave word_dim out, or give other vectors"
            )
    model = kinds.find(entry.kind).at("model")(
        name,
        settings.replaced(**changes),
        seed=seed,
        vector_dim=given.vectors.matrix.shape[1] if given.vectors else 0,
        given_vectors=given,
    )
    if known:
        model.metadata["words"] = words.about(known)
    if corpus is not None:
        model.adapt(corpus.train if isinstance(corpus, Corpus) else corpus)
    return model


def load(path):
    """Load a model saved by `model.save`, or an installed one by its name.

    A folder stands for its `model.keras`. A path that exists goes before a name.
    `keras_tagging.load` reads the folder of a pipeline too.

    The file is checked before Keras reads it: it cannot run code, open other files, or
    take more memory than some multiple of its size. A part of a pipeline may have its
    words in `words.npz` beside it, which is then read and checked too.

    Raises:
        ValueError: if there is no such file or installed model, or the file is damaged
            or holds another model.
        OSError: if the file cannot be opened.
    """
    path = model_file(find_model(path))
    return read(path, path.read_bytes())


def read(path, content: bytes, words=None):
    """The model in the bytes of a file: see `load`.

    Args:
        path: of the file; errors name it.
        content: the bytes.
        words: function that gives the words of the pipeline that the model is a part
            of; by default those in the folder of the file.

    Raises:
        ValueError: if they are damaged or hold another model; it names the path.
    """
    # keras.saving takes no bytes, and a path may lead to another file after the check
    from keras.src.saving.saving_lib import load_model

    with _naming(path):
        shared = shared_in(content)
    tables = (words or partial(tables_beside, path))(shared) if shared else None
    with _naming(path):
        if shared:
            content = whole(content, shared, tables)
        stream = io.BytesIO(content)
        check_model_file(stream)
        with warnings.catch_warnings():
            # a model of half precision has no state of its optimizer
            warnings.filterwarnings("ignore", "Skipping variable loading for opt")
            model = load_model(stream)
        check_numbers(model)
        return model


@contextmanager
def _naming(path):
    """Errors are one line with the path, and the remedy."""
    try:
        yield
    # A damaged or malicious file can raise anything.
    except Exception as error:
        remedy = "; copy the file again from where it was saved, or train the model "
        remedy += "again"
        if "install" in str(error):  # the file is whole, and needs another package
            remedy = ""
        raise ValueError(f"{path}: {_reason(error)}{remedy}") from error


def check_numbers(model: keras.Model) -> None:
    """Refuse a model whose answers would be nonsense, such as one that has diverged."""
    for variable in model.weights:
        if not np.isfinite(keras.ops.convert_to_numpy(variable)).all():
            raise ValueError("has weights that are no numbers, but NaN or infinite")


def _reason(error: Exception) -> str:
    """An error in one short line, with its type if the text alone says little."""
    text = " ".join(str(error).split())
    text = text if len(text) <= 300 else f"{text[:297]}..."
    if isinstance(error, zipfile.BadZipFile):
        return f"is damaged, cut short or no .keras file ({text})"
    return text if type(error) is ValueError else f"{type(error).__name__}: {text}"
