"""A treebank of Universal Dependencies in CoNLL columns, for tagging."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.data import CorpusError, Sentence, read
from preparing.archives import Member, members
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
from preparing.splits import SPLITS, split_files

EXAMPLE = """\
python data_prep/ud.py UD_French-Sequoia prepared/sequoia
python data_prep/ud.py ud-treebanks-v2.16.tgz prepared/ewt --treebank UD_English-EWT"""

Field = Literal["upos", "xpos", "feats", "deprel", "lemma"]


def ud(
    source: Annotated[
        Path, typer.Argument(help="A treebank's folder, or an archive of a release.")
    ],
    out: Out,
    treebank: Annotated[
        str | None,
        typer.Option(help="Its folder, where SOURCE has several: UD_French-GSD."),
    ] = None,
    tag: Annotated[Field, typer.Option(help="What is the tag.")] = "upos",
    column: Annotated[
        list[str] | None,
        typer.Option(help="Further columns: pos, xpos, lemma, head or deprel."),
    ] = None,
    trees: Annotated[
        bool, typer.Option("--trees", help="Refuse sentences that are no trees.")
    ] = False,
    skip_malformed: SkipMalformed = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the splits of a UD treebank in CoNLL columns: a syntactic word, the columns
    asked for, its tag.

    To parse, train on the CoNLL-U files themselves: `keras-tagging train` reads them.
    """
    check_out(out, [f"{split}.conll" for split in SPLITS], overwrite=overwrite)
    columns = column or []
    for name in columns:
        if name not in ("pos", "xpos", "lemma", "head", "deprel"):
            raise CorpusError(f"--column {name}: is pos, xpos, lemma, head or deprel")
    found = list(members(source, ".conllu"))
    if treebank:
        found = [m for m in found if treebank in m.inside.split("/")[:-1]]
        if not found:
            raise CorpusError(f"{source}: has no folder {treebank}; check its name")
    files = split_files(source, found)
    skipped: list[str] | None = [] if skip_malformed else None

    def sentences(split: str, member: Member) -> Iterator[Sentence]:
        errors = "skip" if skip_malformed else "raise"
        with member.open() as stream:
            given = read(
                stream, "conllu", errors=errors, skipped=skipped, tag=tag, trees=trees
            )
            for number, sentence in enumerate(track(given, f"Reading {split}"), 1):
                if sentence.tags is None:
                    what = f"sentence {number} has no {tag}"
                    raise CorpusError(f"{member.name}: {what}; give another --tag")
                kept = {name: sentence.columns[name] for name in columns}
                yield Sentence(sentence.tokens, sentence.tags, kept)

    splits = {s: sentences(s, files[s]) for s in SPLITS if s in files}
    counts = write_splits(out, splits, overwrite=overwrite)
    for message in skipped or ():
        print(f"left out: {message}")
    print(statistics(counts, {}, "published"))


def main(args: list[str] | None = None) -> None:
    run_script(ud, EXAMPLE, args)


if __name__ == "__main__":
    main()
