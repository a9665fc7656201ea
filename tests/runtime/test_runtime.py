"""`keras_tagging.runtime`: what it imports, what it gives, what it refuses."""

import json
import random
import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import onnx
import onnxruntime
import pytest
from hostile.programs import program
from onnx_files.odd import changed, describing, sentences, session_of
from onnx_files.odd import tagger as tiny

import keras_tagging
from keras_tagging import Sentence, runtime
from keras_tagging.encoding import batching
from keras_tagging.onnx.arrays import Arrays
from keras_tagging.onnx.builder import Builder
from keras_tagging.runtime import session as sessions
from keras_tagging.runtime.file_check import check
from keras_tagging.runtime.models import STEP, call_batches
from keras_tagging.utils import limits

KINDS = "tagger, parser, biaffine-parser, ccg-parser, ccg-shift-reduce or segmenter"
HEAVY = ("tensorflow", "keras", "gensim", "jax", "torch", "onnx", "sklearn", "pandas")


@pytest.fixture(scope="module")
def model(train_sentences):
    return tiny("bigru", train_sentences, columns=("pos",), num_layers=1)


# What it gives


def test_best_tags_are_ranked_where_they_are_asked_for(model, onnx_file):
    found, given, seen = runtime.load(onnx_file, threads=1), sentences(9), []
    run = found.session.answers
    found.session.answers = lambda names, feeds: seen.append(feeds) or run(names, feeds)
    assert found.tag(given) == model.tag(given)
    assert not any(feeds.pop("ranked") for feeds in seen)
    for feeds in seen:  # by others, who do not know of the switch
        [top] = found.session.run(["top_tags"], feeds)
        assert top.shape[:2] == feeds["tokens"].shape and top[0, 0, 0]
        off = {**feeds, "ranked": np.array(False)}
        assert found.session.run(["top_tags"], off)[0].size == 0
    seen.clear()
    rows = found.predict_rows(given, ["tags", "top_tags"])
    assert all(feeds["ranked"] for feeds in seen)
    tags = [[top[0] for top in row["top_tags"]] for row in rows]
    assert tags == [list(row["tags"]) for row in rows] and any(tags)


def test_every_way_to_tag(model, onnx_file, monkeypatch):
    # memory is given back after each call
    monkeypatch.setattr("keras_tagging.runtime.session.CALLS", 1)
    found = runtime.load(onnx_file, threads=2)
    given = sentences(40)
    assert (found.kind, found.tags, found.columns) == ("tagger", model.tags, ("pos",))
    assert found.tag(given) == model.tag(given)
    found._batch_tokens = 30  # many batches, which two threads run
    assert found.tag(given) == model.tag(given)
    assert list(found.tag(iter(given))) == model.tag(given)
    assert {len(tags) for row in found.tag(given, beta=0) for tags in row} == {
        len(model.tags)
    }
    for ours, theirs in zip(
        found.tag(given, beta=0.01), model.tag(given, beta=0.01), strict=True
    ):
        assert [[t for t, _ in r] for r in ours] == [[t for t, _ in r] for r in theirs]
        flat = [[p for row in rows for _, p in row] for rows in (ours, theirs)]
        np.testing.assert_allclose(*flat, atol=1e-5)
    pairs = found.tag(given, probabilities=True)
    expected = model.tag(given, probabilities=True)
    for ours, theirs in zip(pairs, expected, strict=True):
        assert [t for t, _ in ours] == [t for t, _ in theirs]
        np.testing.assert_allclose(
            [p for _, p in ours], [p for _, p in theirs], atol=1e-5
        )
    assert list(found.annotate(given)) == list(model.annotate(given))


@pytest.mark.parametrize("threads", [1, 3])
def test_slices_of_a_stream(threads, model, onnx_file, monkeypatch):
    monkeypatch.setattr(batching, "PREDICTION_SENTENCES", 7)
    found = runtime.load(onnx_file, threads=threads)
    found._batch_tokens = 10
    given = sentences(40)
    expected = model.tag(given)
    assert found.tag(given) == list(found.tag(iter(given))) == expected
    assert [s.tags for s in found.annotate(given)] == expected
    # what comes before an error is given, and a stream may be left
    answers = found.tag(iter([*given[:20], Sentence(["x"]), *given]))
    assert [next(answers) for _ in range(14)] == expected[:14]
    with pytest.raises(ValueError, match="sentence 7 has no column 'pos'"):
        next(answers)
    answers = found.tag(iter(given))
    assert next(answers) == expected[0]
    answers.close()


