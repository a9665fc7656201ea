"""All routes as an OpenAPI document, for `/openapi.json`.

https://spec.openapis.org/oas/v3.1.1
"""

from importlib.metadata import version

from keras_tagging import kinds
from keras_tagging.service.tensors import VERSION, Model
from keras_tagging.utils import limits

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
NUMBER, FLAG, ANY = {"type": "number"}, {"type": "boolean"}, {}
PARAMETERS = {"type": "object", "additionalProperties": True}


def _list(items: dict, **more) -> dict:
    return {"type": "array", "items": items, **more}


def _object(required: str, **properties) -> dict:
    """An object with these names, some of which must be there."""
    return {
        "type": "object",
        "properties": properties,
        **({"required": required.split()} if required else {}),
    }


def _map(values: dict) -> dict:
    return {"type": "object", "additionalProperties": values}


def _ref(name: str) -> dict:
    return {"$ref": f"#/components/schemas/{name}"}


def _any(*schemas: dict) -> dict:
    return {"anyOf": [*schemas]}


_WORD = {
    **_object("id text", id=WHOLE, text=TEXT, probabilities=_map(NUMBER)),
    "additionalProperties": True,
}
_TOKEN = _object("text words", text=TEXT, start=WHOLE, end=WHOLE, words=_list(_WORD))
_SPAN = _object(
    "text label start end words",
    text=TEXT,
    label=TEXT,
    start=WHOLE,
    end=WHOLE,
    probability=_any(NUMBER, {"type": "null"}),
    words=_list(WHOLE),
)
_NODE = _object(
    "category",
    category=TEXT,
    rule={**TEXT, "description": "The combinator of an inner node."},
    head={**WHOLE, "description": "The number of its head child."},
    children=_list(WHOLE, description="The places of its children in the list."),
    word={**TEXT, "description": "Of a leaf; brackets are -LRB- and the like."},
    pos=TEXT,
    original_pos=TEXT,
    predicate=TEXT,
    extras=TEXT,
)
_TENSOR = {"name": TEXT, "datatype": TEXT, "shape": _list(WHOLE)}
_ROWS = _list(_any(_list(TEXT), TEXT), maxItems=limits.SERVICE_SENTENCES)
_ANSWERED = {"model": TEXT, "milliseconds": NUMBER}
_MODEL = _object(
    "name kind command architecture language columns outputs labels",
    name=TEXT,
    kind=TEXT,
    command={**TEXT, "description": "The address that it answers at."},
    architecture=TEXT,
    language={**TEXT, "description": "Its code of ISO 639, or empty."},
    columns=_list(TEXT),
    outputs=_list(TEXT),
    labels=WHOLE,
    probabilities={
        **FLAG,
        "description": "Whether /annotate may be asked for probabilities.",
    },
)

SCHEMAS = {
    "Error": _object("error", error=TEXT),
    "Models": _object("models max_tokens", models=_list(_MODEL), max_tokens=WHOLE),
    "Health": _object(
        "live ready version models workers",
        live=FLAG,
        ready=FLAG,
        version=TEXT,
        models={**_map(TEXT), "description": "The kind of each, by name."},
        workers=_object("ready all", ready=WHOLE, all=WHOLE),
    ),
    "Sentence": {
        **_object(
            "tokens spans",
            text=TEXT,
            start=WHOLE,
            end=WHOLE,
            tokens=_list(_TOKEN),
            spans=_list(_SPAN),
            derivation=_ref("Derivation"),
        ),
        "description": "Places are characters of the text, and ends lie behind.",
    },
    "Derivation": {
        **_object("header nodes", header=TEXT, nodes=_list(_NODE, minItems=1)),
        "description": "Of CCG: nodes, each before its children.",
    },
    "Texts": {
        **_object(
            "",
            model=TEXT,
            text=TEXT,
            texts=_list(TEXT, minItems=1, maxItems=limits.SERVICE_SENTENCES),
            sentences={**_ROWS, "description": "Of words, which stay as they are."},
            input={
                "enum": ["text", "lines"],
                "default": "text",
                "description": "Whether each line of a text is one sentence.",
            },
            output={
                "enum": ["json", "conllu"],
                "description": "By default json, or conllu if text/plain is accepted.",
            },
            probabilities={
                **FLAG,
                "default": False,
                "description": "Whether words have those of their labels, in json.",
            },
        ),
        "oneOf": [{"required": [name]} for name in ("text", "texts", "sentences")],
        "additionalProperties": False,
    },
    "Annotated": _any(
        _object(
            "model sentences milliseconds",
            **_ANSWERED,
            sentences=_list(_ref("Sentence")),
        ),
        _object(
            "model documents milliseconds",
            **_ANSWERED,
            documents=_list(_object("sentences", sentences=_list(_ref("Sentence")))),
        ),
    ),
    "Sentences": {
        **_object(
            "sentences", model=TEXT, sentences=_ROWS, columns=_map(_list(_list(TEXT)))
        ),
        "additionalProperties": False,
    },
    "Answered": _object(
        "model sentences milliseconds",
        **_ANSWERED,
        sentences=_list(
            {
                **_object("tokens", tokens=_list(TEXT)),
                "additionalProperties": _list(ANY),
            }
        ),
    ),
    "V1Status": _object("model_version_status", model_version_status=_list(PARAMETERS)),
    "V1Metadata": _object(
        "model_spec metadata", model_spec=PARAMETERS, metadata=PARAMETERS
    ),
    "V1Request": {
        **_object("", signature_name=TEXT, instances=_list(ANY), inputs=ANY),
        "oneOf": [{"required": ["instances"]}, {"required": ["inputs"]}],
        "additionalProperties": False,
    },
    "V1Answer": _any(
        _object("predictions", predictions=_list(_map(ANY))),
        _object("outputs", outputs=_map(_list(ANY))),
    ),
    "V2Server": _object(
        "name version extensions", name=TEXT, version=TEXT, extensions=_list(TEXT)
    ),
    "V2Live": _object("live", live=FLAG),
    "V2Ready": _object("ready", ready=FLAG, name=TEXT),
    "V2Metadata": _object(
        "name versions platform inputs outputs",
        name=TEXT,
        versions=_list(TEXT),
        platform=TEXT,
        inputs=_list(_object("name datatype shape", **_TENSOR)),
        outputs=_list(_object("name datatype shape", **_TENSOR)),
    ),
    "V2Request": _object(
        "inputs",
        id=TEXT,
        parameters=PARAMETERS,
        inputs=_list(
            _object(
                "name datatype shape",
                **_TENSOR,
                data=_list(ANY),
                parameters=PARAMETERS,
            )
        ),
        outputs=_list(_object("name", name=TEXT, parameters=PARAMETERS)),
    ),
    "V2Answer": _object(
        "model_name model_version outputs",
        model_name=TEXT,
        model_version=TEXT,
        id=TEXT,
        outputs=_list(
            _object(
                "name datatype shape",
                **_TENSOR,
                data=_list(ANY),
                parameters=PARAMETERS,
            )
        ),
    ),
}

