"""The code that pages of the documentation print."""

import re
import textwrap
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def examples(page, before=r"\.\. code-block:: python"):
    """The blocks behind a directive, or behind whatever comes before them."""
    text = (DOCS / f"{page}.rst").read_text("utf-8")
    blocks = re.findall(rf"(?:{before})\n\n((?:   .*\n|\n)+)", text)
    return [*map(textwrap.dedent, blocks)]