def test_the_figures_prove_the_export(model, onnx_file, train_sentences):
    found = keras_tagging.load(onnx_file)
    assert type(found) is runtime.OnnxTagger
    figures = model.evaluate(train_sentences, return_dict=True)
    del figures["oov_accuracy"]
    own = found.evaluate(train_sentences, return_dict=True)
    assert own == pytest.approx(figures, abs=1e-5)
    assert found.evaluate(train_sentences) == [*own.values()]
    bare = [replace(s, tags=None) for s in train_sentences]
    tags = [s.tags for s in train_sentences]
    assert found.evaluate(bare, tags, return_dict=True) == own
    assert not hasattr(found, "fit")


def test_outputs_by_name(model, onnx_file):
    found, given = runtime.load(onnx_file), sentences(40)
    answers = found.predict_rows(given, found.served_outputs)
    assert [answer["tags"] for answer in answers] == model.tag(given)
    for answer, rows in zip(answers, model.predict(given), strict=True):
        order = np.argsort(-rows, axis=1, kind="stable")[:, :5]
        best = np.take_along_axis(rows, order, 1)
        assert answer["top_tags"] == [[model.tags[j] for j in row] for row in order]
        flat = np.reshape(answer["top_probabilities"], best.shape)
        np.testing.assert_allclose(flat, best, atol=1e-5)
        np.testing.assert_allclose(answer["probabilities"], best[:, 0], atol=1e-5)
    assert found.predict_rows(given, ["tags"]) == [{"tags": a["tags"]} for a in answers]
    for answer, own in zip(
        answers, model.predict_rows(given, found.served_outputs), strict=True
    ):
        assert own["top_tags"] == answer["top_tags"]
        both = own["top_probabilities"], answer["top_probabilities"]
        for row, other in zip(*both, strict=True):
            np.testing.assert_allclose(row, other, atol=1e-5)
    for one in (model, found):
        with pytest.raises(ValueError, match="unknown output 'tagz'; did you mean"):
            one.predict_rows(given, ["tagz"])


# What it imports


def test_tagging_imports_neither_tensorflow_nor_keras(model, onnx_file, tmp_path):
    """In Python and by the command."""
    text = tmp_path / "given.conll"
    text.write_text("the\te\ndog\tg\n\n")
    code = (
        "import contextlib, io, json, sys; from keras_tagging import Sentence, load\n"
        "s = Sentence(['the', 'dog'], ['D', 'N'], {'pos': ['e', 'g']})\n"
        "model = load(sys.argv[2]); tags = model.tag([s])\n"
        f"first = [m for m in {HEAVY} if m in sys.modules]\n"
        "figures = model.evaluate([s], return_dict=True)\n"
        "from keras_tagging.cli import main\n"
        "out = io.StringIO(); out.reconfigure = lambda **_: None\n"
        "with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):\n"
        "    main(sys.argv[1:])\n"
        f"heavy = [m for m in {HEAVY[:-2]} if m in sys.modules]\n"
        "print(json.dumps([tags, first, figures, out.getvalue(), heavy]))"
    )
    options = ("--format", "conll", "--option", "columns={'pos': 1}")
    command = [sys.executable, "-c", code, "tag", onnx_file, text, *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [tags], first, figures, written, heavy = json.loads(done.stdout)
    assert first == heavy == []
    assert [tags] == model.tag([Sentence(["the", "dog"], None, {"pos": ["e", "g"]})])
    right = [a == b for a, b in zip(tags, "DN", strict=True)]
    assert figures["accuracy"] == np.mean(right)
    assert written == f"the\t{tags[0]}\ndog\t{tags[1]}\n\n"


def test_a_library_that_finds_other_names_is_refused(monkeypatch):
    broken = sessions.PROBE.replace(b"[a]", b"[z]")
    monkeypatch.setattr(sessions, "PROBE", broken)
    with pytest.raises(ImportError, match="import keras_tagging.runtime first"):
        sessions.check_strings.__wrapped__()


# What it refuses


@pytest.mark.parametrize("size", [0, 1, 50, 5000, -1])
def test_a_file_that_is_cut_short(onnx_file, tmp_path, size):
    other = tmp_path / "cut.onnx"
    other.write_bytes(onnx_file.read_bytes()[:size])
    with pytest.raises(ValueError, match="cut.onnx .*; export the model again"):
        runtime.load(other)


def deep(made):
    graph = made.graph
    for _ in range(7):
        inner = onnx.GraphProto(name="inner")
        node = graph.node.add(op_type="If", name="n")
        node.attribute.add(name="then_branch", g=inner)
        graph = node.attribute[0].g


@pytest.mark.parametrize(
    "change, message",
    [
        (deep, "has graphs inside of graphs, 6 deep"),
        (lambda made: made.ClearField("graph"), "is no ONNX file"),
        (lambda made: made.ClearField("metadata_props"), "holds no tagger"),
        (lambda made: made.graph.output.pop(), "has other outputs than a tagger"),
    ],
)
def test_files_of_strangers(onnx_file, tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        runtime.load(changed(onnx_file, tmp_path, change))


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("kind", "cook", f"holds no {KINDS}"),
        ("kind", ["tagger"], f"holds no {KINDS}"),
        ("format", 2, "is not of format 1, which this version"),
        ("tags", [1], "does not list its tags"),
        ("columns", ["other"], "has other inputs than it says"),
        ("columns", ["tokens"], "cannot read the columns tokens"),
        ("columns", ["lengths"], "cannot read the columns lengths"),
        ("columns", ["pos", "pos"], "cannot read the columns pos"),
        ("batch_tokens", 10**12, "does not say how many tokens make a batch"),
        ("batch_tokens", True, "does not say how many tokens make a batch"),
        (None, "[" * 100_000, f"holds no {KINDS}"),
        (None, "[]", f"holds no {KINDS}"),
    ],
)
def test_what_a_file_says_of_itself_is_checked(
    onnx_file, tmp_path, key, value, message
):
    def says(made):
        made.metadata_props[0].value = value

    change = says if key is None else describing(**{key: value})
    with pytest.raises(ValueError, match=message):
        runtime.load(changed(onnx_file, tmp_path, change))


