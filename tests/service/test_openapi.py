"""`/openapi.json`: sound, and true of all answers."""

import json
import re
import subprocess
import sys

import pytest
from derivations import GOLD

from keras_tagging.data.annotation import as_object
from keras_tagging.service.app import Service
from keras_tagging.service.gate import Hosts, Metrics
from keras_tagging.service.schemas import document

TENSOR = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["Dogs sleep."]}
BODIES = {
    "/annotate": [
        {"text": "Dogs sleep."},
        {"texts": ["Dogs. Cats.", ""], "input": "lines", "output": "json"},
        {"sentences": [["Dogs", "sleep"]]},
        {"text": "Dogs sleep.", "output": "conllu"},
    ],
    "/tag": [{"sentences": ["a b", ["c"]], "columns": {}}],
    "/v2/models/{name}/infer": [
        {"inputs": [TENSOR]},
        {"inputs": [TENSOR], "id": "7", "outputs": [{"name": "json"}]},
    ],
}


def operations():
    service = Service({}, [], None, Metrics(), 9)
    service.app(Hosts("127.0.0.1"))
    return service._operations


@pytest.fixture(scope="module")
def written():
    return document(operations())


@pytest.fixture(scope="module")
def check(written):
    """`check(schema, value)` fails where a value is not as the document says."""
    import jsonschema  # a second, which each process that collects would take

    def validate(schema, value):
        whole = {**schema, "components": written["components"]}
        jsonschema.validate(value, whole, jsonschema.Draft202012Validator)

    return validate


def test_it_is_sound(written, whole):
    import jsonschema

    assert written == whole.get("/openapi.json").json()
    assert written["openapi"].startswith("3.1") and written["info"]["version"]
    assert "null" not in json.dumps(written)
    names = []
    for path, item in written["paths"].items():
        [(method, operation)] = item.items()
        names.append(operation["operationId"])
        assert ("{name}" in path) == ("parameters" in operation)
        assert ("requestBody" in operation) == (method == "post")
        for status, answer in operation["responses"].items():
            assert re.fullmatch("200|default", status)
            assert answer["description"]
    assert len(set(names)) == len(names)
    schemas = written["components"]["schemas"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert set(re.findall(r"'#/components/schemas/(\w+)'", str(written))) == {*schemas}


@pytest.mark.parametrize("operation", operations(), ids=lambda o: o.path)
def test_answers_are_as_it_says(whole, written, check, operation):
    entry = written["paths"][operation.path][operation.method]
    unversioned = operation.path.replace("/versions/1", "")
    address = operation.path.replace("{name}", "whole")
    for body in BODIES.get(unversioned, [None]):
        if operation.method == "get":
            found = whole.get(address)
        elif body is None:  # there is no such model
            found = whole.post(address, {"sentences": ["a"]})
            assert found.status_code // 100 == 4 and "default" in entry["responses"]
            check({"$ref": "#/components/schemas/Error"}, found.json())
            continue
        else:
            content = entry["requestBody"]["content"]["application/json"]
            check(content["schema"], body)
            found = whole.post(address, body)
        assert found.status_code == 200, found.text
        kind = found.headers["content-type"].partition(";")[0]
        schema = entry["responses"]["200"]["content"][kind]["schema"]
        check(schema, found.json() if kind.endswith("json") else found.text)


@pytest.mark.slow
def test_schemathesis(whole, tmp_path):
    """Whether sentences have the columns of a model, and tensors fit, it cannot say."""
    pytest.importorskip("schemathesis")
    (tmp_path / "schemathesis.toml").write_text(
        "[checks]\n"
        "negative_data_rejection.expected-statuses = [400, 404, 405, 413, 415]\n"
        "positive_data_acceptance.enabled = false\n"
        "positive_data_acceptance.expected-statuses = [200, 404, 413]\n"
        '[[operations]]\ninclude-path = "/annotate"\n'
        "checks.positive_data_acceptance.enabled = true\n"
    )
    command = [sys.executable, "-m", "schemathesis.cli", "run", "--seed=1"]
    command += [f"{whole.url}/openapi.json", "--max-examples=50"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_derivations_are_as_it_says(check):
    check({"$ref": "#/components/schemas/Sentence"}, as_object(GOLD[2]))
