"""The sections of the Wall Street Journal in files whose sentences name them.

CCGbank's `.auto` files have a line `ID=wsj_0001.1 PARSER=GOLD NUMPARSE=1` before each
derivation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from keras_tagging.data import CorpusError
from keras_tagging.data.formats.brackets import place_of
from keras_tagging.data.lines import numbered_lines
from keras_tagging.data.records import is_blank
from preparing.archives import Member
from preparing.script import track
from preparing.sections import check_missing, sections_of


def names_tell(members: Iterable[Member], splits: Mapping[str, Iterable[int]]) -> bool:
    """Whether the name of some file says in which split it is, or that it is in none.

    Args:
        members: the files.
        splits: the numbers of the sections of each split.
    """
    wanted = {number: split for split, numbers in splits.items() for number in numbers}
    for member in members:
        sections = sections_of(member.name)
        if sections and len({wanted.get(number) for number in sections[0]}) == 1:
            return True
    return False


def by_id(
    members: Sequence[Member],
    splits: Mapping[str, Iterable[int]],
    *,
    partial: bool = False,
    skipped: list[str] | None = None,
) -> dict[str, list[Member]]:
    """The files that have sentences of every split, as the sentences say.

    All lines are read once. Sentences of other sections are allowed.

    Args:
        members: `.auto` files.
        splits, partial: as in `sections.by_split`.
        skipped: a list that collects a message for each sentence that names no section;
            with None, the first one is an error.

    Raises:
        CorpusError: if a section is missing, or a sentence occurs twice.
    """
    wanted = {number: split for split, numbers in splits.items() for number in numbers}
    seen: dict[tuple, tuple[int, int]] = {}  # the numbers of the file and the line
    found: dict[str, dict[Member, None]] = {split: {} for split in splits}
    for index, member in enumerate(track(members, "sections", len(members))):
        for number, place in _places(member):
            where = f"{member.name}:{number}"
            if place is None:
                what = "this derivation has no line before it that names its section"
                problem = (
                    f"{where}: {what}; write ID=wsj_0203.1, or name the file 02.auto"
                )
                if skipped is None:
                    raise CorpusError(problem)
                skipped.append(problem)
                continue
            if place in seen:
                file, line = seen[place]
                section, document, sentence = place
                what = f"wsj_{section:02}{document:02}.{sentence} is here and in "
                what += f"{members[file].name}:{line}"
                raise CorpusError(f"{where}: {what}; remove one of the two")
            seen[place] = index, number
            if split := wanted.get(place[0]):
                found[split][member] = None
    remedy = "name all files, whose sentences begin with ID=wsj_0203.1"
    check_missing({place[0] for place in seen}, wanted, remedy, partial=partial)
    return {split: list(files) for split, files in found.items() if files}


def _places(member: Member) -> Iterator[tuple[int, tuple | None]]:
    """For each derivation the number of its line, and its place if it has one."""
    place = None
    with member.open() as stream:
        for number, line in numbered_lines(stream, member.name, None):
            if not isinstance(line, str):
                place = None  # the reader reports the line
            elif line.startswith("ID="):
                place = place_of(line)
            elif not is_blank(line) and not line.startswith("#"):
                yield number, place
                place = None
