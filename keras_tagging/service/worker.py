"""The side of a worker process: it loads the models and answers batches.

The functions are called by `workers`, from the process that speaks HTTP.
"""

import os
import signal
import threading
import traceback
from dataclasses import asdict
from multiprocessing import parent_process
from multiprocessing.connection import Connection

from keras_tagging import kinds
from keras_tagging.data.html import language_of
from keras_tagging.runtime.folder import PIPELINE
from keras_tagging.service.tensors import TokenModel
from keras_tagging.service.texts import TextModel
from keras_tagging.utils.heap import return_large_blocks

#: how a worker runs a model, by what that reads
READERS = {"tokens": TokenModel, "text": TextModel}
_models = {}


def run(connection: Connection, niceness: int) -> None:
    """A worker process, until the other side closes the connection.

    It is sent the name of a function, `load` or `answer`, with its arguments, and sends
    True and the result, or False and the error.

    Args:
        connection: to the process that speaks HTTP.
        niceness: that the system is to add to the process'.
    """
    _begin(niceness)
    functions = {"load": load, "answer": answer}
    while True:
        try:
            name, args = connection.recv()
        except EOFError:
            return
        try:
            answered = True, functions[name](*args)
        except Exception as error:
            answered = False, error
        try:
            connection.send(answered)
        except OSError:
            return  # nobody waits for it
        except Exception as error:  # it cannot be sent
            connection.send((False, TypeError(str(error))))


def _begin(niceness):
    """The first thing in a worker process.

    Signals are for the process that speaks HTTP, which lets its workers finish. If it
    is killed, they end with it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(niceness)
    return_large_blocks()

    def follow():
        parent_process().join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def load(files: dict[str, tuple[str, tuple]]) -> tuple[int, dict[str, dict]]:
    """Loads and warms up all models.

    Args:
        files: by the name of a model, the path of its file and what `stamp` gave for it
            when the service started.

    Returns:
        The number of this process, and what describes each model.

    Raises:
        ValueError: for a file that cannot be loaded, or that has changed.
        ImportError: if ONNX Runtime or its extensions are not installed.
    """
    from keras_tagging import runtime

    described = {}
    for name, (path, stamped) in files.items():
        if stamp(path) != stamped:
            raise ValueError(
                f"{path} has changed since the service was started: start it again"
            )
        model = runtime.load(path, threads=1)
        kind = kinds.of(model)
        if kind.route is None:
            raise ValueError(
                f"{name} is a {kind}, which is served in a pipeline only: give the "
                "folder of one"
            )
        if isinstance(getattr(model, "labels", None), dict):
            raise ValueError(
                f"{name} gives columns with names, such as {next(iter(model.labels))}, "
                "which are served in a pipeline only: give the folder of one"
            )
        language = language_of(getattr(model, "metadata", {}))
        model = _models[name] = READERS[kind.reads](model)
        described[name] = {
            "kind": kind.name,
            "command": kind.route,
            "architecture": model.architecture,
            "columns": list(model.columns),
            "outputs": {k: asdict(output) for k, output in model.outputs.items()},
            "labels": len(model.labels),
            "top_k": model.warm_up(),
            "language": language,
            "probabilities": model.probabilities,
        }
    return os.getpid(), described


def stamp(path: str) -> tuple:
    """The time, size and number of a file, which change with it.

    Those of a pipeline's folder are those of the file that has the others' checksums.
    """
    status = os.stat(os.path.join(path, PIPELINE) if os.path.isdir(path) else path)
    return status.st_mtime_ns, status.st_size, status.st_ino


def answer(name: str, jobs: list[tuple[list, list[str]]]) -> list:
    """The answers to requests, which are run as one batch.

    Args:
        name: of the model.
        jobs: of each request the sentences, and the names of the outputs.

    Returns:
        For each request a list with a dict a sentence; or a status of HTTP and a
        message: what is wrong with one request fails no other.
    """
    model = _models[name]
    if len(jobs) > 1:
        try:
            return _together(model, jobs)
        except Exception:
            pass  # each of them tells alone
    answers = []
    for job in jobs:
        try:
            answers += _together(model, [job])
        except ValueError as error:
            answers.append((400, str(error)))
        except Exception:
            traceback.print_exc()
            answers.append((500, f"{name} could not be run on this request"))
    return answers


def _together(model, jobs):
    wanted = {output for _, outputs in jobs for output in outputs}
    names = [output for output in model.outputs if output in wanted]
    sentences = [sentence for part, _ in jobs for sentence in part]
    found = iter(model.answer(sentences, names))
    return [[_chosen(next(found), outputs) for _ in part] for part, outputs in jobs]


def _chosen(row, outputs):
    return {name: row[name] for name in outputs}