#: what may go wrong with a request for a model
REFUSALS = {
    "400": "It is malformed.",
    "403": "The service may not be asked so: for this host, or by this page.",
    "404": "There is no such model.",
    "408": "The body came too slowly.",
    "413": "It is too large.",
    "415": "The body is no JSON, or compressed.",
    "500": "An error in the service.",
    "503": "Too many requests wait, or the service stops: try again.",
}
BINARY, CONLLU = "application/octet-stream", "text/plain"


def document(models: dict[str, Model]) -> dict:
    """The document of a service.

    Args:
        models: that it serves, by name.
    """
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "keras-tagging",
            "version": version("keras-tagging"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "Taggers, parsers and pipelines.",
        },
        "servers": [{"url": "/"}],
        "paths": {path: _operations(path, of) for path, of in _routes(models).items()},
        "components": {
            "schemas": SCHEMAS,
            "parameters": {
                "name": {
                    "name": "name",
                    "in": "path",
                    "required": True,
                    "description": "Of a model.",
                    "schema": {"enum": [*models]},
                }
            },
        },
    }


def _routes(models):
    """By path the method, a summary, the schemas of request and answer, and types."""
    found = {
        "/": ("get", "The page.", None, TEXT, "text/html"),
        "/models": ("get", "The models.", None, _ref("Models")),
        "/health": ("get", "Live and ready, and with what.", None, _ref("Health")),
        "/metrics": ("get", "Counters for Prometheus.", None, TEXT, CONLLU),
        "/openapi.json": ("get", "This document.", None, {"type": "object"}),
    }
    for kind in kinds.known().values():
        if kind.route is None:
            continue
        asked, answer, more = "Sentences", "Answered", ()
        if kind.reads == "text":
            asked, answer, more = "Texts", "Annotated", (CONLLU,)
        told = f"Ask a {kind.name}."
        types = ("application/json", *more)
        found[f"/{kind.route}"] = ("post", told, _ref(asked), _ref(answer), *types)
    for path in ("/v1/models/{name}", f"/v1/models/{{name}}/versions/{VERSION}"):
        found[path] = ("get", "Status.", None, _ref("V1Status"))
        found[f"{path}/metadata"] = ("get", "Signature.", None, _ref("V1Metadata"))
        asked = _ref("V1Request"), _ref("V1Answer")
        found[f"{path}:predict"] = ("post", "As TensorFlow Serving.", *asked)
    found["/v2"] = ("get", "The service.", None, _ref("V2Server"))
    found["/v2/health/live"] = ("get", "Whether it is live.", None, _ref("V2Live"))
    found["/v2/health/ready"] = ("get", "Whether it is ready.", None, _ref("V2Ready"))
    for path in ("/v2/models/{name}", f"/v2/models/{{name}}/versions/{VERSION}"):
        found[path] = ("get", "Signature.", None, _ref("V2Metadata"))
        found[f"{path}/ready"] = ("get", "Whether it is.", None, _ref("V2Ready"))
        types = _ref("V2Request"), _ref("V2Answer"), "application/json", BINARY
        found[f"{path}/infer"] = ("post", "Open Inference Protocol.", *types)
    return found


def _operations(path, route):
    method, summary, asked, answer, *types = route
    types = types or ["application/json"]
    schemas = [answer, *[TEXT] * (len(types) - 1)]
    content = {t: {"schema": s} for t, s in zip(types, schemas, strict=True)}
    refused = {"application/json": {"schema": _ref("Error")}}
    codes = REFUSALS if asked else {"403": REFUSALS["403"], "503": REFUSALS["503"]}
    if "{name}" in path:
        codes = {**codes, "404": REFUSALS["404"]}
    responses = {k: {"description": v, "content": refused} for k, v in codes.items()}
    if "health" in path or path.endswith("/ready"):
        responses["503"] = {
            "description": "It is not, or it stops.",
            "content": content,
        }
    operation = {
        "summary": summary,
        "operationId": f"{method} {path}",
        "responses": {"200": {"description": "The answer.", "content": content}}
        | responses,
    }
    if asked:
        sent = {"application/json": {"schema": asked}}
        if BINARY in types:
            sent[BINARY] = {"schema": TEXT}
        operation["requestBody"] = {"required": True, "content": sent}
    name = [{"$ref": "#/components/parameters/name"}]
    return {method: operation, **({"parameters": name} if "{name}" in path else {})}
