"""Tables of pandas that hold any string."""

from contextlib import ContextDecorator


class AnyStrings(ContextDecorator):
    """Decorator: tables are made without Arrow, whose strings are UTF-8.

    Words and labels may hold half of a surrogate pair, which JSON can. Where pyarrow is
    installed, pandas 3 would take Arrow for them, and fail.
    """

    def __enter__(self):
        import pandas as pd

        self.option = pd.option_context("mode.string_storage", "python")
        return self.option.__enter__()

    def __exit__(self, *error):
        return self.option.__exit__(*error)

    def _recreate_cm(self):
        return AnyStrings()  # calls may be inside of each other
