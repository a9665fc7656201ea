"""Training of a pipeline: all its parts from one treebank."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import keras

from keras_tagging.data.sentence import Corpus
from keras_tagging.models.files.loading import load
from keras_tagging.models.files.run_folder import STATE, is_finished, tidy, train_run
from keras_tagging.models.report import without_nan
from keras_tagging.pipelines.any_model import load as load_any
from keras_tagging.pipelines.pipeline import Pipeline, end_run, start_run
from keras_tagging.pipelines.plan import PipelinePlan, weights_of


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

    def scores(self, split: str, scores: Mapping) -> None:
        """The whole pipeline was measured on a split: see `Pipeline.scores`."""


class ProgressCallback(keras.callbacks.Callback):
    """Callback that reports the progress of a part.

    Args:
        progress: an object as `Silent`.
        monitor: the figure to report.
    """

    def __init__(self, progress, monitor: str):
        super().__init__()
        self.progress, self.monitor, self.now = progress, monitor, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch
        self.progress.step(self.now, 0.0)

    def on_train_batch_end(self, batch, logs=None):
        self.progress.step(self.now, (batch + 1) / self.params["steps"])

    def on_epoch_end(self, epoch, logs=None):
        value = (logs or {}).get(self.monitor)
        value = None if value is None else float(value)
        self.progress.epoch(self.now + 1, self.monitor, value)


def train_pipeline(
    corpus: Corpus,
    out: Path,
    plan: PipelinePlan,
    progress=None,
    again: bool = False,
    segmenter: str | Path | None = None,
    **fitting,
) -> Pipeline:
    """Train the parts of a pipeline one after the other, and save it in a folder.

    Each part is a run in a folder of its own, `out/parser` and so on. A killed training
    goes on there, and finished parts are not trained again. The best epoch of each part
    is that of the development sentences.

    The parser, or a tagger where there are no trees, learns UPOS, XPOS, FEATS, LEMMA
    and entities too, those that the treebank has: `corpora.entities.add_entities` makes
    the column `ner`. A CCG parser learns from sentences with derivations.

    Args:
        corpus: sentences with trees if there is a parser, with `surface` if there is a
            segmenter.
        out: the folder, which this process has locked.
        plan: the parts and their settings.
        progress: an object as `Silent`.
        again: whether to begin again in a folder with a training. A pipeline that is
            there stays, with the folders of its parts, until the new one is saved.
        segmenter: a model, by name or path, whose segmenter becomes that of the
            pipeline: for a corpus that has no text to learn from.
        **fitting: further arguments of each part's `fit`, such as `epochs`.

    Returns:
        The pipeline. Its `metadata` have the figures of `evaluate` for the development
        and test sentences as `scores`.

    Raises:
        ValueError: if the folder has the training of another pipeline, or the treebank
            lacks what a part needs.
    """
    progress = progress or Silent()
    stages = plan.stages(corpus, fitting.get("epochs"))
    if again:  # nothing is removed for a training that cannot begin
        for part in plan.parts:
            plan.build(part)
    about = _about(corpus, plan, fitting)
    about["segmenter"] = None if segmenter is None else str(segmenter)
    parts = {}
    if segmenter is not None:
        parts["segmenter"] = segmenter_of(segmenter, plan)
    end = start_run(out, about, again)
    for part in stages:
        folder = out / f"{part}{end}"
        if is_finished(folder):
            progress.skip(part)
            tidy(folder)
        else:
            model = _built(part, corpus, plan)
            model.adapt(corpus.train)
            epochs = fitting.get("epochs") or model.settings.fitting.epochs
            progress.begin(part, epochs, model.size)
            train_run(
                model,
                corpus,
                folder,
                resume=(folder / STATE).exists(),
                tensorboard=False,
                callbacks=[ProgressCallback(progress, model.default_monitor)],
                verbose=0,
                **fitting,
            )
        parts[part] = load(folder)
    pipeline = Pipeline(**parts)
    about = {"name": corpus.name, "fingerprint": corpus.fingerprint()}
    if corpus.language:
        about["language"] = corpus.language
    pipeline.metadata = {"corpus": about, "scores": {}}
    for name, sentences in corpus.splits():
        if name != "train":
            scores = pipeline.scores(sentences)
            progress.scores(name, scores)
            figures = {key: counts.f1 for key, counts in scores.items()}
            pipeline.metadata["scores"][name] = without_nan(figures)
    pipeline.save(out)
    end_run(out)
    return pipeline


def segmenter_of(source: str | Path, plan: PipelinePlan):
    """The segmenter of a trained model, for a plan that trains none.

    Raises:
        ValueError: if the model has none with weights, or the plan trains one.
    """
    if "segmenter" in plan.parts:
        raise ValueError("leave the part segmenter out: another model's is taken")
    model = load_any(source)
    if model.kind != "segmenter":  # a pipeline may have one
        model = getattr(model, "segmenter", None)
    if not hasattr(model, "save"):
        raise ValueError(f"{source} has no segmenter that can be saved, as en has")
    return model


def _about(corpus: Corpus, plan: PipelinePlan, fitting) -> dict:
    """The settings and corpora that identify a training."""
    about = asdict(plan)
    if not plan.words:  # as before there were any
        del about["words"]
    chosen = {k: v for k, v in fitting.items() if v is not None}
    return {
        "plan": about,
        "number of epochs or the like": chosen,
        "training corpus": Corpus(corpus.train).fingerprint(),
        "development corpus": Corpus(corpus.dev).fingerprint(),
    }


def _built(part: str, corpus: Corpus, plan: PipelinePlan):
    """The model of a part, which is not adapted."""
    chosen = {"epochs": plan.epochs(part, corpus)}
    if part in ("tagger", "parser"):
        chosen["tags"] = columns = plan.columns(part, corpus)
        chosen["tag_weights"] = weights_of(columns) if part == "parser" else None
    return plan.build(part, **chosen)
