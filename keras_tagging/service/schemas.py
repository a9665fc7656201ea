"""The bodies of requests and answers as types, and the OpenAPI document of them.

pydantic reads requests by these types; `/openapi.json` has them as JSON schemas.
"""

from collections import defaultdict
from importlib.metadata import version
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from keras_tagging.data.raw_text import WORD
from keras_tagging.utils import limits

Token = Annotated[str, StringConstraints(max_length=limits.SERVICE_TOKEN_LENGTH)]
NotEmpty = Annotated[Token, StringConstraints(min_length=1)]
#: of sentences, which `json_protocol` checks: there are some, one of them with a token
MOST = {"maxItems": limits.SERVICE_SENTENCES}
ROWS = {"minItems": 1, "contains": {"minItems": 1, "pattern": WORD.pattern}, **MOST}


def _words(row):
    """The words of text with blanks between them; whatever else is left as it is."""
    return WORD.findall(row) if isinstance(row, str) else row


def _sentences_of(token):
    """The type of sentences: lists of tokens, or words and blanks."""
    split = BeforeValidator(_words, json_schema_input_type=list[token] | str)
    return Annotated[list[Annotated[list[token], split]], Field(json_schema_extra=ROWS)]


class Request(BaseModel):
    """JSON that is asked, without anything else than its fields."""

    model_config = ConfigDict(strict=True, extra="forbid")


class TokensRequest(Request):
    """Sentences for a model that reads tokens: lists of words, or words and blanks."""

    model: str = None
    sentences: _sentences_of(Token)
    columns: dict[str, list[list[Token]]] = {}


#: what no request has together
APART = [{"probabilities": {"const": True}, "output": {"const": "conllu"}}]
APART += [{"sentences": True, "input": {"const": "lines"}}]


class TextRequest(Request):
    """Texts, or sentences, whose words stay as they are, for a pipeline."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": [name]} for name in ("text", "texts", "sentences")],
            "not": {"anyOf": [{"required": [*x], "properties": x} for x in APART]},
        }
    )
    model: str = None
    text: str = None
    texts: list[str] = Field(None, min_length=1, json_schema_extra=MOST)
    sentences: _sentences_of(NotEmpty) = None
    input: Literal["text", "lines"] = Field(
        "text", description="Whether each line of a text is one sentence."
    )
    output: Literal["json", "conllu"] = Field(
        None, description="By default json, or conllu if text/plain is accepted."
    )
    probabilities: bool = Field(
        False, description="Whether words have those of their labels, in json."
    )

    @model_validator(mode="after")
    def _one_of_three(self):
        if sum(x is not None for x in (self.text, self.texts, self.sentences)) != 1:
            raise ValueError("send one of text, texts and sentences")
        if self.input == "lines" and self.sentences is not None:
            raise ValueError("input is of text and texts, not of sentences")
        if self.probabilities and self.output == "conllu":
            raise ValueError("conllu has no place for probabilities: ask for json")
        return self


T = TypeVar("T")
Filled = Annotated[list[T], Field(min_length=1)]


class Tensor(BaseModel):
    """An input: strings, in rows or one after the other, or lengths."""

    model_config = ConfigDict(strict=True)
    name: str = Field(max_length=100)
    datatype: str
    shape: Filled[Annotated[int, Field(ge=1, lt=2**31)]] = Field(max_length=2)
    data: Filled[Token] | Filled[Filled[Token]] | Filled[int]


class Output(BaseModel):
    """An output that is asked for."""

    name: str


class InferRequest(BaseModel):
    """A request of the Open Inference Protocol, which describes its answers."""

    model_config = ConfigDict(strict=True)
    id: str = ""
    inputs: Filled[Tensor]
    outputs: list[Output] = []


class Word(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int
    text: str
    probabilities: dict[str, float] = {}


class SurfaceToken(BaseModel):
    text: str
    start: int = 0
    end: int = 0
    words: list[Word]


class Span(BaseModel):
    text: str
    label: str
    start: int
    end: int
    probability: float
    words: list[int]


class Sentence(BaseModel):
    """Places are characters of the text, and ends lie behind."""

    text: str = ""
    start: int = 0
    end: int = 0
    tokens: list[SurfaceToken]
    spans: list[Span]
    derivation: dict = Field(None, description="Of CCG, as `Derivation.to_dict`.")


class Document(BaseModel):
    sentences: list[Sentence]


class Answer(BaseModel):
    model: str
    milliseconds: float


class TextAnswer(Answer):
    """It has documents for `texts`, else sentences."""

    sentences: list[Sentence] = []
    documents: list[Document] = []


class Row(BaseModel):
    """A sentence, with each output of the model."""

    __pydantic_extra__: dict[str, list]
    model_config = ConfigDict(extra="allow")
    tokens: list[str]


class TokensAnswer(Answer):
    sentences: list[Row]


#: of requests and answers, by what a kind of models reads
TYPES = {"tokens": (TokensRequest, TokensAnswer), "text": (TextRequest, TextAnswer)}


class AboutModel(BaseModel):
    name: str
    kind: str
    command: str = Field(description="The address that it answers at.")
    architecture: str
    language: str = Field(description="Its code of ISO 639, or empty.")
    columns: list[str]
    outputs: list[str]
    labels: int
    probabilities: bool = Field(
        description="Whether /annotate may be asked for probabilities."
    )


class Models(BaseModel):
    models: list[AboutModel]
    max_tokens: int


class Error(BaseModel):
    error: str


class Operation(NamedTuple):
    """A route as the document tells it.

    Args:
        path, method: of the route.
        summary: of what it does.
        answer: type of its answer.
        asked: type of its body, None without one.
        media_type: of its answer; a pipeline's may be CoNLL-U instead.
    """

    path: str
    method: str
    summary: str
    answer: type
    asked: type | None = None
    media_type: str = "application/json"


def document(operations: list[Operation]) -> dict:
    """All routes as an OpenAPI document: https://spec.openapis.org/oas/v3.1.1"""
    types = {t for o in operations for t in (o.asked, o.answer, Error) if t is not None}
    schemas, definitions = TypeAdapter.json_schemas(
        [(t, "validation", TypeAdapter(t)) for t in types],
        ref_template="#/components/schemas/{model}",
    )

    for schema in definitions["$defs"].values():
        for field in schema.get("properties", {}).values():
            if field.get("default", "") is None:  # it may be left out, and is no null
                del field["default"]

    def content(of, media_type="application/json"):
        return {media_type: {"schema": schemas[of, "validation"]}}

    paths = defaultdict(dict)
    for path, method, summary, answered, asked, media_type in operations:
        answer = content(answered, media_type)
        if asked is TextRequest:
            answer["text/plain"] = {"schema": {"type": "string"}}
        responses = {
            "200": {"description": "The answer.", "content": answer},
            "default": {"description": "It is refused.", "content": content(Error)},
        }
        entry = {"summary": summary, "operationId": f"{method} {path}"}
        if asked is not None:
            entry["requestBody"] = {"required": True, "content": content(asked)}
        if "{name}" in path:
            name = {"name": "name", "in": "path", "required": True}
            entry["parameters"] = [{**name, "schema": {"type": "string"}}]
        paths[path][method] = {**entry, "responses": responses}
    info = {"title": "keras-tagging", "version": version("keras-tagging")}
    return {
        "openapi": "3.1.1",
        "info": info,
        "paths": paths,
        "components": {"schemas": definitions["$defs"]},
    }
