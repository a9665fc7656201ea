"""Sentences in tensors: what both protocols share.

A request has strings `(batch, time)` under "tokens" and the names of columns, and
`lengths` `(batch,)`; so has what it is answered.
"""

from dataclasses import dataclass

from keras_tagging import kinds
from keras_tagging.data.normalisation import LimitError, to_nfc
from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds import Output
from keras_tagging.service.problems import Problem, bad, shown
from keras_tagging.utils import limits

VERSION = "1"  # of each model; there is no other


#: the types of outputs in the Open Inference Protocol, and in TensorFlow
V2 = {"string": "BYTES", "float": "FP32", "int32": "INT32"}
V1 = {"string": "DT_STRING", "float": "DT_FLOAT", "int32": "DT_INT32"}


@dataclass(frozen=True)
class Model:
    """A model that is served, as `worker.load` describes it."""

    name: str
    kind: str
    command: str
    architecture: str
    columns: list[str]
    outputs: dict[str, Output]
    labels: int
    top_k: int
    language: str = ""
    #: whether `/annotate` may be asked for those of its labels
    probabilities: bool = False

    @classmethod
    def of(cls, name: str, described: dict) -> "Model":
        """The model of a name, from what `worker.load` says of it."""
        outputs = {k: Output(**about) for k, about in described["outputs"].items()}
        served = {k: output for k, output in outputs.items() if output.served}
        return cls(name, **{**described, "outputs": served})

    @property
    def reads_text(self) -> bool:
        """Whether it is a pipeline: its inputs and outputs are strings, one a text."""
        return kinds.of(self).reads == "text"

    @property
    def inputs(self) -> dict[str, tuple[str, int]]:
        """The type and the number of axes of its inputs, by name."""
        if self.reads_text:
            return {"text": ("string", 1)}
        strings = dict.fromkeys(["tokens", *self.columns], ("string", 2))
        return {**strings, "lengths": ("int32", 1)}

    def shape(self, name: str) -> list[int]:
        """The sizes of the axes of an output; -1 for any."""
        if self.reads_text:
            return [-1]
        return [-1, -1, self.top_k] if self.outputs[name].ranked else [-1, -1]

    def chosen(self, names) -> list[str]:
        """The outputs that are asked for.

        Raises:
            Problem: if there is none of that name.
        """
        for name in names:
            if name not in self.outputs:
                raise bad(
                    f"{self.name} has no output {shown(name)}: it has "
                    f"{', '.join(self.outputs)}"
                )
        return list(dict.fromkeys(names))

    def padding(self, name: str):
        """The value of an output at a position beyond the end."""
        output = self.outputs[name]
        return [output.padding] * self.top_k if output.ranked else output.padding


def sentences(
    model: Model, strings: dict[str, list], lengths: list | None, max_tokens: int
) -> list[Sentence]:
    """The sentences of a request, checked.

    Args:
        model: that is to read them.
        strings: "tokens" and the columns, each with a list of strings a row.
        lengths: tokens of each row; None if rows have no padding.
        max_tokens: of all sentences, with their padding.

    Raises:
        Problem: for what is missing or unknown, of the wrong shape, empty, too large or
            no Unicode.
    """
    wanted = ["tokens", *model.columns]
    for name in strings:
        if name not in wanted:
            raise bad(
                f"{model.name} has no input {shown(name)}: it reads {_and(wanted)}"
            )
    for name in wanted:
        if name not in strings:
            raise bad(f"{name} is missing: {model.name} reads {_and(wanted)}")
        _check_rows(name, strings[name])
    rows = strings["tokens"]
    _check_sizes(rows, max_tokens)
    if lengths is None:
        lengths = [len(row) for row in rows]
    _check_lengths(rows, lengths)
    found = []
    for i, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        columns = {}
        for name in model.columns:
            if len(strings[name]) != len(rows) or len(strings[name][i]) != len(row):
                raise bad(f"{name} must have the shape of tokens")
            columns[name] = strings[name][i][:length]
        for strings_here in (row[:length], *columns.values()):
            for text in strings_here:
                _check_token(text)
        found.append(Sentence(row[:length], None, columns))
    if not any(map(len, found)):
        raise bad("there are no tokens in this request: send at least one")
    return found


def _and(names) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _check_rows(name, rows):
    right = isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    if not right:
        raise bad(f"{name} must be a list with a list of strings for each sentence")
    for row in rows:
        for value in row:
            if type(value) is not str:
                raise bad(f"{name} must be strings, but one of them is {shown(value)}")


def _check_sizes(rows, max_tokens):
    check_count(rows, "sentences")
    if (count := sum(map(len, rows))) > max_tokens:
        raise Problem(
            413,
            f"{count:,} tokens, padding included, in one request: send at most "
            f"{max_tokens:,}",
        )


def check_count(rows: list, what: str) -> None:
    """Raise a Problem for too many rows."""
    if len(rows) > limits.SERVICE_SENTENCES:
        raise Problem(
            413,
            f"{len(rows):,} {what} in one request: send at most "
            f"{limits.SERVICE_SENTENCES:,}",
        )


def _check_lengths(rows, lengths):
    if not isinstance(lengths, list) or len(lengths) != len(rows):
        raise bad("lengths must be a list with one integer for each sentence")
    for row, length in zip(rows, lengths, strict=True):
        if type(length) is not int or length < 0:
            raise bad(f"lengths must be integers from 0, but one is {shown(length)}")
        if length > len(row):
            raise bad(f"a length is {length}, but its sentence has {len(row)} tokens")


def _check_token(text):
    if len(text) > limits.SERVICE_TOKEN_LENGTH:
        raise Problem(
            413,
            f"{shown(text)} has {len(text):,} characters: a token may have "
            f"{limits.SERVICE_TOKEN_LENGTH:,}",
        )
    check_text(text)


def check_text(text: str) -> None:
    """Raise a Problem for a string that UTF-8 cannot hold, or with too many marks."""
    try:
        text.isascii() or text.encode()
        to_nfc(text)
    except UnicodeEncodeError:
        raise bad(f"{shown(text)} is no Unicode text: send UTF-8") from None
    except LimitError as error:
        raise bad(str(error)) from None


def padded(model: Model, answers: list[dict], names: list[str], width: int) -> dict:
    """The outputs by name, each a list of rows of the same width."""
    return {
        name: [
            row[name] + [model.padding(name)] * (width - len(row[name]))
            for row in answers
        ]
        for name in names
    }


class TokenModel:
    """A model that reads tokens, as a worker runs it.

    Args:
        model: that ONNX Runtime runs.
    """

    probabilities = False  # those of a tagger are outputs of their own

    def __init__(self, model):
        self.answer, self.outputs, self.columns = (
            model.answer,
            model.answers,
            model.columns,
        )
        self.labels, self.architecture = model.labels, model.architecture

    def warm_up(self) -> int:
        """Run it twice; the number of best tags that it gives for a token."""
        for length in (1, 20):
            words = ["a"] * length
            columns = dict.fromkeys(self.columns, words)
            [answer] = self.answer([Sentence(words, None, columns)], self.outputs)
        ranked = (name for name, output in self.outputs.items() if output.ranked)
        return max((len(answer[name][0]) for name in ranked), default=0)
