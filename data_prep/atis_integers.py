"""ATIS as integers with their dictionaries, a pickle or JSON, in CoNLL columns."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from keras_tagging.data import CorpusError, Sentence
from keras_tagging.data.records import sentence_of
from preparing import limits
from preparing.archives import Member, members
from preparing.script import (
    Out,
    Overwrite,
    check_out,
    run_script,
    statistics,
    write_splits,
)
from preparing.splits import SPLITS, split_files

EXAMPLE = """\
python data_prep/atis_integers.py atis.fold0.pkl.gz atis-fold0
python data_prep/atis.py atis-fold0 prepared/atis --classes"""

SUFFIXES = (".pkl", ".pickle", ".json")
# The names of the two dictionaries, in the two forms.
DICTIONARIES = (("words2idx", "labels2idx"), ("token_ids", "slot_ids"))
SHAPE = (
    "it is (train, test, dictionaries) or (train, valid, test, dictionaries), where a "
    "split is (words, tables, labels) or (words, labels), or else "
    "({'query': ..., 'slot_labels': ...}, dictionaries)"
)


def read_integers(member: Member) -> dict[str, list[Sentence]]:
    """The splits of a file of integers.

    Two forms go about. The one of is13 (Mesnil et al., 2013) is `SHAPE`'s first, with
    the dictionaries `words2idx` and `labels2idx`; the one made from CNTK's example is
    the other, a file for each split, with `token_ids` and `slot_ids`.

    Args:
        member: a pickle, or JSON if it begins with a bracket or brace.

    Returns:
        The sentences by the split: "train", "dev", "test", or "" for the only one.

    Raises:
        CorpusError: if the file is damaged, holds or does anything else, or an integer
            is not in its dictionary.
    """
    with member.open() as stream:
        content = stream.read(limits.PICKLE_BYTES + 1)
    if len(content) > limits.PICKLE_BYTES:
        what = f"has more than {limits.PICKLE_BYTES >> 20} MiB"
        raise CorpusError(f"{member.name}: {what}; no file of ATIS has")
    if content.lstrip()[:1] not in (b"{", b"["):
        content = as_json(content, member.name)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        what = f"cannot be read: {type(error).__name__}: {error}"
        raise CorpusError(f"{member.name}: {what}; check that it is complete") from None
    return _splits(value, member.name)


def as_json(content: bytes, name: str) -> bytes:
    """What a pickle holds, as JSON; `unpickle.py` makes it, in a process of its own
    with limits on memory, time and output.

    Raises:
        CorpusError: if that fails.
    """
    script = Path(__file__).with_name("unpickle.py")
    bounds = limits.PICKLE_MEMORY, limits.PICKLE_SECONDS, limits.PICKLE_BYTES
    command = [sys.executable, "-I", "-S", str(script), *map(str, bounds)]
    with TemporaryFile() as output:
        try:
            done = subprocess.run(
                command,
                input=content,
                stdout=output,
                stderr=subprocess.PIPE,
                timeout=2 * limits.PICKLE_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            done = subprocess.CompletedProcess(command, -1, stderr=error.stderr)
        if done.returncode:
            told = (done.stderr or b"").decode("utf-8", "replace").split("\n")
            late = f"it takes over {limits.PICKLE_SECONDS} s, or is ended otherwise"
            what = f"cannot be unpickled: {' '.join(told[0].split()) or late}"
            raise CorpusError(f"{name}: {what}; get it anew from a place you trust")
        output.seek(0)
        return output.read()


def _splits(value, name: str) -> dict[str, list[Sentence]]:
    if isinstance(value, Mapping):  # JSON may name what the pickle has in order
        parts = [value[k] for k in ("train", "valid", "test", "dicts") if k in value]
        value = parts or [value, value]
    if not isinstance(value, Sequence) or not 2 <= len(value) <= 4:
        raise CorpusError(f"{name}: is no corpus of integers; {SHAPE}")
    *splits, dictionaries = value
    words, labels = _dictionaries(dictionaries, name)
    names = {1: [""], 2: ["train", "test"], 3: ["train", "dev", "test"]}[len(splits)]
    return {
        split: list(_sentences(part, words, labels, f"{name}: {split or 'the split'}"))
        for split, part in zip(names, splits, strict=True)
    }


def _dictionaries(value, name: str) -> list[dict[int, str]]:
    for names in DICTIONARIES:
        if isinstance(value, Mapping) and all(key in value for key in names):
            break
    else:
        what = "has no dictionaries words2idx and labels2idx, or token_ids and slot_ids"
        raise CorpusError(f"{name}: {what}; {SHAPE}")
    found = []
    for key in names:
        inverse = {}
        for text, number in _mapping(value[key], f"{name}: {key}").items():
            if type(number) is not int or not text.isprintable() or " " in text:
                what = f"{key} gives {_shown(text)} the number {_shown(number)}"
                raise CorpusError(f"{name}: {what}; a word has an integer there")
            if inverse.setdefault(number, text) != text:
                what = f"{key} gives {inverse[number]!r} and {text!r} the same number"
                raise CorpusError(f"{name}: {what}; give each its own")
        found.append(inverse)
    return found


def _shown(value) -> str:
    is_short = isinstance(value, str | int | float)
    return repr(str(value)[:40]) if is_short else f"a {type(value).__name__}"


def _mapping(value, where: str) -> Mapping:
    if not isinstance(value, Mapping):
        raise CorpusError(f"{where} is no dictionary; {SHAPE}")
    return value


def _sentences(split, words, labels, where: str) -> Iterator[Sentence]:
    if isinstance(split, Mapping):
        rows = [split.get("query"), split.get("slot_labels")]
    elif isinstance(split, Sequence) and len(split) in (2, 3):
        rows = [split[0], split[-1]]
    else:
        rows = [None]
    if not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        raise CorpusError(f"{where} is not a list of sentences; {SHAPE}")
    if len(rows[0]) != len(rows[1]):
        what = f"has {len(rows[0])} sentences but labels for {len(rows[1])}"
        raise CorpusError(f"{where} {what}; check that the file is complete")
    for number, (word_ids, label_ids) in enumerate(zip(*rows, strict=True), 1):
        here = f"{where}, sentence {number}"
        tokens = _looked_up(word_ids, words, "word", here)
        tags = _looked_up(label_ids, labels, "label", here)
        if len(tokens) != len(tags):
            what = f"{len(tokens)} words but {len(tags)} labels"
            raise CorpusError(f"{here}: {what}; give one label a word")
        yield sentence_of(tokens, tags)


def _looked_up(numbers, names: dict[int, str], kind: str, where: str) -> list[str]:
    if not isinstance(numbers, Sequence) or isinstance(numbers, str):
        raise CorpusError(f"{where}: no list of {kind} numbers; {SHAPE}")
    for number in numbers:
        if type(number) is not int or number not in names:
            what = f"the {kind} {_shown(number)} is not in the dictionary"
            raise CorpusError(f"{where}: {what}; use the one that comes with the file")
    return [names[number] for number in numbers]


def atis_integers(
    source: Annotated[
        Path, typer.Argument(help="The file, or a folder or archive with one a split.")
    ],
    out: Out,
    overwrite: Overwrite = False,
) -> None:
    """Write ATIS from a pickle or JSON of integers with their dictionaries, as of is13
    and CNTK, in CoNLL columns, which `atis.py` reads.

    A pickle is opened in a process of its own, which may make numbers, strings and
    lists of them, and has limits on memory and time (Linux and macOS).
    """
    check_out(out, [f"{split}.conll" for split in SPLITS], overwrite=overwrite)
    found = list(members(source, SUFFIXES))
    if len(found) == 1:
        splits = read_integers(found[0])
        if "" in splits:
            what = "holds one split, and which is not told"
            raise CorpusError(f"{found[0].name}: {what}; name the folder of all")
    elif any("train" in member.inside.lower() for member in found):
        splits = {}
        for split, member in split_files(source, found).items():
            given = read_integers(member)
            splits[split] = given.get("", given.get(split, []))
    else:
        names = ", ".join(member.inside for member in found)
        what = f"each of {names} may hold all splits"
        raise CorpusError(f"{source}: {what}; name the one you mean")
    counts = write_splits(out, splits, overwrite=overwrite)
    print(statistics(counts, {}, "published"))


def main(args: list[str] | None = None) -> None:
    run_script(atis_integers, EXAMPLE, args)


if __name__ == "__main__":
    main()
