"""Ensembles: models of one kind that answer together, by the mean of probabilities."""

import json
import math
import re
from collections import UserDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from keras import ops

from keras_tagging import kinds
from keras_tagging.architectures.output import run_network
from keras_tagging.data.named_columns import by_column
from keras_tagging.data.sentence import as_sentences
from keras_tagging.encoding.batching import ids_of
from keras_tagging.layers import ChunkDecoder
from keras_tagging.models.calls import SentenceCalls
from keras_tagging.models.files.export import export
from keras_tagging.models.files.loading import read
from keras_tagging.models.files.run_folder import ENSEMBLE
from keras_tagging.models.files.saving import versions
from keras_tagging.models.parser.biaffine_parser import BiaffineParser, Parsed
from keras_tagging.models.tagger.decoding import logits_of
from keras_tagging.models.tagger.figures import MeasuredTagging
from keras_tagging.models.tagger.tagger import Tagger
from keras_tagging.runtime.folder import REMEDY, inside, listed_bytes
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing_files
from keras_tagging.utils.stored import read_object, sha256_of

#: of `ensemble.json`, the list of the members' files, which are in the same folder
FORMAT = 1
MEMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.keras")
WRITTEN = re.compile(r"member-[1-9][0-9]*\.(keras|metadata\.json)")


def _first(name: str) -> property:
    """The attribute of the first member, as one of the ensemble."""
    return property(lambda self: getattr(self.members[0], name))


