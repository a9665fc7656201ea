"""Our own protocol, for people and for the page: /annotate, and /tag and the like."""

import json
from collections.abc import Callable
from itertools import chain

from keras_tagging.data.annotation import ConlluWriter
from keras_tagging.data.sentence import Sentence
from keras_tagging.service.problems import Problem, shown
from keras_tagging.service.schemas import TextRequest, TokensRequest
from keras_tagging.service.worker import PROBABLE, WORDS, Later, Lines, Model
from keras_tagging.utils import limits


def chosen(models: dict[str, Model], name: str | None, command: str) -> Model:
    """The model that a body asks for.

    Raises:
        Problem: if it names none, and there are several, or names another kind.
    """
    fitting = [name for name, model in models.items() if model.command == command]
    if name is None and len(fitting) == 1:
        [name] = fitting
    if name in fitting:
        return models[name]
    others = ", ".join(f"{model.name}: /{model.command}" for model in models.values())
    what = "name a model" if name is None else f"there is no model {shown(name)}"
    status = 400 if name is None or name in models else 404
    raise Problem(status, f"{what} for /{command}: there are {others}")


def sentences(
    model: Model, rows: list[list[str]], columns: dict[str, list[list[str]]]
) -> list[Sentence]:
    """The sentences of a request.

    Args:
        model: that is asked.
        rows: tokens.
        columns: further strings, in the shape of the tokens.

    Raises:
        Problem: for columns that are missing, unknown or of another shape, or if
            there are no tokens at all.
    """
    if set(columns) != set(model.columns):
        names = ["tokens", *model.columns]
        raise Problem(
            400,
            f"{model.name} reads {', '.join(names)}, and the request has "
            f"{', '.join(map(shown, ['tokens', *columns]))}",
        )
    lengths = [*map(len, rows)]
    for name, values in columns.items():
        if [*map(len, values)] != lengths:
            raise Problem(400, f"{name} must have a value for each token")
    if not any(lengths):
        raise Problem(400, "there are no tokens in this request: send at least one")
    return [
        Sentence(row, None, {name: columns[name][i] for name in model.columns})
        for i, row in enumerate(rows)
    ]


def check_size(items: list[list[str]] | list[str], max_tokens: int) -> None:
    """Raise an Problem for too many sentences and tokens, or texts and characters."""
    units, most = ("sentences", "tokens"), max_tokens
    if items and isinstance(items[0], str):
        units, most = ("texts", "characters"), limits.SERVICE_TOKEN_CHARACTERS * most
    counts = len(items), sum(map(len, items))
    allowed = limits.SERVICE_SENTENCES, most
    for unit, count, limit in zip(units, counts, allowed, strict=True):
        if count > limit:
            raise Problem(
                413, f"{count:,} {unit}, padding included: send at most {limit:,}"
            )


def read(model: Model, body: TokensRequest | TextRequest, max_tokens: int) -> list:
    """The sentences or texts of a body.

    Raises:
        Problem: if they are too long, or do not fit the model.
    """
    if body.sentences is not None:
        check_size(body.sentences, max_tokens)
        return sentences(model, body.sentences, getattr(body, "columns", {}))
    texts = [body.text] if body.texts is None else body.texts
    check_size(texts, max_tokens)
    return [*map(Lines if body.input == "lines" else str, texts)]


def outputs_of(model: Model, body, accept: str) -> list[str]:
    """The outputs that are asked for: of a pipeline one, by the body or by the header.

    Raises:
        Problem: for probabilities of a pipeline that has none.
    """
    if not model.reads_text:
        return [*model.outputs]
    if body.probabilities:
        if not model.probabilities:
            raise Problem(400, f"{model.name} has no tagger with probabilities")
        return [PROBABLE]
    plain = accept.partition(",")[0].partition(";")[0].strip() == "text/plain"
    return [body.output or ("conllu" if plain else "json")]


def written(body, items: list, outputs: list[str], answers: list[dict]) -> str:
    """The answers as CoNLL-U, or the part of the JSON that has them."""
    if isinstance(body, TokensRequest):
        pairs = zip(items, answers, strict=True)
        rows = [{"tokens": item.tokens, **answer} for item, answer in pairs]
        return f'"sentences": {json.dumps(rows, ensure_ascii=False)}'
    documents = [answer[outputs[0]] for answer in answers]
    if body.texts is None:
        documents = [[*chain.from_iterable(documents)]]
    if outputs == ["conllu"]:
        numbers = [None] if body.texts is None else range(1, len(documents) + 1)
        return "".join(map(as_conllu, documents, numbers))
    rows = [f'"sentences": [{", ".join(document)}]' for document in documents]
    if body.texts is None:
        return rows[0]
    return f'"documents": [{{{"}, {".join(rows)}}}]'


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
        raise Problem(400, str(error)) from None


async def annotated(
    ask: Callable, items: list[str] | list[Sentence], outputs: list[str]
) -> list[dict[str, list]]:
    """The answers of a pipeline for texts: the sentences of large ones are asked again.

    Args:
        ask: coroutine function of items and outputs.
        items: texts, or sentences.
        outputs: that are asked for.
    """
    answers = await ask(items, [*outputs, WORDS])
    large = [answer[WORDS] for answer in answers if isinstance(answer[WORDS], Later)]
    if not large:
        return answers
    rest = iter(await ask([*chain.from_iterable(large)], [*outputs, WORDS]))

    def whole(answer):
        if not isinstance(answer[WORDS], Later):
            return answer
        parts = [next(rest) for _ in answer[WORDS]]
        return {name: [x for part in parts for x in part[name]] for name in answer}

    return [*map(whole, answers)]
