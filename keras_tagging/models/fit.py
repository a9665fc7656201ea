"""`fit` of sentence models: from sentences to epochs."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_tagging import training
from keras_tagging.data.named_columns import annotated, with_targets
from keras_tagging.data.sentence import (
    Corpus,
    Labels,
    Sentence,
    Sentences,
    as_sentences,
)
from keras_tagging.encoding.batching import TrainingBatches
from keras_tagging.models.calls import SentenceCalls, of_any_size
from keras_tagging.models.distillation import Distillation, SoftTargets
from keras_tagging.training.callbacks import (
    AveragedWeights,
    EpochOrder,
    FeedbackShare,
    HalvingDecay,
    TrainingLog,
    Validation,
    WarmupStableDecay,
    mode_of,
)
from keras_tagging.training.resume import Resume
from keras_tagging.utils.checks import check_known


class TrainedOnSentences(SentenceCalls):
    """A model whose `fit` takes sentences."""

    def fit(
        self,
        x: Sentences,
        y: Labels = None,
        *,
        validation_data: Sentences | tuple[Sentences, Labels] | None = None,
        validation_split: float = 0.0,
        class_weight: Mapping[str, float] | None = None,
        sample_weight: Sequence[float | Sequence[float]] | np.ndarray | None = None,
        soft_targets: SoftTargets | None = None,
        soft_weight: float = 0.5,
        temperature: float = 1.0,
        epochs: int | None = None,
        batch_size: int | None = None,
        token_budget: int | None = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        verbose: int | str = "auto",
        monitor: str | None = None,
        patience: int | None = None,
        restore_best: bool = True,
        log: str | Path | None = None,
        resume: str | Path | None = None,
    ) -> keras.callbacks.History:
        """Train on sentences. The first call counts the vocabularies.

        Args:
            x: training sentences with gold tags, or gold trees; or lists of words.
            y: for lists of words their tags, a list of strings each; where a model
                learns columns, a dict of such lists by their names. By default the
                annotation is in the sentences.
            validation_data: development sentences, annotated too, or `(x, y)`.
            validation_split: the share of the sentences that are held out for
                development, the last ones, in the place of `validation_data`.
            class_weight: for taggers of one column, a dict from labels to numbers by
                which their tokens count; 1 for other labels.
            sample_weight: a number for each sentence; for taggers also a list for each,
                a number a token. The loss of a batch is the weighted mean, so weights
                compare the tokens of a batch: in batches of one sentence those of
                sentences would have no effect, and are refused. A CRF's terms are those
                of :class:`keras_tagging.layers.CRFLoss`. A token of weight 0 counts as
                one whose tag is unknown. Figures on development sentences have no
                weights.
            soft_targets: for taggers and biaffine parsers, the `SoftTargets` of a
                teacher for these sentences, which then need no gold tags or trees.
                Where they have no tags, the figures of training compare with the
                teacher's best ones.
            soft_weight: the share of the soft targets in the loss, from 0 to 1; the
                rest is of the gold tags.
            temperature: of the softened distributions of teacher and student: above 1,
                improbable tags count more. See `training.soft_cross_entropy`.
            epochs, batch_size, token_budget: by default those of the recipe.
            callbacks: Keras callbacks; their logs have the figures of `evaluate` on the
                development sentences as `val_accuracy` and so on.
            verbose: 0, 1 (progress bar), 2 (a line an epoch) or "auto".
            monitor: the figure that selects the best epoch; by default
                `default_monitor`.
            patience: stop after this many epochs without improvement.
            restore_best: whether to end with the weights of the best development
                epoch, as the papers do; of epochs that are equally good, the first, as
                Keras has it.
            log: a CSV file for the figures of all epochs.
            resume: a folder for the state of the run after every epoch. If it has one
                already, training continues from there, exactly as if it had never been
                interrupted.

        Returns:
            A `keras.callbacks.History` of all epochs, resumed ones included.

        Raises:
            ValueError: if the annotation is missing, no label of the development
                sentences is known, `resume` has another run, or the model cannot learn
                from soft targets, or from these; and for weights that do not fit.
        """
        fitting = self.settings.fitting
        if batch_size is not None or token_budget is not None:
            fitting = replace(fitting, batch_size=batch_size, token_budget=token_budget)
        if epochs is not None:
            fitting = replace(fitting, epochs=epochs)

        # sentences
        x = with_targets(x, y, self.column_names)
        weighted, distillation = sample_weight is not None or class_weight, None
        if soft_targets is not None:
            if weighted or validation_split:
                raise ValueError("soft targets go without weights and validation_split")
            self.check_student()
            distillation = Distillation(soft_targets, soft_weight, temperature)
            unannotated = as_sentences(x)
            x = distillation.labelled(unannotated, self.learnt_columns)
        sentences = self.annotated(x)
        if sample_weight is not None and len(sample_weight) != len(sentences):
            raise ValueError("sample_weight has a number, or a list, for each sentence")
        if validation_split and not validation_data:
            sentences, dev = held_out(sentences, validation_split)
        else:
            dev = self.annotated(development(validation_data, self.column_names))

        # network
        if self.network is None:
            self.adapt(sentences)
        if not self.optimizer.built:  # the user compiled another one after adapt
            self.optimizer.build(self.trainable_variables)
        self.check_development(dev)
        figures = self.figures_in_training or self.figures
        watches = patience is not None or monitor or fitting.decay == "halve"
        if watches and not dev:
            raise ValueError("monitor, patience and decay='halve' need validation_data")
        watched = monitor or self.default_monitor
        if dev:
            possible = [*(f"val_{name}" for name in figures), "loss"]
            if self.objectives().get("weighted_metrics"):
                possible += ["accuracy", "cross_entropy"]
            check_known("monitor", watched, possible)

        # batches
        of_tokens = None
        if weighted:
            of_tokens = self.token_weights(sentences, sample_weight, class_weight or {})
        if of_tokens and fitting.batch_size == 1 and fitting.token_budget is None:
            of_sentences = [{*part.tolist()} - {0.0} for part in of_tokens]
            if max(map(len, of_sentences)) < 2 <= len(set().union(*of_sentences)):
                raise ValueError(
                    "sample_weight has no effect in batches of one sentence: give "
                    "batch_size= or token_budget="
                )
        state = resume and Path(resume) / "resume.npz"
        resumed = bool(state) and state.exists()
        sentences = self.prepared(sentences, resume, resumed, verbose)
        batches = self.batches(sentences, fitting)
        if distillation:
            self.distil(batches, distillation, unannotated)
            share = distillation.weight, distillation.temperature
            self._set_in_loss("soft_share", share)
        if of_tokens is not None:
            batches.weigh(of_tokens)
        self._set_in_loss("weighted", of_tokens is not None)
        if not len(batches):
            raise ValueError("no training sentence has a token: nothing to learn from")
        # the penalty of a batch, for training on so many tokens an epoch
        self._set_in_loss("_penalty", fitting.l2 / 2 / batches.num_targets)

        # callbacks: the user's between those that must run before and after them
        # under mixed_float16 Keras wraps the optimizer
        optimizer = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        rate = float(keras.ops.convert_to_numpy(self.optimizer.learning_rate))
        table = TrainingLog(log)
        first, last = [EpochOrder(batches)], [table]
        feedback = getattr(self.settings.label_options, "feedback", None)
        scheduled = isinstance(feedback, tuple)
        if scheduled:
            first.insert(0, FeedbackShare(*feedback, fitting.epochs))
        falls = fitting.decay in ("linear", "warmup-stable-decay")
        if falls:
            plateau = keras.callbacks.ReduceLROnPlateau  # it would have no effect
            if any(isinstance(x, plateau) for x in keras.tree.flatten(callbacks or [])):
                raise ValueError("ReduceLROnPlateau needs build(..., decay=None)")

            def falling(epoch, _):
                return rate * (1 - epoch / fitting.epochs)

            by_epoch = keras.callbacks.LearningRateScheduler(falling)
            by_batch = WarmupStableDecay(rate, len(batches), fitting.epochs)
            first.append(by_epoch if fitting.decay == "linear" else by_batch)
        if optimizer.use_ema:
            # the averages of a short training forget the first weights, too
            most = self.settings.optimizer.weight_average or optimizer.ema_momentum
            steps = len(batches) * fitting.epochs
            optimizer.ema_momentum = min(most, steps / (steps + 10))
            averaged = AveragedWeights()
            first.append(averaged)
        if dev:
            mode = mode_of(watched, self.lower_is_better)
            first.append(Validation(self.evaluator(dev), watched, mode))
            best = keras.callbacks.EarlyStopping(
                watched,
                mode=mode,
                patience=math.inf if patience is None else patience,
                restore_best_weights=restore_best,
            )
            last.insert(0, best)
        if fitting.decay == "halve":  # after the log, which has the rate of the epoch
            rate_of = "val_accuracy" if "accuracy" in figures else self.default_monitor
            last.append(HalvingDecay(rate_of))
        if optimizer.use_ema:
            last.append(averaged.trained)
        callbacks = [*first, *keras.tree.flatten(callbacks or []), *last]

        # resuming
        read = {*self.input_columns, *self.column_names}
        fingerprint, digest = Corpus(sentences).fingerprint(read), None
        if of_tokens:
            digest = hashlib.sha256(np.concatenate(of_tokens).astype("<f4")).hexdigest()
        self.metadata.update(training_sentences=fingerprint, epochs=fitting.epochs)
        run = {
            **self.get_config()["settings"],
            **asdict(fitting),
            "seed": self.seed,
            "monitor": monitor,
            "patience": patience,
            "training sentences": fingerprint,
            "development sentences": Corpus(dev).fingerprint(read),
            "soft targets": distillation and distillation.run,
            "weights": digest,
        }
        initial_epoch = 0
        if state:
            # the number of epochs matters only to decay: without it, it may grow
            same = {"epochs": fitting.epochs if falls or scheduled else None}
            same["optimizer class"] = type(optimizer).__name__
            saved = Resume(state, callbacks, run | same)
            initial_epoch = fitting.epochs
            if not saved.finished:
                initial_epoch = min(saved.epoch, fitting.epochs)
            callbacks.append(saved)
        training.check_alike({**run, "first epoch": initial_epoch})

        # epochs
        try:
            history = super().fit(
                self.dataset(batches),
                epochs=fitting.epochs,
                initial_epoch=initial_epoch,
                callbacks=callbacks,
                verbose=verbose,
                shuffle=False,  # the batches are shuffled already
            )
        finally:
            if fitting.decay:  # otherwise another fit would start where this one ended
                self.optimizer.learning_rate = rate
        rows = table.rows
        names = dict.fromkeys(x for row in rows for x in row if x != "epoch")
        history.epoch = [row["epoch"] - 1 for row in rows]
        history.history = {name: [row.get(name) for row in rows] for name in names}
        return history

    def _set_in_loss(self, name, value):
        """Set a number, or some, of the loss of a batch."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.train_function = None  # it was compiled with the old one

    # Each kind of models does this in its own way

    def annotated(self, sentences: Sentences) -> list[Sentence]:
        """The sentences, after a check that they have the columns to learn."""
        return annotated(sentences, self.column_names)

    def batches(self, sentences, fitting):
        """The batches of training."""
        names = self.features.names
        return TrainingBatches(
            self.encode(sentences, targets=True),
            word_column=names.index("word") if "word" in names else None,
            **self.batching(fitting),
        )

    def batching(self, fitting) -> dict[str, object]:
        """The keywords that all kinds of batches have."""
        names = ("batch_size", "token_budget", "unknown_rate", "word_dropout")
        names += ("embedding_dropout",)
        devices = training.devices_of_batches()
        shapes = {"multiple": self.length_multiple, "devices": devices}
        chosen = {name: getattr(fitting, name) for name in names}
        return {"seed": self.seed, **shapes, **chosen}

    def dataset(self, batches):
        """The batches as a `tf.data.Dataset`, for any backend; one pass is one epoch.

        Of several processes that share batches, each reads the rows of its devices.
        """

        def rows():
            for batch in batches:
                yield tf.nest.map_structure(training.own_rows, batch)

        signature = tf.nest.map_structure(of_any_size, next(iter(batches)))
        data = tf.data.Dataset.from_generator(rows, output_signature=signature)
        size = tf.data.experimental.assert_cardinality(len(batches))
        return data.apply(size).prefetch(2)

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        """The loss of a batch; with `l2`, and a share of the penalty of an epoch."""
        if isinstance(y, dict) and not self.soft_share[0]:
            y = y["gold"]  # to the last bit as without a teacher
        loss = self.batch_loss(super().compute_loss, y, y_pred, sample_weight)
        return self.penalised(loss, sample_weight)

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """The loss of a batch: by default the compiled one.

        Args:
            compiled: Keras' own `compute_loss`.
            y, y_pred, sample_weight: as there.
        """
        return compiled(None, y, y_pred, sample_weight)

    def prepared(self, sentences, keep, resumed, verbose):
        """The training sentences with everything that the model reads.

        Args:
            keep: a folder that keeps finished work for a resumed run, or None.
            resumed: whether it has a run already, which goes on.
            verbose: as in `fit`; above 0, progress is printed.
        """
        return sentences

    def check_development(self, sentences):
        """Raise a ValueError if development sentences have no label of training."""

    def token_weights(self, sentences, sample_weight, class_weight):
        """The weights of all tokens: see `weights_of_tokens`.

        Raises:
            ValueError: if the model cannot learn with these, or they do not fit.
        """
        raise ValueError(f"a {self.kind} takes no class_weight and no sample_weight")

    @property
    def learnt_columns(self) -> tuple[str | None, ...]:
        """The columns of sentences that it learns from soft targets."""
        return self.column_names

    def check_student(self):
        """Raise a ValueError if the model cannot learn from soft targets.

        One that can has `distil` too: see `Tagger`.
        """
        raise ValueError(f"a {self.kind} learns from no soft targets")

    def penalised(self, loss, sample_weight):
        """The loss of a batch, plus its share of the penalty of an epoch."""
        if not self._penalty:
            return loss
        size = sum(ops.sum(ops.square(v)) for v in self.trainable_variables)
        return loss + self._penalty * ops.sum(sample_weight) * size


