"""The sections of the Wall Street Journal, and the files that contain them.

CCGbank and the Penn Treebank are split by section.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from keras_tagging.data import CorpusError, Sentence, read
from preparing.archives import Member
from preparing.script import track

# wsj_0203.mrg, wsj02-21.stagged, 22.conllx: a section, then a document or last section
_NAME = re.compile(r"(?:wsj_?)?([0-9]{2})(?:([0-9]{2})|-([0-9]{2}))?(?![0-9-])", re.I)


def sections_of(name: str) -> tuple[range, bool] | None:
    """The sections of a file, and whether it has all of their documents.

    The name of the file tells, or else that of its folder; None if neither does.

    Example:
        >>> sections_of("disc.zip/AUTO/02/wsj_0203.auto")
        (range(2, 3), False)
        >>> sections_of("gold/wsj02-21.stagged")
        (range(2, 22), True)
        >>> sections_of("AUTO/00/first.auto")
        (range(0, 1), False)
        >>> sections_of("brown/cf/cf01.mrg")
    """
    path = PurePosixPath(name.replace("\\", "/"))
    if match := _NAME.match(path.name):
        first, document, last = match.groups()
        return range(int(first), int(last or first) + 1), document is None
    if re.fullmatch("[0-9]{2}", path.parent.name):
        return range(int(path.parent.name), int(path.parent.name) + 1), False
    return None


def by_split(
    members: Iterable[Member],
    splits: Mapping[str, Iterable[int]],
    *,
    partial: bool = False,
) -> dict[str, list[Member]]:
    """The files of every split, in order.

    Files of other sections, and files whose names tell no section, are left out.

    Args:
        members: the files.
        splits: the numbers of the sections of each split.
        partial: whether sections may be missing, except for all of them.

    Raises:
        CorpusError: if a section is missing or occurs twice, or a file has sections of
            two splits.
    """
    wanted = {number: split for split, numbers in splits.items() for number in numbers}
    by_name: dict[str, list[Member]] = {split: [] for split in splits}
    holders: dict[int, dict[str, Member]] = defaultdict(dict)
    for member in members:
        sections, is_whole = sections_of(member.name) or (range(0), False)
        holds = {wanted.get(number) for number in sections}
        if holds <= {None}:
            continue
        if len(holds) > 1:
            what = f"has sections {sections[0]:02}-{sections[-1]:02} of several splits"
            remedy = "give every section its own file, such as 22.conllx"
            raise CorpusError(f"{member.name}: {what}; {remedy}")
        file = PurePosixPath(member.name).name.lower().removesuffix(".gz")
        for number in sections:
            others = holders[number]
            twin = others.get("" if is_whole or "" in others else file)
            twin = twin or (next(iter(others.values()), None) if is_whole else None)
            if twin is not None:
                what = f"section {number:02} is here and in {twin.name}"
                remedy = "remove one of the two, or name a folder with only one"
                raise CorpusError(f"{member.name}: {what}; {remedy}")
            others["" if is_whole else file] = member
        by_name[holds.pop()].append(member)
    remedy = (
        "name the folder or archive of the whole corpus, whose files are named as "
        "wsj_0203 or lie in folders 00 to 24"
    )
    check_missing(holders, wanted, remedy, partial=partial)
    return {split: files for split, files in by_name.items() if files}


def check_missing(
    present: Collection[int], wanted: dict[int, str], remedy: str, *, partial: bool
) -> None:
    """Raise a CorpusError if sections are missing; with `partial`, if all are.

    Args:
        present: the sections that there are.
        wanted: the split of each section.
        remedy: for the message.
        partial: whether some may be missing.
    """
    missing = [number for number in wanted if number not in present]
    if not missing or (partial and len(missing) < len(wanted)):
        return
    splits = ", ".join(dict.fromkeys(wanted[number] for number in missing))
    numbers = ", ".join(f"{number:02}" for number in missing)
    if len(missing) < len(wanted):
        remedy += "; --partial does without"
    raise CorpusError(f"no file holds section {numbers} ({splits}); {remedy}")


def sentences_of(
    members: list[Member],
    format: str,
    description: str,
    *,
    skipped: list[str] | None = None,
    **options,
) -> Iterator[Sentence]:
    """The sentences of files, one after the other, with progress on standard error.

    Args:
        members: the files.
        format, options: as in `data.read`.
        description: the text beside the progress bar.
        skipped: a list that collects a message for each malformed sentence, which is
            then left out; with None, the first one is an error.
    """
    errors = "raise" if skipped is None else "skip"
    for member in track(members, description, len(members)):
        with member.open() as stream:
            yield from read(stream, format, errors=errors, skipped=skipped, **options)


def left_out(skipped: list[str] | None) -> str:
    """A warning about malformed sentences that were left out; "" without any."""
    if not skipped:
        return ""
    count = len(skipped)
    sentences = f"{count} malformed sentence{'s' * (count != 1)}"
    return f"warning: {sentences} left out; the first: {skipped[0]}"
