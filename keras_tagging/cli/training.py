"""Commands that train: list, train, demo."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.architectures import ARCHITECTURES, RECIPES, architecture
from keras_tagging.cli.common import (
    CorpusPath,
    Dev,
    Errors,
    Format,
    Options,
    Recipe,
    Test,
    load_model,
    open_corpus,
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
from keras_tagging.cli.pipeline_training import train_parts
from keras_tagging.cli.progress import epoch_bars
from keras_tagging.corpora.labels import refuse_one_label
from keras_tagging.corpora.loading import hold_out
from keras_tagging.models.run_files import (
    METADATA,
    MODEL,
    can_go_on,
    is_finished,
    lock_run,
    tidy,
)
from keras_tagging.utils.startup import start_program
from keras_tagging.utils.tables import aligned


def list_architectures(
    arch: Annotated[str | None, typer.Argument(help="Show its keywords.")] = None,
) -> None:
    """List the architectures, or the keywords of one.

    The list of keywords has the values of each recipe, and the possible values.
    """
    if arch is None:
        rows = [[a.name, a.summary] for a in ARCHITECTURES.values()]
    else:
        entry = architecture(arch)
        recipes = [entry.settings(recipe) for recipe in RECIPES]
        rows = [["keyword", *RECIPES, "possible"]]
        for key in entry.keywords:
            rows.append([key, *(repr(r[key]) for r in recipes), entry.possible(key)])
    print(aligned(rows))


def train(
    context: typer.Context,
    arch: Annotated[
        str, typer.Argument(help="A name that `list` shows, or 'pipeline'.")
    ],
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write.")],
    dev: Dev = None,
    test: Test = None,
    format: Format = None,
    option: Options = None,
    errors: Errors = "raise",
    dev_share: Annotated[
        float | None,
        typer.Option(help="Share of the training sentences to use for development."),
    ] = None,
    recipe: Recipe = "fast",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A keyword that `list ARCH` shows."
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            help="Of a pipeline, some of segmenter,tagger,parser; by default all.",
        ),
    ] = None,
    tags: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS|gold|predicted|None",
            help="Columns that a tagger learns together, such as upos,xpos,feats; or "
            "the tags that a parser reads.",
        ),
    ] = None,
    bootstrap: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Start a recurrent parser from this ffn-parser."
        ),
    ] = None,
    gates: Annotated[
        str | None,
        typer.Option(help="The gates that start from it: 'all', or some, such as i,j."),
    ] = None,
    init: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Start from this tagger: fine-tuning."),
    ] = None,
    freeze: Annotated[
        list[str] | None,
        typer.Option(metavar="LAYER", help="With --init: a layer that is not trained."),
    ] = None,
    keep_labels: Annotated[
        bool | None,
        typer.Option(
            help="With --init: whether tags that the corpus lacks stay; by default if "
            "it has any of the tagger's."
        ),
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Initial vectors of the word embeddings."),
    ] = None,
    corpus_words: Annotated[
        bool,
        typer.Option(
            "--corpus-words",
            help="From --embeddings, load only the words of this corpus (all splits), "
            "for files that do not fit in memory.",
        ),
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="By default the recipe's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For weights, dropout and order.")] = 0,
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after this many epochs without improvement."),
    ] = None,
    monitor: Annotated[
        str | None,
        typer.Option(help="The figure that selects the best epoch: val_accuracy, ..."),
    ] = None,
    resume: Annotated[
        bool, typer.Option(help="Continue the run that was stopped in DIR.")
    ] = True,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write events to DIR/tensorboard.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the finished model in DIR.")
    ] = False,
    devices: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Devices that share each batch, those of all machines together; "
            "needs JAX (KERAS_BACKEND=jax).",
        ),
    ] = None,
) -> None:
    """Train a model and keep its best epoch on the development sentences.

    The command writes model.keras, metadata.json and training.csv into DIR. After a
    kill, the same command continues with the first unfinished epoch; until the end,
    best.keras is the best model so far.

    `train pipeline` trains a segmenter, a tagger and a parser from one treebank in
    CoNLL-U, each in a folder of its own below DIR, and makes DIR a pipeline for
    `annotate`. Settings name their part: --set tagger.units=200.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file: --out is a folder")
    if out.is_symlink() and not out.exists():
        raise ValueError(f"{out} is a broken link: --out is a folder")
    context.with_resource(lock_run(out))
    if arch == "pipeline":
        train_parts(
            out,
            corpus,
            parts=parts,
            settings=settings,
            recipe=recipe,
            seed=seed,
            dev_share=dev_share,
            force=force or not resume,
            reading={
                "format": format,
                "option": option,
                "dev": dev,
                "test": test,
                "errors": errors,
            },
            fitting={"epochs": epochs, "patience": patience},
            others={
                "tags": tags,
                "bootstrap": bootstrap,
                "gates": gates,
                "init": init,
                "freeze": freeze,
                "keep_labels": keep_labels,
                "embeddings": embeddings,
                "corpus_words": corpus_words,
                "monitor": monitor,
                "tensorboard": tensorboard,
            },
        )
        return
    refuse(f"{arch} is a single model, and has no", {"parts": parts})
    going_on = resume and can_go_on(out, force)
    if (out / MODEL).exists() and not force and not going_on:
        if not is_finished(out):
            start_program()
            from keras_tagging.models.run_folder import complete

            complete(out)
            tidy(out)
            print(f"{out} holds a finished model; wrote its missing {METADATA}")
            return
        tidy(out)
        raise ValueError(
            f"{out} holds a finished model: choose another --out, or give --force"
        )
    if tensorboard and not find_spec("tensorboard"):
        raise ValueError("--tensorboard needs: pip install tensorboard")
    if init is None:
        given = {"freeze": freeze, "keep_labels": keep_labels}
        refuse("without --init there is no", given)
    else:
        why = "the tagger in --init has its own: there is no"
        given = {
            "embeddings": embeddings,
            "recipe": None if recipe == "fast" else recipe,
        }
        refuse(why, given)
    if bootstrap is None:
        refuse("without --bootstrap there is no", {"gates": gates})
    else:
        reason = "a bootstrapped parser takes those of the other one: there is no"
        refuse(reason, {"tags": tags, "embeddings": embeddings})
    chosen = architecture(arch)
    overrides = pairs("--set", settings)
    if tags is not None:
        named = pairs("--tags", [f"tags={tags}"])
        overrides |= named if chosen.parses else {"tags": tags.split(",")}
    if embeddings is not None:
        overrides["embeddings"] = embeddings
    else:
        refuse("without --embeddings there is no", {"corpus_words": corpus_words})
    start_program()
    import keras_tagging
    from keras_tagging.models.run_folder import take_folds, train_run
    from keras_tagging.training import share_batches
    from keras_tagging.vectors import load_vectors

    if devices is not None:
        share_batches(devices)
    is_one = f"{arch} is a {chosen.kind}, and a {chosen.kind} has no"
    if not chosen.parses:
        refuse(is_one, {"bootstrap": bootstrap})
    if chosen.kind != "tagger":
        refuse(is_one, {"init": init})
    if chosen.segments:
        refuse(is_one, {"tags": tags, "embeddings": embeddings})
    source = None if init is None else load_model(init)
    if source is not None and source.architecture != arch:
        raise ValueError(f"{init} holds a {source.architecture}, not a {arch}")
    ffn = None if bootstrap is None else load_model(bootstrap)
    data = open_corpus(
        corpus,
        format,
        option,
        trees=chosen.parses,
        surfaces=chosen.segments,
        dev=dev,
        test=test,
        errors=errors,
    )
    tagged = all(s.tags is not None for s in data.train)
    if chosen.kind == "tagger" and tagged and not overrides.get("tags"):
        refuse_one_label(data.train, data, pairs("--option", option))
    if dev_share is not None:
        hold_out(data, dev_share, seed)
    if corpus_words:
        normalise = chosen.settings(recipe, **overrides).features.normalise
        overrides["embeddings"] = load_vectors(
            embeddings,
            vocabulary=[s for _, sentences in data.splits() for s in sentences],
            normalise=None if normalise == "dinarelli" else normalise,
        )
    if source is not None:
        model = source.retarget(
            data.train,
            keep_labels=keep_labels,
            frozen=freeze or (),
            seed=seed,
            **overrides,
        )
        print(f"Starts from {init}: {news(source, model)}")
    else:
        model = keras_tagging.build(arch, recipe=recipe, seed=seed, **overrides)
    if embeddings is not None:
        print(vectors_summary(model.given_vectors.embeddings, model, data.train))
    if source is None and ffn is None:
        model.adapt(data.train)
    elif ffn is not None:
        model.bootstrap(ffn, "all" if gates in (None, "all") else gates.split(","))
        model.metadata["bootstrap"]["path"] = str(bootstrap)
        take_folds(bootstrap, out)
        started = ", ".join(model.metadata["bootstrap"]["gates"])
        print(f"Starts from {bootstrap}, gates {started}")
    print(summary(data))
    settings_of = f"{recipe} recipe" if source is None else "fine-tuned"
    print(f"{arch}, {settings_of}, seed {seed}: {model.size}")
    if not data.dev:
        print("No development sentences (see --dev-share): the last epoch is kept")
    if going_on:
        print(f"Continuing the run in {out} (--no-resume starts again)")
    scores = train_run(
        model,
        data,
        out,
        resume=going_on,
        tensorboard=tensorboard,
        epochs=epochs,
        patience=patience,
        monitor=monitor,
        verbose=progress(),
        callbacks=context.with_resource(epoch_bars()),
    )
    if left := untrainable(model):
        print(left)
    if scores:
        print(f"\n{figures(scores)}")
    where = None
    if test or data.test:
        where = test or corpus
    elif data.dev and dev_share is None:
        where = dev or f"{corpus} --split dev"
    print(f"\nWritten to {out}. Next:")
    exports = bool(model.served_layers)
    print(next_commands(out, where, option, format, model.command, exports))


