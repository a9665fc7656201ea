"""The counts of a model's figures, and two systems compared."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import random_sentences, random_tagger
from derivations import GOLD
from derivations import SETTINGS as CCG
from models import parsers

import keras_tagging
from keras_tagging import Corpus, Sentence
from keras_tagging.data import write
from keras_tagging.experiments.analysis import analyse
from keras_tagging.experiments.comparison import Comparison, _column, compare, p_value
from keras_tagging.metrics import derivation_scores, paired_permutation, token_accuracy
from keras_tagging.metrics.significance import figure_of

MOVES = {"units": 12, "num_layers": 1, "word_dim": 12, "move_units": 16}
MOVES |= {"category_dim": 6, "seed": 1}


def test_the_column_of_a_figure_has_the_longest_name():
    model = SimpleNamespace(column_names=["ner", "ner_fine"])
    assert _column(model, "ner_fine_accuracy") == ("ner_fine", "accuracy")
    assert _column(model, "ner_accuracy") == ("ner", "accuracy")


def counts_of(model, sentences, figure, beta=None, **options):
    [counts] = model.counts(sentences, [(figure, beta)], **options)
    return counts


def total(model, sentences, figure, beta=None, **options):
    counts = counts_of(model, sentences, figure, beta, **options)
    return figure_of(figure)(counts.sum(0))


@pytest.fixture(scope="module")
def sentences():
    """With an empty one, and one with a tag unseen in training."""
    strange = Sentence(["dog", "the"], ["strange", "D"], {"pos": ["g", "e"]})
    return [*random_sentences(15, 5), Sentence([], []), strange]


@pytest.fixture(scope="module")
def other(train_sentences):
    return random_tagger(train_sentences, 9)


@pytest.fixture(scope="module")
def chunker():
    return random_tagger(chunked(20, 1), 3, constrained=False)


def chunked(count, seed):
    tags = {"D": "B-NP", "N": "I-NP", "P": "B-NP", "V": "B-VP"}
    return [
        dataclasses.replace(s, tags=[tags.get(tag, "O") for tag in s.tags])
        for s in random_sentences(count, seed)
    ]


@pytest.fixture(scope="module")
def parser():
    return parsers.random_parser("elman-parser")


def test_accuracy_is_counted_by_tokens(tagger, sentences):
    counts = counts_of(tagger, sentences, "accuracy")
    assert counts.shape == (sum(map(len, sentences)), 2)
    assert counts.dtype.kind == "i" and set(counts[:, 0]) == {1}
    gold = [tag for s in sentences for tag in s.tags]
    tags = [tag for row in tagger.tag(sentences) for tag in row]
    assert counts[:, 1].tolist() == [g == t for g, t in zip(gold, tags, strict=True)]
    assert counts[-2, 1] == 0  # the unseen tag
    expected = tagger.evaluate(sentences, return_dict=True)["accuracy"]
    assert total(tagger, sentences, "accuracy") == pytest.approx(100 * expected)


@pytest.mark.parametrize("beta", [0.9, 0.2])
def test_multi_tagging_is_counted_by_words_and_sentences(tagger, sentences, beta):
    [_, expected] = tagger.multi_tagging(sentences, betas=[1.0, beta]).to_dict(
        "records"
    )
    for figure, units in (("word", sum(map(len, sentences))), ("sent", 16)):
        counts = counts_of(tagger, sentences, figure, beta)
        assert counts.shape == (units, 3 if figure == "word" else 2)
        assert counts.dtype.kind == "i" and set(counts[:, 0]) == {1}
        if figure == "word":
            mean = counts[:, 2].mean()
            assert mean == pytest.approx(expected["categories_per_word"])
            assert (counts[:, 2] >= 1).all()
        assert total(tagger, sentences, figure, beta) == pytest.approx(
            100 * expected[figure]
        )
    assert 0 < expected["word"] < 1


def test_f1_is_counted_by_sentences(chunker):
    sentences = [*chunked(15, 7), Sentence([], [])]
    counts = counts_of(chunker, sentences, "f1")
    assert counts.shape == (16, 3) and not counts[-1].any()
    expected = chunker.evaluate(sentences, return_dict=True)["f1"]
    assert total(chunker, sentences, "f1") == pytest.approx(100 * expected)
    assert 0 < expected < 1


def test_one_scheme_of_chunks_for_all_sentences(tagger, sentences):
    """A sentence alone might look like one of another scheme."""
    bare = [
        dataclasses.replace(s, tags=["O" if t == "D" else t for t in s.tags])
        for s in sentences
    ]
    counts = counts_of(tagger, bare, "f1")
    chunks = [sum(tag != "O" for tag in s.tags) for s in bare]
    assert counts[:, 0].tolist() == chunks


@pytest.mark.parametrize("punctuation", ["keep", "unicode"])
def test_attachment_is_counted_by_sentences(parser, punctuation):
    scores = parser.scores(parsers.DEV, punctuation=punctuation)
    for figure in ("uas", "las"):
        options = {"punctuation": punctuation}
        counts = counts_of(parser, parsers.DEV, figure, **options)
        assert counts.shape == (len(parsers.DEV), 2)
        assert counts[:, 0].sum() == scores.words
        found = total(parser, parsers.DEV, figure, **options)
        assert found == pytest.approx(100 * getattr(scores, figure))


def test_several_figures_take_one_pass(tagger, sentences, monkeypatch):
    figures = [("accuracy", None), ("word", 0.5), ("sent", 0.1)]
    apart = [counts_of(tagger, sentences, *figure) for figure in figures]
    passes = []
    for name in ("tag", "predict"):
        method = getattr(tagger, name)
        monkeypatch.setattr(
            tagger, name, lambda x, m=method, n=name: passes.append(n) or m(x)
        )
    together = tagger.counts(sentences, [*figures, ("f1", None)])
    assert passes == ["tag", "predict"]
    assert all(map(np.array_equal, apart, together))


def test_figures_of_sums():
    f1, las = figure_of("f1"), figure_of("las")
    assert f1(np.array([[4, 6, 3], [0, 0, 0]])) == pytest.approx([60, 0])
    assert las(np.array([8, 6])) == 75 and np.isnan(las(np.array([0, 0])))


@pytest.mark.parametrize("figure", ["accuracy", "f1"])
def test_seeds_are_tested_together(figure):
    """The mean over the seeds, whatever is summed before the test."""
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 3, (2, 3, 11, 3 if figure == "f1" else 2)) + 2
    first[..., 0] = second[..., 0] = 9
    expected = paired_permutation(first, second, figure_of(figure))
    assert 0.01 < expected < 0.9
    assert p_value(first, second, figure) == pytest.approx(expected)


def test_the_assigned_tags_of_word_are_not_tested():
    rng = np.random.default_rng(4)
    first, second = (
        np.stack([np.ones((2, 9), int), rng.integers(0, 2, (2, 9))], -1) for _ in "ab"
    )
    longer = [
        np.concatenate([part, rng.integers(1, 9, (2, 9, 1))], -1)
        for part in (first, second)
    ]
    assert p_value(*longer, "word") == p_value(first, second, "word") > 0
    assert p_value(longer[0], second, "word") == p_value(first, second, "word")
    assert figure_of("word")(np.array([4, 3, 9])) == 75


def test_two_taggers(tagger, other, sentences):
    found = compare(tagger, other, sentences, resamples=500)
    first, second = (
        100 * token_accuracy([s.tags for s in sentences], m.tag(sentences))["accuracy"]
        for m in (tagger, other)
    )
    assert (found.first, found.second) == pytest.approx((first, second))
    assert found.difference == pytest.approx(first - second)
    assert (found.figure, found.units, found.seeds) == ("accuracy", "tokens", 1)
    assert found.count == sum(map(len, sentences))
    counts = [counts_of(m, sentences, "accuracy")[None] for m in (tagger, other)]
    expected = paired_permutation(*counts, figure_of("accuracy"), resamples=500)
    assert found.p == expected
    assert f"accuracy {first:.2f} and {second:.2f}: difference" in str(found)
    assert "one model each" in str(found) and "tokens" in str(found)


def test_by_sentences_instead_of_tokens(tagger, other, sentences):
    found = compare(tagger, other, sentences, units="sentences", resamples=500)
    assert (found.units, found.count) == ("sentences", 16)
    counts = []
    for model in (tagger, other):
        pairs = zip(sentences, model.tag(sentences), strict=True)
        rows = [[len(s), sum(map(str.__eq__, s.tags, tags))] for s, tags in pairs]
        counts.append(np.array([rows]))
    expected = paired_permutation(*counts, figure_of("accuracy"), resamples=500)
    assert found.p == expected


def test_seeds_from_files(tagger, other, sentences, tmp_path):
    other.save(tmp_path / "model.keras")
    corpus = Corpus([], test=sentences)
    found = compare([tmp_path, tagger], [tagger, str(tmp_path / "model.keras")], corpus)
    assert found.seeds == 2
    assert found.difference == pytest.approx(0)
    assert found.p == 1.0  # what the seeds differ in cancels
    assert "mean of 2 models" in str(found)


@pytest.mark.parametrize(
    ("p", "told"),
    [(0.0312, "p = 0.0312"), (0.0001, "p <= 0.0001"), (3e-5, "p < 0.0001")],
)
def test_the_least_p_is_a_limit(p, told):
    found = Comparison("las", 2.0, 1.0, 1.0, p, 1, "sentences", 9, resamples=9999)
    assert f"difference +1.00, {told}\n" in str(found)


def test_a_corpus_by_its_path(chunker, tmp_path):
    file = tmp_path / "some.conll"
    write([Sentence(s.tokens, s.tags) for s in chunked(6, 8)], file)
    found = compare(chunker, chunker, file)
    assert (found.figure, found.units, found.count) == ("f1", "sentences", 6)
    assert found.p == 1.0


def test_parsers(parser):
    other = parsers.random_parser("elman-parser", seed=2)
    found = compare(parser, other, parsers.DEV)
    assert (found.figure, found.units) == ("las", "sentences")
    assert found.first == pytest.approx(100 * parser.scores(parsers.DEV).las)


def test_what_cannot_be_compared(tagger, parser, sentences):
    with pytest.raises(ValueError, match="1 models and 2"):
        compare(tagger, [tagger, tagger], sentences)
    with pytest.raises(ValueError, match="a tagger and a parser have no figure"):
        compare(tagger, parser, sentences)
    with pytest.raises(ValueError, match="nothing to compare"):
        compare(tagger, tagger, Corpus([], test=sentences), split="dev")
    with pytest.raises(ValueError, match="beta= is a level"):
        compare(tagger, tagger, sentences, beta=0.1)
    with pytest.raises(ValueError, match="las is tested by sentences"):
        compare(parser, parser, parsers.DEV, units="tokens")
    with pytest.raises(ValueError, match="unknown figure 'accuracy'"):
        compare(parser, parser, parsers.DEV, "accuracy")


def test_f1_of_tags_that_are_no_chunks_is_refused(tagger, other, sentences, chunker):
    message = r"'f1' is for chunks \(B-X, I-X, O\), and these tags are none"
    with pytest.raises(ValueError, match=message):
        compare(tagger, other, sentences, "f1", resamples=9)
    singles = [Sentence(["a", "the"], ["S-X", "O"])]  # chunks, as the model tells
    assert compare(chunker, chunker, singles, "f1", resamples=9).difference == 0


@pytest.mark.parametrize("name", ["pipeline", "pipeline/segmenter.keras"])
def test_models_without_figures_to_compare_are_refused(name, sentences):
    saved = Path(__file__).parents[1] / "fixtures" / "v0_2" / name
    with pytest.raises(ValueError, match="has no figures to compare"):
        compare(saved, saved, sentences)


def test_a_ccg_parser_by_moves_and_one_by_a_chart(ccg_parser):
    by_moves = keras_tagging.build("ccg-shift-reduce", **MOVES)
    by_moves.adapt(GOLD)
    gold, found = ([s.derivation for s in x] for x in (GOLD, by_moves.annotate(GOLD)))
    expected = 100 * derivation_scores(gold, found).labelled
    result = compare(ccg_parser, by_moves, GOLD, resamples=99)
    assert (result.first, result.second) == pytest.approx((100, expected))
    table = analyse(by_moves, GOLD).overall.set_index("figure")
    assert 100 * table["value"]["labelled"] == pytest.approx(expected)


def test_ccg_parsers(ccg_parser):
    """With an empty sentence, which has no derivation."""
    unlearnt = keras_tagging.build("ccg-parser", **CCG | {"seed": 2})
    unlearnt.adapt(GOLD)
    sentences = [*GOLD, Sentence([], [])]
    gold, found = ([s.derivation for s in x] for x in (GOLD, unlearnt.annotate(GOLD)))
    expected = derivation_scores(gold, found)._asdict()
    for figure, value in expected.items():
        result = compare(ccg_parser, unlearnt, sentences, figure, resamples=99)
        assert (result.first, result.second) == pytest.approx((100, 100 * value))
        assert (result.units, result.count) == ("sentences", 6)
    default = compare(ccg_parser, unlearnt, sentences, resamples=99)
    assert default.figure == "labelled" and default.second < 100
    counts = [counts_of(m, GOLD, "labelled")[None] for m in (ccg_parser, unlearnt)]
    p = paired_permutation(*counts, figure_of("labelled"), resamples=99)
    assert default.p == p
    with pytest.raises(ValueError, match="not las"):
        compare(ccg_parser, unlearnt, sentences, "las")
    with pytest.raises(ValueError, match="exact is tested by sentences, not by tokens"):
        compare(ccg_parser, unlearnt, sentences, "exact", units="tokens")
