"""What `train` decides before it reads anything, and how options are grouped."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from keras_tagging import kinds
from keras_tagging.cli.loading import Reading, kinds_reading
from keras_tagging.cli.options import grouped
from keras_tagging.cli.start import Start
from keras_tagging.cli.training import Data, settings_by_part
from keras_tagging.data import Corpus, Sentence


@pytest.mark.parametrize(
    ("start", "arch", "recipe", "message"),
    [
        (Start(freeze=["stack"]), "bigru", "fast", "--init there is no --freeze$"),
        (Start(keep_labels=True), "bigru", "fast", "--init there is no --keep-labels$"),
        (Start(init="x"), "bigru", "best", "has its own: there is no --recipe$"),
        (Start(init="x", embeddings="v"), "bigru", "fast", "there is no --embeddings$"),
        (Start(gates="i"), "lstm-parser", "fast", "--bootstrap there is no --gates$"),
        (Start(bootstrap="x", tags="pos"), "lstm-parser", "fast", "there is no --tags"),
        (Start(corpus_words=True), "bigru", "fast", "there is no --corpus-words$"),
        (Start(bootstrap="x"), "bigru", "fast", "a tagger has no --bootstrap$"),
        (Start(init="x"), "ffn-parser", "fast", "a parser has no --init$"),
        (Start(tags="upos"), "segmenter", "fast", "a segmenter has no --tags$"),
        (Start(embeddings="v"), "segmenter", "fast", "has no --embeddings$"),
    ],
)
def test_options_that_do_not_go_together(start, arch, recipe, message):
    kind = {"bigru": "tagger", "segmenter": "segmenter"}.get(arch, "parser")
    with pytest.raises(ValueError, match=message):
        start.check(arch, kinds.find(kind), recipe)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (Start(), "segmenter"),
        (Start(tags="upos,xpos", embeddings="v", corpus_words=True), "tagger"),
        (Start(init="x", freeze=["stack"], keep_labels=False, tags="upos"), "tagger"),
        (Start(bootstrap="x", gates="i,o"), "parser"),
        (Start(tags="None", embeddings="v"), "parser"),
    ],
)
def test_options_that_do(start, kind):
    assert start.check("some", kinds.find(kind), "fast") is None


def test_tags_are_columns_to_learn_or_to_read():
    tagger, parser = kinds.find("tagger"), kinds.find("parser")
    assert Start().settings(tagger) == {}
    assert Start(tags="upos,xpos").settings(tagger) == {"tags": ["upos", "xpos"]}
    assert Start(tags="None").settings(parser) == {"tags": None}
    both = Start(tags="predicted", embeddings="v.txt").settings(parser)
    assert both == {"tags": "predicted", "embeddings": "v.txt"}


def test_what_the_kinds_of_a_pipeline_read():
    assert kinds_reading(["tagger"]) == {"trees": False, "surfaces": False}
    assert kinds_reading(["tagger", "parser"]) == {"trees": True, "surfaces": False}
    assert kinds_reading(["segmenter"]) == {"trees": False, "surfaces": True}


def test_settings_of_parts():
    given = ["tagger.units=3", "parser.architecture=gru-parser", "tagger.optimizer=sgd"]
    assert settings_by_part(given) == {
        "tagger": {"units": 3, "optimizer": "sgd"},
        "parser": {"architecture": "gru-parser"},
    }
    with pytest.raises(ValueError, match="name the part of the pipeline"):
        settings_by_part(["units=3"])
    with pytest.raises(ValueError, match="'gru-parser'"):
        settings_by_part(["parser.architecture=gru-parsr"])


@pytest.mark.parametrize(
    ("dev", "test", "share", "splits", "expected"),
    [
        (None, None, None, ("test",), "c"),
        (None, "t", None, (), "t"),
        (None, None, None, ("dev",), "c --split dev"),
        ("d", None, None, ("dev",), "d"),
        (None, None, 0.1, ("dev",), None),
        (None, None, None, (), None),
    ],
)
def test_what_a_model_has_not_seen(dev, test, share, splits, expected):
    one = [Sentence(["a"], ["X"])]
    corpus = Corpus(one, **dict.fromkeys(splits, one))
    data = Data("c", dev, test, Reading(), share, seed=0)
    assert data.unseen(corpus) == expected


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option(help="In meters.")] = 2
    depth: Annotated[int, typer.Option("--deep")] = 3


def test_a_group_is_an_option_for_each_field():
    seen = []

    @grouped
    def command(name: str, size: Size = Size(depth=7), loud: bool = False):  # noqa: B008
        """Say."""
        seen.append((name, size, loud))

    assert [*inspect.signature(command).parameters] == [
        "name",
        "width",
        "depth",
        "loud",
    ]
    app = typer.Typer(add_completion=False)
    app.command()(command)
    runner = CliRunner()
    assert runner.invoke(app, ["x"]).exit_code == 0
    assert runner.invoke(app, ["x", "--width", "5", "--deep", "1"]).exit_code == 0
    assert seen == [("x", Size(2, 7), False), ("x", Size(5, 1), False)]
    assert "In meters." in runner.invoke(app, ["--help"]).output
