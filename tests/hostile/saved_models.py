"""A saved model of each kind, and what is made of their archives."""

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conftest import TINY, random_sentences
from models.parsers import TINY as SMALL
from models.parsers import TRAIN
from treebanks import TINY as CHARACTERS
from treebanks import sentences_of

import keras_tagging
from keras_tagging.models.files.checks import CONFIG
from keras_tagging.models.files.saving import members_of as members
from keras_tagging.models.tagger.jackknife import copied

TAGGED = random_sentences(12, 1)
KINDS = ("tagger", "parser", "segmenter")


@cache
def whole(kind):
    """The bytes of a saved model; the parser has a tagger of its own."""
    if kind == "tagger":
        model = keras_tagging.build("bigru", **TINY, suffixes=(2,), prefixes=())
        model.adapt(TAGGED)
    elif kind == "segmenter":
        model = keras_tagging.build("segmenter", **CHARACTERS)
        model.adapt(sentences_of("french"))
    else:
        model = keras_tagging.build("ffn-parser", **SMALL, tags="predicted")
        model.adapt(TRAIN[:5])
        bare = {"suffixes": (), "prefixes": (), "shapes": False}
        own = keras_tagging.build("bigru", **TINY, **bare)
        own.adapt(TAGGED)
        model.set_tagger(copied(own))  # as training does
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.keras")
        return (Path(folder) / "model.keras").read_bytes()


def archived(found, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in found.items():
            archive.writestr(name, content)
    return stream.getvalue()


def changed(content, change):
    """The model with another content of config.json, which `change` alters."""
    found = members(content)
    whole = json.loads(found[CONFIG])
    change(whole)
    return archived(found | {CONFIG: json.dumps(whole).encode()})


def refused(path, content=None):
    """The message of the error with which a file is refused."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError) as error:
        keras_tagging.load(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert len(message) < 500 + len(str(path))
    assert message.endswith("from where it was saved, or train the model again")
    return message
