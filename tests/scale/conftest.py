"""A small pipeline, and one text in every form that is read."""

import gzip
import json
import re

import pytest
from conftest import TINY, randomize
from models.columns import columned
from models.parsers import random_parser
from ray_clusters import cluster
from treebanks import TINY as SEGMENTER
from treebanks import sentences_of

import keras_tagging
from keras_tagging import Pipeline, Sentence, runtime
from keras_tagging.data.surface import Surface

WORDS = ["the dog barks .", "Paris sees a cat", "12,5 cats !", "quickly \xe9t\xe9"]


@pytest.fixture(scope="session")
def tagger(train_sentences):
    model = keras_tagging.build("bigru", **TINY, tags=("upos", "xpos", "feats"))
    model.adapt(columned(train_sentences))
    return randomize(model)


@pytest.fixture(scope="session")
def whole(tagger):
    """A segmenter, a tagger and a parser."""
    segmenter = keras_tagging.build("segmenter", **SEGMENTER)
    segmenter.adapt(sentences_of("english"))
    return Pipeline(segmenter, tagger, random_parser(tags="pos"))


@pytest.fixture(scope="session")
def folder(whole, tmp_path_factory):
    """It as ONNX files, so that Ray's workers start in a second."""
    path = tmp_path_factory.mktemp("pipeline")
    whole.export(path, format="onnx")
    return path


@pytest.fixture(scope="session")
def onnx(tagger, tmp_path_factory):
    """The tagger alone, which starts in a second."""
    path = tmp_path_factory.mktemp("onnx") / "tagger.onnx"
    tagger.export(path, format="onnx")
    return path


class Threes:
    """A segmenter by which sentences have three words, across lines."""

    kind = "segmenter"

    def segment(self, text, lines=False):
        for found in re.finditer(r"\S+(\s+\S+){0,2}", "".join(text)):
            spans = [word.span() for word in re.finditer(r"\S+", found[0])]
            surface = Surface(found[0], spans, [1] * len(spans), found.start())
            yield Sentence(surface.tokens, surface=surface)


@pytest.fixture(scope="session")
def pipeline(onnx):
    """One that takes no time."""
    return Pipeline(Threes(), runtime.load(onnx, threads=1))


def text_of(paragraphs):
    return "".join(
        f"{WORDS[i % 4]}\n  {WORDS[i % 3]} {i}\n{' ' * (i % 2)}\n" + "\n" * (i % 3)
        for i in range(paragraphs)
    )


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """The name of a file for each kind."""
    import pyarrow
    from pyarrow import parquet

    out = tmp_path_factory.mktemp("inputs")
    sentences = [f"{words} {i}".split() for i in range(5) for words in WORDS]
    texts = [text_of(1 + i % 3) for i in range(6)] + ["", " \n"]
    (out / "text.txt").write_text(f"\ufeff{text_of(20)}", "utf-8")
    (out / "tokens.txt").write_text("".join(f"{' '.join(s)}\n" for s in sentences))
    objects = [{"id": f"d {i}", "text": text} for i, text in enumerate(texts)]
    objects += [{"tokens": words} for words in [*sentences, []]]
    lines = [json.dumps(row, ensure_ascii=i % 2 == 0) for i, row in enumerate(objects)]
    (out / "objects.jsonl").write_text("\n".join(lines) + "\n\n", "utf-8")
    blocks = [
        "".join(
            ["# kept = yes\n", f"# sent_id = s{n}\n" * (n % 3 > 0)]
            + [f"{i}\t{w}{chr(9) + '_'}" + "\t_" * 7 + "\n" for i, w in enumerate(s, 1)]
        )
        for n, s in enumerate(sentences)
    ]
    (out / "blocks.conllu").write_text("\n".join(blocks) + "\n\n# the end\n", "utf-8")
    table = pyarrow.table({"id": [*range(len(sentences))], "tokens": sentences})
    parquet.write_table(table, out / "rows.parquet", row_group_size=7)
    table = pyarrow.table({"text": texts, "stars": [*range(len(texts))]})
    parquet.write_table(table, out / "texts.parquet")
    with gzip.open(out / "packed.txt.gz", "wt", encoding="utf-8") as file:
        file.write(text_of(3))
    return out


@pytest.fixture(scope="module")
def ray():
    with cluster() as ray:
        yield ray
