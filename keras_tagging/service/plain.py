"""Our own protocol, for people and for the page.

`/models`, and `/tag`, `/parse` and the like for sentences; `texts` has `/annotate`.
"""

from keras_tagging.data.raw_text import WORD
from keras_tagging.data.sentence import Sentence
from keras_tagging.service.problems import bad, check_keys, shown
from keras_tagging.service.tensors import Model, sentences

KEYS = {"model", "sentences", "columns"}
REMEDY = "send sentences, and model and columns where they are needed"


def listed(models: dict[str, Model], max_tokens: int) -> dict:
    """The answer to `GET /models`."""
    names = "name kind command architecture language columns outputs labels"
    names = f"{names} probabilities".split()
    found = [{n: getattr(model, n) for n in names} for model in models.values()]
    found = [{**about, "outputs": list(about["outputs"])} for about in found]
    return {"models": found, "max_tokens": max_tokens}


def chosen(models: dict[str, Model], body: dict, command: str) -> str:
    """The name of the model that a body asks for.

    Raises:
        Problem: if it names none, and there are several, or names another kind.
    """
    fitting = [name for name, model in models.items() if model.command == command]
    name = body.get("model")
    if name is None:
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            others = [f"{n} is a {m.kind}: /{m.command}" for n, m in models.items()]
            raise bad(f"no model answers at /{command}; {'; '.join(others)}")
        raise bad(f"name the model for /{command}: one of {', '.join(fitting)}")
    if isinstance(name, str) and name in models and name not in fitting:
        model = models[name]
        raise bad(f"{name} is a {model.kind}: post to /{model.command}")
    return name


def read(model: Model, body: dict, max_tokens: int):
    """The sentences of a body, which may be lists of tokens or text with blanks.

    Raises:
        Problem: if it is malformed.
    """
    check_keys(body, KEYS, REMEDY)
    columns = body.get("columns", {})
    if not isinstance(columns, dict) or {"tokens", "lengths"} & columns.keys():
        raise bad(f"columns must be an object, not {shown(columns)}")
    given = rows_of(model, body.get("sentences"), columns, max_tokens)

    def written(answers):
        pairs = zip(given, answers, strict=True)
        rows = [{"tokens": sentence.tokens, **answer} for sentence, answer in pairs]
        return {"model": model.name, "sentences": rows}

    return given, written


def rows_of(model: Model, rows, columns: dict, max_tokens: int) -> list[Sentence]:
    """The sentences of rows, each a list of tokens or text with blanks.

    Raises:
        Problem: if they are something else.
    """
    if not isinstance(rows, list):
        raise bad("sentences must be a list: of lists of tokens, or of strings")
    rows = [WORD.findall(row) if isinstance(row, str) else row for row in rows]
    return sentences(model, {"tokens": rows, **columns}, None, max_tokens)
