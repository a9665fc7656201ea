"""A pickle on standard input as JSON on standard output; `atis_integers.py` runs it.

A pickle is a program, and unpickling runs it. Here it can make lists, tuples,
dictionaries, strings, numbers and arrays of integers, and nothing else; not even NumPy
is imported. As it can still go on for ever or fill the memory, it has this process for
itself, which the operating system ends at the limits:

    python -I -S unpickle.py MEMORY SECONDS BYTES < PICKLE > JSON
"""

import json
import pickle
import resource
import struct
import sys

CODES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q"}


def main() -> None:
    memory, seconds, size = map(int, sys.argv[1:])
    for limit, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, size),
    ):
        resource.setrlimit(limit, (most, most))
    try:
        # Python 2 pickles strings as bytes, and so the contents of arrays.
        value = Unpickler(sys.stdin.buffer, encoding="latin1").load()
        json.dump(value, sys.stdout, default=Array.values)
        sys.stdout.flush()
    except BaseException as error:  # a pickle can raise anything
        sys.exit(f"{type(error).__name__}: {error}"[:500])


class Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str):
        # NumPy 2 renamed its numpy.core.
        found = ADMITTED.get((module.replace("numpy._core", "numpy.core"), name))
        if found is None:
            raise ValueError(f"it wants to run {module}.{name}, which no corpus needs")
        return found


class Type:
    """Stands for the type of an array."""

    def __init__(self, code: str, *flags):
        self.code, self.order = code, "<"

    def __setstate__(self, state):
        self.order = state[1]


class Array:
    """Stands for an array of one dimension."""

    def __init__(self, *arguments):
        pass

    def __setstate__(self, state):
        _, self.shape, self.type, _, self.data = state

    def values(self) -> list:
        data, code, order = self.data, self.type.code, self.type.order
        if isinstance(data, str):
            data = data.encode("latin1")
        kind = CODES.get(code.replace("u", "i"))
        if not (kind and order in ("<", ">", "|") and isinstance(data, bytes)):
            raise ValueError(f"an array of type {code!r} is not one of integers")
        kind = kind.upper() if code.startswith("u") else kind
        count = len(data) // int(code[1])
        if self.shape != (count,):
            raise ValueError(f"an array of shape {self.shape} has {count} values")
        return list(struct.unpack(f"{order.replace('|', '<')}{count}{kind}", data))


ADMITTED = {
    ("numpy", "ndarray"): "the type of an array, which is not called here",
    ("numpy", "dtype"): Type,
    ("numpy.core.multiarray", "_reconstruct"): Array,
}

if __name__ == "__main__":
    main()
