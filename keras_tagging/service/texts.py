"""A pipeline that is served: texts in, annotated sentences out, at `/annotate`."""

import json
from dataclasses import replace
from itertools import chain

from keras_tagging.data.annotation import ConlluWriter, as_object
from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds import Output
from keras_tagging.runtime import TextPipeline
from keras_tagging.service import plain
from keras_tagging.service.parts import is_large
from keras_tagging.service.problems import Problem, bad, check_keys, shown
from keras_tagging.service.tensors import Model, check_count, check_text
from keras_tagging.utils import limits

GIVEN = ("text", "texts", "sentences")
KEYS = {"model", *GIVEN, "input", "output", "probabilities"}
REMEDY = "send text, texts or sentences, and model where there are several"
TYPES = {"json": "application/json", "conllu": "text/plain; charset=utf-8"}
#: the output `json` with the probabilities of labels
PROBABLE = "json_with_probabilities"
WORDS = "words"  # the number of them, which is asked for with every other output


class Lines(str):
    """A text whose lines are one sentence each."""


class Later(list):
    """The sentences of a text that is to be run in parts, not annotated."""


def _as_json(sentence: Sentence) -> str:
    return json.dumps(as_object(sentence), ensure_ascii=False)


def _without_probabilities(sentence: Sentence) -> str:
    """The JSON of a sentence in whose batch another request asked for them."""
    if sentence.probabilities:
        sentence = replace(sentence, probabilities={})
    return _as_json(sentence)


class TextModel:
    """A pipeline as a worker runs it, as `tensors.TokenModel` one of tokens.

    Args:
        pipeline: of ONNX files.
    """

    columns, labels = (), ()
    outputs = {
        "json": Output("string", ""),
        "conllu": Output("string", ""),
        PROBABLE: Output("string", "", served=False),
        WORDS: Output("int32", 0, served=False),
    }
    #: of a sentence; CoNLL-U, which has numbers, is written where the whole text is
    _forms = {
        "json": _without_probabilities,
        "conllu": lambda sentence: sentence,
        PROBABLE: _as_json,
        WORDS: len,
    }

    def __init__(self, pipeline: TextPipeline):
        self._pipeline = pipeline
        self.probabilities = bool(pipeline.probability_columns)
        parts = pipeline.parts.values()
        self.architecture = ", ".join(part.architecture for part in parts)

    def warm_up(self) -> int:
        """Run it; there are no best tags."""
        self.answer(["It begins with this. And this is the second one."], ["json"])
        return 0

    def answer(self, given: list[str] | list[Sentence], names) -> list[dict[str, list]]:
        """For each text, or sentence of one, the outputs of its sentences.

        Those of a text that is to be run in parts are `Later`: see `unfinished`.
        """
        texts, later = [], []
        for item in given:
            raw = isinstance(item, str)
            texts.append(self._sentences(item) if raw else [item])
            later.append(raw and is_large(texts[-1]))
        pairs = [*zip(texts, later, strict=True)]
        now = chain.from_iterable(text for text, wait in pairs if not wait)
        probable = PROBABLE in names
        annotated = iter(self._pipeline.annotate_together([*now], probable))
        answers = []
        for text, wait in pairs:
            own = Later(text) if wait else [next(annotated) for _ in text]
            answers.append(
                {n: own if wait else [*map(self._forms[n], own)] for n in names}
            )
        return answers

    def _sentences(self, text: str) -> list[Sentence]:
        return [*self._pipeline.sentences(str(text), lines=isinstance(text, Lines))]


def unfinished(answers: list[dict[str, list]]) -> list[Sentence]:
    """The sentences that are still to be annotated."""
    later = (answer[WORDS] for answer in answers if isinstance(answer[WORDS], Later))
    return [*chain.from_iterable(later)]


def finished(answers: list[dict[str, list]], rest: list[dict[str, list]]) -> list[dict]:
    """The answers with those of the `unfinished` sentences in their places."""
    rest, found = iter(rest), []
    for answer in answers:
        if isinstance(answer[WORDS], Later):
            own = [next(rest) for _ in answer[WORDS]]
            answer = {n: [x for part in own for x in part[n]] for n in answer}
        found.append(answer)
    return found


def words_of(answers: list[dict[str, list]]) -> int:
    """The number of words in the answers."""
    return sum(sum(answer[WORDS]) for answer in answers)


