"""A call of `fit` of a sentence model: from its arguments to the plan of training."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from keras_tagging import training
from keras_tagging.data.sentence import Corpus, Sentence, as_sentences
from keras_tagging.models.distillation import check_text, with_text
from keras_tagging.models.fit_input import Weights, development, digest_of, held_out


@dataclass(frozen=True)
class Material:
    """The sentences that a call of `fit` learns from, after its checks.

    Args:
        sentences: the training sentences, annotated.
        dev: the development sentences, annotated; none without.
        weights: the `Weights` of all sentences given.
        teaching: the `Teaching` of a teacher, or None.
        given: with a teacher, the sentences as they were given.
        text: the `Unlabelled` text beside them, or None.
    """

    sentences: list[Sentence]
    dev: list[Sentence]
    weights: Weights
    teaching: training.Teaching | None
    given: list[Sentence]
    text: training.Unlabelled | None = None


def material(model, x, weights, teacher, text, validation_data, validation_split):
    """The `Material` of a call of `SentenceModel.fit`, whose errors it raises.

    Args:
        model: a `SentenceModel`.
        x: training sentences.
        weights: the `Weights`.
        teacher: `soft_targets`, `soft_weight` and `temperature` of `fit`.
        text: `unlabelled` of `fit`.
        validation_data, validation_split: as there.
    """
    if weights:
        model.check_weights(weights)
    if teacher[0] is not None and (weights or validation_split):
        raise ValueError(
            "soft targets are of all sentences, and weighted by soft_weight: leave "
            "class_weight, sample_weight and validation_split out"
        )
    given, teaching = x, None
    if text is not None and teacher[0] is None:
        raise ValueError(
            "unlabelled text is learnt as a teacher annotates it: give soft_targets= "
            "too, those of the teacher for the training sentences"
        )
    if teacher[0] is not None:
        model.check_pupil()
        teaching = training.Teaching(*teacher)
        if text is not None:
            check_text(text, teaching)
        given = as_sentences(x)
        x = teaching.labelled(given, model.column_names)
    sentences = model.annotated(x)
    weights.check_count(sentences)
    if validation_split and validation_data:
        raise ValueError("give validation_data or validation_split, not both")
    if validation_split:
        sentences, dev = held_out(sentences, validation_split)
    else:
        dev = model.annotated(development(validation_data, model.column_names))
    return Material(sentences, dev, weights, teaching, given, text)


def recipe(fitting, epochs, batch_size, token_budget):
    """The `FitSettings` of a model, with what a call of `fit` says instead."""
    if batch_size is not None or token_budget is not None:
        sizes = {"batch_size": batch_size, "token_budget": token_budget}
        fitting = replace(fitting, **sizes)
    return fitting if epochs is None else replace(fitting, epochs=epochs)


def planned(model, found, fitting, verbose, *, monitor, patience, resume, **options):
    """Build the network if there is none, and plan the training of a model.

    Args:
        model: a `SentenceModel`.
        found: the `Material`.
        fitting: the `FitSettings`.
        verbose, monitor, patience, resume: as in `SentenceModel.fit`.
        **options: its `restore_best`, `callbacks` and `log`.

    Returns:
        A `training.Plan`.
    """
    dev = found.dev
    training.check_schedule(model.optimizer, fitting.decay, options["callbacks"])
    if model.network is None:
        model.adapt(found.sentences)
    model.check_development(dev)
    watched = model.default_monitor if dev and monitor is None else monitor
    figures = model.figures_in_training or model.figures
    training.check_fitting(
        figures, bool(dev), fitting.decay, watched, patience, has_metrics(model)
    )

    sentences, of_tokens, batches = prepared(model, found, fitting, verbose, resume)
    if not model.optimizer.built:  # the user compiled another one after adapt
        model.optimizer.build(model.trainable_variables)

    read = {*model.input_columns, *model.column_names}
    fingerprint = Corpus(sentences).fingerprint(read)
    model.metadata.update(training_sentences=fingerprint, epochs=fitting.epochs)
    return training.Plan(
        batches=batches,
        dataset=model.dataset(batches),
        optimizer=model.optimizer,
        fitting=fitting,
        feedback=getattr(model.settings.label_options, "feedback", None),
        evaluate=model.evaluator(dev) if dev else None,
        monitor=monitor or model.default_monitor,
        lower_is_better=model.lower_is_better,
        rate_of="val_accuracy" if "accuracy" in figures else model.default_monitor,
        patience=patience,
        resume=resume,
        run={
            **model.get_config()["settings"],
            **asdict(fitting),
            "seed": model.seed,
            "monitor": monitor,
            "patience": patience,
            "training sentences": fingerprint,
            "development sentences": Corpus(dev).fingerprint(read),
            "soft targets": found.teaching and found.teaching.run,
            "unlabelled": found.text and batches.text.sha256,
            "weights": digest_of(of_tokens),
        },
        **options,
    )


def prepared(model, found, fitting, verbose, resume):
    """Prepare sentences and batches, and set what the loss of a batch depends on.

    Returns:
        The sentences with everything that the model reads, the weights of their tokens
        or None, and the batches.
    """
    columns = getattr(model, "label_columns", ())
    sentences, weights, teaching = found.sentences, found.weights, found.teaching
    of_tokens = weights.of_tokens(sentences, columns) if weights else None
    sentences = model.prepared(sentences, keep=resume, verbose=verbose)
    resumed = resume is not None and (Path(resume) / "resume.npz").exists()
    model.before_fit(sentences, resumed, verbose=verbose in (1, 2, "auto"))
    batches = model.batches(sentences, fitting)
    if teaching:
        model.taught(batches, teaching, found.given)
        set_in_loss(model, "soft_share", (teaching.weight, teaching.temperature))
    if found.text is not None:
        batches = with_text(model, batches, teaching, found.text)
    if of_tokens is not None:
        if fitting.batch_size == 1 and fitting.token_budget is None:
            weights.check_single()
        batches.weigh(of_tokens)
    set_in_loss(model, "weighted", of_tokens is not None)
    if not len(batches):
        raise ValueError("no training sentence has a token: nothing to learn from")
    # the penalty of a batch, for training on so many tokens an epoch
    set_in_loss(model, "_penalty", fitting.l2 / 2 / batches.num_targets)
    return sentences, of_tokens, batches


def has_metrics(model) -> bool:
    """Whether training computes figures on the training sentences."""
    return bool(model.objectives().get("weighted_metrics"))


def set_in_loss(model, name, value):
    """Set a number, or some, of the loss of a batch."""
    if getattr(model, name) != value:
        setattr(model, name, value)
        model.train_function = None  # it was compiled with the old one
