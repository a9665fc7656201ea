import pytest
from conftest import short

from keras_tagging import load_corpus
from keras_tagging.data import Sentence, write


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A few sentences of the demo corpus, training and development."""
    folder, demo = tmp_path_factory.mktemp("corpus"), load_corpus("demo")
    for name in ("train", "dev"):
        some = [Sentence(s.tokens, s.tags) for s in short(getattr(demo, name), 30)]
        write(some, folder / f"{name}.conll")
    return folder
