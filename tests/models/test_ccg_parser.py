"""CCG parsers: trained, saved, exported, and on the command line."""

import pytest
from ccg.trees import tree
from derivations import GOLD, SETTINGS

import keras_tagging
from keras_tagging.ccg import Derivation
from keras_tagging.ccg.auto import FRAGMENTS
from keras_tagging.data import Sentence
from keras_tagging.data.records import sentence_of
from keras_tagging.kinds.deriving import FIGURES
from keras_tagging.metrics import derivation_scores


def trees(sentences):
    return [[node.category for node in s.derivation.nodes()] for s in sentences]


def check_same_derivations(words, model, *others):
    expected = model.derive(words)
    for other in others:
        found = other.derive(words)
        assert [s.derivation for s in found] == [s.derivation for s in expected]
        assert [s.tags for s in found] == [s.tags for s in expected]


def test_it_learns_by_heart(ccg_parser):
    found = ccg_parser.derive([s.tokens for s in GOLD])
    assert trees(found) == trees(GOLD)
    assert [s.tags for s in found] == [s.tags for s in GOLD]
    figures = ccg_parser.evaluate(GOLD, return_dict=True)
    assert figures == dict.fromkeys(FIGURES, 1.0)


def test_figures_are_those_of_the_derivations(ccg_parser):
    backwards = []
    for gold in (GOLD[0], GOLD[2], GOLD[4]):
        words, tags = gold.tokens[::-1], gold.tags[::-1]
        leaves = (f"{word}|{tag}" for word, tag in zip(words, tags, strict=True))
        flat = Derivation(tree("X", *leaves))
        backwards.append(sentence_of(words, tags, derivation=flat))
    figures = ccg_parser.evaluate(backwards, return_dict=True)
    found = [s.derivation for s in ccg_parser.derive([s.tokens for s in backwards])]
    scores = derivation_scores([s.derivation for s in backwards], found)
    assert all(figures[name] == value for name, value in scores._asdict().items())
    right = 0
    for gold in backwards:
        right += sum(map(str.__eq__, ccg_parser.tag([gold])[0]["tags"], gold.tags))
    assert figures["accuracy"] == pytest.approx(right / sum(map(len, backwards)))


def test_several_derivations(ccg_parser):
    [found] = ccg_parser.derive([GOLD[2].tokens], nbest=3, beta=1e-9)
    scores = [score for _, score in found]
    assert 1 < len(found) <= 3 and scores == sorted(scores)[::-1]
    assert trees([found[0][0]]) == trees([GOLD[2]])
    for wrong in ({"beta": 0}, {"beta": 2}, {"nbest": 0}):
        with pytest.raises(ValueError, match=min(wrong)):
            ccg_parser.derive(GOLD, **wrong)


def test_any_sentence_gets_a_derivation_with_every_word(ccg_parser):
    asked = [[], ["."], [".", ".", "."], ["xyz"] * 40, ["a\tb", "c d"], ["the"] * 500]
    found = ccg_parser.derive([Sentence(words) for words in asked])
    assert [s.tokens for s in found] == asked
    assert found[0].derivation is None
    for sentence in found[1:]:
        assert len(sentence.derivation) == len(sentence)
        assert sentence.derivation.auto() and sentence.tags
    assert found[2].derivation.category == FRAGMENTS


def test_it_is_saved_and_exported(ccg_parser, ccg_file, tmp_path):
    ccg_parser.save(tmp_path / "a.keras")
    again = keras_tagging.load(tmp_path / "a.keras")
    onnx = keras_tagging.load(ccg_file)
    words = [s.tokens for s in GOLD] + [["who", "knows"], [], ["the"] * 9]
    check_same_derivations(words, ccg_parser, again, onnx)
    assert onnx.evaluate(GOLD, return_dict=True) == dict.fromkeys(FIGURES, 1.0)
    of_0_5 = {"settings": ccg_parser.settings.flat() | {"merge": "layer"}}
    with pytest.raises(ValueError, match="keras-tagging train ccg-parser"):
        type(ccg_parser).from_config(ccg_parser.get_config() | of_0_5)
    with pytest.raises(ValueError, match="or an ONNX file"):
        ccg_parser.export(tmp_path / "served", format="tf_saved_model")


@pytest.mark.usefixtures("eager")
def test_heads_are_not_smoothed():
    """Else the loss of the padding would be thousands."""
    losses = []
    for smoothing in (0.0, 0.1):
        options = SETTINGS | {"label_smoothing": smoothing, "learning_rate": 0.0}
        model = keras_tagging.build("ccg-parser", **options)
        history = model.fit(GOLD, epochs=1, verbose=0).history
        losses += history["loss"]
    assert losses[1] == pytest.approx(losses[0], abs=0.1) and len({*losses}) == 2
