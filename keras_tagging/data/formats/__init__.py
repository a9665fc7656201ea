"""The table of corpus formats, and a file for each family of them."""

from collections.abc import Callable, Iterator

from keras_tagging.data.formats.atis import atis, ctf
from keras_tagging.data.formats.ccgbank import auto, pipe
from keras_tagging.data.formats.columns import conll, text, tokens
from keras_tagging.data.formats.json_lines import jsonl
from keras_tagging.data.formats.penn import mrg, pos
from keras_tagging.data.formats.tables import csv
from keras_tagging.data.formats.treebanks import conllu, conllx
from keras_tagging.data.records import Malformed
from keras_tagging.data.sentence import Sentence

FORMATS: dict[str, Callable[..., Iterator[Sentence | Malformed]]] = {
    "conll": conll,
    "conllu": conllu,
    "conllx": conllx,
    "pipe": pipe,
    "auto": auto,
    "mrg": mrg,
    "pos": pos,
    "atis": atis,
    "ctf": ctf,
    "jsonl": jsonl,
    "csv": csv,
    "text": text,
    "tokens": tokens,
}