def checked(
    texts, max_tokens: int, name: str = "texts", remedy: str = REMEDY
) -> list[str]:
    """The texts of a request.

    A text may be empty, but not the list of them.

    Args:
        texts: of a body.
        max_tokens: of the request.
        name: that the texts have in the protocol.
        remedy: what to send.

    Raises:
        Problem: for what is no list of strings, or too large.
    """
    if not isinstance(texts, list):
        raise bad(f"{name} must be a list of strings, not {shown(texts)}")
    if not texts:
        raise bad(f"{name} is empty: send at least one text")
    check_count(texts, "texts")
    for text in texts:
        if type(text) is not str:
            raise bad(f"text must be a string, not {shown(text)}: {remedy}")
    most = limits.SERVICE_TOKEN_CHARACTERS * max_tokens
    if (count := sum(map(len, texts))) > most:
        raise Problem(
            413,
            f"{count:,} characters in one request: send at most {most:,}, such as "
            "a paragraph at a time",
        )
    for text in texts:
        check_text(text)
    return texts


def read(model: Model, body: dict, max_tokens: int, accept: str = ""):
    """The texts or sentences of a body, the output, and how to write the answer.

    Args:
        model: that is asked.
        body: JSON.
        max_tokens: of the request.
        accept: the header, which chooses the output if the body does not.

    Returns:
        Texts or sentences, the name of the output, the type of its content, and a
        function of the answers and the milliseconds that they took, which gives it.

    Raises:
        Problem: if it is malformed, or too long.
    """
    if isinstance(body, dict) and "columns" in body:
        raise bad(f"{model.name} reads no columns: {REMEDY}")
    check_keys(body, KEYS, REMEDY)
    if len(given := [name for name in GIVEN if name in body]) != 1:
        raise bad(f"the body has {' and '.join(given) or 'no text'}: {REMEDY}")
    plain_text = accept.partition(",")[0].partition(";")[0].strip() == "text/plain"
    output = _one_of(body, "output", TYPES, "conllu" if plain_text else "json")
    kind, probable = TYPES[output], body.get("probabilities", False)
    if type(probable) is not bool:
        raise bad(f"probabilities is {shown(probable)}: it may be true or false")
    if probable and not model.probabilities:
        raise bad(f"{model.name} has no tagger, whose labels have probabilities")
    if probable and output == "conllu":
        raise bad("conllu has no place for probabilities: ask for json")
    output = PROBABLE if probable else output
    lines = _one_of(body, "input", ("text", "lines"), "text") == "lines"
    [name] = given
    if name == "sentences":
        if lines:
            raise bad("input tells of text and texts, not of sentences")
        items = plain.rows_of(model, body[name], {}, max_tokens)
        if not all(map(all, (sentence.tokens for sentence in items))):
            raise bad("a word is empty: leave it out")
    else:
        texts = [body[name]] if name == "text" else body[name]
        items = [*map(Lines if lines else str, checked(texts, max_tokens))]

    def written(answers, milliseconds):
        documents = [answer[output] for answer in answers]
        if name != "texts":
            documents = [[*chain.from_iterable(documents)]]
        if output == "conllu":
            ids = range(1, len(documents) + 1) if name == "texts" else [None]
            return "".join(map(as_conllu, documents, ids))
        found = [f'"sentences": [{", ".join(document)}]' for document in documents]
        if name == "texts":
            found = [f'"documents": [{{{"}, {".join(found)}}}]']
        parts = [f'"model": "{model.name}"', *found, f'"milliseconds": {milliseconds}']
        return f"{{{', '.join(parts)}}}"

    return items, output, kind, written


def _one_of(body, name, possible, default):
    found = body.get(name, default)
    if not isinstance(found, str) or found not in possible:
        raise bad(f"{name} is {shown(found)}: it may be {' or '.join(possible)}")
    return found


def as_conllu(sentences: list[Sentence], number: int | None = None) -> str:
    """The sentences of a text as `annotate` writes them.

    Args:
        sentences: annotated.
        number: of the text, where there are several.

    Raises:
        Problem: if one of them has a word that cannot be written.
    """
    writer = ConlluWriter(None if number is None else str(number))
    try:
        return "".join(map(writer.write, sentences))
    except ValueError as error:
        raise bad(str(error)) from None


def columns(answers: list[dict[str, list]], names: list[str]) -> dict[str, list[str]]:
    """The outputs by name, each with a string for each text: see `docs/serve.rst`."""
    forms = {"json": lambda found: f"[{', '.join(found)}]", "conllu": as_conllu}
    return {name: [forms[name](answer[name]) for answer in answers] for name in names}
