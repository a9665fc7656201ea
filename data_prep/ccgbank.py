"""CCGbank in CoNLL columns: sections 02-21, 00 and 23, as in K18 and W16."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.data import Sentence
from keras_tagging.utils.atomic import replacing
from preparing.archives import members
from preparing.preprocessing import PREPROCESSING, with_words
from preparing.script import (
    Counts,
    Out,
    Overwrite,
    SkipMalformed,
    check_out,
    run_script,
    statistics,
    write_splits,
)
from preparing.section_ids import by_id, names_tell
from preparing.sections import by_split, left_out, sentences_of

EXAMPLE = """\
python data_prep/ccgbank.py LDC2005T13.tgz prepared/ccgbank
python data_prep/ccgbank.py ccgbank_1_1/data/AUTO prepared/ccgbank --min-count 10
python data_prep/ccgbank.py ccgbank.auto prepared/ccgbank
keras-tagging train bigru --corpus prepared/ccgbank --out runs/ccgbank"""

SPLITS = {"train": range(2, 22), "dev": [0], "test": [23]}
SUFFIXES = {"auto": ".auto", "pipe": (".stagged", ".staggedgold", ".pipe")}
INVENTORY = "categories.tsv"
# W16 section 6.1; K18 section 3.1. The 425 categories that occur ten times are those of
# Clark & Curran (2007).
PUBLISHED = {
    "train": {"sentences": 39604, "labels": 1285},
    "dev": {"sentences": 1913},
    "test": {"sentences": 2407},
}
FREQUENT = 425


def counted(sentences: Iterable[Sentence], counts: Counter) -> Iterator[Sentence]:
    """The sentences; their categories are counted as they go by."""
    for sentence in sentences:
        counts.update(sentence.tags)
        yield sentence


def inventory(
    categories: dict[str, Counter], counts: dict[str, Counts], min_count: int
) -> str:
    """The training categories that occur often enough, a category and its frequency a
    line; adds to the counts how many they are, and how many tokens have another."""
    kept = {c: n for c, n in categories["train"].most_common() if n >= min_count}
    counts["train"].more["categories in inventory"] = len(kept)
    for split, found in categories.items():
        others = sum(n for category, n in found.items() if category not in kept)
        counts[split].more["tokens outside of it"] = others
    return "".join(f"{category}\t{count}\n" for category, count in kept.items())


def ccgbank(
    source: Annotated[
        Path,
        typer.Argument(
            help="The disc, its folder AUTO, an archive of them, or .auto files."
        ),
    ],
    out: Out,
    format: Annotated[
        Literal["auto", "pipe"],
        typer.Option(help="Derivations, or word|pos|category as wsj02-21.stagged."),
    ] = "auto",
    min_count: Annotated[
        int,
        typer.Option(min=1, help="Frequency of the inventory's categories; 10: 425."),
    ] = 1,
    preprocess: Annotated[
        Literal["none", "k18", "w16"],
        typer.Option(help="Write words in a paper's form."),
    ] = "none",
    partial: Annotated[
        bool, typer.Option("--partial", help="Do without sections that are missing.")
    ] = False,
    skip_malformed: SkipMalformed = False,
    overwrite: Overwrite = False,
) -> None:
    """Write CCGbank in CoNLL columns: the word, its part of speech, its supertag.

    Training is sections 02-21, development 00, test 23. The names of files and folders
    tell them, such as 00/wsj_0001.auto or 02-21.auto; for .auto files with other names,
    one or several, the sentences do: ID=wsj_0001.1. Derivations are read whole and
    checked; categories are parsed and come in one normal form. OUT/categories.tsv is
    the inventory: the training categories with their frequencies, from --min-count on.
    Rarer ones stay in the files: give the same number to the
    model as min_count.

    k18 is lower case, a sequence of digits as 0, and what follows a backslash; w16 is
    lower case and every digit as 9. The models' paper recipes do this themselves, and
    read capitals and suffixes from the word as it stands: for them, write none.
    """
    check_out(out, [f"{split}.conll" for split in SPLITS], overwrite=overwrite)
    skipped: list[str] | None = [] if skip_malformed else None
    found = list(members(source, SUFFIXES[format]))
    with_ids = format == "auto" and not names_tell(found, SPLITS)
    if with_ids:
        files = by_id(found, SPLITS, partial=partial, skipped=skipped)
    else:
        files = by_split(found, SPLITS, partial=partial)
    categories = {split: Counter() for split in files}
    form = PREPROCESSING.get(preprocess)
    splits = {}
    for split, found in files.items():
        options = {"sections": tuple(SPLITS[split])} if with_ids else {}
        options |= {"skipped": skipped, "categories": "ccgbank"}
        read = sentences_of(found, format, split, **options)
        read = counted(read, categories[split])
        splits[split] = (with_words(s, form) for s in read) if form else read
    counts = write_splits(out, splits, overwrite=overwrite)
    published = {split: dict(PUBLISHED[split]) for split in PUBLISHED}
    if "train" in counts:
        text = inventory(categories, counts, min_count)
        with replacing(out / INVENTORY) as path:
            path.write_text(text, "utf-8", newline="\n")
        if min_count == 10:
            published["train"]["categories in inventory"] = FREQUENT
    print(statistics(counts, published, "W16, K18", partial=partial))
    if warning := left_out(skipped):
        print(warning)


def main(args: list[str] | None = None) -> None:
    run_script(ccgbank, EXAMPLE, args)


if __name__ == "__main__":
    main()
