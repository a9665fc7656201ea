"""Lemmas: scripts that make them of words, and rules for which script a word has."""

from keras_tagging.data.lemmas.scripts import (
    is_script,
    lemma_of,
    lemmas_of,
    script_of,
    shown_pairs,
)

__all__ = ["is_script", "lemma_of", "lemmas_of", "script_of", "shown_pairs"]
