"""The command that trains: train."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging import kinds
from keras_tagging.architectures import architecture
from keras_tagging.cli.loading import holds_derivations, kinds_reading
from keras_tagging.cli.options import ConfigFile, Entities, Pairs, Recipe, pairs, refuse
from keras_tagging.cli.output import figures, progress, show, summary
from keras_tagging.cli.progress import PipelineProgress, epoch_bars
from keras_tagging.cli.training_options import (
    LANGUAGE,
    SINGLE,
    Data,
    Distillation,
    Fitting,
    Start,
    check_plan,
    check_values,
    parts_of,
    settings_by_part,
    words_line,
)
from keras_tagging.corpora.problems import refuse_one_label
from keras_tagging.models.files.run_folder import (
    METADATA,
    MODEL,
    can_go_on,
    is_finished,
    lock_run,
    tidy,
)
from keras_tagging.pipelines import pipeline as pipeline_files
from keras_tagging.pipelines.any_model import refuse_no_model
from keras_tagging.pipelines.plan import PipelinePlan, columns_to_learn
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.startup import start_program
from keras_tagging.vectors.named import TRAINABLE, LanguageWords, words_of_run


def train(
    context: typer.Context,
    arch: Annotated[str, typer.Argument()],
    out: Annotated[Path, typer.Option(metavar="DIR")],
    source: Data,
    *,
    config: ConfigFile = None,
    recipe: Recipe = "fast",
    settings: Pairs = None,
    parts: str | None = None,
    entities: Entities = None,
    segmenter: str | None = None,
    start: Start,
    distillation: Distillation,
    fitting: Fitting,
) -> None:
    """Train a model and keep its best epoch on the development sentences.

    The command writes model.keras, metadata.json and training.csv into DIR. After a
    kill, the same command continues with the first unfinished epoch; until the end,
    best.keras is the best model so far.

    `train pipeline` trains a segmenter and a parser, which also tags, from one treebank
    in CoNLL-U, each in a folder of its own below DIR, and makes DIR a pipeline for
    `annotate`. Settings name their part: --set parser.units=200. With --entities the
    parser finds named entities, too. From CCG derivations (.auto) it trains the part
    `ccg-parser`.

    Examples:
        keras-tagging train bigru --corpus demo --out runs/demo --epochs 5
        keras-tagging train bigru --corpus my.conll --dev-share 0.1 --out runs/my --set
            units=200
        keras-tagging train bigru --corpus ud-en-ewt --out runs/all --tags
            upos,xpos,feats
        keras-tagging train bigru --corpus my.conll --out runs/tuned --init runs/demo
        keras-tagging train bigru --corpus my.conll --out runs/student --teacher
            runs/ensemble --unlabelled news.txt
        keras-tagging train biaffine-parser --corpus ud-en-ewt --out runs/parser
        keras-tagging train segmenter --corpus ud-en-ewt --out runs/segmenter
        keras-tagging train pipeline --corpus ud-en-ewt --out runs/en --set
            parser.epochs=5
        keras-tagging train pipeline --corpus ud-en-ewt --entities uner/ --out runs/en
        keras-tagging train pipeline --corpus ewt-ccg/ --segmenter en --out runs/ccg
        keras-tagging train --config run.toml

    Args:
        arch: A name that `list` shows, or 'pipeline'.
        out: Where to write.
        settings: A keyword that `list ARCH` shows; or language=en, for the word vectors
            and word classes that are installed for English. --recipe best takes those
            of the corpus' language by itself, unless you give language= without a name.
        parts: Of a pipeline, by default segmenter,parser. The part tagger is for a
            treebank without trees, segmenter,tagger; of a corpus of derivations the
            parts are ccg-parser, or ccg-shift-reduce, and tagger.
        segmenter: Of a pipeline, a model whose segmenter it gets, for a corpus that has
            no text to learn from.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file: --out is a folder")
    context.with_resource(lock_run(out))
    of_file = (context.default_map or {}).get("settings", [])
    settings = [*of_file, *(settings or [])]
    if arch == "pipeline":
        refuse(SINGLE, vars(start) | vars(distillation))
        chosen = (parts, entities, segmenter)
        train_pipeline(out, source, chosen, recipe, settings, fitting)
    else:
        of_pipelines = {"parts": parts, "entities": entities, "segmenter": segmenter}
        refuse(f"{arch} is a single model, and has no", of_pipelines)
        train_model(arch, out, source, recipe, settings, start, distillation, fitting)


