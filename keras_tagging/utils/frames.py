"""Tables of pandas that hold any string."""

from contextlib import contextmanager


@contextmanager
def any_strings():
    """Decorator: tables are made without Arrow, whose strings are UTF-8.

    Words and labels may hold half of a surrogate pair, which JSON can. Where pyarrow is
    installed, pandas 3 would take Arrow for them, and fail.
    """
    import pandas as pd

    with pd.option_context("mode.string_storage", "python"):
        yield
