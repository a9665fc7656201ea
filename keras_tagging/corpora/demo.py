"""The demo corpus, which comes with the package.

Its English, like a phrase book's, is drawn from a hand-written CCG grammar, which is
beside its tests. The tag of a token is its CCG category, in the notation of CCGbank.
The columns are `pos` (Penn Treebank), `head` and `deprel` (Universal Dependencies,
except that a stranded preposition depends on its verb). Trees are projective, except
for questions and relative clauses that reach into an embedded clause: "What did she say
he read ?".
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