# The arguments of fit


def development(validation_data, names):
    """Development sentences, also as Keras' pair of sentences and targets."""
    pair = isinstance(validation_data, tuple) and len(validation_data) == 2
    if pair and not _is_sentence(validation_data[0]):
        return with_targets(*validation_data, names)
    return with_targets(validation_data or [], None, names)


def _is_sentence(x) -> bool:
    words = isinstance(x, list | tuple) and bool(x) and isinstance(x[0], str)
    return words or isinstance(x, Sentence)


def held_out(sentences, share: float) -> tuple[list[Sentence], list[Sentence]]:
    """The first sentences, and the last ones, of which there are this share.

    Raises:
        ValueError: unless 0 < share < 1.
    """
    if not 0 < share < 1:
        raise ValueError(f"validation_split={share!r}: give a share, such as 0.1")
    first = int(len(sentences) * (1 - share))  # as Keras counts
    return sentences[:first], sentences[first:]


def weights_of_tokens(
    sentences, sample_weight=None, class_weight=(), column=None
) -> list[np.ndarray] | None:
    """How much each token counts in the loss: for each sentence `(tokens,)` float32.

    Args:
        sentences: with gold labels. There may be more weights of sentences: those of
            the sentences that were held out.
        sample_weight: a number for each sentence, or a list of numbers for each, one a
            token; None for 1.
        class_weight: dict from labels to numbers; others have 1. Both are multiplied.
        column: the `LabelColumn` of the classes.

    Returns:
        None if all weights are 1.

    Raises:
        ValueError: if the weights do not fit the sentences, or are negative, or a class
            is unknown.
    """
    parts = [np.ones(len(sentence), "float32") for sentence in sentences]
    samples = () if sample_weight is None else sample_weight
    for part, sample in zip(parts, samples, strict=False):
        part *= np.asarray(sample, "float32")
    if class_weight:
        for label in class_weight:
            check_known("label in class_weight", label, column.labels)
        for part, labels in zip(parts, column.learnt(sentences), strict=True):
            part *= [class_weight.get(label, 1.0) for label in labels]
    for i, part in enumerate(parts, 1):
        if not (np.isfinite(part) & (part >= 0)).all():
            raise ValueError(f"weights of sentence {i}, {part}: give numbers from 0 on")
    return None if all((part == 1).all() for part in parts) else parts