def train_model(
    arch: str,
    out: Path,
    source: Data,
    recipe: str,
    settings: list[str] | None,
    start: Start,
    distillation: Distillation,
    fitting: Fitting,
) -> None:
    """Train a single model in a folder, or go on with it, and print its figures."""
    going_on = fitting.resume and can_go_on(out, fitting.force)
    if (out / MODEL).exists() and not fitting.force and not going_on:
        finish(out)
        return
    kind = kinds.find(architecture(arch).kind)
    start.check(arch, kind, recipe)
    distillation.check(arch, kind)
    chosen = pairs("--set", settings) | start.settings(kind)
    architecture(arch).check_keywords(chosen, language=True)
    language = chosen.pop(LANGUAGE, None)
    if start.init or start.bootstrap:
        another = "the model to start from has its own words: there is no"
        refuse(another, {"set language": language})
    for run in filter(None, (start.init, start.bootstrap, distillation.teacher)):
        refuse_no_model(find_model(run))
    if start.init is None and not going_on:
        check_values(arch, recipe, language, chosen)
    data = source.load(fitting.seed, **kind.reading)
    tagged = all(sentence.tags is not None for sentence in data.train)
    if kind.learns == "tags" and tagged and not chosen.get("tags"):
        refuse_one_label(data.train)
    if kind == kinds.BIAFFINE_PARSER and start.init is None and "tags" not in chosen:
        usual = architecture(arch).settings(recipe)["tags"]
        annotated = columns_to_learn(data.train)
        chosen["tags"] = tuple(name for name in usual if name in annotated)
    start_program()
    from keras_tagging.models.files.run_folder import take_folds, train_run
    from keras_tagging.training import share_batches

    if fitting.devices is not None:
        share_batches(fitting.devices)

    other, teacher = start.other(arch), distillation.load(kind)
    words = LanguageWords()
    if other is None:
        words = words_of_run(out, going_on, recipe, language, data.language)
    keywords = architecture(arch).keywords
    taken = words.settings(keywords, chosen)
    frozen = words.frozen(recipe, keywords, chosen)
    chosen |= taken | frozen
    model, lines = start.model(other, arch, data, recipe, fitting.seed, chosen)
    if taken:
        model.metadata["words"] = words.about(taken)
        trains = f"--set {TRAINABLE}=True" if frozen else None
        lines.append(words_line(words, taken, trains))
    if teacher is not None:
        lines += [str(teacher), *teacher.check(model)]
    if start.bootstrap is not None:
        take_folds(start.bootstrap, out)
    show(*lines, summary(data))
    settings_of = f"{recipe} recipe" if start.init is None else "fine-tuned"
    show(f"{arch}, {settings_of}, seed {fitting.seed}: {model.size}")
    if not data.dev:
        show("No development sentences (see --dev-share): the last epoch is kept")
    if going_on:
        show(f"Continuing the run in {out} (--no-resume starts again)")
    with epoch_bars() as callbacks:
        scores = train_run(
            model,
            data,
            out,
            resume=going_on,
            tensorboard=fitting.tensorboard,
            monitor=fitting.monitor,
            verbose=progress(),
            callbacks=callbacks,
            teacher=teacher,
            epochs=fitting.epochs,
            patience=fitting.patience,
        )
    trees = model.metadata.get("nonprojective", {})
    if count := trees.get("sentences"):
        show(f"{count:,} training sentences are not projective: {trees['treatment']}")
    if scores:
        show(f"\n{figures(scores, model.lower_is_better)}")
    show(f"\nWritten to {out}. Next:")
    if unseen := source.unseen(data):
        reading = source.reading
        parts = [f"--option {shlex.quote(pair)}" for pair in reading.option or ()]
        parts += [f"--format {reading.format}"] * bool(reading.format)
        show(" ".join([f"  keras-tagging evaluate {out} --corpus {unseen}", *parts]))
    show(f"  keras-tagging {kind.command} {out} FILE")
    if model.gives_spans:
        show(f"  keras-tagging annotate {out} FILE --output spans")


def train_pipeline(
    out: Path,
    source: Data,
    chosen: tuple[str | None, str | None, str | None],
    recipe: str,
    settings: list[str] | None,
    fitting: Fitting,
) -> None:
    """Train the parts of a pipeline in a folder, and print its figures from text.

    Args:
        chosen: `parts`, `entities` and `segmenter` of the command.
    """
    parts, entities, segmenter = chosen
    single = ("monitor", "tensorboard", "devices")
    refuse(SINGLE, {name: getattr(fitting, name) for name in single})
    if pipeline_files.is_finished(out) and not fitting.force:
        pipeline_files.end_run(out)
        raise ValueError(
            f"{out} holds a finished pipeline: choose another --out, or give --force"
        )
    values = pairs("--set", settings)
    language = values.pop(LANGUAGE, None)
    by_part = settings_by_part(values)
    derived = holds_derivations(source.corpus, source.reading.format)
    plan = PipelinePlan(
        parts_of(parts, segmenter, derived),
        settings=by_part,
        recipe=recipe,
        seed=fitting.seed,
    )
    again = fitting.force or not fitting.resume
    going_on = not again and (out / pipeline_files.TRAINING).exists()
    if not going_on:
        check_plan(plan, language)
    wanted = kinds_reading(plan.parts) | {"default": None if derived else "conllu"}
    if segmenter and not derived:  # the figures are those of the text
        wanted["surfaces"] = True
    data = source.load(fitting.seed, entities, **wanted)
    start_program()
    from keras_tagging import pipelines

    words = words_of_run(out, going_on, recipe, language, data.language)
    plan = replace(plan, words=words)
    show(summary(data))
    if taken := plan.taken():
        trains = [f"--set {part}.{TRAINABLE}=True" for part in plan.frozen()]
        show(words_line(words, taken, " ".join(trains) or None))
    if not data.dev:
        show("No development sentences (see --dev-share): the last epochs are kept")
    with PipelineProgress(plan.stages(data, fitting.epochs)) as bars:
        options = {"epochs": fitting.epochs, "patience": fitting.patience}
        options |= {"again": again, "segmenter": segmenter}
        pipelines.train_pipeline(data, out, plan, bars, **options)
    show(f"\nWritten to {out}. Next:\n  keras-tagging annotate {out} FILE")


def finish(out: Path) -> None:
    """Write the metadata that a finished model lacks.

    Raises:
        ValueError: if it has them, as it would be replaced.
    """
    if is_finished(out):
        tidy(out)
        raise ValueError(
            f"{out} holds a finished model: choose another --out, or give --force"
        )
    start_program()
    from keras_tagging.models.files.loading import complete

    complete(out)
    tidy(out)
    show(f"{out} holds a finished model; wrote its missing {METADATA}")
