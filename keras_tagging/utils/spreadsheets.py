"""Tables in which spreadsheets do not take a word for a formula."""

# The characters that OWASP lists under "CSV injection", with their full-width forms.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_text(value):
    """The value, after a single quote if it is text that a spreadsheet might run."""
    runs = isinstance(value, str) and value.startswith(FORMULA)
    return f"'{value}" if runs else value


def without_formulas(table):
    """A `pandas.DataFrame` with `as_text` applied to its text; numbers stay."""
    texts = table.select_dtypes(exclude=["number", "bool"]).columns
    return table.assign(**{name: table[name].map(as_text) for name in texts})
