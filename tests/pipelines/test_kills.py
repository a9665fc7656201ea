"""kill -9 between any two file events of `train pipeline`, then the same command again.

The parts are fakes that write the files of real ones, so that all moments can be tried.
"""

import itertools
import json
import shutil
from pathlib import Path

import pytest
from hostile.kills import content, kill_points, without_random_names
from hostile.programs import program

import keras_tagging
from keras_tagging import Pipeline
from keras_tagging.models.files import loading
from keras_tagging.models.files.saving import metadata_path
from keras_tagging.pipelines import PipelinePlan
from keras_tagging.utils.atomic import replacing, replacing_together

#: the parts before, where a training of a parser replaces another one, by the option
#: that makes it do so
BEFORE = {"--force": "segmenter,parser", "--no-resume": "parser"}
GIVES = {"segmenter": (), "biaffine-parser": ("pos", "head", "deprel")}
BLOCK = """# text = {0} barks
1\t{0}\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_
2\tbarks\t_\tVERB\t_\t_\t0\troot\t_\t_

"""


class Part:
    """A model that knows what it has learnt, and writes it where real ones do."""

    size, default_monitor, lower_is_better = "one fact", "val_accuracy", ()
    architecture, gives_spans, column_names = "x", False, ("upos",)
    input_columns = ()

    def __init__(self, kind, seed, learnt=0):
        self.kind, self.seed, self.learnt = kind, seed, learnt
        self.gives, self.metadata = GIVES[kind], {}

    @classmethod
    def read(cls, path, data, words=None):
        return cls(**json.loads(data))

    def adapt(self, sentences):
        pass

    def annotated(self, sentences):
        return sentences

    def evaluate(self, sentences, return_dict):
        return {"accuracy": 0.5}

    def fit(self, sentences, *, epochs, callbacks, resume, log=None, **_):
        state = resume / "resume.npz"
        best = [callback for callback in callbacks if hasattr(callback, "best")]
        if state.exists():
            self.learnt = int(state.read_text())
        for _ in range(self.learnt, epochs):
            self.learnt += 1
            for callback in best:
                self.save(callback.filepath)
            for path in filter(None, (log, state)):
                with replacing(path) as partial:
                    partial.write_text(str(self.learnt))

    def save(self, path):
        path = Path(path)
        with replacing_together(path, metadata_path(path)) as partials:
            about = {name: getattr(self, name) for name in ("kind", "seed", "learnt")}
            for partial in partials:
                partial.write_text(json.dumps(about))


@pytest.fixture
def command_line(tmp_path, monkeypatch):
    """The arguments of a training of fakes, but for --out."""
    keywords, known = PipelinePlan.keywords, {}

    def remembered(plan, part):  # of three hundred trainings of few plans
        key = repr(plan), part
        known[key] = known.get(key) or keywords(plan, part)
        return known[key]

    monkeypatch.setattr(PipelinePlan, "keywords", remembered)

    def build(plan, part, **_):
        return Part("biaffine-parser" if part == "parser" else part, plan.seed)

    monkeypatch.setattr(PipelinePlan, "build", build)
    monkeypatch.setattr(loading, "read", Part.read)
    monkeypatch.setattr(Pipeline, "scores", lambda *_: {})
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("train", "dev"):
        blocks = map(BLOCK.format, ("Rex", "Ada", "Bob"))
        (corpus / f"x-ud-{name}.conllu").write_text("".join(blocks))
    return ["train", "pipeline", "--corpus", corpus]


def events(folder, copies, *args):
    """Runs the program; what a kill would leave at each of its moments, and the end.

    Of states that differ in nothing but random names there is one.
    """
    with kill_points(folder, copies, opens=True) as killed:
        code, _, err = program(*args, "--out", folder)
    assert code == 0, err
    states = {json.dumps(without_random_names(content(path))): path for path in killed}
    return list(states.values())


def seeds_of(folder):
    """The seeds of the parts of a pipeline; None if there is none to be loaded."""
    try:
        return {part.seed for part in keras_tagging.load(folder).parts.values()}
    except ValueError as error:
        told = str(error)
        assert "no such model" in told or "is missing" in told, told
        return None


def test_a_killed_training_goes_on_or_is_whole(command_line, tmp_path):
    out = tmp_path / "out"
    command_line += ["--epochs", 2]
    killed = events(out, tmp_path / "killed", *command_line)
    expected = content(out)
    assert seeds_of(out) == {0} and len(killed) > 60
    for folder in killed:
        before = seeds_of(folder)
        code, _, err = program(*command_line, "--out", folder)
        if code:
            assert "holds a finished pipeline" in err and before == {0}
        assert content(folder) == expected, folder


@pytest.mark.parametrize("again", BEFORE)
def test_a_killed_replacement_keeps_the_old_pipeline_or_goes_on(
    command_line, tmp_path, again
):
    """Until the new one is saved the old one can be loaded, and then the new one.

    With --force a pipeline is replaced, with --no-resume the training of one.
    """
    command_line += ["--epochs", 1, "--parts"]
    out, other = tmp_path / "out", [*command_line, "parser", "--seed", 1]
    assert program(*command_line, BEFORE[again], "--out", out)[0] == 0
    first = {0}
    if again == "--no-resume":
        (out / "pipeline.json").unlink()
        first = None
    killed = events(out, tmp_path / "killed", *other, again)
    expected = content(out)
    assert seeds_of(out) == {1} and len(killed) > 40
    found = []
    for folder in killed:
        found.append(seeds_of(folder))
        if first and found[-1] == first:  # so do the folders of its parts
            for part in BEFORE[again].split(","):
                assert keras_tagging.load(folder / part).seed == 0
        copy = shutil.copytree(folder, tmp_path / "copy" / folder.name)
        # with the option it begins again
        code, _, err = program(*other, again, "--out", copy)
        assert code == 0 or "holds a finished pipeline" in err and found[-1] == {1}
        assert content(copy) == expected
        # without it, it goes on if it had begun
        code, _, err = program(*other, "--out", folder)
        if code == 0 or found[-1] == {1}:
            assert content(folder) == expected, folder
        elif first:
            assert "holds a finished pipeline" in err and found[-1] == first
        else:
            assert "has the training of another pipeline, with another plan" in err
    moments = [seeds for seeds, _ in itertools.groupby(found)]
    assert moments == ([first, None, {1}] if first else [None, {1}])
