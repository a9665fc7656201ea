"""Pickles that run code."""


class Runs:
    """Calls a function when it is unpickled."""

    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced
