"""The Parallel Meaning Bank's supertags in CoNLL columns."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.data import CorpusError, Sentence
from preparing.archives import Member, members
from preparing.script import (
    Out,
    Overwrite,
    SkipMalformed,
    check_out,
    run_script,
    statistics,
    write_splits,
)
from preparing.sections import left_out, sentences_of

EXAMPLE = """\
python data_prep/pmb.py layer_data/4.0.0/en/gold prepared/pmb-en
python data_prep/pmb.py DRS_parsing.zip prepared/pmb-de --release 4.0.0 --language de
keras-tagging train bigru --corpus prepared/pmb-en --out runs/pmb"""

SPLITS = ("train", "dev", "test", "eval")
SEMTAG, CATEGORY, ROLES = 3, 4, 6  # of seven columns, counted from 0


def splits_of(
    found: list[Member], release: str | None, language: str | None
) -> dict[str, list[Member]]:
    """The file of each split, of one release and language.

    Raises:
        CorpusError: if there is none for training, or two for a split.
    """
    files: dict[str, list[Member]] = {}
    for split in SPLITS:
        for member in found:
            *folders, name = member.name.replace("\\", "/").split("/")
            is_meant = all(p in (None, *folders) for p in (release, language))
            if name.removesuffix(".gz") == f"{split}.conll" and is_meant:
                files.setdefault(split, []).append(member)
    for split, several in files.items():
        if len(several) > 1:
            what = f"{several[1].name} is a {split} file too"
            remedy = "name one folder, or choose with --release and --language"
            raise CorpusError(f"{several[0].name}: {what}; {remedy}")
    if "train" not in files:
        what = "no file train.conll of this release and language"
        raise CorpusError(f"{what}; name the folder that holds it, such as en/gold")
    return files


def prepared(
    sentences: Iterable[Sentence], name: str, joiner: str
) -> Iterator[Sentence]:
    """The sentences of the file without their roles, the parts of words joined anew.

    Raises:
        CorpusError: if the seventh column does not hold roles.
    """
    for sentence in sentences:
        *_, (_, roles) = sentence.columns.items()
        if not all(role.startswith("[") for role in roles):
            what = f"column 7 holds {roles[0]!r} and not roles, [] or [Agent,Theme]"
            remedy = "name the folder of a gold layer, such as en/gold"
            raise CorpusError(f"{name}: {what}; {remedy}")
        columns = {k: v for k, v in sentence.columns.items() if v is not roles}
        words = [
            word.replace("~", joiner) if word.strip("~") else word
            for word in sentence.tokens
        ]
        yield Sentence(words, sentence.tags, columns)


def pmb(
    source: Annotated[
        Path, typer.Argument(help="The folder of a language, a release, or an archive.")
    ],
    out: Out,
    release: Annotated[
        str | None, typer.Option(help="Of several in SOURCE, such as 4.0.0.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Of several in SOURCE: en, de, it, nl.")
    ] = None,
    notation: Annotated[
        Literal["pmb", "ccgbank"],
        typer.Option(help="Of categories: s:dcl\\np, or S[dcl]\\NP."),
    ] = "pmb",
    tag: Annotated[
        Literal["category", "semtag"],
        typer.Option(help="What the last column, the tag, is."),
    ] = "category",
    joiner: Annotated[
        str, typer.Option(help="What joins the parts of a word; '_' as in GoogleNews.")
    ] = "~",
    skip_malformed: SkipMalformed = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the Parallel Meaning Bank in CoNLL columns: the word, its semantic tag, its
    supertag.

    SOURCE holds train.conll, dev.conll, test.conll and perhaps eval.conll, with seven
    columns, as the gold layers of a release do. The word is the first of them. A word
    of several parts, Celestial~Seasonings, has one category, and so stays one token;
    --joiner says what to write for the tilde.
    """
    check_out(out, [f"{split}.conll" for split in SPLITS], overwrite=overwrite)
    found = splits_of(list(members(source, ".conll")), release, language)
    skipped: list[str] | None = [] if skip_malformed else None
    columns = {"tag_column": CATEGORY, "categories": notation}
    columns["columns"] = {"semtag": SEMTAG, "roles": ROLES}
    if tag == "semtag":
        columns = {"tag_column": SEMTAG}
        columns["columns"] = {"category": CATEGORY, "roles": ROLES}
    splits = {}
    for split, files in found.items():
        read = sentences_of(
            files, "conll", split, skipped=skipped, separator="\t", **columns
        )
        splits[split] = prepared(read, files[0].name, joiner)
    counts = write_splits(out, splits, overwrite=overwrite)
    print(statistics(counts, {}, "published"))
    if warning := left_out(skipped):
        print(warning)


def main(args: list[str] | None = None) -> None:
    run_script(pmb, EXAMPLE, args)


if __name__ == "__main__":
    main()
