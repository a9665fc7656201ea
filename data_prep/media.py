"""MEDIA in CoNLL columns, with BIO labels, as in D16."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.data import CorpusError, Sentence
from preparing.archives import Member, members
from preparing.media import (
    Turn,
    dialogues,
    full_and_relaxed,
    read_media,
    read_relaxed,
    read_test2,
)
from preparing.script import (
    Out,
    Overwrite,
    SkipMalformed,
    check_out,
    run_script,
    statistics,
    track,
    write_splits,
)

EXAMPLE = """\
python data_prep/media.py E0024 prepared/media
python data_prep/media.py E0024 prepared/media-relax --relax --test2"""

# The files of the splits, below MEDIA1FR_00/MEDIA1FR/DATA.
FILES = {
    "train": tuple(f"media_lot{number}.xml" for number in range(1, 5)),
    "dev": ("media_testhc_a_blanc.xml",),
    "test": ("media_testhc.xml",),
}
NAMES = ("sentences", "tokens", "types", "concepts", "concept types")
PUBLISHED = {  # D16 Table 1
    "train": (12908, 94466, 2210, 43078, 99),
    "dev": (1259, 10849, 838, 4705, 66),
    "test": (3005, 25606, 1276, 11383, 78),
}


def media(
    source: Annotated[
        Path,
        typer.Argument(help="The disc ELRA-E0024, its folder or an archive."),
    ],
    out: Out,
    relax: Annotated[
        bool, typer.Option("--relax", help="Leave out the specifiers of concepts.")
    ] = False,
    test2: Annotated[
        bool,
        typer.Option("--test2", help="Write test2.conll too, from semantizer_files."),
    ] = False,
    relax_table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="concepts_full_relax.csv, for --relax --test2; by default what the "
            "official files have as concept and specifier.",
        ),
    ] = None,
    lower: Annotated[
        bool, typer.Option("--lower", help="Write words in lower case, as in D16.")
    ] = False,
    spoken: Annotated[
        bool,
        typer.Option("--spoken", help="Change words as SpeechBrain's recipe does."),
    ] = False,
    encoding: Annotated[
        str | None,
        typer.Option(help="Else what a file declares, or ISO-8859-1."),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Do without files that are missing.")
    ] = False,
    skip_malformed: SkipMalformed = False,
    overwrite: Overwrite = False,
) -> None:
    """Write MEDIA in CoNLL columns: the user's turns, a word and its BIO label in each
    row.

    The four files media_lot are for training, media_testHC_a_blanc for development,
    media_testHC for testing, and the semantizer_files of dialogues that are in none of
    them are the second test set of 2022. Turns without a word, or of several speakers
    at once, are left out and counted.
    """
    found = list(members(source, ".xml"))
    files = {split: _named(source, found, split, partial) for split in FILES}
    files = {split: chosen for split, chosen in files.items() if chosen}
    if not files and not test2:
        names = ", ".join(name for several in FILES.values() for name in several)
        remedy = "name the folder that has some of them, in upper or lower case"
        raise CorpusError(f"{source}: has none of the files {names}; {remedy}")
    names = [f"{split}.conll" for split in [*files, *["test2"] * test2]]
    check_out(out, names, overwrite=overwrite)
    official = [member for chosen in files.values() for member in chosen]
    skipped: list[str] | None = [] if skip_malformed else None
    options = {"spoken": spoken, "encoding": encoding, "skipped": skipped}
    seen: set[str] = set()
    more: dict[str, Counter] = {split: Counter() for split in files}

    def turns_of(split: str, chosen: list[Member]) -> Iterator[Turn]:
        for member in track(chosen, f"Reading {split}"):
            if split != "test2":
                yield from read_media(member, relax=relax, **options)
            elif _name(member).removesuffix("_hc.xml") not in seen:
                yield from read_test2(member, relaxed=pairs, **options)

    def sentences(split: str, chosen: list[Member]) -> Iterator[Sentence]:
        types, count = set(), more.setdefault(split, Counter())
        for turn in turns_of(split, chosen):
            types.update(turn.concepts)
            count["concepts"] += len(turn.concepts)
            count["wordless concepts"] += len(turn.wordless)
            if not turn.sentence.tokens:
                several, none = "turns of several speakers", "turns without words"
                count[several if turn.is_shared else none] += 1
                continue
            if lower:
                words = [token.lower() for token in turn.sentence.tokens]
                yield Sentence(words, turn.sentence.tags)
            else:
                yield turn.sentence
        count["concept types"] = len(types)

    pairs = None
    if test2:
        files["test2"] = [m for m in found if _name(m).endswith("_hc.xml")]
        if not files["test2"]:
            what = "has no semantizer_files/*_HC.xml; leave out --test2"
            raise CorpusError(f"{source}: {what}")
        others = (m for m in found if _name(m).startswith("media_"))
        seen = {name for m in others for name in dialogues(m, encoding)}
        if relax and relax_table:
            pairs = read_relaxed(relax_table)
        elif relax:
            pairs = full_and_relaxed(official, encoding)
    splits = {split: sentences(split, chosen) for split, chosen in files.items()}
    counts = write_splits(out, splits, overwrite=overwrite)
    for split, figures in more.items():
        counts[split].more |= figures
    for message in skipped or ():
        print(f"left out: {message}")
    published = {s: dict(zip(NAMES, row, strict=True)) for s, row in PUBLISHED.items()}
    print(statistics(counts, published, "D16 Table 1", partial=partial))


def _named(source: Path, found: list[Member], split: str, partial: bool):
    chosen = []
    for name in FILES[split]:
        same = [member for member in found if _name(member) == name]
        if len(same) > 1:
            what = f"{same[0].inside} and {same[1].inside} are both {name}"
            raise CorpusError(f"{source}: {what}; name the folder of one of them")
        if not same and not partial:
            remedy = "name the folder that has it, or give --partial"
            raise CorpusError(f"{source}: has no file {name}; {remedy}")
        chosen += same
    return chosen


def _name(member: Member) -> str:
    return member.inside.lower().removesuffix(".gz").split("/")[-1]


def main(args: list[str] | None = None) -> None:
    run_script(media, EXAMPLE, args)


if __name__ == "__main__":
    main()
