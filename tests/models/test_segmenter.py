"""The segmenter: training, its spans, saving, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import check_close
from treebanks import LANGUAGES, TINY, spans

import keras_tagging
from keras_tagging.data.sentence import text_of


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_learnt_by_heart_comes_back(segmenter, treebanks, language):
    sentences = treebanks[language]
    text = text_of(sentences)
    found = list(segmenter.segment(text))
    assert spans(found) == spans(sentences)
    afters = [s.surface.after for s in sentences]
    assert [s.surface.after for s in found] == [*afters[:-1], ""]
    assert all(s.tags is None and s.columns == {} for s in found)
    assert spans(segmenter.annotate(sentences)) == spans(sentences)


def test_figures(segmenter, everything, treebanks):
    figures = segmenter.evaluate(everything, return_dict=True)
    assert list(figures) == list(segmenter.figures) and 0 < figures["loss"] < 0.2
    names = ("token_f1", "word_f1", "sentence_f1", "f1")
    assert [figures[name] for name in names] == [1.0] * 4
    table = segmenter.report(everything).tables["segmentation"].set_index("unit")
    words = sum(map(len, everything))
    assert table.loc["words", ["gold", "predicted", "f1"]].tolist() == [words, words, 1]
    assert table.loc["multiwords", "gold"] == 17
    assert "142 characters, 17 multiword tokens" in segmenter.size


def test_saved_and_loaded(segmenter, treebanks, tmp_path):
    segmenter.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path)
    assert type(again) is keras_tagging.Segmenter and again.spaces
    assert again.get_config() == segmenter.get_config()
    text = text_of(treebanks["arabic"]) + "\n\n" + text_of(treebanks["french"])
    assert list(again.segment(text)) == list(segmenter.segment(text))


def test_usual_multiword_tokens_are_split_whatever_the_network_says(untrained):
    config = untrained.get_config() | {"spaces": False}
    found = []
    for usual in (["du"], [], None):  # None: a file that is older than the vocabulary
        vocabularies = {**config["vocabularies"], "multiword": ["du\tde\tle"]}
        vocabularies["usual_multiword"] = usual
        if usual is None:
            del vocabularies["usual_multiword"]
        model = type(untrained).from_config({**config, "vocabularies": vocabularies})
        logits = model.network.get_layer("logits")
        # nothing ends but before white space, and there a token
        weights = [np.zeros(logits.kernel.shape), [2e4, 1e4, 0, 0, 0]]
        logits.set_weights([np.array(x, "float32") for x in weights])
        found.append([sentence.tokens for sentence in model.segment("du Du pain")])
    assert found == [[["de", "le", "De", "le", "pain"]], *[[["du", "Du", "pain"]]] * 2]


@pytest.mark.usefixtures("eager")
def test_a_resumed_run_ends_alike(treebanks, tmp_path):
    sentences = treebanks["japanese"][:2]

    sizes = TINY | {"batch_size": 2, "decay": None}

    def fitted(epochs, train=sentences, **options):
        model = keras_tagging.build("segmenter", **sizes)
        options |= {"validation_data": sentences, "epochs": epochs, "verbose": 0}
        return model, model.fit(train, **options)

    whole, _ = fitted(2)
    fitted(1, resume=tmp_path)
    gone_on, history = fitted(2, resume=tmp_path)
    assert history.epoch == [0, 1] and "val_f1" in history.history
    check_close(whole.get_weights(), gone_on.get_weights())
    # another text of the same tokens is another run
    other = [replace(s, surface=replace(s.surface, after="\n\n")) for s in sentences]
    with pytest.raises(ValueError, match="training sentences"):
        fitted(2, other, resume=tmp_path)


def test_the_network_is_told_nothing_of_white_space(segmenter):
    """Indentation, ends of long lines and spaces of any kind are blanks."""
    plain = "Anna doesn't like rainy days. She can't swim"
    odd = "Anna\u00a0 doesn't like\trainy  days.\u3000She can't\r\n   swim"
    assert [s.surface.tokens for s in segmenter.segment(plain)] == [
        s.surface.tokens for s in segmenter.segment(odd)
    ]


def test_what_no_segmenter_has_is_refused(untrained):
    for part, value, message in (
        ("tags", ["inside", "token"], "the labels of a segmenter are inside, token,"),
        ("multiword", ["du\tde\t"], "is no token with its words"),
        ("character", "abc", "vocabulary character"),
    ):
        config = untrained.get_config()
        config["vocabularies"][part] = value
        with pytest.raises(ValueError, match=message):
            type(untrained).from_config(config)
    config = untrained.get_config() | {"spaces": "yes"}
    with pytest.raises(ValueError, match="spaces is 'yes', but should be true or"):
        type(untrained).from_config(config)