class Ensemble(SentenceCalls):
    """Several taggers, or several biaffine parsers, as one model.

    The probabilities of an ensemble are the means of those of its members: of each
    label of a token (with a CRF they are marginals), and of each head. It has the
    methods of its members that answer: `tag`, `parse`, `predict`, `evaluate`,
    `annotate`, `export` and `save`; :func:`keras_tagging.load` reads what `save`
    writes. A single tagger learns from one of taggers by
    ``SoftTargets.of(ensemble, sentences)`` and ``fit(..., soft_targets=)``.

    Members may differ in architecture, vocabularies, features and recipe, but not in
    their labels, whose order may differ. What is not a probability is that of the first
    member: the order of labels, the chunk scheme and the rules that answers keep to,
    the words that count as known in `evaluate`.

    Args:
        members: two models or more, with vocabularies.

    Raises:
        ValueError: if they are no models of one kind, or have other labels or columns
            than the first.

    Example:
        >>> import keras_tagging
        >>> corpus = keras_tagging.load_corpus("demo")
        >>> small = {"units": 4, "num_layers": 1, "suffixes": (), "corpus": corpus}
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

    @overload
    def __new__(
        cls, members: Sequence[BiaffineParser], **kwargs: Any
    ) -> "BiaffineEnsemble": ...
    @overload
    def __new__(cls, members: Sequence[Tagger], **kwargs: Any) -> "TaggerEnsemble": ...
    def __new__(cls, members=(), **kwargs):
        if cls is Ensemble:
            cls = _class_of(members)
        return super().__new__(cls, members, **kwargs)

    def __init__(self, members: Sequence[Tagger], **kwargs: Any):
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

    # Files

    def described(self, top_k: int = 5) -> dict[str, object]:
        """The description of the model in an ONNX file."""
        about = {
            "columns": list(self.input_columns),
            "batch_tokens": self.batch_tokens,
            "members": [model.architecture for model in self.members],
        }
        return self.members[0].described(top_k) | about

    def save(self, filepath: str | Path, overwrite: bool = True) -> None:
        """Write a folder: `member-1.keras` and so on, and at last `ensemble.json`.

        It has the checksums of the members: a folder that was halved by a kill, or
        mixed with another one, is refused.

        Raises:
            FileExistsError: if it holds an ensemble, and `overwrite` is false.
            ValueError: if another process saves there.
            OSError: if it cannot be written.
        """
        folder = Path(filepath)
        if (folder / ENSEMBLE).exists() and not overwrite:
            raise FileExistsError(f"{folder} has an ensemble: give overwrite=True")
        # other files are the user's own
        old = (x for x in folder.glob("member-*") if WRITTEN.fullmatch(x.name))
        with replacing_files(folder, ENSEMBLE, old) as written:
            members = {}
            for number, model in enumerate(self.members, 1):
                path = written / f"member-{number}.keras"
                model.save(path)
                members[path.name] = {"sha256": sha256_of(path)}
            content = {"format": FORMAT, "kind": self.kind, "members": members}
            text = json.dumps(content | {"versions": versions()}, indent=2)
            (written / ENSEMBLE).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, filepath: str | Path) -> "Ensemble":
        """Read a folder that `save` has written, each file checked as any model.

        It opens the files that the list names, which are in the folder, and nothing
        else.

        Raises:
            ValueError: if a file is missing, damaged, or not the one that was saved, or
                if the models make no ensemble.
            OSError: if a file cannot be opened.
        """
        folder = Path(filepath)
        models = []
        for name, about in _listed(folder).items():
            path = folder / name
            models.append(read(path, listed_bytes(path, about)))
        try:
            return Ensemble(models)
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from error

    def export(
        self, filepath: str | Path, *, format: str = "onnx", top_k: int = 5, int8=False
    ) -> None:
        """Write one ONNX file, whose graph runs all members on the same words.

        It is a file of the members' kind: see `models.files.export`.

        Raises:
            ValueError: as there, and for any other format.
        """
        export(self, filepath, format=format, top_k=top_k, int8=int8)


def _listed(folder: Path) -> dict:
    """The members in `ensemble.json`, by the names of their files."""
    path = inside(folder, ENSEMBLE)
    content = read_object(path, REMEDY)
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path}: has the format {str(content.get('format'))[:20]!r}, and this "
            f"version reads {FORMAT}: update keras-tagging"
        )
    members, most = content.get("members"), limits.ENSEMBLE_MEMBERS
    if (
        not isinstance(members, dict)
        or not 2 <= len(members) <= most
        or not all(map(MEMBER.fullmatch, members))
    ):
        raise ValueError(
            f"{path}: does not list the 2 to {most} members of an ensemble: {REMEDY}"
        )
    return members


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


class TaggerEnsemble(MeasuredTagging, Ensemble):
    """An ensemble of taggers: see `Ensemble`."""

    def __init__(self, members: Sequence[Tagger], **kwargs: Any):
        super().__init__(members, **kwargs)
        first = self.members[0]
        self.rules = first.rules
        self.label_columns = tuple(first.label_columns)
        # for each member and column, its place among the member's own, and the order
        # in which its labels are those of the first
        self._places = [
            [_place(column, model) for column in first.label_columns]
            for model in self.members
        ]
        self._decoders = [
            ChunkDecoder(column.labels, column.scheme, from_logits=True)
            if column.scheme
            else None
            for column in first.label_columns
        ]

    default_monitor = Ensemble.default_monitor  # the recipe of the first may have one
    output_arrays = Tagger.output_arrays

    def call(self, inputs, training: bool = False):
        """The joined outputs of the networks, for the tokens that each reads."""
        pairs = zip(self.members, inputs, strict=True)
        outputs = [run_network(model.network, tokens) for model, tokens in pairs]
        return self.joined(outputs, ids_of(inputs[0])[:, :, 0] > 0)

    def joined(self, outputs, real):
        """The outputs of the networks as one: see `architectures.output`.

        The logits are the logarithms of mean probabilities.

        Args:
            outputs: of the network of each member.
            real: `(batch, time)`, False in the padding.
        """
        means = []
        for i, decoder in enumerate(self._decoders):
            logs = []
            for model, of_member, places in zip(
                self.members, outputs, self._places, strict=True
            ):
                place, order = places[i]
                logits = logits_of(model.label_columns[place].part(of_member))
                log = ops.log_softmax(ops.cast(logits, "float32"))
                logs.append(log if order is None else ops.take(log, order, axis=-1))
            mean = _mean(logs)
            if decoder is not None:
                mean = {"logits": mean, "tags": decoder(mean, mask=real)}
            means.append(mean)
        return by_column(self.column_names, means)

    def described(self, top_k: int = 5) -> dict[str, object]:
        about = super().described(top_k)
        return about | {"rules": self.rules and self.rules.config()}


def _place(column, model):
    """The place of a column among those of a tagger, and the order of its labels.

    The order is None if the labels are in that of the column.
    """
    named = {other.name: other for other in model.label_columns}
    other = named.get(column.name)
    if other is None or set(other.labels) != set(column.labels):
        name = column.name or "tags"
        raise ValueError(f"the taggers differ in the labels of {name!r}")
    order = [other.ids[label] for label in column.labels]
    return [*named].index(column.name), None if order == sorted(order) else order


class BiaffineEnsemble(Parsed, TaggerEnsemble):
    """An ensemble of biaffine parsers: see `Ensemble`.

    The tree is the best one by the mean probabilities of heads, and its labels are the
    best ones by those of the labels of its arcs.
    """

    labels = _first("labels")

    def __init__(self, members: Sequence[BiaffineParser], **kwargs: Any):
        super().__init__(members, **kwargs)
        if any({*model.labels} != {*self.labels} for model in self.members):
            raise ValueError("the parsers differ in their dependency labels")
        # the order in which the labels of each are those of the first
        self._orders = [
            [*map({x: i for i, x in enumerate(model.labels)}.get, self.labels)]
            for model in self.members
        ]

    def joined(self, outputs, real):
        heads = [ops.log_softmax(each["heads"]) for each in outputs]
        return {
            **super().joined(outputs, real),
            "heads": _mean(heads),
            "lengths": outputs[0]["lengths"],
            "members": outputs,
        }

    def label_scores(self, outputs, heads):
        """See `BiaffineParser.label_scores`: the logarithms of mean probabilities."""
        logs = [
            ops.take(ops.log_softmax(model.label_scores(each, heads)), order, axis=-1)
            for model, each, order in zip(
                self.members, outputs["members"], self._orders, strict=True
            )
        ]
        return _mean(logs)


def _mean(logs):
    """The logarithm of the mean of probabilities, of which these are logarithms."""
    return ops.logsumexp(ops.stack(logs, 0), 0) - math.log(len(logs))


def _class_of(members: list) -> type[Ensemble]:
    """The class for models, after a check of what any ensemble needs."""
    most = limits.ENSEMBLE_MEMBERS
    if not 2 <= len(members) <= most:
        raise ValueError(f"an ensemble has 2 to {most} members, not {len(members)}")
    for model in members:
        model._require_network()
    kind, *others = {kinds.of(model) for model in members}
    if others or kind.ensemble is None:
        names = ", ".join(model.kind for model in members)
        raise ValueError(
            f"an ensemble has only taggers, or only biaffine-parsers: not {names}"
        )
    return kind.at("ensemble")
