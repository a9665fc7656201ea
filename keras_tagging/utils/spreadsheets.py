"""Tables that spreadsheets open without taking a word for a formula."""

# As OWASP lists them under "CSV injection", with the full-width forms.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_text(value):
    """The value; if it is text that a spreadsheet might run, behind a single quote."""
    runs = isinstance(value, str) and value.startswith(FORMULA)
    return f"'{value}" if runs else value


def without_formulas(table):
    """A `pandas.DataFrame` whose cells of text are all text; numbers stay numbers."""
    texts = table.select_dtypes(exclude=["number", "bool"]).columns
    return table.assign(**{name: table[name].map(as_text) for name in texts})
