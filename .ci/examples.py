"""Checks the types of the examples in README.rst and docs: `make lint`.

The blocks of Python of each page become one file, in the lines that they have there.
basedpyright reads these in strict mode, as the editor of a user would.
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
    r"^( *)\.\. code-block:: python\n(?:\1 +:.*\n)*\n((?:\1 +.*\n|\n)+)", re.MULTILINE
)
RULES = {
    "typeCheckingMode": "strict",
    "extraPaths": [str(ROOT)],  # an editable installation may not show the package
    "reportMissingTypeStubs": False,  # of packages of others
    "reportMissingModuleSource": False,
    "reportUnusedExpression": False,  # a page shows what a line gives
    "reportPrivateUsage": False,  # of the protocol of notebooks
}
#: what has no types, or need not be installed; our cells and layers are called by Keras
UNTYPED = re.compile(
    r"^ *(?:from|import) (?:gensim|keras|keras_tagging\.(?:cells|layers)|keras_tuner"
    r"|onnxruntime|pandas|pyspark|ray|tensorflow)\b",
    re.MULTILINE,
)
UNKNOWN = ("Argument", "Lambda", "Member", "Parameter", "Variable")
LOOSE = [f"reportUnknown{what}Type=false" for what in UNKNOWN]
LOOSE += ["reportMissingImports=false", "reportMissingParameterType=false"]
#: what the reader of a page has: each page begins with these names
GIVEN = """
import keras_tagging as keras_tagging
from keras_tagging import Corpus, Pipeline, Segmenter, Sentence, Tagger
corpus: Corpus
english: Tagger
first: Tagger
model: Tagger
pipeline: Pipeline
second: Tagger
segmenter: Segmenter
sentences: list[Sentence]
third: Tagger
"""


def examples(page: Path) -> str:
    """The blocks of a page, in its lines; "" without one."""
    text, lines = page.read_text("utf-8"), []
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(2))
        lines += [""] * (start - len(lines))
        lines += textwrap.dedent(block[2]).splitlines()
    if lines:  # where a page has its title
        is_untyped = UNTYPED.search("\n".join(lines))
        lines[0] = f"# pyright: {', '.join(LOOSE)}" if is_untyped else ""
        lines[1] = "from given import *"
    return "\n".join([*lines, ""])


def main() -> int:
    with TemporaryDirectory() as folder:
        Path(folder, "given.pyi").write_text(GIVEN, "utf-8")
        Path(folder, "pyrightconfig.json").write_text(json.dumps(RULES), "utf-8")
        for page in (ROOT / "README.rst", *(ROOT / "docs").rglob("*.rst")):
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
            if code := examples(page):
                Path(folder, f"{name}.py").write_text(code, "utf-8")
        command = [Path(sys.executable).with_name("basedpyright"), "-p", folder]
        command += ["--pythonpath", sys.executable]
        return subprocess.run(command, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
