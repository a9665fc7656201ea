"""A pipeline that is served: raw text in, annotated sentences out, at `/annotate`."""

from itertools import chain

from keras_tagging.data.annotation import as_object
from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds import Output
from keras_tagging.runtime import TextPipeline
from keras_tagging.service.parts import is_large
from keras_tagging.service.problems import Problem, bad, check_keys, shown
from keras_tagging.service.tensors import Model, check_text
from keras_tagging.utils import limits

KEYS = {"model", "text"}
REMEDY = "send text, and model where there are several"


class TextModel:
    """A pipeline as a worker runs it, as `tensors.TokenModel` one of tokens.

    Args:
        pipeline: of ONNX files.
    """

    columns, labels = (), ()
    outputs = {"sentences": Output("string", "")}

    def __init__(self, pipeline: TextPipeline):
        self._pipeline = pipeline
        parts = pipeline.parts.values()
        self.architecture = ", ".join(part.architecture for part in parts)

    def warm_up(self) -> int:
        """Run it; there are no best tags."""
        self.answer(["It begins with this. And this is the second one."], ())
        return 0

    def answer(self, given: list[str] | list[Sentence], names) -> list[dict[str, list]]:
        """For each text, or sentence of one, its annotated sentences.

        They are as `data.annotation.as_object` gives them. The sentences of a text that
        is to be run in parts are not annotated: see `unfinished`.
        """
        texts, later = [], []
        for item in given:
            raw = isinstance(item, str)
            texts.append([*self._pipeline.sentences(item)] if raw else [item])
            later.append(raw and is_large(texts[-1]))
        pairs = [*zip(texts, later, strict=True)]
        now = chain.from_iterable(text for text, wait in pairs if not wait)
        annotated = map(as_object, self._pipeline.annotate_together([*now]))
        return [
            {"sentences": text if wait else [next(annotated) for _ in text]}
            for text, wait in pairs
        ]


def unfinished(answers: list[dict[str, list]]) -> list[Sentence]:
    """The sentences of a text that are still to be annotated."""
    [answer] = answers
    return [s for s in answer["sentences"] if isinstance(s, Sentence)]


def read(model: Model, body: dict, max_tokens: int):
    """The text of a body, in a list, and how to write the answer.

    Raises:
        Problem: if it is malformed, or too long.
    """
    check_keys(body, KEYS, REMEDY)
    text = body.get("text")
    if type(text) is not str:
        raise bad(f"text must be a string, not {shown(text)}: {REMEDY}")
    most = limits.SERVICE_TOKEN_CHARACTERS * max_tokens
    if len(text) > most:
        raise Problem(
            413,
            f"{len(text):,} characters in one request: send at most {most:,}, such as "
            "a paragraph at a time",
        )
    check_text(text)

    def written(answers):
        return {"model": model.name, "sentences": [*_sentences(answers)]}

    return [text], written


def words_of(texts, answers: list[dict]) -> int:
    """The number of words in the answer."""
    tokens = (token for s in _sentences(answers) for token in s["tokens"])
    return sum(len(token["words"]) for token in tokens)


def _sentences(answers):
    return chain.from_iterable(answer["sentences"] for answer in answers)
