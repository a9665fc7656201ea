"""The drawings of the documentation are those that their scripts make."""

import importlib
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = ("draw", "draw_pages", "draw_results")


def drawings():
    """Script, name and function of each drawing."""
    sys.path.insert(0, str(DOCS))
    try:
        for script in SCRIPTS:
            for name, draw in importlib.import_module(script).DRAWINGS.items():
                yield script, name, draw
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize("script, name, draw", [*drawings()])
def test_is_up_to_date(script, name, draw):
    drawn = (DOCS / "_static" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == draw().svg(), f"run python docs/{script}.py"


def test_every_architecture_has_a_drawing():
    for page in (DOCS / "architectures").glob("*.rst"):
        assert "image:: ../_static/" in page.read_text(encoding="utf-8"), page.name
