"""The files of the package that pages name exist, and have what stands in brackets."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "keras_tagging"
PAGES = [ROOT / "docs" / name for name in ("equations.rst", "architecture.rst")]
# ``cells/gru_cell.py`` (``project``, ``step``)
NAMED = re.compile(r"``(\w+/[\w/]+\.py)``(?:\s+\(((?:``\w+``(?:,\s+)?)+)\))?")


def wrong(text: str) -> list[str]:
    """What a page names and the package does not have."""
    found = []
    for name, content in NAMED.findall(text):
        own, beside = PACKAGE / name, ROOT / name
        path = own if own.exists() else beside
        if not path.exists():
            found.append(name)
            continue
        known = defined(path)
        parts = re.findall(r"\w+", content)
        found += [f"{name} ({part})" for part in parts if part not in known]
    return found


def defined(path: Path) -> set[str]:
    """The functions, methods, classes and values that a module defines."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_exist(page):
    assert not wrong(page.read_text("utf-8"))
