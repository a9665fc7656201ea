"""The tests of the rooms that changed, without those that take long: `make quick`.

What differs from the branch that this one left, and what git does not know yet, names
the rooms and test files. Where nothing does, `USUAL` is run.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: the tests of rooms that no folder of tests has the name of, and more of others
TESTS = {
    "": ["test_startup.py"],
    "architectures": ["models/test_stacked.py"],
    "onnx": ["onnx_files"],
}
USUAL = ["data", "metrics", "transitions", "training"]


def git(*args):
    command = ["git", "-C", str(ROOT), *args]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def changed():
    """Names of files, from the root of the repository."""
    bases = (git("merge-base", "HEAD", x) for x in ("@{u}", "origin/main", "main"))
    [base] = next(filter(None, bases), ["HEAD"])
    files = git("diff", "--name-only", base)
    return files + git("ls-files", "--others", "--exclude-standard")


def tests_of(room):
    """The folders and files of the tests of a room, "" for the files above them."""
    found = [ROOT / "tests" / name for name in TESTS.get(room, [])]
    folder = ROOT / "tests" / room
    if room and folder.is_dir() and any(folder.rglob("test_*.py")):
        found.append(folder)
    return found


def chosen(files):
    """The rooms and the paths of tests that changed files ask for."""
    rooms, paths = set(), set()
    for name in files:
        top, *parts = Path(name).parts
        path = ROOT / name
        if not name.endswith(".py"):
            continue
        if top == "keras_tagging":
            room = parts[0] if len(parts) > 1 else ""
            rooms.add(room)
            paths |= {*tests_of(room)} | ({path} if path.exists() else set())
        elif top == "data_prep":
            paths.add(ROOT / "tests" / "data_prep")
        elif top == "tests" and len(parts) > 1:
            test = path.name.startswith("test_") and path.exists()
            paths.add(path if test else path.parent)
        elif top == "tests" and path.name.startswith("test_") and path.exists():
            paths.add(path)
    inside = {path for path in paths if any(x in paths for x in path.parents)}
    paths = {p for p in paths - inside if p.is_file() or any(p.rglob("test_*.py"))}
    # the doctests of a module last: pytest binds a module over what has its name
    ours = ROOT / "keras_tagging"
    return sorted(rooms), sorted(paths, key=lambda path: (ours in path.parents, path))


def main(args):
    rooms, paths = chosen(changed())
    if paths:
        print("changed rooms:", ", ".join(r or "keras_tagging" for r in rooms) or "-")
    else:
        paths = [ROOT / "tests" / name for name in USUAL]
        print("nothing has changed: some tests of the rooms that need no training")
    paths = [str(path.relative_to(ROOT)) for path in paths]
    print("tests:", " ".join(paths), flush=True)
    options = ["-q", "--quick", "-n", "2", "--dist", "loadfile"]
    return pytest.main([*options, *paths, *args])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
