"""Models by the names of their architectures."""

import sys
from collections.abc import Mapping
from types import MappingProxyType

from keras_tagging import kinds
from keras_tagging.architectures import architecture
from keras_tagging.data.sentence import Corpus, Sentences
from keras_tagging.models.files.checks import PRETRAINED
from keras_tagging.models.given_vectors import GivenVectors, described
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.vectors.named import TRAINABLE, words_for


def build(
    name: str,
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = MappingProxyType({}),
    **overrides: object,
) -> SentenceModel:
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
    entry.check_keywords([*overrides, *["language"] * bool(language)], language=True)
    of_corpus = corpus.language if isinstance(corpus, Corpus) else ""
    words = words_for(recipe, language, of_corpus)
    installed = words.settings(entry.keywords, overrides)
    frozen = words.frozen(recipe, entry.keywords, overrides)
    if installed:
        trains = f"{TRAINABLE}=True" if frozen else None
        sys.stderr.write(f"{name}: {words.line(installed, trains=trains)}\n")
    installed_or_default = {**defaults, **installed, **frozen}
    settings = entry.settings(recipe, installed_or_default, **overrides)
    sources = {key: settings[key] for key in PRETRAINED if key in settings}
    prefixes = settings.get("class_prefixes", ())
    vectors = GivenVectors.read(**sources, class_prefixes=prefixes)
    changes = {key: described(source) for key, source in sources.items()}
    if vectors.embeddings:
        changes["word_dim"] = size = vectors.embeddings.matrix.shape[1]
        if overrides.get("word_dim", size) != size:
            raise ValueError(f"leave word_dim out: the vectors have {size} values")
    model = kinds.find(entry.kind).at("model")(
        name,
        settings.replaced(**changes),
        seed=seed,
        vector_dim=vectors.vectors.matrix.shape[1] if vectors.vectors else 0,
        given_vectors=vectors,
    )
    if installed:
        model.metadata["words"] = words.about(installed)
    if corpus is not None:
        model.adapt(corpus.train if isinstance(corpus, Corpus) else corpus)
    return model
