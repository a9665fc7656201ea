"""Ensembles: models of one kind that answer together, by the mean of probabilities."""

from collections import UserDict
from pathlib import Path

from keras_tagging import kinds
from keras_tagging.data.sentence import as_sentences
from keras_tagging.models.calls import SentenceCalls
from keras_tagging.models.files.ensemble import load_members, save_ensemble
from keras_tagging.utils import limits

NOT_TRAINED = (
    "an ensemble does not learn: fit each member, or a student on the soft targets of "
    "SoftTargets.of(ensemble, sentences), fit(..., soft_targets=)"
)


def _first(name: str) -> property:
    """The attribute of the first member, as one of the ensemble."""
    return property(lambda self: getattr(self.members[0], name))


class Ensemble(SentenceCalls):
    """Several taggers, or several parsers, as one model.

    The probabilities of an ensemble are the means of those of its members: of each
    label of a token (with a CRF they are marginals), or of each move of a parser at
    each step of the search, in which every member has states of its own. It has the
    methods of its members that answer: `tag`, `parse`, `predict`, `evaluate`,
    `annotate`, `export` and `save`; :func:`keras_tagging.load` reads what `save`
    writes. A single tagger learns from one of taggers by
    ``SoftTargets.of(ensemble, sentences)`` and ``fit(..., soft_targets=)``.

    Members may differ in architecture, vocabularies, features and recipe, but not in
    their labels, whose order may differ. What is not a probability is that of the first
    member: the order of labels, the chunk scheme and the rules that answers keep to,
    the words that count as known in `evaluate`, and the beam.

    Args:
        members: two models or more, with vocabularies.

    Raises:
        ValueError: if they are no models of one kind, have other labels or columns than
            the first, or another transition system.

    Example:
        >>> import keras_tagging
        >>> corpus = keras_tagging.load_corpus("demo")
        >>> small = {"units": 4, "corpus": corpus}
        >>> models = [keras_tagging.build("bigru", seed=s, **small) for s in (1, 2)]
        >>> ensemble = keras_tagging.Ensemble(models)
        >>> [[tag]] = ensemble.tag([["flights"]])
        >>> tag in ensemble.tags
        True
        >>> keras_tagging.Ensemble(models[:1])
        Traceback (most recent call last):
        ...
        ValueError: an ensemble has 2 to 32 members, not 1
    """

    architecture = "ensemble"

    def __new__(cls, members=(), **kwargs):
        if cls is Ensemble:
            cls = _class_of(members)
        return super().__new__(cls, members, **kwargs)

    def __init__(self, members, **kwargs):
        super().__init__(**kwargs)
        self.members = list(members)
        first = self.members[0]
        # not a dict, which Keras would wrap and copy
        about = [{"architecture": m.architecture, "seed": m.seed} for m in self.members]
        corpus = first.metadata.get("corpus") or {}
        self.metadata = UserDict({"corpus": corpus, "members": about})
        self.built = True
        self.compile(jit_compile=first.jit_compile, run_eagerly=first.run_eagerly)

    # As the first member has it

    column_names = _first("column_names")
    figures = _first("figures")
    default_monitor = _first("default_monitor")
    lower_is_better = _first("lower_is_better")
    missing_column = _first("missing_column")
    length_multiple = _first("length_multiple")

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns that sentences must have, beside their words."""
        names = (name for model in self.members for name in model.input_columns)
        return tuple(dict.fromkeys(names))

    @property
    def size(self) -> str:
        """The numbers of its members and parameters, in words."""
        return f"{len(self.members)} members, {self.count_params():,} parameters"

    @property
    def batch_tokens(self) -> int:
        """The number of padded tokens in one call of the networks."""
        return min(model.batch_tokens for model in self.members)

    def annotated(self, sentences):
        """The sentences, after a check of their annotation."""
        return self.members[0].annotated(as_sentences(sentences))

    def encode(self, sentences) -> "EncodedForMembers":
        """The ids of all tokens for each member."""
        return EncodedForMembers([model.encode(sentences) for model in self.members])

    def fit(self, *_, **__):
        """Raise a ValueError: its members learn, and students do."""
        raise ValueError(NOT_TRAINED)

    # Files

    def described(self, top_k: int = 5) -> dict[str, object]:
        """The description of the model in an ONNX file."""
        about = {
            "columns": list(self.input_columns),
            "batch_tokens": self.batch_tokens,
            "members": [model.architecture for model in self.members],
        }
        return self.members[0].described(top_k) | about

    def save(self, filepath, overwrite=True):
        """Write a folder: `ensemble.json`, and the `.keras` file of each member.

        Raises:
            FileExistsError: if it holds an ensemble, and `overwrite` is false.
            ValueError: if it is a file's name, or another process saves there.
            OSError: if it cannot be written.
        """
        save_ensemble(self, filepath, overwrite)

    @classmethod
    def load(cls, filepath) -> "Ensemble":
        """Read a folder that `save` has written, each file checked as any model.

        Raises:
            ValueError: if a file is missing, damaged, or not the one that was saved, or
                if the models make no ensemble.
            OSError: if a file cannot be opened.
        """
        folder = Path(filepath)
        models = load_members(folder)
        try:
            return Ensemble(models)
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from error

    def export(self, filepath, *, format="onnx", top_k=5, int8=False):
        """Write one ONNX file, whose graph runs all members on the same words.

        It is a file of the members' kind: see `models.files.export`.

        Raises:
            ValueError: as there, and for any other format.
        """
        from keras_tagging.models.files.export import export  # which takes seconds

        if format != "onnx":
            raise ValueError(
                f"format={format!r}: an ensemble is exported as ONNX alone; a "
                "student of it has every format"
            )
        export(self, filepath, format=format, top_k=top_k, int8=int8)


class EncodedForMembers:
    """Sentences as the networks of several models read them.

    Args:
        parts: `EncodedSentences` of the same sentences, for each model.
    """

    def __init__(self, parts):
        self.parts = parts
        self.lengths = parts[0].lengths

    def batch(self, *args, **kwargs):
        """As `EncodedSentences.batch`, with a list of tokens for each model."""
        batches = [part.batch(*args, **kwargs) for part in self.parts]
        tokens, _, _ = zip(*batches, strict=True)
        return list(tokens), *batches[0][1:]


def _class_of(members: list) -> type[Ensemble]:
    """The class for models, after a check of what any ensemble needs."""
    most = limits.ENSEMBLE_MEMBERS
    if not 2 <= len(members) <= most:
        raise ValueError(f"an ensemble has 2 to {most} members, not {len(members)}")
    for model in members:
        model._require_network()
    names = [kinds.of(model).name for model in members]
    if len(set(names)) > 1:
        raise ValueError(f"an ensemble has models of one kind, not {', '.join(names)}")
    kind = kinds.of(members[0])
    if kind.ensemble is None:
        raise ValueError(f"there are no ensembles of the kind {kind.name!r}")
    return kind.at("ensemble")
