"""Checks the types of the examples in README.rst and docs: `make lint`.

Every block of Python becomes part of one file a page, line by line where the page has
it, and basedpyright reads them in strict mode, as an editor of a user would: against
the package as it is installed.
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^( *)\.\. code-block:: python\n(?:\1 +:.*\n)*\n((?:\1 +.*\n|\n)+)", re.M
)
SETTINGS = {
    "typeCheckingMode": "strict",
    "reportMissingTypeStubs": False,  # of others' packages, such as Keras
    "reportMissingModuleSource": False,
    "reportUnusedExpression": False,  # a page shows what a line gives
}


def examples(page: Path) -> str:
    """The blocks of a page, each at its lines, so that an error names the page's."""
    text, lines = page.read_text(), []
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(2))
        lines += [""] * (start - len(lines))
        lines += textwrap.dedent(block[2]).splitlines()
    return "\n".join(lines) + "\n"


def main() -> int:
    with TemporaryDirectory() as folder:
        for page in (ROOT / "README.rst", *sorted((ROOT / "docs").rglob("*.rst"))):
            if (code := examples(page)).strip():
                name = "_".join(page.relative_to(ROOT).with_suffix("").parts)
                Path(folder, re.sub(r"\W", "_", name) + ".py").write_text(code)
        Path(folder, "pyrightconfig.json").write_text(json.dumps(SETTINGS))
        command = ["basedpyright", "-p", folder, "--pythonpath", sys.executable]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