def news(source, model) -> str:
    """A line about the words and tags that a tagger has beside its initial ones."""
    pairs = list(zip(model.label_columns, source.label_columns, strict=True))
    new = sum(len(set(own.labels) - set(old.labels)) for own, old in pairs)
    kept = sum(len(set(own.labels) & set(old.labels)) for own, old in pairs)
    words = len(model.vocabularies.get("word", ()))
    words -= len(source.vocabularies.get("word", ()))
    known = sum(len(old) for _, old in pairs)
    return f"{words:,} new words, {new} new tags, and {kept} of its {known} tags"


def vectors_summary(vectors, model, sentences) -> str:
    """A line about the number of vectors, and the share of tokens that have one."""
    from keras_tagging.vectors import coverage

    normalise = model.settings["normalise"]
    normalise = None if normalise == "dinarelli" else normalise
    share = coverage(sentences, vectors, normalise).tokens
    return (
        f"{len(vectors.words):,} vectors of {vectors.matrix.shape[1]} numbers: "
        f"{share:.1%} of the training tokens have one"
    )


def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR")] = Path("demo-model"),
    epochs: Annotated[int, typer.Option(min=1)] = 8,
) -> None:
    """Train on the embedded corpus, evaluate, tag and export: run by `make demo`."""
    context.with_resource(lock_run(out))
    start_program()
    from keras_tagging.cli.demo import run_demo

    run_demo(out, epochs)
