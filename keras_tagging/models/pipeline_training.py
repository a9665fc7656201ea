"""Training of a pipeline: all its parts from one treebank."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import keras

from keras_tagging.architectures import PARSERS, architecture
from keras_tagging.data.label_columns import field_of, labels_of, with_labels
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.encoding.label_column import scripts_of
from keras_tagging.models.factory import build, load
from keras_tagging.models.pipeline import PARTS, Pipeline
from keras_tagging.models.report import without_nan
from keras_tagging.models.run_files import PIPELINE, STATE, is_finished
from keras_tagging.models.run_folder import train_run
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import read_object
from keras_tagging.utils.suggestions import check_known

ARCHITECTURES = {"segmenter": "segmenter", "tagger": "bigru", "parser": "ffn-parser"}
#: settings of architectures that differ from those of the recipe
SETTINGS = {
    "bigru": {"units": 200, "label_smoothing": 0.1, "unknown_rate": 0.5},
    **dict.fromkeys(PARSERS, {"encoder": "bilstm"}),
}
#: what a tagger learns of a treebank, as far as it is annotated
COLUMNS = ("upos", "xpos", "feats", "lemma")
OPTIONS = "training.json"


@dataclass(frozen=True)
class PipelinePlan:
    """The parts to train, and their settings.

    Args:
        parts: names among `PARTS`, in their order.
        settings: keywords of `build` for each part; "architecture" is its name.
        recipe: "fast" or "paper".
        seed: of all parts.

    Raises:
        ValueError: if there is no such part.
    """

    parts: tuple[str, ...] = PARTS
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    recipe: str = "fast"
    seed: int = 0

    def __post_init__(self):
        for name in (*self.parts, *self.settings):
            check_known("part of a pipeline", name, list(PARTS))
        if others := set(self.settings) - set(self.parts):
            raise ValueError(f"settings of the {min(others)}, which is not trained")
        if not self.parts:
            raise ValueError(f"parts: give some of {', '.join(PARTS)}")
        parts = tuple(name for name in PARTS if name in self.parts)
        object.__setattr__(self, "parts", parts)

    def keywords(self, part: str):
        """The settings of a part, before what follows from the treebank."""
        name, settings = self._settings(part)
        return architecture(name).settings(self.recipe, **settings)

    def build(self, part: str, **chosen):
        """The model of a part, not yet trained.

        Args:
            chosen: settings that follow from the treebank.
        """
        name, settings = self._settings(part)
        settings = {**chosen, **settings}
        return build(name, recipe=self.recipe, seed=self.seed, **settings)

    def _settings(self, part: str) -> tuple[str, dict[str, object]]:
        settings = dict(self.settings.get(part, {}))
        name = settings.pop("architecture", ARCHITECTURES[part])
        return name, {**SETTINGS.get(name, {}), **settings}


class Silent:
    """Receives the progress of `train_pipeline`, and shows nothing."""

    def begin(self, part: str, epochs: int, size: str) -> None:
        """The training of a part begins, or goes on."""

    def skip(self, part: str) -> None:
        """A part has been trained before."""

    def step(self, epoch: int, share: float) -> None:
        """A share of an epoch, counted from 0, is done."""

    def epoch(self, epoch: int, figure: str, value: float | None) -> None:
        """An epoch, counted from 1, is done; the figure that selects the best one."""


class Told(keras.callbacks.Callback):
    """Callback that tells the progress of a part.

    Args:
        progress: an object as `Silent`.
        monitor: the figure to tell.
    """

    def __init__(self, progress, monitor: str):
        super().__init__()
        self.progress, self.monitor, self.now = progress, monitor, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch
        self.progress.step(epoch, 0.0)

    def on_train_batch_end(self, batch, logs=None):
        self.progress.step(self.now, (batch + 1) / self.params["steps"])

    def on_epoch_end(self, epoch, logs=None):
        value = (logs or {}).get(self.monitor)
        value = None if value is None else float(value)
        self.progress.epoch(epoch + 1, self.monitor, value)


def train_pipeline(
    corpus: Corpus, out: Path, plan: PipelinePlan, progress=None, **fitting
) -> Pipeline:
    """Train the parts of a pipeline one after the other, and save it in a folder.

    Each part is a run in a folder of its own, `out/tagger` and so on. A killed training
    goes on there, and finished parts are not trained again. The best epoch of each part
    is that of the development sentences.

    The tagger learns UPOS, XPOS, FEATS and LEMMA, those that the treebank has. The
    parser reads the UPOS that the tagger predicts, in training too. With the setting
    ``tags="predicted"`` it has a tagger of its own, and jackknifed tags in training.

    Args:
        corpus: sentences with trees if there is a parser, with `surface` if there is a
            segmenter.
        out: the folder, which this process has locked.
        plan: the parts and their settings.
        progress: an object as `Silent`.
        **fitting: further arguments of each part's `fit`, such as `epochs`.

    Returns:
        The pipeline. Its `metadata` have the figures of `evaluate` for the development
        and test sentences as `scores`.

    Raises:
        ValueError: if the folder has the training of another pipeline, or the treebank
            lacks what a part needs.
    """
    progress = progress or Silent()
    check_options(out, corpus, plan, fitting)
    parts = {}
    for part in plan.parts:
        folder = out / part
        if is_finished(folder):
            progress.skip(part)
            parts[part] = load(folder)
            continue
        model, own = _built(part, corpus, plan, parts.get("tagger"))
        model.adapt(own.train)
        epochs = fitting.get("epochs") or model.settings.fitting.epochs
        progress.begin(part, epochs, model.size)
        train_run(
            model,
            own,
            folder,
            resume=(folder / STATE).exists(),
            tensorboard=False,
            callbacks=[Told(progress, model.default_monitor)],
            verbose=0,
            **fitting,
        )
        parts[part] = load(folder)
    pipeline = Pipeline(**parts)
    pipeline.metadata = {
        "corpus": {"name": corpus.name, "fingerprint": corpus.fingerprint()},
        "scores": {
            name: without_nan(pipeline.evaluate(sentences))
            for name, sentences in corpus.splits()
            if name != "train"
        },
    }
    pipeline.save(out)
    return pipeline


def _built(part: str, corpus: Corpus, plan: PipelinePlan, tagger):
    """The model of a part, and the corpus that it learns from."""
    if part == "tagger":
        return plan.build(part, tags=columns_to_learn(corpus.train)), corpus
    if part == "segmenter":
        return plan.build(part), corpus
    tags = _tags_to_read(plan, tagger)
    model = plan.build(part, tags=tags)
    if tagger is not None and tags in map(field_of, tagger.column_names):
        corpus = _with_predicted_tags(corpus, tags, tagger)
    return model, corpus


def columns_to_learn(sentences: list[Sentence]) -> tuple[str, ...]:
    """The columns of `COLUMNS` that all sentences have, with more than one label.

    Raises:
        ValueError: if there are none.
    """
    found = []
    for name in COLUMNS:
        rows = [labels_of(sentence, name) for sentence in sentences]
        if None in rows:
            continue
        if name == "lemma":
            rows = [scripts_of(sentence, name) for sentence in sentences]
        several = len({label for row in rows for label in row}) > 1
        if several:
            found.append(name)
    if not found:
        raise ValueError(
            f"the treebank has none of {', '.join(COLUMNS)} for a tagger: train other "
            "parts alone, --parts segmenter,parser"
        )
    return tuple(found)


def _tags_to_read(plan: PipelinePlan, tagger) -> str | None:
    """The setting `tags` of the parser: that of the user, or UPOS of the tagger."""
    has_upos = tagger is not None and "upos" in tagger.column_names
    return plan.settings.get("parser", {}).get("tags", "pos" if has_upos else None)


def _with_predicted_tags(corpus: Corpus, column: str, tagger) -> Corpus:
    """The corpus with the tags that the tagger predicts in a column."""
    [name] = [x for x in tagger.column_names if field_of(x) == column]
    found = {}
    for split, sentences in corpus.splits():
        tagged = tagger.tag([sentence.tokens for sentence in sentences])
        found[split] = [
            with_labels(sentence, {name: labels[name]})
            for sentence, labels in zip(sentences, tagged, strict=True)
        ]
    return replace(corpus, **found)


def remove_run(out: Path) -> None:
    """Remove the parts in a folder and their training, to begin again."""
    for name in PARTS:
        shutil.rmtree(out / name, ignore_errors=True)
    for name in (OPTIONS, PIPELINE):
        (out / name).unlink(missing_ok=True)


def check_options(out: Path, corpus: Corpus, plan: PipelinePlan, fitting) -> None:
    """Write what is trained into the folder; refuse a folder with anything else."""
    about = {
        "plan": json.loads(json.dumps(asdict(plan), default=str)),
        "number of epochs or the like": {
            k: v for k, v in fitting.items() if v is not None
        },
        "training corpus": Corpus(corpus.train).fingerprint(),
        "development corpus": Corpus(corpus.dev).fingerprint(),
    }
    path = out / OPTIONS
    if not path.exists():
        with replacing(path) as partial:
            partial.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        return
    before = read_object(path, "choose another folder, or remove it")
    for name, value in about.items():
        if before.get(name) != value:
            raise ValueError(
                f"{out} has the training of another pipeline, with another {name}: "
                "choose another folder, or repeat what began it"
            )
