"""Shift-reduce CCG parsers: trained, saved, exported, and what files may say."""

import numpy as np
import pytest
from ccg.trees import tree
from derivations import np_of
from models.test_ccg_parser import GOLD, check_same_derivations, trees

import keras_tagging
from keras_tagging.architectures.shift_reduce_network import CELLS
from keras_tagging.ccg import Derivation, Grammar
from keras_tagging.ccg.auto import FRAGMENTS, Node
from keras_tagging.ccg.parsing import search_of
from keras_tagging.data.records import sentence_of
from keras_tagging.kinds.deriving import MoveDecoder, MoveSearch, heads_inside
from keras_tagging.metrics.derivations import derivation_counts, scores_of
from keras_tagging.transitions.shift_reduce import FINISH, REDUCE, SHIFT

SETTINGS = {"units": 12, "num_layers": 1, "word_dim": 12, "move_units": 16}
SETTINGS |= {"dropout": 0.0, "layer_dropout": 0.0, "move_dropout": 0.0, "seed": 1}
SETTINGS |= {"learning_rate": 0.05, "token_budget": 60, "category_dim": 6}
SETTINGS |= {"beam_width": 4}
SOME = [GOLD[0], GOLD[3]]  # each move takes time
ODD = [[], ["."], [".", ".", "."], ["xyz"] * 20, ["a\tb", "c d", ""]]


@pytest.fixture(scope="module")
def model():
    made = keras_tagging.build("ccg-shift-reduce", **SETTINGS)
    made.fit(GOLD, epochs=15, verbose=0)
    return made


def test_it_learns_by_heart(model):
    found = model.derive([s.tokens for s in GOLD])
    assert trees(found) == trees(GOLD)
    figures = model.evaluate(GOLD, return_dict=True)
    assert figures == dict.fromkeys(model.figures, 1.0)
    assert "head_accuracy" not in figures and "labelled" in figures


def test_it_is_saved_and_exported(model, onnx, tmp_path):
    model.save(tmp_path / "a.keras")
    again = keras_tagging.load(tmp_path / "a.keras")
    words = [s.tokens for s in GOLD] + [["who", "knows"], ["the"] * 9, *ODD]
    check_same_derivations(words, model, again, onnx)
    with pytest.raises(ValueError, match="has no grammar"):
        type(model).from_config({**model.get_config(), "grammar": None})
    ranked = model.derive(words, nbest=3)
    for one, other in zip(ranked, onnx.derive(words, nbest=3), strict=True):
        assert [s.derivation for s, _ in one] == [s.derivation for s, _ in other]
        scores = [[score for _, score in pairs] for pairs in (one, other)]
        np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-4)
    assert onnx.evaluate(GOLD, return_dict=True) == dict.fromkeys(model.figures, 1.0)
    with pytest.raises(ValueError, match="another beta .* needs"):
        onnx.derive(words, beta=0.1)


@pytest.mark.usefixtures("eager")
def test_other_searches_leave_the_model_as_it_is(model):
    [ranked] = model.derive([GOLD[2].tokens], nbest=6, beta=1e-9)
    assert model.beam_width == 4 and 4 < len(ranked) <= 6
    fragments = [s.derivation.category == FRAGMENTS for s, _ in ranked]
    assert fragments == sorted(fragments)
    for part in (False, True):
        scores = [x for (_, x), f in zip(ranked, fragments, strict=True) if f == part]
        assert scores == sorted(scores)[::-1]
    assert trees([ranked[0][0]]) == trees([GOLD[2]])
    greedy = model.derive([s.tokens for s in SOME], beam_width=1)
    assert trees(greedy) == trees(SOME) and model.beam_width == 4
    for wrong in ({"beta": 0}, {"beta": 2}, {"nbest": 0}, {"beam_width": 0}):
        with pytest.raises(ValueError, match=min(wrong)):
            model.derive(GOLD, **wrong)


def test_figures_are_those_of_its_derivations(model):
    odd = [s.tokens[::-1] for s in GOLD]
    gold = [
        sentence_of(words, s.tags, derivation=s.derivation)
        for words, s in zip(odd, GOLD, strict=True)
    ]
    figures = model.evaluate(gold, return_dict=True)
    found = [s.derivation for s in model.derive(odd)]
    counts = derivation_counts([s.derivation for s in gold], found)
    scores = scores_of(counts)._asdict()
    assert {name: figures[name] for name in scores} == scores


