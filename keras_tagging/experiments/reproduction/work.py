"""One job: a system trained with one seed, and its figures.

    python -m keras_tagging.experiments.reproduction.work DIR ROW SEED

DIR is the folder of the reproduction, ROW the slug of the row. The process ends with
the one that started it: when its standard input is closed.
"""

import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping

import keras
import pandas as pd

import keras_tagging
from keras_tagging.architectures import resolve_settings
from keras_tagging.data import Corpus
from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Row, Table
from keras_tagging.experiments.reproduction.corpus import (
    add_classes,
    hold_out_dev,
    read_corpus,
    surroundings,
)
from keras_tagging.experiments.reproduction.jobs import (
    choose_rows,
    make_jobs,
    settings_of,
    takes_vectors,
)
from keras_tagging.experiments.reproduction.store import Job, Store
from keras_tagging.metrics.significance import figure_of
from keras_tagging.models.files.run_folder import save_run, take_folds
from keras_tagging.models.files.saving import metadata_path
from keras_tagging.training import mode_of
from keras_tagging.vectors import load_vectors, train_vectors


def run_job(table: Table, job: Job, store: Store) -> dict:
    """Trains, measures and saves the system of a job, and writes its result.

    Training that an earlier process began continues with the first unfinished epoch.

    Args:
        table: the table of the job.
        store: a folder with `reproduction.json`, and with the model that the job starts
            from, if it needs one.

    Returns:
        The result: see `read_results`.

    Raises:
        ValueError: if the corpus is not that of `reproduction.json`, the model that the
            job starts from is missing, or the system cannot be trained.
    """
    info = store.read_info()
    row = next(row for row in table.rows if row.name == job.row)
    corpus = read_corpus(info["reading"])
    if corpus.fingerprint() != info["fingerprint"]:
        raise ValueError(
            f"{info['corpus']} is not the corpus of the other jobs any more: put it "
            "back, or give another --out"
        )
    hold_out_dev(corpus, table, info["dev_share"], job.seed)
    settings = settings_of(row, info)
    resolved = resolve_settings(row.architecture, info["recipe"], settings)
    classes = add_classes(corpus, resolved["columns"])
    model_path = store.model(job.name)
    # killed when it was measured; without its metadata, when it was saved
    if model_path.exists() and metadata_path(model_path).exists():
        model = keras_tagging.load(model_path)
    else:
        options = {**settings}
        if takes_vectors(row, table, info["embeddings"]):
            options |= vectors(row, resolved, info, corpus, job.seed)
        if "embeddings" in options:
            options.pop("word_dim", None)  # --scale is of rows without vectors too
        model = keras_tagging.build(
            row.architecture, recipe=info["recipe"], seed=job.seed, **options
        )
        fitting = {"epochs": info["epochs"], "monitor": table.monitor}
        train(model, corpus, row, job, store, **fitting)
    monitor = table.monitor or model.default_monitor
    figures, counts = measure(model, corpus, table, info["punctuation"])
    epochs = pd.read_csv(store.training(job.name) / "training.csv")[monitor]
    best = {"min": epochs.argmin, "max": epochs.argmax}
    result = {
        "row": job.row,
        "seed": job.seed,
        "settings": settings,
        "figures": figures,
        "evidence": counts,
        "best_epoch": 1 + int(best[mode_of(monitor, model.lower_is_better)]()),
        "epochs": len(epochs),
        "seconds": model.metadata["seconds"],
        "parameters": model.count_params(),
        "classes": classes,
        **surroundings(),
    }
    store.write(job, result)
    return result


def vectors(row: Row, settings, info: Mapping, corpus: Corpus, seed: int) -> dict:
    """The keyword of `build` for the pretrained vectors of a row that takes them.

    For the Bi-GRU the vectors are a feature beside the words (K18, section 2.2); in all
    other systems they initialise the words. A bootstrapped parser takes the words of
    the model that it starts from.
    """
    source = info["embeddings"]
    if row.bootstrap or source == "none":
        return {}
    if source == "train":
        words = [sentence.tokens for sentence in corpus.train]
        if row.architecture == "bigru" and settings["lookup"] == "normalised":
            # the feature looks up normalised forms only
            normal = TokenFeatures(normalise=settings["normalise"]).normal_forms
            words = [normal(tokens) for tokens in words]
        pretrained = train_vectors(words, size=settings["word_dim"], seed=seed)
    else:
        normalise = settings["normalise"]
        pretrained = load_vectors(
            source,
            vocabulary=[s for _, sentences in corpus.splits() for s in sentences],
            normalise=None if normalise == "dinarelli" else normalise,
        )
    return {"vectors" if row.architecture == "bigru" else "embeddings": pretrained}


class Stopwatch(keras.callbacks.Callback):
    """Callback that adds up the seconds of all epochs, also of those before a kill.

    The sum goes to the model's metadata, which is saved with the model.
    """

    def __init__(self):
        super().__init__()
        self.seconds = 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self._start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.seconds += time.perf_counter() - self._start

    def on_train_end(self, logs=None):
        self.model.metadata["seconds"] = self.seconds


def train(model, corpus: Corpus, row: Row, job: Job, store: Store, **fitting) -> None:
    """Train a model in the folder of its job and save it there.

    Args:
        fitting: further arguments for its `fit`.
    """
    folder = store.training(job.name)
    if row.bootstrap is not None:
        source = store.model(job.needed)
        model.bootstrap(keras_tagging.load(source), row.gates)
        take_folds(source.parent, folder)
    model.fit(
        corpus.train,
        validation_data=corpus.dev,
        callbacks=[Stopwatch()],
        log=folder / "training.csv",
        resume=folder,
        verbose=2,
        **fitting,
    )
    save_run(model, corpus, folder)


def measure(model, corpus: Corpus, table: Table, punctuation) -> tuple[dict, dict]:
    """The figures of all columns, in per cent, and the counts behind them."""
    figures, counts = {}, {}
    for split in dict.fromkeys(column.split for column in table.columns):
        columns = [column for column in table.columns if column.split == split]
        sentences = getattr(corpus, split)
        counting = {"punctuation": punctuation} if model.counting_options else {}
        wanted = [(column.figure, column.beta) for column in columns]
        results = model.counts(sentences, wanted, **counting)
        for column, rows in zip(columns, results, strict=True):
            figure = float(figure_of(column.figure)(rows.sum(axis=0)))
            figures[column.name] = None if math.isnan(figure) else figure
            counts[column.name] = rows.T.tolist()
    return figures, counts


def find_job(table: Table, slug: str, seed: int) -> Job:
    """The job of the row with this slug."""
    jobs, _ = make_jobs(table, choose_rows(table, [slug]), [seed])
    return jobs[-1]


def end_with_parent() -> None:
    """End this process when the one that started it is gone."""

    def wait():
        while os.read(sys.stdin.fileno(), 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main(folder: str, slug: str, seed: str) -> None:
    """Run a job. The last line printed is the error, if the user can fix it."""
    end_with_parent()
    store = Store(folder)
    info = store.read_info()
    table = papers.table(info["paper"], info["table"])
    try:
        run_job(table, find_job(table, slug, int(seed)), store)
    except (ValueError, OSError) as error:
        traceback.print_exc()
        sys.exit(" ".join(str(error).split()))


if __name__ == "__main__":
    main(*sys.argv[1:])
