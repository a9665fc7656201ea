"""The command that trains: train."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging import kinds
from keras_tagging.architectures import architecture
from keras_tagging.cli.checks import LANGUAGE, check_names, check_there, check_values
from keras_tagging.cli.config import ConfigFile, also
from keras_tagging.cli.fitting import SINGLE, Data, Fitting, told
from keras_tagging.cli.options import (
    Entities,
    Pairs,
    Recipe,
    pairs,
    refuse,
)
from keras_tagging.cli.output import (
    figures,
    next_commands,
    progress,
    summary,
    untrainable,
)
from keras_tagging.cli.progress import epoch_bars
from keras_tagging.cli.start import Start
from keras_tagging.cli.talk import say
from keras_tagging.cli.teaching import Lessons
from keras_tagging.corpora.labels import refuse_one_label
from keras_tagging.models.files.run_files import (
    METADATA,
    MODEL,
    can_go_on,
    is_finished,
    lock_run,
    tidy,
)
from keras_tagging.utils.startup import start_program
from keras_tagging.vectors.languages import TRAINABLE, LanguageWords, words_of_run


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
    lessons: Lessons,
    fitting: Fitting,
) -> None:
    """Train a model and keep its best epoch on the development sentences.

    The command writes model.keras, metadata.json and training.csv into DIR. After a
    kill, the same command continues with the first unfinished epoch; until the end,
    best.keras is the best model so far.

    `train pipeline` trains a segmenter, a tagger and a parser from one treebank in
    CoNLL-U, each in a folder of its own below DIR, and makes DIR a pipeline for
    `annotate`. Settings name their part: --set tagger.units=200. With --entities it
    has a tagger of named entities too, the part `entities`. From CCG derivations
    (.auto) it trains the part `ccg-parser`.

    Examples:
        keras-tagging train bigru --corpus demo --out runs/demo --epochs 5
        keras-tagging train bigru --corpus my.conll --dev-share 0.1 --out runs/my --set
            units=200
        keras-tagging train bigru --corpus ud-en-ewt --out runs/all --tags
            upos,xpos,feats
        keras-tagging train bigru --corpus my.conll --out runs/tuned --init runs/demo
        keras-tagging train bigru --corpus my.conll --out runs/pupil --teacher
            runs/ensemble --unlabelled news.txt
        keras-tagging train lstm-parser --corpus ud-en-ewt --out runs/parser
        keras-tagging train segmenter --corpus ud-en-ewt --out runs/segmenter
        keras-tagging train pipeline --corpus ud-en-ewt --out runs/en --set
            tagger.epochs=5
        keras-tagging train pipeline --corpus ud-en-ewt --entities uner/ --out runs/en
        keras-tagging train pipeline --corpus ewt-ccg/ --segmenter en --out runs/ccg
        keras-tagging train --config run.toml

    Args:
        arch: A name that `list` shows, or 'pipeline'.
        out: Where to write.
        settings: A keyword that `list ARCH` shows; or language=en, for the word vectors
            and word classes that are installed for it. With --recipe best, that is the
            language of the corpus; language= stands for none.
        parts: Of a pipeline, some of segmenter,tagger,parser; by default all. Of a
            corpus of derivations ccg-parser, or ccg-shift-reduce; and tagger.
        segmenter: Of a pipeline, a model whose segmenter it gets, for a corpus that has
            no text to learn from.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file: --out is a folder")
    if out.is_symlink() and not out.exists():
        raise ValueError(f"{out} is a broken link: --out is a folder")
    context.with_resource(lock_run(out))
    settings = also(context, "settings", settings)
    if arch == "pipeline":
        from keras_tagging.cli.parts import Chosen, train_parts

        refuse(SINGLE, vars(start) | vars(lessons))
        chosen = Chosen(parts, entities, segmenter)
        train_parts(out, source, chosen, recipe, settings, fitting)
    else:
        own = {"parts": parts, "entities": entities, "segmenter": segmenter}
        refuse(f"{arch} is a single model, and has no", own)
        train_model(arch, out, source, recipe, settings, start, lessons, fitting)


def train_model(
    arch: str,
    out: Path,
    source: Data,
    recipe: str,
    settings: list[str] | None,
    start: Start,
    lessons: Lessons,
    fitting: Fitting,
) -> None:
    """Train a single model in a folder, or go on with it, and print its figures."""
    going_on = fitting.resume and can_go_on(out, fitting.force)
    if (out / MODEL).exists() and not fitting.force and not going_on:
        finish(out)
        return
    if fitting.tensorboard and not find_spec("tensorboard"):
        raise ValueError("--tensorboard needs: pip install tensorboard")
    kind = kinds.find(architecture(arch).kind)
    start.check(arch, kind, recipe)
    lessons.check(arch, kind)
    for run in (start.init, start.bootstrap, lessons.teacher):
        check_there(run)
    chosen = pairs("--set", settings) | start.settings(kind)
    check_names(arch, chosen)
    language = chosen.pop(LANGUAGE, None)
    if start.is_from_another:
        own = {"set language": language}
        refuse("the model to start from has its own words: there is no", own)
    if start.init is None and not going_on:
        check_values(arch, recipe, language, chosen)
    data = source.load(fitting.seed, **kind.reading)
    tagged = all(sentence.tags is not None for sentence in data.train)
    if kind.learns == "tags" and tagged and not chosen.get("tags"):
        refuse_one_label(data.train, data, source.reading.options)
    start_program()
    from keras_tagging.models.files.run_folder import take_folds, train_run
    from keras_tagging.training import share_batches

    if fitting.devices is not None:
        share_batches(fitting.devices)

    other, teacher = start.other(arch), lessons.load(kind)
    words = LanguageWords()
    if other is None:
        words = words_of_run(out, going_on, recipe, language, data.language)
    keywords = architecture(arch).keywords
    known = words.settings(keywords, chosen)
    frozen = words.frozen(recipe, keywords, chosen)
    chosen |= known | frozen
    model, lines = start.model(other, arch, data, recipe, fitting.seed, chosen)
    if known:
        model.metadata["words"] = words.about(known)
        lines.append(told(words, known, f"--set {TRAINABLE}=True" if frozen else None))
    if teacher is not None:
        lines += [str(teacher), *teacher.check(model)]
    if start.bootstrap is not None:
        take_folds(start.bootstrap, out)
    say(*lines, summary(data))
    settings_of = f"{recipe} recipe" if start.init is None else "fine-tuned"
    say(f"{arch}, {settings_of}, seed {fitting.seed}: {model.size}")
    if not data.dev:
        say("No development sentences (see --dev-share): the last epoch is kept")
    if going_on:
        say(f"Continuing the run in {out} (--no-resume starts again)")
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
            **fitting.limits,
        )
    if skipped := untrainable(model):
        say(skipped)
    if scores:
        say(f"\n{figures(scores, model.lower_is_better)}")
    commands = next_commands(out, source.unseen(data), source.reading, model)
    say(f"\nWritten to {out}. Next:", commands)


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
    from keras_tagging.models.files.run_folder import complete

    complete(out)
    tidy(out)
    say(f"{out} holds a finished model; wrote its missing {METADATA}")
