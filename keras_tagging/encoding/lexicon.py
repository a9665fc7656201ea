"""Words of training that stand in a text: features of a segmenter without spaces."""

from collections.abc import Iterable

import numpy as np

from keras_tagging.encoding.symbols import codes_of

#: characters of the longest word that is looked up
LONGEST = 12
#: what a character learns: the longest word that begins, ends, or goes on with it
NAMES = ("begins", "ends", "inside")
_PRIME = np.uint64(0x100000001B3)


def lower(codes: np.ndarray) -> np.ndarray:
    """Code points in small letters, one for one."""
    found, places = np.unique(codes, return_inverse=True)
    small = [chr(code).lower() for code in found.tolist()]
    small = [ord(s) if len(s) == 1 else c for s, c in zip(small, found, strict=True)]
    return np.array(small, "uint64")[places.reshape(codes.shape)]


class Lexicon:
    """Finds words in text without spaces, whatever their case.

    A word and its beginnings are kept as hashes of 64 bits, by their length, so that
    NumPy looks up all places of a text at once, and few of them twice.

    Args:
        words: those with more than `LONGEST` characters, and empty ones, are left out.
    """

    def __init__(self, words: Iterable[str]):
        self.words: list[np.ndarray] = []
        self.beginnings: list[np.ndarray] = []
        known = [lower(codes_of(word)) for word in words if 0 < len(word) <= LONGEST]
        sizes = np.array([len(word) for word in known], int)
        table = np.zeros((len(known), LONGEST), "uint64")
        for row, word in zip(table, known, strict=True):
            row[: len(word)] = word
        hashes = np.zeros(len(known), "uint64")
        for size in range(1, LONGEST + 1):
            hashes = hashes * _PRIME + table[:, size - 1]
            self.words.append(np.unique(hashes[sizes == size]))
            self.beginnings.append(np.unique(hashes[sizes >= size]))

    def columns(self, codes: np.ndarray) -> np.ndarray:
        """The lengths of the longest words at each symbol.

        Args:
            codes: `(symbols,)` code points.

        Returns:
            `(symbols, 3)` int32, 0 where there is none: the longest word that begins
            with the symbol, that ends with it, and that has it and the next one.
        """
        codes = lower(codes)
        found = np.zeros((len(codes), len(NAMES)), "int32")
        places = np.arange(len(codes))
        hashes = np.zeros(len(codes), "uint64")
        for size in range(1, LONGEST + 1):
            real = places + size <= len(codes)
            places, hashes = places[real], hashes[real]
            hashes = hashes * _PRIME + codes[places + size - 1]
            starts = places[_among(hashes, self.words[size - 1])]
            found[starts, 0] = size
            found[starts + size - 1, 1] = size
            for reach in range(size - 1):
                found[starts + reach, 2] = size
            going_on = _among(hashes, self.beginnings[size - 1])
            places, hashes = places[going_on], hashes[going_on]
        return found


def _among(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which values are among those that are known and sorted."""
    if not len(known):
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return known[places] == values
