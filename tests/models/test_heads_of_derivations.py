"""Derivations by moves that a dependency tree chooses among those of the beam."""

import numpy as np
import pytest
from ccg.trees import tree
from models.test_shift_reduce_parser import SETTINGS
from transitions.test_agreement import counted

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.ccg import Derivation, Grammar
from keras_tagging.ccg.parsing import search_of
from keras_tagging.data.records import sentence_of
from keras_tagging.kinds.deriving import MoveDecoder, MoveSearch
from keras_tagging.metrics.derivations import brackets_of
from keras_tagging.transitions.shift_reduce import FINISH, REDUCE, SHIFT

pytestmark = pytest.mark.usefixtures("eagerly")

WORDS = ["a", "b", "c"]
#: the same categories, branching to the left and to the right
BRANCHES = (
    tree("X", tree("X", "a|X", "b|X"), "c|X"),
    tree("X", "a|X", tree("X", "b|X", "c|X")),
)
GOLD = [sentence_of(WORDS, ["X"] * 3, derivation=Derivation(root)) for root in BRANCHES]
#: trees that agree with the one and with the other
LEFT, RIGHT = ([0, 1, 1], 3), ([0, 1, 2], 4)


def with_heads(words, heads):
    columns = {"head": [*map(str, heads)], "deprel": ["x"] * len(heads)}
    return Sentence(words, columns=columns)


def branch(sentence):
    """0 for a derivation that branches to the left, 1 for one to the right."""
    [inner] = {span[:2] for span, _ in brackets_of(sentence.derivation)} - {(0, 3)}
    return {(0, 2): 0, (1, 3): 1}[inner]


@pytest.fixture(scope="module")
def model():
    made = keras_tagging.build("ccg-shift-reduce", **SETTINGS)
    made.adapt(GOLD)
    made.head_weight = 100.0
    return made


def test_heads_choose_and_are_part_of_the_score(model, onnx, once):
    [plain] = model.derive([WORDS], nbest=4)
    log_p = {branch(s): score for s, score in plain}
    assert {*log_p} == {0, 1} and branch(plain[0][0]) == (log_p[0] < log_p[1])
    for found, (heads, agreed) in ((0, LEFT), (1, RIGHT)):
        sentence = with_heads(WORDS, heads)
        for one in (model, onnx):
            [derived] = one.derive([sentence])
            [annotated] = one.annotate([sentence])
            [ranked] = one.derive([sentence], nbest=4)
            assert branch(derived) == branch(annotated) == branch(ranked[0][0]) == found
            for own, score in ranked:
                agreement = counted(own.derivation, heads)
                expected = log_p[branch(own)] + 100 * agreement
                assert score == pytest.approx(expected, rel=1e-4)
            assert counted(derived.derivation, heads) == agreed
            scores = [score for _, score in ranked]
            assert scores == sorted(scores)[::-1] and len(scores) == len(plain)


def test_a_new_weight_holds_for_other_searches(model):
    scores = []
    for weight in (0.0, 100.0):
        model.head_weight = weight
        [[(_, score), *_]] = model.derive([with_heads(WORDS, LEFT[0])], nbest=5)
        scores.append(score)
    assert scores[1] - scores[0] > 90


def test_a_derivation_goes_before_fragments():
    other = Derivation(tree("Y", "a|Y"))
    grammar = Grammar.from_derivations([*(s.derivation for s in GOLD), other])
    decoder = MoveDecoder(grammar, ["X", "Y"], MoveSearch(3, 10.0))
    x, y = (4 * decoder.rules.id_of(tag) + SHIFT for tag in "XY")
    joined = 4 + REDUCE  # the one result of the one pair
    moves = np.zeros((3, 3, 6), "int32")  # (words, hypotheses, moves)
    moves[0, 0, :4] = x, y, x, FINISH
    moves[0, 1, :5] = x, x, joined, y, FINISH
    moves[0, 2, :6] = x, x, joined, x, joined, FINISH
    moves = moves.reshape(3, -1)
    scores, tags = np.array([[-1.0, -2.0, -90.0]] * 3), np.zeros((3, 2))

    def ranked(heads):
        pos = ["P"] * 3
        found = decoder.derive(WORDS, pos, moves, scores, tags, None, 3, heads)
        return [(len([*made.nodes()]), score) for made, score in found]

    # a root and two pairs, one pair, or none
    assert ranked(None) == [(2, -90.0), (1, -1.0), (2, -2.0)]
    assert ranked([0, 1, 1]) == [(2, -60.0), (2, 8.0), (1, -1.0)]
    assert ranked([3, 3, 0]) == [(2, -70.0), (1, -1.0), (2, -2.0)]


def test_who_reads_no_heads(model, once):
    """Those that were saved before there was a weight, figures, and training."""
    plain = branch(model.derive([WORDS])[0])
    [other] = [one for one in (LEFT, RIGHT) if one != (LEFT, RIGHT)[plain]]
    sentence = with_heads(WORDS, other[0])
    assert branch(model.derive([sentence])[0]) != plain
    config = model.get_config()
    assert config["settings"].pop("head_weight") == 100
    old = type(model).from_config(config)
    assert old.head_weight == 0 == old.search.head_weight
    old.network, old.scorer = model.network, model.scorer
    assert branch(old.derive([sentence])[0]) == plain
    empty = Sentence(WORDS, columns={"head": ["_"] * 3})
    assert branch(model.derive([empty])[0]) == plain
    gold = [
        sentence_of(WORDS, one.tags, columns=sentence.columns, derivation=d)
        for one, d in ((GOLD[1 - plain], GOLD[1 - plain].derivation),)
    ]
    assert model.evaluate(gold, return_dict=True)["exact"] == 0
    [counts] = model.counts(gold, [("exact", None)])
    assert counts.tolist() == [[1, 0]]
    assert keras_tagging.build("ccg-shift-reduce").head_weight == 1.5
    assert keras_tagging.build("ccg-shift-reduce", recipe="paper").head_weight == 0


def test_files_keep_the_weight(model, onnx, tmp_path):
    model.save(tmp_path / "a.keras")
    again = keras_tagging.load(tmp_path / "a.keras")
    assert again.head_weight == onnx.search.head_weight == 100
    assert search_of({"beam_width": 3}, MoveSearch) == MoveSearch(3, 0.0)
    for wrong in (-1.0, "1", True, None, float("nan"), float("inf"), 1e7):
        with pytest.raises(ValueError, match="how derivations are searched for"):
            search_of({"beam_width": 3, "head_weight": wrong}, MoveSearch)
        with pytest.raises(ValueError, match="head_weight"):
            again.head_weight = wrong
