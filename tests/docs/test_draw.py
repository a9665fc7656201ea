"""The drawings of the documentation are those that their script makes."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def script():
    spec = importlib.util.spec_from_file_location("draw", DOCS / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name, draw", script().DRAWINGS.items())
def test_is_up_to_date(name, draw):
    drawn = (DOCS / "_static" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == draw().svg(), "run python docs/draw.py"


def test_every_architecture_has_a_drawing():
    for page in (DOCS / "architectures").glob("*.rst"):
        assert "image:: ../_static/" in page.read_text(encoding="utf-8"), page.name
