"""Analyses of real models: their tables agree with `evaluate`."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize
from derivations import GOLD
from models import parsers

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.ccg import Derivation
from keras_tagging.experiments import analysis as tables
from keras_tagging.experiments.analysis import analyse
from keras_tagging.vectors import WordVectors

# words and a tag that training lacks
NEW = Sentence(["the", "Zebra", "sees", "1984", "ghosts"], ["D", "P", "X", "M", "N"])


@pytest.fixture(scope="module")
def test_sentences():
    return [*random_sentences(25, 3), NEW, Sentence([], [])]


@pytest.fixture(scope="module")
def tagged(tagger, train_sentences, test_sentences):
    return analyse(tagger, test_sentences, train_sentences)


def overall(analysis):
    table = analysis.overall
    return dict(zip(table["figure"], table["value"], strict=True))


def test_overall_is_what_evaluate_gives(tagged, tagger, test_sentences):
    expected = tagger.evaluate(test_sentences, return_dict=True)
    del expected["loss"]
    assert overall(tagged) == pytest.approx(expected)
    of = tagged.overall.set_index("figure")["of"]
    assert of["oov_accuracy"] == 2
    assert of["sentence_accuracy"] == 26  # the empty one does not count


def test_tables_by_another_way(tagged, tagger, train_sentences, test_sentences):
    tags = tagger.tag(test_sentences)
    words = list(chain.from_iterable(s.tokens for s in test_sentences))
    gold = list(chain.from_iterable(s.tags for s in test_sentences))
    predicted = list(chain.from_iterable(tags))
    for name in ("by_word_frequency", "by_sentence_length", "by_label"):
        table = tagged.tables[name]
        assert table["tokens"].sum() == len(words)
        right = (table["tokens"] * table["accuracy"]).sum()
        assert right / len(words) == pytest.approx(overall(tagged)["accuracy"])
        share = table["accuracy"].to_numpy()
        assert ((table["low"] < share) | (share == 0)).all()
    pairs = Counter((g, p) for g, p in zip(gold, predicted, strict=True) if g != p)
    rows = tagged.confusions[["gold", "predicted", "count"]]
    assert {(g, p): n for g, p, n in rows.itertuples(index=False)} == pairs
    shares = tagged.confusions["count"] / tagged.confusions["gold"].map(Counter(gold))
    assert list(tagged.confusions["share_of_gold"]) == pytest.approx(list(shares))
    row = tagged.confusions.iloc[0]
    assert row["words"].split(", ")[0] in words
    # words are those that the features make of them: Dog is dog, 1984 is 0
    forms = tagger.features.normal_forms
    in_training = Counter(forms([w for s in train_sentences for w in s.tokens]))
    often = sum(10 <= in_training[form] < 100 for form in forms(words))
    counts = tagged.by_word_frequency.set_index("training")["tokens"]
    assert "Dog" in words and in_training["dog"] >= 10 and not in_training["Dog"]
    assert counts["10-99"] == often
    assert counts["unknown"] == 2  # Zebra and ghosts
    assert list(tagged.by_sentence_length["sentences"]) == [26]
    expected = overall(tagged)["sentence_accuracy"]
    assert list(tagged.by_sentence_length["without_error"]) == pytest.approx([expected])


def test_the_worst_sentences(tagged, tagger, test_sentences):
    errors = [
        sum(g != p for g, p in zip(s.tags, tags, strict=True))
        for s, tags in zip(test_sentences, tagger.tag(test_sentences), strict=True)
    ]
    table = tagged.worst_sentences
    assert table["errors"].is_monotonic_decreasing
    assert dict(zip(table["sentence"], table["errors"], strict=True)) == {
        i: n for i, n in enumerate(errors, 1) if n
    }
    row = table.set_index("sentence").loc[26]
    [tags] = tagger.tag([NEW])
    wrong = f" [X \N{RIGHTWARDS ARROW} {tags[2]}] " if tags[2] != "X" else " "
    assert f"sees{wrong}1984" in row["text"]
    assert row["tokens"] == 5


def test_without_training_sentences(tagger, test_sentences):
    analysis = analyse(tagger, test_sentences)
    assert "by_word_frequency" not in analysis.tables and not analysis.warnings
    with pytest.raises(AttributeError, match="only its tables"):
        _ = analysis.by_word_frequency


def test_warnings(tagger, train_sentences, test_sentences):
    doubled = [*train_sentences, NEW]
    [warning] = analyse(tagger, test_sentences, doubled).warnings
    assert "trained on other sentences" in warning
    strange = [replace(s, tags=["?"] * len(s)) for s in test_sentences]
    [warning] = analyse(tagger, strange).warnings
    assert "gold tags are unknown to the model" in warning


def test_nothing_to_analyse(tagger):
    for sentences in ([], [Sentence([], [])]):
        with pytest.raises(ValueError, match="no tokens"):
            analyse(tagger, sentences)
    with pytest.raises(ValueError, match="sentence 1 has no tags"):
        analyse(tagger, [["a", "dog"]])


def test_a_tagger_without_an_error(tagger, test_sentences, tmp_path):
    tags = tagger.tag(test_sentences)
    gold = [replace(s, tags=t) for s, t in zip(test_sentences, tags, strict=True)]
    analysis = analyse(tagger, gold)
    assert overall(analysis)["accuracy"] == 1
    assert analysis.confusions.empty and analysis.worst_sentences.empty
    analysis.to_html(tmp_path / "report.html")


CHUNKS = {"D": "O", "N": "B-x", "P": "B-y", "M": "I-x", "V": "O", "R": "I-y"}
KINDS = {
    "words unread": dict(words=False),
    "chunks": dict(constrained=False),
    "vectors": dict(
        embeddings=WordVectors(["dog", "zebra", "sees"], np.ones((3, 4), "float32")),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_taggers_agree_with_evaluate(kind, train_sentences, test_sentences):
    if kind == "chunks":
        train_sentences, test_sentences = (
            [replace(s, tags=[CHUNKS.get(t, "B-z") for t in s.tags]) for s in some]
            for some in (train_sentences, test_sentences)
        )
    options = {**TINY, **({} if kind == "words unread" else WORDS_ONLY), **KINDS[kind]}
    if kind == "vectors":
        del options["word_dim"]
    model = keras_tagging.build("bigru", **options)
    model.adapt(train_sentences)
    if kind != "vectors":
        randomize(model)
    analysis = analyse(model, test_sentences, train_sentences)
    assert not analysis.warnings
    expected = model.evaluate(test_sentences, return_dict=True)
    figures = overall(analysis)
    del expected["loss"]
    if kind == "words unread":
        assert np.isnan(expected.pop("oov_accuracy"))
    else:
        unknown = analysis.by_word_frequency.iloc[0]
        assert unknown["accuracy"] == pytest.approx(figures["oov_accuracy"])
    assert figures == pytest.approx(expected)
    assert ("f1" in figures) == (kind == "chunks")


def test_a_parser():
    parser = parsers.random_parser()
    sentences = [*parsers.DEV, parsers.EMPTY]
    analysis = analyse(parser, sentences, parsers.TRAIN)
    assert overall(analysis) == pytest.approx(
        parser.evaluate(sentences, return_dict=True)
    )
    scores = parser.scores(sentences)
    for table in (analysis.by_word_frequency, analysis.by_label):
        for figure in ("uas", "las"):
            arcs = (table[figure] * table["tokens"]).sum()
            assert arcs / scores.words == pytest.approx(getattr(scores, figure))
    labels = Counter()
    trees = parser.predict(parsers.DEV)
    for tree, gold in zip(trees, parsers.gold(parsers.DEV), strict=True):
        for label, gold_label in zip(tree[1], gold[1], strict=True):
            pair = gold_label.split(":")[0], label.split(":")[0]
            labels[pair] += pair[0] != pair[1]
    rows = analysis.confusions[["gold", "predicted", "count"]].to_numpy()
    assert {(g, p): n for g, p, n in rows} == {k: n for k, n in labels.items() if n}
    assert analysis.worst_sentences["errors"].sum() == scores.words - round(
        scores.las * scores.words
    )


def test_words_that_a_parser_knows_from_vectors_are_unknown():
    [first, *rest] = parsers.DEV
    dev = [replace(first, tokens=["zebra", *first.tokens[1:]]), *rest]
    words = ["zebra", "dog"]
    vectors = WordVectors(words, np.ones((2, parsers.TINY["word_dim"]), "float32"))
    parser = parsers.random_parser(embeddings=vectors)
    assert "zebra" in parser.features.vocabularies["word"]
    rows = analyse(parser, dev, parsers.TRAIN).by_word_frequency
    in_training = {
        w for s in parsers.TRAIN for w in parser.features.normal_forms(s.tokens)
    }
    forms = [w for s in dev for w in parser.features.normal_forms(s.tokens)]
    unknown = rows.set_index("training")["tokens"]["unknown"]
    assert unknown == sum(form not in in_training for form in forms) > 0


def test_a_parser_that_counts_other_words():
    sentences = [
        replace(s, columns={k: s.columns[k] for k in ("head", "deprel")})
        for s in parsers.DEV
    ]
    parser = parsers.random_parser(tags=None)
    counting = {"punctuation": "unicode", "subtypes": True}
    analysis = analyse(parser, sentences, **counting)
    expected = parser.evaluate(sentences, return_dict=True, **counting)
    assert overall(analysis) == pytest.approx(expected)
    assert analysis.by_label["tokens"].sum() < sum(map(len, sentences))
    assert analysis.facts["punctuation"] == "unicode"
    dots = [replace(s, tokens=["."] * len(s)) for s in sentences]
    with pytest.raises(ValueError, match="no token counts"):
        analyse(parser, dots, punctuation="unicode")


def test_derivations(ccg_parser):
    """Of two learnt sentences, one whose words are exchanged, and an empty one."""
    nodes = GOLD[1].derivation.to_dict()
    for node in nodes["nodes"]:
        node |= {"word": "the"} if "word" in node else {}
    other = Derivation.from_dict(nodes)
    wrong = replace(GOLD[1], tokens=["the"] * len(other), derivation=other)
    derived = [GOLD[2], wrong, Sentence([], []), GOLD[0]]
    analysis = analyse(ccg_parser, derived, GOLD)
    figures = overall(analysis)
    expected = ccg_parser.evaluate(derived, return_dict=True)
    del expected["head_accuracy"], expected["joint_accuracy"]
    assert figures == pytest.approx(expected)
    assert 0 < figures["labelled"] < 1
    gold = [s.derivation for s in derived if len(s)]
    tags = Counter(leaf.category for x in gold for leaf in x.leaves)
    by_label = analysis.by_label.set_index("gold")
    assert by_label["tokens"].to_dict() == dict(tags)
    for column, figure in (("network", "accuracy"), ("derivation", "supertags")):
        right = (by_label["tokens"] * by_label[column]).sum()
        assert right / tags.total() == pytest.approx(figures[figure])
    assert analysis.confusions["count"].sum() == tags.total() - round(right)
    # categories in another notation have the same figures
    other = [
        replace(s, derivation=Derivation.from_auto(s.derivation.auto(), "pmb"))
        for s in derived
        if len(s)
    ]
    same = analyse(ccg_parser, other, GOLD)
    assert overall(same) == pytest.approx(figures)
    assert same.by_label.equals(analysis.by_label)


# Tables


def test_lengths():
    lengths = [1, 10, 11, 31]
    tokens = pd.DataFrame({"length": np.repeat(lengths, lengths)})
    tokens["sentence"] = np.repeat([1, 2, 3, 4], lengths)
    tokens["accuracy"] = tokens["sentence"] != 2
    table = tables.by_length(tokens)
    assert table["length"].tolist() == ["1-10", "11-20", "31-40"]
    assert table["sentences"].tolist() == [2, 1, 1]
    assert table["without_error"].tolist() == [0.5, 1, 1]
    assert table["accuracy"].tolist() == pytest.approx([1 / 11, 1, 1])


# The page

NASTY = ["<b>", "</td><script>alert(1)</script>", "&amp;", "\ud800", "=1+1"]


def test_the_page_shows_text_as_it_is(tagger, tmp_path):
    nasty = analyse(tagger, [Sentence(NASTY, NASTY)] * 3, title="<i>")
    text = nasty.to_html(tmp_path / "x.html", rows=2).read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    for mark in ("<b>", "<i>", "<script"):
        assert mark not in text
    assert "&lt;script&gt;" in text and "&amp;amp;" in text
    assert "http" not in text and "src=" not in text
    assert f"The first 2 of {len(nasty.confusions)} rows." in text
    assert "unknown to the model" in text
    assert "<h2>Confusions</h2>" in nasty._repr_html_()
    assert ">20.0<" in text  # a share of errors in per cent
