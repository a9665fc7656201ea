"""The side of a worker process: it loads the models and answers batches.

The functions are called by `workers`, from the process that speaks HTTP.
"""

import json
import os
import signal
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection

from keras_tagging import kinds
from keras_tagging.data.annotation import as_object
from keras_tagging.data.html import language_of
from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds import Output
from keras_tagging.runtime import TextPipeline
from keras_tagging.runtime.folder import PIPELINE
from keras_tagging.utils import limits
from keras_tagging.utils.heap import return_large_blocks
from keras_tagging.utils.startup import end_with_parent

#: the output `json` with the probabilities of labels
PROBABLE = "json_with_probabilities"
WORDS = "words"  # the number of them, which is asked for with every other output
_models = {}


@dataclass(frozen=True)
class Model:
    """The side of HTTP must know this of a model.

    Args:
        name: by which it is asked.
        kind, command: see `kinds.Kind`; the command is the route.
        architecture: of the model, or of the parts of a pipeline.
        columns: that it reads beside the tokens.
        outputs: that the service gives, by name.
        labels: how many there are.
        top_k: the number of best tags that it gives for a token.
        language: code of ISO 639, or "".
        probabilities: whether `/annotate` may be asked for those of its labels.
    """

    name: str
    kind: str
    command: str
    architecture: str
    columns: list[str]
    outputs: dict[str, Output]
    labels: int
    top_k: int
    language: str = ""
    probabilities: bool = False

    @property
    def reads_text(self) -> bool:
        """Whether it is a pipeline: its inputs and outputs are strings, one a text."""
        return kinds.of(self).reads == "text"


class Lines(str):
    """A text whose lines are one sentence each."""


class Later(list):
    """The sentences of a text that is to be run in parts, not annotated."""


def size(items: Sequence) -> int:
    """The tokens of sentences, or the characters of texts, which count as many."""
    return sum(map(len, items))


def is_large(sentences: Sequence) -> bool:
    """Whether sentences are run in parts."""
    return size(sentences) > limits.SERVICE_PART_TOKENS


class TextModel:
    """A pipeline that reads texts, with the methods of a model that reads tokens.

    Args:
        pipeline: of ONNX files.
    """

    columns, labels = (), ()
    served_outputs = {
        "json": Output("string", ""),
        "conllu": Output("string", ""),
        PROBABLE: Output("string", "", served=False),
        WORDS: Output("int32", 0, served=False),
    }

    def __init__(self, pipeline: TextPipeline):
        self._pipeline = pipeline
        self.probabilities = bool(pipeline.probability_columns)
        parts = pipeline.parts.values()
        self.architecture = ", ".join(part.architecture for part in parts)

    def predict_rows(
        self, items: list[str] | list[Sentence], names
    ) -> list[dict[str, list]]:
        """For each text, or sentence of one, the outputs of its sentences.

        Those of a text that is to be run in parts are `Later`, as its sentences.
        """
        texts = []
        for item in items:
            if isinstance(item, str):
                lines = isinstance(item, Lines)
                sentences = [*self._pipeline.sentences(str(item), lines=lines)]
                texts.append(Later(sentences) if is_large(sentences) else sentences)
            else:
                texts.append([item])
        now = chain.from_iterable(text for text in texts if not isinstance(text, Later))
        probable = PROBABLE in names
        annotated = iter(self._pipeline.annotate_together([*now], probable))
        answers = []
        for text in texts:
            later = isinstance(text, Later)
            sentences = [] if later else [next(annotated) for _ in text]
            answers.append(
                {n: text if later else [*map(_FORMS[n], sentences)] for n in names}
            )
        return answers


def _as_json(sentence: Sentence) -> str:
    return json.dumps(as_object(sentence), ensure_ascii=False)


#: by output, how a sentence is written; CoNLL-U, which has numbers, is written where
#: the whole text is, and others of a batch may have asked for probabilities
_FORMS = {
    "json": lambda s: _as_json(replace(s, probabilities={}) if s.probabilities else s),
    "conllu": lambda sentence: sentence,
    PROBABLE: _as_json,
    WORDS: len,
}


def warm_up(model) -> int:
    """Run a model; the number of best tags that it gives for a token."""
    if isinstance(model, TextModel):
        model.predict_rows(["It begins here. And this comes second."], ["json"])
        return 0
    rows, outputs = [["a"], ["a"] * 20], model.served_outputs
    items = [Sentence(row, None, dict.fromkeys(model.columns, row)) for row in rows]
    answer, _ = model.predict_rows(items, outputs)
    ranked = (name for name, output in outputs.items() if output.ranked)
    return max((len(answer[name][0]) for name in ranked), default=0)


def run(connection: Connection, niceness: int) -> None:
    """A worker process, until the other side closes the connection.

    It is sent the name of a function, `load` or `answer`, with its arguments, and sends
    True and the result, or False and what is wrong.

    Args:
        connection: to the process that speaks HTTP.
        niceness: that the system is to add to the process'.
    """
    _begin(niceness)
    functions = {"load": load, "answer": answer}
    with suppress(EOFError, OSError):  # nobody is there
        while True:
            name, args = connection.recv()
            try:
                result = True, functions[name](*args)
            except Exception as error:
                result = False, str(error)
            connection.send(result)


def _begin(niceness):
    """The first thing in a worker process.

    Signals are for the process that speaks HTTP, which lets its workers finish. If it
    is killed, they end with it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(niceness)
    return_large_blocks()
    end_with_parent()


def load(files: dict[str, tuple[str, tuple]]) -> tuple[int, dict[str, Model]]:
    """Loads and warms up all models.

    Args:
        files: by the name of a model, the path of its file and what `stamp` gave for it
            when the service started.

    Returns:
        The number of this process, and the models by name.

    Raises:
        ValueError: for a file that cannot be loaded, or that has changed.
        ImportError: if ONNX Runtime or its extensions are not installed.
    """
    from keras_tagging import runtime

    models = {}
    for name, (path, stamped) in files.items():
        if stamp(path) != stamped:
            raise ValueError(
                f"{path} has changed since the service was started: start it again"
            )
        model = runtime.load(path, threads=1)
        kind = kinds.of(model)
        if kind.route is None or isinstance(getattr(model, "labels", None), dict):
            raise ValueError(
                f"{name} is a {kind} without a route of its own, or of several "
                "columns, which is served in a pipeline only: give the folder of one"
            )
        language = language_of(getattr(model, "metadata", {}))
        if kind.reads == "text":
            model = TextModel(model)
        _models[name] = model
        models[name] = Model(
            name,
            kind.name,
            kind.route,
            model.architecture,
            list(model.columns),
            {k: output for k, output in model.served_outputs.items() if output.served},
            len(model.labels),
            warm_up(model),
            language,
            getattr(model, "probabilities", False),  # of others these are outputs
        )
    return os.getpid(), models


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
    names = [output for output in model.served_outputs if output in wanted]
    rows = iter(model.predict_rows([s for part, _ in jobs for s in part], names))
    return [
        [
            {name: row[name] for name in outputs}
            for _, row in zip(part, rows, strict=False)
        ]
        for part, outputs in jobs
    ]
