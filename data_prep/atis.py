"""ATIS in CoNLL columns, with a development set and word classes, as in D16."""

from pathlib import Path
from typing import Annotated

import typer

from keras_tagging import Corpus
from keras_tagging.corpora import hold_out
from keras_tagging.corpora.word_classes import WordClasses
from preparing.atis import read_atis
from preparing.phrase_classes import PhraseClasses
from preparing.script import (
    Out,
    Overwrite,
    check_out,
    run_script,
    statistics,
    write_splits,
)

EXAMPLE = """\
python data_prep/atis.py path/to/atis prepared/atis --classes --held-out 0.18 --seed 1
keras-tagging describe prepared/atis --option 'columns={"word_class": 1}'"""

# D16 section 3.1; the development file is the one that goes about with it.
TRAIN, DEV, TEST = 4978, 500, 893


def prepare(
    source: str | Path,
    *,
    held_out: float | None = None,
    seed: int = 0,
    full: bool = False,
    classes: bool = False,
    lexicon: str | Path | None = None,
) -> Corpus:
    """The corpus as it is written.

    Args:
        source: ATIS, in any form that `read_atis` reads.
        held_out: share of the training sentences, those of a development file
            included, to use for development; None to leave the files as they are.
        seed: of the choice of these sentences.
        full: whether all of them are training sentences.
        classes: whether to add the column `word_class`, learned from what is left of
            the training sentences.
        lexicon: file of phrases and their classes, for that column; nothing is learned
            then.

    Raises:
        ValueError: if a file is missing or malformed, or the share is not possible.
    """
    if classes and lexicon is not None:
        raise ValueError("--classes and --lexicon fill one column: give one of them")
    if full and held_out is not None:
        raise ValueError("--full leaves nothing for --held-out: give one of them")
    corpus = read_atis(source)
    if held_out is not None or full:
        corpus.train += corpus.dev
        corpus.dev = []
    if held_out is not None:
        try:
            hold_out(corpus, held_out, seed)
        except (ValueError, OverflowError):
            what = "leaves nothing for training, or nothing for development"
            raise ValueError(f"--held-out {held_out}: {what}") from None
    if not corpus.dev and not full:
        remedy = "give --held-out, or --full to do without"
        raise ValueError(f"{source}: has no dev sentences; {remedy}")
    if not corpus.test:
        raise ValueError(f"{source}: has no test sentences; add its file")
    if classes or lexicon is not None:
        learn = lexicon is None
        found = (
            WordClasses.learn(corpus.train) if learn else PhraseClasses.read(lexicon)
        )
        for split, sentences in corpus.splits():
            setattr(corpus, split, found.annotate(sentences))
    return corpus


def atis(
    source: Annotated[Path, typer.Argument(help="The folder or archive of ATIS.")],
    out: Out,
    held_out: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of training (with development) to use for development; "
            "D16: 0.18. By default the 500 sentences of the development file.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the choice of held-out sentences.")] = 0,
    full: Annotated[
        bool, typer.Option("--full", help="Train on all 4978; write no development.")
    ] = False,
    classes: Annotated[
        bool, typer.Option("--classes", help="Add the words' classes as a column.")
    ] = False,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Add classes of the longest phrases of this lexicon as a column; its "
            "lines are as 'boston massachusetts :- NP : boston:ci'.",
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write ATIS, the corpus of slot filling, in CoNLL columns.

    SOURCE has lines of `BOS words EOS`, a tab and the labels, with or without intents;
    or folders with seq.in and seq.out; or CoNLL columns; or CNTK's text format (.ctf,
    .sparse); of integers with their dictionaries, as of is13, `atis_integers.py` makes
    columns first. Written are train.conll, dev.conll and test.conll, all or none: the
    word, with --classes or --lexicon its class, the label.
    """
    splits = ["train", "test"] if full else ["train", "dev", "test"]
    check_out(out, [f"{split}.conll" for split in splits], overwrite=overwrite)
    corpus = prepare(
        source,
        held_out=held_out,
        seed=seed,
        full=full,
        classes=classes,
        lexicon=lexicon,
    )
    counts = write_splits(out, dict(corpus.splits()), overwrite=overwrite)
    dev = DEV if held_out is None else round(held_out * TRAIN)
    sizes = {"train": TRAIN - dev, "dev": dev, "test": TEST}
    if full:
        sizes = {"train": TRAIN, "test": TEST}
    published = {split: {"sentences": size} for split, size in sizes.items()}
    print(statistics(counts, published, "published"))


def main(args: list[str] | None = None) -> None:
    run_script(atis, EXAMPLE, args)


if __name__ == "__main__":
    main()
