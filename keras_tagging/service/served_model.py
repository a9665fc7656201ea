"""A model that is served: what it reads and gives, and whether a request fits it."""

from dataclasses import dataclass

from keras_tagging import kinds
from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds import Output
from keras_tagging.service.problems import Problem, shown
from keras_tagging.utils import limits


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

    def sentences(
        self, rows: list[list[str]], columns: dict[str, list[list[str]]]
    ) -> list[Sentence]:
        """The sentences of a request.

        Args:
            rows: tokens.
            columns: further strings, in the shape of the tokens.

        Raises:
            Problem: for columns that are missing, unknown or of another shape, or if
                there are no tokens at all.
        """
        if set(columns) != set(self.columns):
            names = ["tokens", *self.columns]
            raise Problem(
                400,
                f"{self.name} reads {', '.join(names)}, and the request has "
                f"{', '.join(map(shown, ['tokens', *columns]))}",
            )
        lengths = [*map(len, rows)]
        for name, values in columns.items():
            if [*map(len, values)] != lengths:
                raise Problem(400, f"{name} must have a value for each token")
        if not any(lengths):
            raise Problem(400, "there are no tokens in this request: send at least one")
        return [
            Sentence(row, None, {name: columns[name][i] for name in self.columns})
            for i, row in enumerate(rows)
        ]


def check_tokens(rows: list[list[str]], max_tokens: int) -> None:
    """Raise a Problem for too many sentences or tokens."""
    _check_count(rows, "sentences")
    if (count := sum(map(len, rows))) > max_tokens:
        raise Problem(
            413,
            f"{count:,} tokens, padding included, in one request: send at most "
            f"{max_tokens:,}",
        )


def check_texts(texts: list[str], max_tokens: int) -> None:
    """Raise a Problem for too many texts or characters."""
    _check_count(texts, "texts")
    most = limits.SERVICE_TOKEN_CHARACTERS * max_tokens
    if (count := sum(map(len, texts))) > most:
        raise Problem(
            413,
            f"{count:,} characters in one request: send at most {most:,}, such as "
            "a paragraph at a time",
        )


def _check_count(rows, what):
    if len(rows) > limits.SERVICE_SENTENCES:
        raise Problem(
            413,
            f"{len(rows):,} {what} in one request: send at most "
            f"{limits.SERVICE_SENTENCES:,}",
        )