@pytest.mark.usefixtures("eager")
def test_every_cell_and_derivations_that_no_moves_build():
    changed = tree("S", tree("X", tree("Y", "a|NP")))
    odd = sentence_of(["a"], ["NP"], derivation=Derivation(changed))
    parts = Derivation(tree("FRAG", "a|NP", "b|NP"))
    fragments = sentence_of(["a", "b"], ["NP", "NP"], derivation=parts)
    for name in CELLS:
        made = keras_tagging.build("ccg-shift-reduce", cell=name, **SETTINGS)
        made.adapt([*SOME, odd, fragments])
        assert "FRAG" not in made.grammar.roots
        expected = type(CELLS[name](2)).__name__
        assert type(made.scorer.cell).__name__ == expected
    made.fit([*SOME, odd, fragments], epochs=1, verbose=0)  # the last one is recurrent
    assert made.metadata["left_out"]["sentences"] == 2
    assert [len(s.derivation) for s in made.derive(SOME)] == [len(s) for s in SOME]
    with pytest.raises(ValueError, match="sentence 1: a category changes more"):
        keras_tagging.build("ccg-shift-reduce", **SETTINGS).fit([odd], verbose=0)


def test_moves_of_a_file_are_checked():
    grammar = Grammar.from_derivations(s.derivation for s in GOLD)
    decoder = MoveDecoder(grammar, ["NP"], MoveSearch(2))
    size, real = decoder.beam_width * 6, np.ones((1, 2), bool)

    def moves(*best):
        found = np.zeros((1, 2, size), "int32")
        found[0, 0, : len(best)] = [4 * label + action for action, label in best]
        return found

    np_and_vp = [decoder.rules.id_of(x) for x in ("NP", r"S\NP")]
    shifts = [(SHIFT, label) for label in np_and_vp]
    assert decoder.possible(moves(*shifts, (FINISH, 0)), real)
    wrong = [
        moves(shifts[0], (FINISH, 0)),  # a word is left
        moves((REDUCE, 1), *shifts, (FINISH, 0)),
        moves(shifts[0], (SHIFT, 10**6), (FINISH, 0)),
        moves(*shifts, shifts[0], (FINISH, 0)),
        moves(*shifts, (FINISH, 0)) - 1,
        np.zeros((1, 2, 0), "int32"),
        np.zeros((1, 2, 5), "int32"),
    ]
    assert not any(decoder.possible(array, real) for array in wrong)
    for wrong in (None, {}, {"beam_width": 0}, {"beam_width": True}, {"beam": 1}):
        with pytest.raises(ValueError, match="how derivations are searched for"):
            search_of(wrong, MoveSearch)


def test_a_chart_has_what_the_beam_has_dropped(monkeypatch):
    grammar = Grammar.from_derivations(s.derivation for s in GOLD)
    decoder = MoveDecoder(grammar, ["NP", r"S\NP", "."], MoveSearch(2))
    labels = [decoder.rules.id_of(tag) for tag in ("NP", "NP")]
    moves = np.zeros((2, 2 * 6), "int32")
    moves[0, :3] = [4 * labels[0] + SHIFT, 4 * labels[1] + SHIFT, FINISH]
    scores, words = np.array([[-1.0, -1e30]] * 2), ["she", "sleeps"]

    def derived(tags, nbest=1):
        return decoder.derive(words, ["X", "Y"], moves, scores, tags, None, nbest)

    [(whole, score)] = derived(np.array([[9.0, 0, 0], [0, 9, 0]]))
    assert whole.category == "S" and score < 0
    leaves = [(x.word, x.pos, x.category) for x in whole.leaves]
    assert leaves == [("she", "X", "NP"), ("sleeps", "Y", r"S\NP")]
    both = derived(np.array([[9.0, 0, 0], [0, 9, 0]]), 2)
    assert [x.category for x, _ in both] == ["S", FRAGMENTS] and both[1][1] == -1
    with monkeypatch.context() as patch:  # too many words for it
        patch.setattr("keras_tagging.kinds.deriving.CHARTED", 1)
        [(parts, _)] = derived(np.array([[9.0, 0, 0], [0, 9, 0]]))
        assert parts.category == FRAGMENTS
    # the grammar has no derivation either: the fragments of the moves
    [(parts, score)] = derived(np.array([[9.0, 0, 0], [9, 0, 0]]))
    assert parts.category == FRAGMENTS and score == -1
    assert [leaf.category for leaf in parts.leaves] == ["NP", "NP"]
    cat, sees = np_of("the", "cat"), tree(r"S\NP", r"sees|(S\NP)/NP", "her|NP")
    found = heads_inside(Derivation(Node(FRAGMENTS, 0, (cat, sees))))
    assert np.argwhere(found).tolist() == [[0, 2], [3, 3]] and found.max() > 0
