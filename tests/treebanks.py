"""Five treebanks of some sentences each."""

from pathlib import Path

from keras_tagging.data import read

FOLDER = Path(__file__).parents[0] / "fixtures" / "treebanks"
LANGUAGES = [file.stem for file in sorted(FOLDER.iterdir())]
#: a network of some hundred weights
TINY = {"units": 4, "character_dim": 3, "window": 24, "context": 8, "seed": 1}
TINY |= {"min_batches": 0, "lexicon": False}


def sentences_of(language):
    return list(read(FOLDER / f"{language}.conllu", "conllu", surface=True))


def spans(sentences):
    """All that a surface says of each sentence, but what follows it."""
    return [
        (s.surface.start, s.surface.text, s.surface.offsets, s.surface.words, s.tokens)
        for s in sentences
    ]
