"""The French Treebank in CoNLL columns, for POS tagging as in D16."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.data import CorpusError, Sentence, read
from preparing.archives import Member, members
from preparing.ftb import read_ftb, with_common_nouns_lowered
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
from preparing.splits import SPLITS, in_tenths, split_files

EXAMPLE = """\
python data_prep/ftb.py FTB/corpus-fonctions prepared/ftb
python data_prep/ftb.py ftb.conll prepared/ftb --lower-common-nouns"""

PUBLISHED = {  # D16 Table 2
    "train": {"sentences": 9881, "tokens": 278083},
    "dev": {"sentences": 1235, "tokens": 36508, "unknown": 1790},
    "test": {"sentences": 1235, "tokens": 36340, "unknown": 1701},
}
COLUMNS = (".conll", ".conllx", ".conll07", ".conllu")


def ftb(
    source: Annotated[
        Path, typer.Argument(help="The treebank's folder, archive or single file.")
    ],
    out: Out,
    compounds: Annotated[
        Literal["joined", "split"],
        typer.Option(help="Of XML: one token, or one for each part."),
    ] = "joined",
    tagset: Annotated[
        Literal["cc", "cat", "ee"],
        typer.Option(
            help="The 29 tags of Crabbe and Candito, the categories, or, of XML, the "
            "treebank's whole tags."
        ),
    ] = "cc",
    lower_common_nouns: Annotated[
        bool,
        typer.Option(
            "--lower-common-nouns", help="As in D16; needs the default tag set."
        ),
    ] = False,
    encoding: Annotated[
        str | None, typer.Option(help="Else what XML declares, or UTF-8.")
    ] = None,
    skip_malformed: SkipMalformed = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the French Treebank in CoNLL columns: a word and its tag in each row.

    SOURCE has the treebank's own XML, or CoNLL with ten columns. CoNLL files named
    train, dev and test are the splits; else, all files taken in the order of their
    names, the first tenth of the sentences is for testing, the second for development
    and the rest for training.

    D16 has FTB-UC, whose regular compounds are split while others are joined: it is
    distributed as CoNLL. The figures of the XML differ.
    """
    check_out(out, [f"{split}.conll" for split in SPLITS], overwrite=overwrite)
    if lower_common_nouns and tagset != "cc":
        raise CorpusError("--lower-common-nouns: needs the tags of --tagset cc")
    found = list(members(source, (".xml", *COLUMNS)))
    skipped: list[str] | None = [] if skip_malformed else None

    def sentences(member: Member) -> Iterator[Sentence]:
        if _is_xml(member):
            options = {"compounds": compounds, "tagset": tagset}
            given = read_ftb(member, encoding=encoding, skipped=skipped, **options)
        else:
            given = _conll(member, tagset, encoding, skipped)
        yield from (
            map(with_common_nouns_lowered, given) if lower_common_nouns else given
        )

    if not all(map(_is_xml, found)):
        found = [member for member in found if not _is_xml(member)]
    if _is_xml(found[0]) or len(found) == 1:
        files = track(found, "Reading", len(found))
        splits = in_tenths([s for member in files for s in sentences(member)])
    else:
        files = split_files(source, found)
        splits = {split: sentences(files[split]) for split in SPLITS if split in files}
    kept = {s: (Sentence(x.tokens, x.tags) for x in part) for s, part in splits.items()}
    counts = write_splits(out, kept, overwrite=overwrite)
    for message in skipped or ():
        print(f"left out: {message}")
    print(statistics(counts, PUBLISHED, "D16 Table 2"))


def _is_xml(member: Member) -> bool:
    return member.inside.lower().removesuffix(".gz").endswith(".xml")


def _conll(member, tagset, encoding, skipped) -> Iterator[Sentence]:
    if tagset == "ee":
        raise CorpusError("--tagset ee: CoNLL files have no such tags; use cc or cat")
    with member.open() as stream:
        yield from read(
            stream,
            "conllx",
            tag={"cc": "postag", "cat": "cpostag"}[tagset],
            encoding=encoding or "utf-8",
            errors="raise" if skipped is None else "skip",
            skipped=skipped,
        )


def main(args: list[str] | None = None) -> None:
    run_script(ftb, EXAMPLE, args)


if __name__ == "__main__":
    main()
