"""The OpenAPI document: its routes, and schemas, which real answers have."""

import re

import pytest
from derivations import GOLD

from keras_tagging.data.annotation import as_object
from keras_tagging.service import openapi
from keras_tagging.service.app import Service
from keras_tagging.service.connections import Connections
from keras_tagging.service.gate import Hosts
from keras_tagging.service.metrics import Metrics

pytestmark = pytest.mark.one_backend
SENTENCES = {"model": "tagger", "sentences": ["a b", ["c"]]}
TENSOR = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["Dogs sleep."]}
V1, V2 = "/v1/models/{name}", "/v2/models/{name}"
BODIES = {
    "/annotate": [
        {"text": "Dogs sleep."},
        {"texts": ["Dogs. Cats.", ""], "input": "lines", "output": "json"},
        {"sentences": [["Dogs", "sleep"]]},
        {"text": "Dogs sleep.", "output": "conllu"},
    ],
    "/tag": [SENTENCES],
    f"{V1}:predict": [{"instances": ["a"]}, {"inputs": {"text": ["a"]}}],
    f"{V2}/infer": [
        {"inputs": [TENSOR]},
        {"inputs": [TENSOR], "id": "7", "outputs": [{"name": "json"}]},
        {"inputs": [TENSOR], "parameters": {"binary_data_output": True}},
    ],
}
UNSOUND = [
    ("Texts", {}),
    ("Texts", {"text": "a", "texts": ["a"]}),
    ("Texts", {"text": "a", "beta": 1}),
    ("Texts", {"text": "a", "output": "x"}),
    ("Annotated", {"model": "m", "milliseconds": 1}),
    ("V1Request", {}),
]


@pytest.fixture(scope="module")
def document(whole):
    return whole.get("/openapi.json").json()


@pytest.fixture(scope="module")
def jsonschema():
    """It takes a second to import, which each process that collects would."""
    import jsonschema

    return jsonschema


@pytest.fixture(scope="module")
def check(document, jsonschema):
    """`check(schema, value)` fails where a value is not as the document says."""

    def validate(schema, value):
        whole = {**schema, "components": document["components"]}
        jsonschema.validate(value, whole, jsonschema.Draft202012Validator)

    return validate


def test_it_has_all_routes():
    service = Service({}, [], None, Metrics(), 9)
    app = service.app(Connections(), Hosts("127.0.0.1"))
    routes = {
        (route.path, method.lower())
        for route in app.routes
        for method in (route.methods or {"GET"}) - {"HEAD"}
        # an error, and what the page loads
        if not route.path.endswith(":{verb}") and not route.path.startswith("/static/")
    }
    paths = openapi.document({})["paths"]
    assert {(p, m) for p in paths for m in paths[p] if m != "parameters"} == routes


def test_it_is_sound(document, jsonschema):
    assert document["openapi"].startswith("3.1") and document["info"]["version"]
    names = []
    for path, item in document["paths"].items():
        assert bool(re.search("{name}", path)) == ("parameters" in item)
        [method] = item.keys() - {"parameters"}
        names.append(item[method]["operationId"])
        assert ("requestBody" in item[method]) == (method == "post")
        for status, answer in item[method]["responses"].items():
            assert re.fullmatch("[2-5][0-9][0-9]", status) and answer["description"]
    assert len(set(names)) == len(names)
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    referred = set(re.findall(r"'#/components/schemas/(\w+)'", str(document)))
    assert referred == set(document["components"]["schemas"])


@pytest.mark.parametrize("path", openapi.document({})["paths"])
def test_answers_are_as_it_says(whole, document, check, path):
    [(method, operation)] = [
        (k, v) for k, v in document["paths"][path].items() if k != "parameters"
    ]
    own = path.removesuffix("/versions/1").replace("/versions/1/", "/")
    bodies = BODIES.get(own.replace("/versions/1:", ":"), [None])
    address = path.replace("{name}", "whole")
    for body in bodies:
        if method == "post":
            asked = operation["requestBody"]["content"]["application/json"]["schema"]
            if body is None:  # there is no such model
                refused = whole.post(address, {"sentences": ["a"]})
                assert str(refused.status_code) in operation["responses"]
                check({"$ref": "#/components/schemas/Error"}, refused.json())
                continue
            check(asked, body)
        found = whole.post(address, body) if body else whole.get(address)
        content = operation["responses"][str(found.status_code)]["content"]
        assert found.status_code == 200, found.text
        kind = found.headers["content-type"].partition(";")[0]
        schema = content[kind]["schema"]
        check(schema, found.json() if kind.endswith("json") else found.text)


def test_derivations_are_as_it_says(check, jsonschema):
    found = as_object(GOLD[2])
    check({"$ref": "#/components/schemas/Sentence"}, found)
    assert {"word", "children"} <= {
        key for n in found["derivation"]["nodes"] for key in n
    }
    for wrong in ({"nodes": []}, {"header": "", "nodes": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            check({"$ref": "#/components/schemas/Derivation"}, wrong)


@pytest.mark.parametrize("name, body", UNSOUND)
def test_what_is_refused_is_no_request(check, jsonschema, name, body):
    with pytest.raises(jsonschema.ValidationError):
        check({"$ref": f"#/components/schemas/{name}"}, body)
