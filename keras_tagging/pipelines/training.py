"""Training of a pipeline: all its parts from one treebank."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import keras

from keras_tagging.data.label_columns import field_of, with_labels
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.models.factory import load
from keras_tagging.models.report import without_nan
from keras_tagging.models.run_files import STATE, is_finished
from keras_tagging.models.run_folder import train_run
from keras_tagging.pipelines.pipeline import Pipeline
from keras_tagging.pipelines.plan import (
    JACKKNIFE,
    PipelinePlan,
    columns_to_read,
)
from keras_tagging.runtime.folder import PIPELINE
from keras_tagging.runtime.pipeline import PARTS
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import read_object

OPTIONS = "training.json"


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
        before: the epochs of the part that other models have had.
    """

    def __init__(self, progress, monitor: str, before: int = 0):
        super().__init__()
        self.progress, self.monitor, self.before = progress, monitor, before
        self.now = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.now = self.before + epoch
        self.progress.step(self.now, 0.0)

    def on_train_batch_end(self, batch, logs=None):
        self.progress.step(self.now, (batch + 1) / self.params["steps"])

    def on_epoch_end(self, epoch, logs=None):
        value = (logs or {}).get(self.monitor)
        value = None if value is None else float(value)
        self.progress.epoch(self.now + 1, self.monitor, value)


def train_pipeline(
    corpus: Corpus, out: Path, plan: PipelinePlan, progress=None, **fitting
) -> Pipeline:
    """Train the parts of a pipeline one after the other, and save it in a folder.

    Each part is a run in a folder of its own, `out/tagger` and so on. A killed training
    goes on there, and finished parts are not trained again. The best epoch of each part
    is that of the development sentences.

    The tagger learns UPOS, XPOS, FEATS and LEMMA, those that the treebank has. The
    parser reads the UPOS, XPOS and FEATS that it predicts, in training too. With the
    parser's setting ``folds=4`` other, smaller taggers predict them there, each for
    sentences that it has not seen (jackknifing). With ``tags="predicted"`` the parser
    has a tagger of its own.

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
    stages = plan.stages(corpus, fitting.get("epochs"))
    parts, tagged = {}, None
    for part in stages:
        finished = is_finished(out / ("parser" if part == JACKKNIFE else part))
        if finished:
            progress.skip(part)
        if part == JACKKNIFE:
            tagged = (
                None
                if finished
                else _jackknifed(corpus, out, plan, progress, stages[part])
            )
            continue
        if not finished:
            model, own = _built(part, corpus, plan, parts.get("tagger"), tagged)
            model.adapt(own.train)
            epochs = fitting.get("epochs") or model.settings.fitting.epochs
            progress.begin(part, epochs, model.size)
            _train(model, own, out / part, progress, **fitting)
        parts[part] = load(out / part)
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
    shutil.rmtree(out / JACKKNIFE, ignore_errors=True)
    return pipeline


def _train(model, corpus, folder, progress, before=0, **fitting):
    """Train a model in a folder, or go on with it there."""
    train_run(
        model,
        corpus,
        folder,
        resume=(folder / STATE).exists(),
        tensorboard=False,
        callbacks=[Told(progress, model.default_monitor, before)],
        verbose=0,
        **fitting,
    )


def _built(part: str, corpus: Corpus, plan: PipelinePlan, tagger, tagged):
    """The model of a part, and the corpus that it learns from.

    Args:
        tagged: the training sentences with jackknifed columns, if there are any.
    """
    if part == "tagger":
        return plan.build(part, tags=plan.columns(corpus)), corpus
    if part == "segmenter":
        return plan.build(part), corpus
    names = () if tagger is None else tagger.column_names
    model = plan.build(part, **columns_to_read(plan, names))
    read = [name for name in names if name and field_of(name) in model.input_columns]
    if read:
        found = {
            split: _with_predicted(sentences, read, tagger)
            for split, sentences in corpus.splits()
            if split != "train" or tagged is None
        }
        corpus = replace(corpus, **({"train": tagged} if tagged else {}), **found)
    return model, corpus


def _with_predicted(sentences: list[Sentence], names, tagger) -> list[Sentence]:
    """The sentences with what a tagger predicts in some of its columns."""
    tagged = tagger.tag([sentence.tokens for sentence in sentences])
    return [
        with_labels(sentence, {name: labels[name] for name in names})
        for sentence, labels in zip(sentences, tagged, strict=True)
    ]


def _jackknifed(corpus: Corpus, out: Path, plan, progress, epochs: int):
    """The training sentences with columns that taggers of other sentences predict.

    Each tagger is a run in a folder of its own, and learns from all folds but one.
    """
    columns, sentences = plan.jackknifed(corpus), list(corpus.train)
    order = list(range(len(sentences)))
    Random(plan.seed).shuffle(order)
    folds = plan.keywords("parser")["folds"]
    each = epochs // folds
    for fold in range(folds):
        folder = out / JACKKNIFE / str(fold + 1)
        held = order[fold::folds]
        if not is_finished(folder):
            chosen = set(held)
            rest = [s for i, s in enumerate(corpus.train) if i not in chosen]
            tagger = plan.fold_tagger(columns)
            tagger.adapt(rest)
            about = f"{tagger.size}, fold {fold + 1} of {folds}"
            progress.begin(JACKKNIFE, epochs, about)
            before = fold * each
            _train(tagger, Corpus(rest), folder, progress, before, epochs=each)
        tagger = load(folder)
        tagged = _with_predicted([sentences[i] for i in held], columns, tagger)
        for i, sentence in zip(held, tagged, strict=True):
            sentences[i] = sentence
    return sentences


def remove_run(out: Path) -> None:
    """Remove the parts in a folder and their training, to begin again."""
    for name in (*PARTS, JACKKNIFE):
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
