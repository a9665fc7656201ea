import numpy as np
import pytest
from conftest import TINY

import keras_tagging
from keras_tagging.architectures import ARCHITECTURES, architecture, resolve_settings


@pytest.mark.parametrize(
    "arguments, keywords, message",
    [
        (("bigrus",), {}, "unknown architecture 'bigrus'; did you mean 'bigru'. Known"),
        (("xyz",), {}, "unknown architecture 'xyz'. Known: bigru"),
        (("bigru",), {"recipe": "papers"}, "unknown recipe 'papers'; did you mean 'pa"),
    ],
)
def test_unknown_architecture_and_recipe(arguments, keywords, message):
    with pytest.raises(ValueError, match=message) as error:
        keras_tagging.build(*arguments, **keywords)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "keyword, nearest",
    [
        ("unit", "units"),
        ("droput", "dropout"),
        ("hidden_units", "units"),
        ("lr", "learning_rate"),
        ("qq", None),
    ],
)
def test_unknown_keyword_names_the_nearest_and_all(keyword, nearest):
    with pytest.raises(ValueError, match=f"unknown bigru keyword '{keyword}'") as error:
        keras_tagging.build("bigru", **{keyword: 1})
    assert (f"did you mean '{nearest}'" in str(error.value)) == bool(nearest)
    for known in ("units", "suffixes", "learning_rate", "token_budget", "vectors"):
        assert known in str(error.value)
    for internal in ("self", "num_tags", "vector_dim"):
        assert f" {internal}," not in str(error.value)


def sizes(recipe, **overrides):
    settings = resolve_settings("bigru", recipe, overrides)
    return settings["batch_size"], settings["token_budget"]


def test_an_override_of_one_size_switches_the_other_off():
    budget = sizes("fast")[1]
    assert sizes("fast") == (None, budget) and budget > 0
    assert sizes("paper") == (1, None)
    assert sizes("fast", batch_size=8) == (8, None)
    assert sizes("paper", token_budget=90) == (None, 90)
    assert sizes("paper", batch_size=2) == (2, None)
    assert sizes("fast", batch_size=2, token_budget=9) == (2, 9)


def test_override_beats_recipe_beats_default():
    assert resolve_settings("bigru", "fast", {})["optimizer"] == "adam"
    assert resolve_settings("bigru", "paper", {})["optimizer"] == "sgd"
    overrides = {"optimizer": "sgd", "units": np.int8(7)}
    changed = resolve_settings("bigru", "fast", overrides)
    assert (changed["optimizer"], changed["units"]) == ("sgd", 7)
    assert type(changed["units"]) is int  # else files could not hold it


def layers(defaults, name="bigru", **overrides):
    return architecture(name).settings("fast", defaults, **overrides)


def test_a_program_s_defaults_are_between_recipe_and_user():
    found = layers({"units": 7, "epochs": 3}, epochs=5)
    assert (found["units"], found["epochs"]) == (7, 5)
    budget = {"token_budget": 90}
    assert layers(budget)["token_budget"] == 90
    own = layers(budget, batch_size=8)
    assert (own["batch_size"], own["token_budget"]) == (8, None)
    assert layers({"batch_size": 8})["token_budget"] is None  # the recipe's
    # what an architecture cannot use is an error of the user alone
    unused = {"beam_width": 2}
    assert layers(unused)["beam_width"] == 2
    with pytest.raises(ValueError, match="beam_width"):
        layers({}, **unused)


def test_a_crf_has_no_smoothing_but_the_user_s_own_which_is_refused():
    crf = {"decoder": "crf", "constrained": False}
    assert layers({"label_smoothing": 0.1}, **crf)["label_smoothing"] == 0
    assert layers({**crf, "label_smoothing": 0.1})["label_smoothing"] == 0
    assert layers({"label_smoothing": 0.1}, "bilstm-crf")["label_smoothing"] == 0
    assert layers({"label_smoothing": 0.1}, "bilstm")["label_smoothing"] == 0.1
    for given in ({"label_smoothing": 0.1}, {"label_smoothing": 0.1, **crf}):
        with pytest.raises(ValueError, match="has no meaning with decoder='crf'"):
            layers({}, "bilstm-crf", **given)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_best_recipe_changes_the_fast_one(name):
    fast, best = (resolve_settings(name, recipe) for recipe in ("fast", "best"))
    changes = dict(ARCHITECTURES[name].best)
    if best.get("decoder") == "crf":
        assert changes.pop("label_smoothing") and best["label_smoothing"] == 0
    assert best == {**fast, **changes}
    # and each of them is a change
    assert not {key for key in changes if best[key] == fast[key]}


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({"vectors": "no/such/file"}, "^no/such/file: there is no such file"),
        ({"embeddings": "v", "words": False}, "are those of words: give words=True"),
    ],
)
def test_wrong_values_are_told_by_build(overrides, message):
    with pytest.raises((ValueError, OSError), match=message):
        keras_tagging.build("bigru", **overrides)


def test_available_names_build():
    assert "bigru" in keras_tagging.available()
    for name in keras_tagging.available():
        assert keras_tagging.build(name).architecture == name


@pytest.mark.parametrize(
    "given",
    [
        *({"units": value} for value in (-1, 1.5, None, True, 10**9)),
        {"num_layers": 0},
        {"dropout": 3},
        {"learning_rate": float("nan")},
        {"batch_size": "8"},
        {"capitals": "no"},
        {"suffixes": (0,)},
        {"suffixes": "ab"},
        {"columns": (1,)},
        {"decay": "soon"},
        {"window": 4},
        {"window_over": "word"},
        {"optimizer": "rmsprop"},
    ],
)
def test_impossible_values_name_the_keyword(given):
    [name] = given
    with pytest.raises(ValueError, match=f"^{name}="):
        resolve_settings("bigru", "fast", given)


@pytest.mark.parametrize(
    "given, taken",
    [
        ({"suffixes": 2}, (2,)),
        ({"columns": "pos"}, ("pos",)),
        ({"suffixes": [1, 2]}, (1, 2)),
        ({"clipnorm": None}, None),
        ({"learning_rate": 1}, 1.0),
    ],
)
def test_values_are_taken_as_meant(given, taken):
    [name] = given
    found = resolve_settings("bigru", "fast", given)[name]
    assert found == taken
    assert type(found) is type(taken)


def test_a_recipe_s_monitor_must_be_there(train_sentences, dev_sentences):
    with pytest.raises(ValueError, match="monitor='val_loss': .*known are"):
        keras_tagging.build("bigru", monitor="val_loss")
    model = keras_tagging.build("bigru", **TINY, monitor="val_f1")  # tags, no chunks
    with pytest.raises(ValueError, match="unknown monitor 'val_f1'"):
        model.fit(train_sentences, validation_data=dev_sentences, epochs=1, verbose=0)
