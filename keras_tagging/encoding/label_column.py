"""A column of labels that a tagger learns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keras_tagging.data.lemmas.scripts import is_script, lemmas_of, script_of
from keras_tagging.data.named_columns import (
    CHUNK_FIGURES,
    FIGURES,
    labels_of,
    output_names,
)
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.sentence import Sentence
from keras_tagging.metrics import looks_like_chunks


@dataclass(frozen=True)
class LabelColumn:
    """One output of a tagger: the labels that it knows, and the names of its parts.

    Args:
        name: of the column; None for `Sentence.tags` in a tagger that learns nothing
            else. Its layers, figures and outputs have no prefix.
        labels: the inventory, in the order of the network's outputs.
        scheme: the chunk scheme that decoding keeps to; None if it is free.
        scripts: whether the gold labels are lemmas, and `labels` the scripts that make
            them: see `data.lemmas`.
    """

    name: str | None
    labels: list[str]
    scheme: str | None = None
    scripts: bool = False

    @classmethod
    def stored(cls, name, labels: list[str], scheme=None) -> "LabelColumn":
        """That of a saved model, of which an earlier one has lemmas as they are."""
        scripts = learns_scripts(name) and bool(labels) and all(map(is_script, labels))
        return cls(name, labels, scheme, scripts)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def ids(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    @property
    def vocabulary(self) -> str:
        """The name of its inventory among the vocabularies of a model."""
        return vocabulary_of(self.name)

    @cached_property
    def output_names(self) -> dict[str, str]:
        """See `data.named_columns`."""
        return output_names(self.name)

    def layer(self, name: str) -> str:
        """The name of one of its layers."""
        return name if self.name is None else f"{name}_{self.name}"

    def figure(self, name: str) -> str:
        """The name of one of its figures."""
        return name if self.name is None else f"{self.name}_{name}"

    @cached_property
    def has_chunks(self) -> bool:
        """Whether its labels are those of chunks."""
        return not self.scripts and looks_like_chunks(self.labels)

    @property
    def figures(self) -> list[str]:
        """The names of its figures, without a prefix."""
        return [*FIGURES, *CHUNK_FIGURES] if self.has_chunks else [*FIGURES]

    def gold(self, sentences: Iterable[Sentence]) -> list[list[str]]:
        """The gold labels of annotated sentences: lemmas if it learns scripts."""
        return [labels_of(sentence, self.name) for sentence in sentences]

    def learnt(self, sentences: Iterable[Sentence]) -> list[list[str]]:
        """The labels that are learnt of sentences: the gold ones, or their scripts."""
        if not self.scripts:
            return self.gold(sentences)
        return [scripts_of(sentence, self.name) for sentence in sentences]

    def shown(self, labels: Sequence[str], tokens: Sequence[str]) -> list[str]:
        """Labels of the inventory, one a token, as `Tagger.tag` gives them."""
        return lemmas_of(tokens, labels) if self.scripts else list(labels)

    def targets(self, sentences: Iterable[Sentence]) -> np.ndarray:
        """The ids of the gold labels of all tokens; -1 outside the inventory."""
        find = self.ids.get
        return np.array(
            [find(label, -1) for row in self.learnt(sentences) for label in row],
            "int32",
        )

    def part(self, outputs):
        """The part of the outputs of a network that is of this column."""
        return outputs if self.name is None else outputs[self.name]


def learns_scripts(name: str | None) -> bool:
    """Whether a tagger learns a column as scripts: lemmas alone."""
    return name == "lemma"


def scripts_of(sentence: Sentence, name: str | None) -> list[str]:
    """The scripts of the lemmas in a column of a sentence."""
    pairs = zip(sentence.tokens, labels_of(sentence, name), strict=True)
    return [script_of(to_nfc(token), lemma) for token, lemma in pairs]


def targets_of(sentences, columns) -> np.ndarray:
    """The ids of the gold labels of all tokens, for `EncodedSentences`."""
    ids = [column.targets(sentences) for column in columns]
    return ids[0] if columns[0].name is None else np.stack(ids, 1)


def vocabulary_of(name: str | None) -> str:
    return "tags" if name is None else f"tags:{name}"


def is_inventory(vocabulary: str) -> bool:
    """Whether a vocabulary of a model has labels, and not features."""
    return vocabulary in ("tags", "labels") or vocabulary.startswith("tags:")
