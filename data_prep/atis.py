"""ATIS in CoNLL columns, with a development set and word classes as in D16 section 3.

The folder holds ATIS as corpus of slot filling, one sentence a line: `BOS words EOS`, a
tab, as many labels; in atis-2.train.iob, atis-2.dev.iob and atis.test.iob, or files
named alike. Written are train.conll, dev.conll and test.conll: the word, with --classes
its class, the label. None of the three is touched before all of them are complete.
"""

import argparse
from contextlib import ExitStack
from pathlib import Path

from keras_tagging import Corpus, load_corpus
from keras_tagging.data import write
from keras_tagging.data.atomic import replacing
from keras_tagging.data.word_classes import WordClasses
from keras_tagging.run_folder import hold_out

EXAMPLE = """example:
  python data_prep/atis.py path/to/atis prepared/atis --classes --held-out 0.18 --seed 1
  keras-tagging describe prepared/atis --option 'columns={"word_class": 1}'
"""


def prepare(
    folder: str | Path, *, held_out: float | None = None, seed: int = 0, classes=False
) -> Corpus:
    """The corpus of the folder, as `convert` writes it.

    Args:
        folder: the folder of ATIS.
        held_out: share of the training sentences, those of a development file
            included, to use for development; None to leave the files as they are.
        seed: of the choice of these sentences.
        classes: whether to add the column `word_class`, learned from what is left of
            the training sentences.

    Raises:
        ValueError: if a file is missing or malformed, or the share is not possible.
    """
    corpus = load_corpus(folder, "atis")
    if held_out is not None:
        corpus.train += corpus.dev
        corpus.dev = []
        try:
            hold_out(corpus, held_out, seed)
        except (ValueError, OverflowError):
            what = "leaves nothing for training, or nothing for development"
            raise ValueError(f"--held-out {held_out}: {what}") from None
    for split, remedy in (("dev", "give --held-out"), ("test", "add its file")):
        if not getattr(corpus, split):
            raise ValueError(f"{folder}: has no {split} sentences; {remedy}")
    if classes:
        found = WordClasses.learn(corpus.train)
        for split, sentences in corpus.splits():
            setattr(corpus, split, found.annotate(sentences))
    return corpus


def convert(folder: Path, out: Path, **options) -> Corpus:
    """Writes what `prepare` gives for the folder and the options, and returns it."""
    if out.resolve() == folder.resolve():
        raise ValueError(f"{out}: is the folder of ATIS; write to another one")
    corpus = prepare(folder, **options)
    with ExitStack() as stack:
        for split, sentences in corpus.splits():
            path = stack.enter_context(replacing(out / f"{split}.conll"))
            write(sentences, path)
    return corpus


def main(args: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="atis.py",
        description=__doc__,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="where the files of ATIS are")
    parser.add_argument("out", type=Path, help="where to write; made if need be")
    parser.add_argument(
        "--classes", action="store_true", help="add the words' classes as a column"
    )
    parser.add_argument(
        "--held-out",
        type=float,
        metavar="SHARE",
        help="share of training (with development) to use for development; D16: 0.18",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the choice of held-out sentences"
    )
    options = vars(parser.parse_args(args))
    try:
        corpus = convert(**options)
    except (ValueError, OSError) as error:
        parser.exit(2, f"atis.py: error: {' '.join(str(error).splitlines())}\n")
    for split, sentences in corpus.splits():
        print(f"{options['out'] / split}.conll: {len(sentences)} sentences")


if __name__ == "__main__":
    main()
