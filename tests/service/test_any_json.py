"""Whatever JSON a body is: sentences or texts, or a refusal in one sentence.

What is refused is against the schema, but for sizes and for what the model tells: its
columns, and which tensors fit it.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds.tagging import OUTPUTS
from keras_tagging.service import json_protocol, open_inference, schemas
from keras_tagging.service.problems import Problem, problem_of
from keras_tagging.service.worker import Model, TextModel

SERVED = {name: OUTPUTS[name] for name in ("tags", "top_tags")}
TAGGER = Model("m", "tagger", "tag", "bigru", [], SERVED, 3, 2)
TEXTS = {name: TextModel.served_outputs[name] for name in ("json", "conllu")}
PIPELINE = Model("p", "pipeline", "annotate", "", [], TEXTS, 0, 0, "", True)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.just(0.5),
    st.text(max_size=3),
    st.sampled_from("tokens lengths text tags json lines BYTES INT32 FP32 m".split()),
)
KEYS = st.sampled_from(
    "sentences model columns tokens lengths inputs outputs text texts input output "
    "probabilities name shape datatype data id".split()
)
ANY = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
ROWS = st.integers(0, 3).flatmap(
    lambda n: st.lists(
        st.lists(st.text(max_size=2), min_size=n, max_size=n), min_size=1, max_size=3
    )
)


def tensor(name, datatype, shape, data):
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def tokens_of(rows):
    lengths = [len(row) for row in rows]
    return [
        tensor("tokens", "BYTES", [len(rows), lengths[0]], rows),
        tensor("lengths", "INT32", [len(rows)], lengths),
    ]


#: by route a sound body of rows, which may have no tokens, and the reader of bodies
ROUTES = {
    "tag": (
        lambda rows: {"model": "m", "sentences": rows, "columns": {}},
        schemas.TokensRequest,
        lambda body: json_protocol.read(TAGGER, body, 9),
    ),
    "annotate": (
        lambda rows: {"model": "p", "texts": rows[0] or ["a"], "input": "lines"},
        schemas.TextRequest,
        lambda body: json_protocol.read(PIPELINE, body, 9),
    ),
    "annotate words": (
        lambda rows: {"sentences": [[w or "a" for w in row] for row in rows]},
        schemas.TextRequest,
        lambda body: json_protocol.read(PIPELINE, body, 9),
    ),
    "infer": (
        lambda rows: {"inputs": tokens_of(rows), "outputs": [{"name": "tags"}]},
        schemas.InferRequest,
        lambda body: open_inference.read(TAGGER, body, 9)[0],
    ),
    "infer texts": (
        lambda rows: {"inputs": [tensor("text", "BYTES", [len(rows[0])], rows[0])]},
        schemas.InferRequest,
        lambda body: open_inference.read(PIPELINE, body, 9)[0],
    ),
}


def places(part):
    """Every list or object in a body, with each of its keys."""
    keys = part if isinstance(part, dict) else range(len(part))
    for key in keys:
        yield part, key
        if isinstance(part[key], (dict, list)):
            yield from places(part[key])


@st.composite
def bodies(draw, sound):
    """Sound ones, with up to two values that are anything."""
    body = sound(draw(ROWS))
    for _ in range(draw(st.integers(0, 2))):
        part, key = draw(st.sampled_from([*places(body)]))
        part[key] = draw(ANY)
    return draw(ANY) if draw(st.integers(0, 9)) == 0 else body


@pytest.mark.parametrize("route", ROUTES)
def test_sentences_or_a_refusal(route):
    from jsonschema import Draft202012Validator

    sound, schema, read = ROUTES[route]
    by_schema = Draft202012Validator(schema.model_json_schema())
    understood, refused = [], []

    @settings(max_examples=300, deadline=None, derandomize=True)
    @given(body=bodies(sound))
    def check(body):
        try:
            request = schema.model_validate_json(json.dumps(body))
            items = read(request)
        except (Problem, ValidationError) as error:
            problem = error if isinstance(error, Problem) else problem_of(error)
            assert 400 <= problem.status_code < 500 and "\n" not in problem.detail
            refused.append(problem)
            of_model = "infer" in route or "m reads tokens" in problem.detail
            by_model = of_model and isinstance(error, Problem)
            if not by_model and problem.status_code != 413:
                assert not by_schema.is_valid(body), problem
            return
        assert by_schema.is_valid(body)
        assert all(isinstance(item, (Sentence, str)) for item in items)
        size = sum(map(len, items))
        assert size <= (45 if isinstance(items[0], str) else 9)
        if route == "infer":
            answers = [
                {"tags": ["T"] * len(s), "top_tags": [["T", "S"]] * len(s)}
                for s in items
            ]
            names = ["tags", "top_tags"]
            answer = open_inference.answer(TAGGER, request, names, answers)
            [tags, _] = answer["outputs"]
            assert tags["shape"] == request.inputs[0].shape or len(request.inputs) > 1
        understood.append(body)

    check()
    assert len(understood) > 20 and len(refused) > 20
