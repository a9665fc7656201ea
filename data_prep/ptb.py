"""The Penn Treebank for tagging, as in D16 and W16, and for parsing, as in E17."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.data.formats.brackets import unescaped
from preparing.archives import members
from preparing.preprocessing import with_words
from preparing.script import (
    Out,
    Overwrite,
    SkipMalformed,
    check_out,
    run_script,
    statistics,
    write_splits,
)
from preparing.sections import by_split, left_out, sentences_of

EXAMPLE = """\
python data_prep/ptb.py treebank_3/parsed/mrg/wsj prepared/ptb-tagging
python data_prep/ptb.py stanford prepared/ptb-parsing --task parsing"""

SPLITS = {
    "tagging": {"train": range(19), "dev": range(19, 22), "test": range(22, 25)},
    "parsing": {"train": range(2, 22), "dev": [22], "test": [23]},
}
SUFFIXES = {"mrg": ".mrg", "pos": ".pos", "conllx": (".conllx", ".conll", ".dep")}
# D16 Table 3; E17 prints no sizes.
PUBLISHED = {
    "tagging": {
        "train": {"sentences": 38219, "tokens": 912344},
        "dev": {"sentences": 5527, "tokens": 131768, "unknown": 4467},
        "test": {"sentences": 5462, "tokens": 129654, "unknown": 3649},
    },
    "parsing": {},
}


def ptb(
    source: Annotated[
        Path, typer.Argument(help="The disc, its folder wsj, or an archive of them.")
    ],
    out: Out,
    task: Annotated[
        Literal["tagging", "parsing"],
        typer.Option(help="Which sections, and what is read."),
    ] = "tagging",
    format: Annotated[
        Literal["mrg", "pos"],
        typer.Option(help="For tagging: trees, or tagged text."),
    ] = "mrg",
    keep_escapes: Annotated[
        bool,
        typer.Option("--keep-escapes", help="Write -LRB- and 1\\/2 as they stand."),
    ] = False,
    all_tags: Annotated[
        bool, typer.Option("--all-tags", help="Write VBG|NN and not the first alone.")
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Do without sections that are missing.")
    ] = False,
    skip_malformed: SkipMalformed = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the Wall Street Journal of the Penn Treebank, for tagging or for parsing.

    Tagging: sections 0-18, 19-21 and 22-24, the word and its tag in CoNLL columns, from
    .mrg without traces. The .pos files do not mark where sentences end; prefer .mrg.

    Parsing: sections 02-21, 22 and 23 in CoNLL-U, from what Stanford's converter wrote:
    files such as 02-21.conllx or one a section. E17 used its version 3.3.0, basic
    dependencies with punctuation:

    \b
      mkdir stanford
      for s in 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
        cat treebank_3/parsed/mrg/wsj/$s/*.mrg > $s.mrg
        java -mx1g -cp stanford-parser.jar \\
          edu.stanford.nlp.trees.EnglishGrammaticalStructure \\
          -basic -keepPunct -conllx -treeFile $s.mrg > stanford/$s.conllx
      done

    That class writes Stanford Dependencies in later versions too, in which others write
    Universal Dependencies. E17 parsed predicted tags: train a parser with
    tags="predicted".
    """
    written = "conllu" if task == "parsing" else "conll"
    check_out(
        out, [f"{split}.{written}" for split in SPLITS[task]], overwrite=overwrite
    )
    if task == "parsing":
        format, options = "conllx", {"tag": "postag", "trees": True}
    else:
        options = {"unescape": not keep_escapes, "all_tags": all_tags}
    files = by_split(members(source, SUFFIXES[format]), SPLITS[task], partial=partial)
    skipped: list[str] | None = [] if skip_malformed else None
    splits = {}
    for split, found in files.items():
        read = sentences_of(found, format, split, skipped=skipped, **options)
        if task == "parsing" and not keep_escapes:
            read = (with_words(sentence, unescaped) for sentence in read)
        splits[split] = read
    counts = write_splits(out, splits, written, overwrite=overwrite)
    paper = "D16 Table 3" if task == "tagging" else "E17"
    print(statistics(counts, PUBLISHED[task], paper, partial=partial))
    if warning := left_out(skipped):
        print(warning)


def main(args: list[str] | None = None) -> None:
    run_script(ptb, EXAMPLE, args)


if __name__ == "__main__":
    main()
