"""Counts what the project weighs: `make weight`; above a limit, it exits with 1.

Nobody raises a limit: who adds lines takes out others.
"""

import ast
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMITS = {
    "package, lines of code": 29_500,
    "tests, all lines": 45_000,
    "words in docs, README, CHANGELOG": 45_000,
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
LAYOUT |= {tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}


def code_lines(path: Path) -> int:
    """Lines that are not docstring, comment or blank."""
    with path.open("rb") as file:
        tokens = [t for t in tokenize.tokenize(file.readline) if t.type not in LAYOUT]
    lines = {n for t in tokens for n in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, False) is not None:
            lines -= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return len(lines)


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "-C", str(ROOT), "ls-files", "--", *patterns]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [path for name in names.splitlines() if (path := ROOT / name).exists()]


def main() -> int:
    rooms = Counter()
    for path in tracked("keras_tagging/*.py"):
        room, *file = path.relative_to(ROOT / "keras_tagging").parts
        rooms[room if file else "(top)"] += code_lines(path)
    tests = sum(len(p.read_text().splitlines()) for p in tracked("tests/*.py"))
    pages = tracked("docs/*.rst", "*.rst", ":!models/*", ":!vectors/*")
    words = sum(len(page.read_text().split()) for page in pages)
    for room, lines in rooms.most_common():
        print(f"    {room:32}{lines:8,}")
    heavy = False
    counts = rooms.total(), tests, words
    for (what, limit), count in zip(LIMITS.items(), counts, strict=True):
        heavy |= count > limit
        mark = "  ABOVE ITS LIMIT" if count > limit else ""
        print(f"{what:34}{count:8,}  limit {limit:,}{mark}")
    return heavy


if __name__ == "__main__":
    sys.exit(main())
