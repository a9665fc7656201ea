"""What `train` decides before it reads anything, and how options are grouped."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from keras_tagging import cli, kinds
from keras_tagging.cli.loading import Reading, holds_derivations, kinds_reading
from keras_tagging.cli.options import command as as_command
from keras_tagging.cli.training_options import Data, Start, parts_of, settings_by_part
from keras_tagging.data import Corpus, Sentence


@pytest.mark.parametrize(
    ("options", "arch", "recipe", "message"),
    [
        ({"init": "x"}, "bigru", "best", "has its own: there is no --recipe$"),
        ({"bootstrap": "x", "tags": "pos"}, "lstm-parser", "fast", "is no --tags"),
        ({"corpus_words": True}, "bigru", "fast", "there is no --corpus-words$"),
        ({"bootstrap": "x"}, "bigru", "fast", "a tagger has no --bootstrap$"),
        ({"tags": "upos"}, "segmenter", "fast", "a segmenter has no --tags$"),
    ],
)
def test_options_that_do_not_go_together(options, arch, recipe, message):
    kind = {"bigru": "tagger", "segmenter": "segmenter"}.get(arch, "parser")
    with pytest.raises(ValueError, match=message):
        Start(**options).check(arch, kinds.find(kind), recipe)


def test_tags_are_columns_to_learn_or_to_read():
    tagger, parser = kinds.find("tagger"), kinds.find("parser")
    assert Start().settings(tagger) == {}
    assert Start(tags="upos,xpos").settings(tagger) == {"tags": ["upos", "xpos"]}
    assert Start(tags="None").settings(parser) == {"tags": None}
    both = Start(tags="predicted", embeddings="v.txt").settings(parser)
    assert both == {"tags": "predicted", "embeddings": "v.txt"}


def test_what_the_kinds_of_a_pipeline_read():
    for names, expected in (
        (["tagger"], set()),
        (["tagger", "parser"], {"trees"}),
        (["segmenter"], {"surfaces"}),
        (["tagger", "ccg-parser"], {"derivations"}),
    ):
        assert {k for k, is_read in kinds_reading(names).items() if is_read} == expected


def test_which_corpora_have_derivations(tmp_path):
    section = tmp_path / "data" / "AUTO" / "02"
    section.mkdir(parents=True)
    (section / "wsj_0201.auto").write_text("", "utf-8")  # as CCGbank has them
    (tmp_path / "train.auto.gz").write_text("", "utf-8")
    corpora = (tmp_path / "data", tmp_path, tmp_path / "train.auto.gz", "x.auto")
    assert all(holds_derivations(str(corpus)) for corpus in corpora)
    assert not any(map(holds_derivations, ("demo", "ud-en-ewt", "x.conllu")))
    assert holds_derivations("x.txt", "auto") and not holds_derivations("a.auto", "pos")


@pytest.mark.parametrize(
    ("parts", "segmenter", "derived", "expected"),
    [
        (None, None, True, "ccg-parser"),
        (None, None, False, "segmenter,parser"),
        (None, "en", False, "parser"),
        ("tagger,ccg-shift-reduce", None, True, "tagger,ccg-shift-reduce"),
    ],
)
def test_parts_by_the_corpus(parts, segmenter, derived, expected):
    assert parts_of(parts, segmenter, derived) == (*expected.split(","),)


def test_settings_of_parts():
    values = {"tagger.units": 3, "parser.architecture": "gru-parser"}
    assert settings_by_part(values | {"tagger.optimizer": "sgd"}) == {
        "tagger": {"units": 3, "optimizer": "sgd"},
        "parser": {"architecture": "gru-parser"},
    }


def test_what_a_model_has_not_seen():
    one = [Sentence(["a"], ["X"])]
    for dev, test, share, splits, expected in (
        (None, None, None, ("test",), "c"),
        (None, "t", None, (), "t"),
        (None, None, None, ("dev",), "c --split dev"),
        ("d", None, None, ("dev",), "d"),
        (None, None, 0.1, ("dev",), None),
    ):
        corpus = Corpus(one, **dict.fromkeys(splits, one))
        assert Data("c", dev, test, Reading(), share).unseen(corpus) == expected


@dataclass(frozen=True)
class Size:
    """A size.

    Args:
        width: In meters,
            from left to right.
    """

    width: Annotated[int, typer.Option(min=1)] = 2
    depth: Annotated[int, typer.Option("--deep", help="Going down.")] = 3


def test_a_docstring_tells_of_options_and_a_group_has_one_for_each_field():
    seen = []

    def say(
        name: Annotated[str, typer.Argument()],
        size: Size = Size(depth=7),  # noqa: B008
        loud: bool = False,
        polite: bool = True,
    ):
        """Say it.

        Twice.

        Args:
            name: Of whom.
            loud: In capitals.

        Raises:
            ValueError: never.
        """
        seen.append((name, size, loud, polite))

    made = as_command(say)
    names = ["name", "width", "depth", "loud", "polite", "quiet", "log_level"]
    assert [*inspect.signature(made).parameters] == names
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(made)
    runner = CliRunner()
    assert runner.invoke(app, ["x"]).exit_code == 0
    given = ["x", "--width", "5", "--deep", "1", "--loud", "--no-polite"]
    assert runner.invoke(app, given).exit_code == 0
    assert seen == [("x", Size(2, 7), False, True), ("x", Size(5, 1), True, False)]
    assert runner.invoke(app, ["x", "--width", "0"]).exit_code == 2
    assert runner.invoke(app, ["x", "--no-loud"]).exit_code == 2
    text = " ".join(runner.invoke(app, ["--help"]).output.split())
    for part in ("Say it. Twice.", "In meters, from left to right.", "Going down."):
        assert part in text
    assert "Of whom." in text and "--loud In capitals." in text
    assert "Args:" not in text and "never" not in text


def test_every_option_says_what_it_is():
    commands = typer.main.get_command(cli.app).commands
    assert commands.keys() == cli.COMMANDS.keys()
    silent = {
        f"{name} --{parameter.name}"
        for name, made in commands.items()
        for parameter in made.params
        if not parameter.help
    }
    assert silent == set()
