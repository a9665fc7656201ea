"""The command line, and what runs keep in their folders."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

from hostile import text_seeds
from hostile.harness import Target, Wrong
from hostile.mutations import mutate, mutate_json
from hostile.oracle import refused

from keras_tagging.experiments.reproduction.store import Store, read_results

COMMANDS = """\
describe input.conll
describe input.conll --format conll --option tag_column=1 --errors raise
describe input.conll --option columns={"pos":1} --option separator='\\t' --dev *.conll
describe input.conllu --format conllu --option trees=True --option tag="xpos"
describe input.conll --option encoding=latin-1 --vectors input.vec
describe input.jsonl --option token_field=tokens --test *.jsonl
reproduce wu2016
tag --help
-h
"""
WRONG = ["corpora\nx", "describe\n-", "\n"]
WRONG += [f"describe\ninput.conll\n--option\ntag_column={'(' * 30_000}"]
FILES = {
    "input.conll": text_seeds.CONLL,
    "input.conllu": text_seeds.CONLLU,
    "input.jsonl": text_seeds.JSONL,
    "input.vec": "2 2\nthe 1 2\ncat 3 4\n",
}


def commands() -> list[bytes]:
    """An argument a line."""
    # takes seconds, which are not counted
    from keras_tagging import cli  # noqa: F401

    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    return [c.replace(" ", "\n").encode() for c in COMMANDS.splitlines()]


def mutate_command(rng: Random, known) -> bytes:
    """Other arguments, but mostly the same command."""
    command, *arguments = rng.choice(known).split(b"\n")
    if rng.random() < 0.1:
        command = mutate(rng, [command])
    if not arguments:
        return command
    place = rng.randrange(len(arguments))
    name, equals, value = arguments[place].partition(b"=")
    if equals and rng.random() < 0.7:
        arguments[place] = name + equals + mutate(rng, [value])
    else:
        arguments[place] = mutate(rng, [arguments[place]])
    return b"\n".join([command, *arguments])


def check_command(data: bytes) -> str:
    """Runs a command, which ends with 0, or with 2 and a line that says why."""
    from keras_tagging import cli

    arguments = [os.fsdecode(part) for part in data.replace(b"\0", b"").split(b"\n")]
    sys.stdin = io.TextIOWrapper(io.BytesIO(), "utf-8")
    printed, told = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    told.reconfigure(errors="backslashreplace")  # as standard error is
    try:
        with redirect_stdout(printed), redirect_stderr(told):
            cli.main(arguments)
    except SystemExit as error:
        code = error.code
    told.seek(0)
    lines = told.read().split("\n")[:-1]
    errors = [line for line in lines if line.startswith("keras-tagging: error: ")]
    if any(line.startswith("Traceback") for line in lines):
        raise Wrong("a command ends with a traceback", lines[-1])
    if code not in (0, 2) or len(errors) != (code == 2):
        raise Wrong("a command ends without a line that says why", (code, lines[-3:]))
    return "read" if code == 0 else "refused"


RUN = {
    "info": {
        "paper": "wu2016",
        "table": 2,
        "corpus": "demo",
        "reading": {"path": "demo", "dev": None, "format": None, "options": {}},
        "dev_share": None,
        "recipe": "fast",
        "settings": {"units": 8},
        "epochs": 4,
        "embeddings": None,
        "punctuation": True,
        "sentences": {"train": 1200, "dev": 30, "test": 20},
        "fingerprint": "0a1b",
        "versions": {"keras": "3.15.0"},
        "machine": "Linux, 2 cores",
    },
    "result": {
        "row": "A",
        "seed": 1,
        "settings": {},
        "figures": {"Test": 80.0},
        "evidence": {"Test": [[1, 1], [1, 0]]},
        "best_epoch": 3,
        "epochs": 4,
        "seconds": 90.0,
        "parameters": 1234,
        "classes": None,
    },
}


def check_store(data: bytes) -> str:
    """Reads the folder of a reproduction: a line of JSON for each file."""
    folder = Path("input.run")
    (folder / "results").mkdir(parents=True, exist_ok=True)
    info, _, result = data.partition(b"\n")
    (folder / "reproduction.json").write_bytes(info)
    (folder / "results" / "a.json").write_bytes(result)
    try:
        found, results = read_results(folder)
        Store(folder).check(RUN["info"], whole=True)
    except Exception as error:
        return refused(error)
    if not isinstance(found, dict) or not all(isinstance(r, dict) for r in results):
        raise Wrong("what is no result is read as one", (found, results))
    return "read"


def run_files() -> list[bytes]:
    return ["\n".join(map(json.dumps, RUN.values())).encode()]


def mutate_run(rng: Random, known) -> bytes:
    lines = rng.choice(known).split(b"\n")
    place = rng.randrange(len(lines))
    lines[place] = mutate_json(rng, [lines[place]]).replace(b"\n", b" ")
    return b"\n".join(lines)


TARGETS = {
    "commands": Target(
        commands,
        check_command,
        nasty=[command.encode() for command in WRONG],
        mutate=mutate_command,
        share=30,
    ),
    "run-folder": Target(
        run_files,
        check_store,
        nasty=[b"[]\n{}", b"{}\n[]", b"null\nnull", b"[" * 50_000],
        mutate=mutate_run,
        share=50,
    ),
}
