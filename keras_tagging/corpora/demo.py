"""The demo corpus, which comes with the package.

English in the way of a phrase book, drawn from a hand-written CCG grammar, which stands
beside its tests. Every token has its CCG category as tag (in the notation of CCGbank)
and the columns `pos` (Penn Treebank), `head` and `deprel` (Universal Dependencies; a
stranded preposition hangs on its verb). Trees are projective, but for questions and
relative clauses that reach into an embedded clause: "What did she say he read ?".
"""

from pathlib import Path

from keras_tagging.data.readers import read
from keras_tagging.data.sentence import SPLITS, Corpus

FOLDER = Path(__file__).with_name("demo_sentences")


def demo_corpus() -> Corpus:
    """The demo corpus: 2000 training, 400 development and 400 test sentences.

    No sentence occurs twice.
    """
    splits = {name: list(read(FOLDER / f"{name}.jsonl.gz")) for name in SPLITS}
    return Corpus(**splits, name="demo", format="demo")