def test_an_array_beyond_the_limit_is_an_error():
    xp = Arrays(Builder())
    wide = xp.zeros(xp.input("size", "int64", [1]))
    xp.output("sum", xp.sum(wide), ())
    check(xp.builder.model("bomb").SerializeToString())  # nothing in it is forbidden
    session = session_of(xp)
    fits, bomb = (np.array([n], "int64") for n in (10, limits.ONNX_MEMORY // 4 + 1))
    assert session.run(None, {"size": fits})[0] == 0
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.Fail):
        session.run(None, {"size": bomb})


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(ValueError, match="no such file; keras-tagging export"):
        runtime.load(tmp_path / "tagger.onnx")


def test_the_command_says_what_it_exports(model, onnx_file, tmp_path):
    saved, out = tmp_path / "model.keras", tmp_path / "tagger.onnx"
    model.save(saved)
    code, printed, _ = program("export", saved, out, "--top-k", 2)
    assert code == 0 and f"Written to {out}: for keras-tagging tag" in printed
    code, _, err = program("export", onnx_file, out)
    assert code == 2 and "was exported as ONNX" in err


# The batches in which a file is called are the cheapest ones

rng = random.Random(0)
SOME = [[rng.randint(0, 12) for _ in range(rng.randint(0, 9))] for _ in range(60)]


def cost(batches, lengths):
    return sum(max(lengths[batch]) * (STEP + len(batch)) for batch in batches)


def cheapest(lengths, most):
    """The least cost of all ways to cut the sorted lengths."""
    order = np.sort(lengths[lengths > 0])
    if not len(order):
        return 0
    found = []
    for count in range(len(order)):
        for cuts in combinations(range(1, len(order)), count):
            batches = np.split(order, cuts)
            if all(len(x) == 1 or x[-1] * len(x) <= most for x in batches):
                found.append(sum(x[-1] * (STEP + len(x)) for x in batches))
    return min(found)


@pytest.mark.parametrize("most", [1, 10, 24, 1000])
def test_no_other_cuts_are_cheaper(most):
    for lengths in SOME:
        lengths = np.array(lengths, "int32")
        batches = call_batches(lengths, most)
        assert sorted(i for x in batches for i in x) == [*np.flatnonzero(lengths)]
        for batch in batches:
            assert len(batch) == 1 or max(lengths[batch]) * len(batch) <= most
        assert cost(batches, lengths) == cheapest(lengths, most)


def test_the_order_is_that_of_lengths_and_then_of_sentences():
    lengths = np.array([5, 3, 0, 5, 3, 200], "int32")
    batches = call_batches(lengths, 64)
    assert [x.tolist() for x in batches] == [[1, 4, 0, 3], [5]]
