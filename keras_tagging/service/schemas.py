"""The bodies of requests and answers as types, and the OpenAPI document of them.

pydantic reads requests by these types; `/openapi.json` has them as JSON schemas.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Literal

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


def _words(row):
    """The words of text with blanks between them; whatever else is left as it is."""
    return WORD.findall(row) if isinstance(row, str) else row


Words = Annotated[
    list[Token], BeforeValidator(_words, json_schema_input_type=list[str] | str)
]


class Request(BaseModel):
    """JSON that is asked, without anything else than its fields."""

    model_config = ConfigDict(strict=True, extra="forbid")


class TokensRequest(Request):
    """Sentences for a model that reads tokens: lists of words, or words and blanks."""

    model: str = None
    sentences: list[Words]
    columns: dict[str, list[list[Token]]] = {}


class TextRequest(Request):
    """Texts, or sentences, whose words stay as they are, for a pipeline."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": [name]} for name in ("text", "texts", "sentences")]
        }
    )
    model: str = None
    text: str = None
    texts: list[str] = Field(None, min_length=1)
    sentences: list[Words] = None
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


class Tensor(BaseModel):
    """An input: strings, in rows or one after the other, or lengths."""

    model_config = ConfigDict(strict=True)
    name: str = Field(max_length=100)
    datatype: str
    shape: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(max_length=2)
    data: list[Token] | list[list[Token]] | list[int]


class Output(BaseModel):
    """An output that is asked for."""

    name: str


class InferRequest(BaseModel):
    """A request of the Open Inference Protocol, which describes its answers."""

    model_config = ConfigDict(strict=True)
    id: str = ""
    inputs: list[Tensor]
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
    probability: float | None = None
    words: list[int]


class Node(BaseModel):
    category: str
    rule: str = Field("", description="The combinator of an inner node.")
    head: int = Field(0, description="The number of its head child.")
    children: list[int] = Field([], description="The places of its children.")
    word: str = Field("", description="Of a leaf; brackets are -LRB- and the like.")
    pos: str = ""
    original_pos: str = ""
    predicate: str = ""
    extras: str = ""


class Derivation(BaseModel):
    """Of CCG: nodes, each before its children."""

    header: str
    nodes: list[Node] = Field(min_length=1)


class Sentence(BaseModel):
    """Places are characters of the text, and ends lie behind."""

    text: str = ""
    start: int = 0
    end: int = 0
    tokens: list[SurfaceToken]
    spans: list[Span]
    derivation: Derivation = None


class Document(BaseModel):
    sentences: list[Sentence]


class Answer(BaseModel):
    model: str
    milliseconds: float


class TextAnswer(Answer):
    """Of `texts` it has documents, else sentences."""

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


class Health(BaseModel):
    live: bool
    ready: bool
    version: str
    models: dict[str, str] = Field(description="The kind of each, by name.")
    workers: dict[str, int]


class Error(BaseModel):
    error: str


@dataclass(frozen=True)
class Operation:
    """A route as the document tells it.

    Args:
        path, method: of the route.
        summary: of what it does.
        answer: type of its answer.
        asked: type of its body, None without one.
        media_type: of its answer; JSON may be plain text instead where it is asked for.
    """

    path: str
    method: str
    summary: str
    answer: type
    asked: type | None = None
    media_type: str = "application/json"

    def document(self, schema) -> dict:
        """Its entry; `schema` is a function from types to their schemas."""
        content = {self.media_type: {"schema": schema(self.answer)}}
        error = {"application/json": {"schema": schema(Error)}}
        document = {
            "summary": self.summary,
            "operationId": f"{self.method} {self.path}",
            "responses": {
                "200": {"description": "The answer.", "content": content},
                "default": {"description": "It is refused.", "content": error},
            },
        }
        if self.answer is Health:
            refused = {"description": "It is not ready.", "content": content}
            document["responses"]["503"] = refused
        if self.asked is TextRequest:
            content["text/plain"] = {"schema": {"type": "string"}}
        if self.asked is not None:
            body = {"application/json": {"schema": schema(self.asked)}}
            document["requestBody"] = {"required": True, "content": body}
        if "{name}" in self.path:
            name = {"name": "name", "in": "path", "required": True}
            document["parameters"] = [{**name, "schema": {"type": "string"}}]
        return document


def document(operations: Iterable[Operation]) -> dict:
    """All routes as an OpenAPI document: https://spec.openapis.org/oas/v3.1.1"""
    operations = list(operations)
    types = {t for o in operations for t in (o.asked, o.answer) if t is not None}
    adapters = [(t, "validation", TypeAdapter(t)) for t in (*types, Error)]
    schemas, definitions = TypeAdapter.json_schemas(
        adapters, ref_template="#/components/schemas/{model}"
    )
    paths = defaultdict(dict)
    for operation in operations:
        entry = operation.document(lambda of: schemas[of, "validation"])
        paths[operation.path][operation.method] = entry
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "keras-tagging",
            "version": version("keras-tagging"),
            "description": "Taggers, parsers and pipelines.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": definitions["$defs"]},
    }
