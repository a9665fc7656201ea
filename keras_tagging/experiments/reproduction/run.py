"""The runner of a reproduction, and what it runs: jobs, each in its own process.

A job that runs out of memory, or that the user kills, takes no other job with it.

    python -m keras_tagging.experiments.reproduction.run DIR ROW SEED

runs one: a system trained with one seed, and its figures. DIR is the folder of the
reproduction, ROW the slug of the row. The process ends with the one that started it:
when its standard input is closed.
"""

import math
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import timedelta

import keras
import pandas as pd
from rich.console import Console
from rich.progress import Progress

import keras_tagging
from keras_tagging.architectures import resolve_settings
from keras_tagging.data import Corpus
from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Row, Table
from keras_tagging.experiments.reproduction.plan import (
    add_classes,
    choose_rows,
    hold_out_dev,
    make_jobs,
    read_corpus,
    settings_of,
    surroundings,
    takes_vectors,
)
from keras_tagging.experiments.reproduction.store import Job, Store
from keras_tagging.metrics.significance import figure_of
from keras_tagging.models.files.run_folder import save_run, take_folds
from keras_tagging.models.files.saving import metadata_path
from keras_tagging.training import mode_of
from keras_tagging.utils.startup import cores
from keras_tagging.vectors import load_vectors, train_vectors

MODULE = "keras_tagging.experiments.reproduction.run"
PAUSE = 2.0  # seconds between two looks at the epochs of running jobs


class Runner:
    """Processes of jobs, so many at once.

    Args:
        store: the folder of the reproduction.
        workers: number of jobs at once; they share the cores.
    """

    def __init__(self, store: Store, workers: int):
        self.store = store
        self.pool = ThreadPoolExecutor(workers)  # a thread waits for a process
        self.environment = environment(workers) | os.environ
        self.futures: dict[str, Future] = {}  # by the name of the job
        self.processes: list[subprocess.Popen] = []
        self.closed = False

    def start(self, job: Job) -> Future:
        """Start a job as soon as a worker is free.

        Returns:
            The future of the reason why the job failed, in one line; None if it did
            not.
        """
        self.futures[job.name] = self.pool.submit(self._run, job)
        return self.futures[job.name]

    def _run(self, job: Job) -> str | None:
        # it was started before, so this does not wait for a worker
        if job.needed in self.futures and self.futures[job.needed].result():
            return f"not run, because {job.needed}, which it needs, failed"
        log = self.store.log(job)
        log.parent.mkdir(parents=True, exist_ok=True)
        arguments = [str(self.store.folder.absolute()), job.slug, str(job.seed)]
        with (
            log.open("ab") as output,
            subprocess.Popen(
                [sys.executable, "-m", MODULE, *arguments],
                stdin=subprocess.PIPE,  # the job ends when this process is gone
                stdout=output,
                stderr=output,
                env=self.environment,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
            ) as process,
        ):
            self.processes.append(process)
            if self.closed:
                process.kill()
            code = process.wait()
        return self._failure(job, code)

    def _failure(self, job: Job, code: int) -> str | None:
        if code == 0:
            return None if self.store.done(job) else "its process had no result"
        if code < 0:
            name = signal.Signals(-code).name
            hint = "; out of memory? Then use fewer --jobs" * (name == "SIGKILL")
            return f"its process was ended by {name}{hint}"
        printed = [line for line in self.store.log_tail(job) if line.strip()]
        return printed[-1].strip() if printed else f"its process ended with code {code}"

    def close(self) -> None:
        """Kill the jobs that still run, and forget those that wait."""
        self.closed = True
        for process in self.processes:
            process.kill()  # files are written as a whole, so none is half done
        self.pool.shutdown(cancel_futures=True)


def run_jobs(
    jobs: Sequence[Job], store: Store, workers: int, epochs: Mapping[str, int]
) -> dict[Job, str]:
    """Run the jobs that have no result yet; one that fails does not stop the rest.

    Jobs that others need come first. Standard error shows the progress: a bar on a
    terminal, and a line for each job that ends.

    Args:
        jobs: the jobs, each after the one that it needs.
        store: the folder of the reproduction.
        workers: number of jobs at once.
        epochs: number of epochs of each row, by its name.

    Returns:
        The jobs that failed, or could not be run, with the reason in one line.
    """
    waiting = [job for job in jobs if not store.done(job)]
    for job in set(jobs) - set(waiting):
        store.tidy(job)  # a kill may have left files
    runner = Runner(store, workers)
    waiting.sort(key=lambda job: job.needs is not None)
    running = {runner.start(job): job for job in waiting}
    failed: dict[Job, str] = {}
    ended = len(jobs) - len(waiting)
    console, hidden = Console(stderr=True, highlight=False), not sys.stderr.isatty()
    with Progress(console=console, disable=hidden) as progress:
        total = sum(epochs[job.row] for job in jobs)
        bar = progress.add_task("epochs", total=total)
        try:
            while running:
                wait(running, PAUSE, FIRST_COMPLETED)
                for future in [future for future in running if future.done()]:
                    job = running.pop(future)
                    if reason := future.result():
                        failed[job] = reason
                        store.write_failure(job, reason)
                    ended += 1
                    outcome = f"failed: {reason}" if reason else _figures(store, job)
                    text = f"[{ended}/{len(jobs)}] {job}: {outcome}"
                    console.print(text, markup=False, soft_wrap=True)
                finished = sum(min(store.epochs(j), epochs[j.row]) for j in jobs)
                progress.update(bar, completed=finished)
        finally:
            runner.close()
    return failed


def _figures(store: Store, job: Job) -> str:
    result = store.read(job)
    figures = result["figures"].items()
    words = [f"{k} -" if v is None else f"{k} {v:.2f}" for k, v in figures]
    return f"{', '.join(words)} ({timedelta(seconds=round(result['seconds']))})"


def environment(workers: int) -> dict[str, str]:
    """Environment variables of a job's process, which shares the cores, by default."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
    return {
        **dict.fromkeys(names, str(max(1, cores() // workers))),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # else one job takes all memory
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


# In the process of a job


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


def end_with_parent() -> None:
    """End this process when the one that started it is gone."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(folder: str, slug: str, seed: str) -> None:
    """Run a job. The last line printed is the error, if the user can fix it."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    store = Store(folder)
    info = store.read_info()
    table = papers.table(info["paper"], info["table"])
    try:
        [row] = choose_rows(table, [slug])
        jobs, _ = make_jobs(table, [row], [int(seed)])
        run_job(table, jobs[-1], store)  # the first may be the one that it needs
    except (ValueError, OSError) as error:
        traceback.print_exc()
        sys.exit(" ".join(str(error).split()))


if __name__ == "__main__":
    main(*sys.argv[1:])
