"""SECURITY.rst names the tests of what it says, and these exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_named_tests_exist():
    text = (ROOT / "SECURITY.rst").read_text("utf-8")
    assert text.count("Tested by:") > 3
    for name in re.findall(r"``(tests/[\w/.]+)``", text):
        assert (ROOT / name).is_file(), name
