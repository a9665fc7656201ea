"""The folder of a run's shards: it belongs to one model, one set of inputs, one way."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keras_tagging.scale.shards import Plan, Shard
from keras_tagging.scale.worker import Work
from keras_tagging.utils.atomic import locked, remove_partial, replacing
from keras_tagging.utils.stored import read_object

MANIFEST = "shards.json"
FORMAT = 1
#: what the parts of a manifest are, for messages
PARTS = {
    "model": "another model",
    "output": "another --output",
    "inputs": "other inputs",
    "shards": "other shards (--input, --encoding or --shard-size)",
}


@contextmanager
def opened(work: Work, plan: Plan) -> Iterator[list[Shard]]:
    """Keep the folder for one run, and tell which shards are still to be done.

    The manifest is written, or compared with that of the run before.

    Raises:
        ValueError: if another run uses the folder, or it holds anything else.
        OSError: if it cannot be written.
    """
    out = Path(work.out)
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out}: is a file: name a folder in --out")
    message = f"another run writes to {out}: wait until it ends, or name another --out"
    with locked(out, message):
        _check(out, work, plan)
        remove_partial(out)
        shutil.rmtree(out / ".tries", ignore_errors=True)
        yield [shard for shard in plan.shards if not work.path(shard).exists()]
        shutil.rmtree(out / ".tries", ignore_errors=True)


def _check(out: Path, work: Work, plan: Plan) -> None:
    path = out / MANIFEST
    content = {
        "format": FORMAT,
        "model": {"name": work.model, "sha256": work.sha256},
        "output": work.output,
        **plan.described(),
    }
    if not path.exists():
        others = [x.name for x in out.iterdir() if not x.name.startswith(".")]
        if others:
            raise ValueError(
                f"{out}: holds {min(others)} and no {MANIFEST}: name an empty or new "
                "folder in --out"
            )
        with replacing(path) as partial:
            partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return
    found = read_object(path, "remove the folder, and begin anew")
    if found.get("format") != FORMAT:
        kind = str(found.get("format"))[:20]
        raise ValueError(f"{path}: has the format {kind!r}, and this version {FORMAT}")
    for part, what in PARTS.items():
        old, new = found.get(part), content[part]
        if part == "model" and isinstance(old, dict):  # it may have been moved
            old, new = old.get("sha256"), work.sha256
        if old != new:
            raise ValueError(
                f"{out}: holds shards of {what}: name another folder in --out, or "
                "remove this one"
            )
