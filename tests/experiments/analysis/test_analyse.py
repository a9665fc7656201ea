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
from keras_tagging.experiments.analysis import analyse, tables
from keras_tagging.vectors import WordVectors

# words and a tag that training lacks
NEW = Sentence(["the", "Zebra", "sees", "1984", "ghosts"], ["D", "P", "X", "M", "N"])


@pytest.fixture(scope="module")
def test_sentences():
    return [*random_sentences(25, 3), NEW, Sentence([], [])]


@pytest.fixture(scope="module")
def found(tagger, train_sentences, test_sentences):
    return analyse(tagger, test_sentences, train_sentences)


def overall(found):
    return dict(zip(found.overall["figure"], found.overall["value"], strict=True))


def test_overall_is_what_evaluate_gives(found, tagger, test_sentences):
    expected = tagger.evaluate(test_sentences, return_dict=True)
    del expected["loss"]
    figures = overall(found)
    assert figures.pop("calibration_error") > 0
    assert figures == pytest.approx(expected)
    of = found.overall.set_index("figure")["of"]
    assert of["oov_accuracy"] == 2
    assert of["sentence_accuracy"] == 26  # the empty one does not count


def test_every_table_counts_all_tokens(found, test_sentences):
    total = sum(map(len, test_sentences))
    for name in ("by_word_frequency", "by_sentence_length", "by_position"):
        table = found.tables[name]
        assert table["tokens"].sum() == total
        right = (table["tokens"] * table["accuracy"].fillna(0)).sum()
        assert right / total == pytest.approx(overall(found)["accuracy"])
    assert found.calibration["tokens"].sum() == total
    frequencies = found.by_label_frequency.set_index("training")["tokens"]
    assert frequencies.drop("10+ (all)").sum() == total
    assert found.by_tag["gold"].sum() == found.by_tag["predicted"].sum() == total
    wrong = total - round(overall(found)["accuracy"] * total)
    assert found.confusions["count"].sum() == wrong
    assert len(found.confident_errors) == min(100, wrong)


def test_tables_by_another_way(found, tagger, train_sentences, test_sentences):
    tagged = tagger.tag(test_sentences)
    words = list(chain.from_iterable(s.tokens for s in test_sentences))
    gold = list(chain.from_iterable(s.tags for s in test_sentences))
    predicted = list(chain.from_iterable(tagged))
    pairs = Counter((g, p) for g, p in zip(gold, predicted, strict=True) if g != p)
    rows = found.confusions[["gold", "predicted", "count"]]
    assert {(g, p): n for g, p, n in rows.itertuples(index=False)} == pairs
    counts = Counter(gold)
    shares = found.confusions["count"] / found.confusions["gold"].map(counts)
    assert list(found.confusions["share_of_gold"]) == pytest.approx(list(shares))
    in_training = Counter(tag for s in train_sentences for tag in s.tags)
    rare = [
        g == p
        for g, p in zip(gold, predicted, strict=True)
        if 10 <= in_training[g] < 100
    ]
    row = found.by_label_frequency.set_index("training").loc["10-99"]
    assert row["tokens"] == len(rare)
    assert row["accuracy"] == pytest.approx(np.mean(rare))
    assert found.by_label_frequency.loc[0, "tokens"] == 1  # X
    # words are those that the features make of them: Dog is dog, 1984 is 0
    forms = tagger.features.normal_forms
    in_training = Counter(forms([w for s in train_sentences for w in s.tokens]))
    often = sum(10 <= in_training[form] < 100 for form in forms(words))
    found_tokens = found.by_word_frequency.set_index("training")["tokens"]
    assert "Dog" in words and in_training["dog"] >= 10 and not in_training["Dog"]
    assert found_tokens["10-99"] == often
    assert found_tokens["unknown"] == 2  # Zebra and ghosts
    lengths = found.by_sentence_length
    assert list(lengths["sentences"]) == [26]


def test_confidence_is_the_probability_of_the_predicted_tag(
    found, tagger, test_sentences
):
    best = np.concatenate([p.max(-1) for p in tagger.predict(test_sentences)])
    mean = (found.calibration["confidence"] * found.calibration["tokens"]).sum()
    assert mean == pytest.approx(best.sum(), rel=1e-5)
    assert found.confident_errors["confidence"].is_monotonic_decreasing
    row = found.confident_errors.iloc[0]
    sentence = test_sentences[row["sentence"] - 1]
    assert sentence.tokens[row["position"] - 1] == row["word"]
    assert sentence.tags[row["position"] - 1] == row["gold"]
    assert tagger.tag([sentence])[0][row["position"] - 1] == row["predicted"]


def test_without_training_sentences(tagger, test_sentences):
    found = analyse(tagger, test_sentences)
    assert "by_label_frequency" not in found.tables
    assert list(found.missing) == [
        *("by_label_frequency", "by_word_frequency", "learning_curves")
    ]
    with pytest.raises(AttributeError, match="no training sentences"):
        _ = found.by_word_frequency
    with pytest.raises(AttributeError, match="the tables are overall, confusions"):
        _ = found.nothing
    assert not found.warnings


def test_other_training_sentences_are_told(tagger, train_sentences, test_sentences):
    doubled = [*train_sentences, train_sentences[0]]
    [warning] = analyse(tagger, test_sentences, doubled).warnings
    assert "trained on other sentences" in warning
    # a further column changes the fingerprint, and no count
    same = [replace(s, columns={}) for s in train_sentences]
    assert not analyse(tagger, test_sentences, same).warnings


def test_unknown_tags_are_told(tagger, test_sentences):
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
    found = analyse(tagger, gold)
    assert overall(found)["accuracy"] == 1
    assert found.confusions.empty and found.confident_errors.empty
    found.to_html(tmp_path / "report.html")


CHUNKS = {"D": "O", "N": "B-x", "P": "B-y", "M": "I-x", "V": "O", "R": "I-y"}
KINDS = {
    "words unread": dict(name="bigru", words=False),
    "chunks": dict(name="bigru", constrained=False),
    "crf": dict(name="bilstm-crf"),
    "i-rnn, beam": dict(name="i-rnn", beam_width=3, label_dim=4),
    "rare words": dict(name="bigru", word_min_count=5),
    "vectors": dict(
        name="bigru",
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
    if options["name"] == "i-rnn":
        unknown = {"num_layers", *WORDS_ONLY}
        options = {k: v for k, v in options.items() if k not in unknown}
    if kind == "vectors":
        del options["word_dim"]
    model = keras_tagging.build(**options)
    model.adapt(train_sentences)
    if kind != "vectors":
        randomize(model)
    found = analyse(model, test_sentences, train_sentences)
    assert not found.warnings
    expected = model.evaluate(test_sentences, return_dict=True)
    figures = overall(found)
    del expected["loss"], figures["calibration_error"]
    if kind == "words unread":
        assert np.isnan(expected.pop("oov_accuracy"))
    assert figures == pytest.approx(expected)
    unknown = found.by_word_frequency.iloc[0]
    if kind != "words unread":
        assert unknown["accuracy"] == pytest.approx(figures["oov_accuracy"])
    pairs = chain.from_iterable(model.tag(test_sentences, probabilities=True))
    table = found.calibration
    total = (table["confidence"] * table["tokens"]).sum()
    assert total == pytest.approx(sum(p for _, p in pairs), rel=1e-5)
    if kind == "chunks":
        assert set(found.by_type["type"]) == {"x", "y", "z"}
        hits = 2 * found.by_type["correct"].sum()
        both = found.by_type[["gold", "predicted"]].sum().sum()
        assert figures["f1"] == pytest.approx(hits / both)
    text = next(s.text for s in found.sections if s.name == "calibration")
    said = {"crf": "marginal probability", "i-rnn, beam": "after the preceding labels"}
    assert said.get(kind, "is its probability.") in text


def test_learning_curves(tagger, test_sentences, tmp_path):
    rows = {"epoch": [1, 2, 3], "loss": [2, 1, 0.5], "val_accuracy": [0.3, 0.6, 0.5]}
    pd.DataFrame(rows).to_csv(tmp_path / "training.csv", index=False)
    found = analyse(tagger, test_sentences, log=tmp_path / "training.csv")
    assert found.learning_curves.to_dict("list") == rows
    assert "val_accuracy is highest in epoch 2" in found.sections[-1].text
    history = type("History", (), {"history": {"loss": [2, 1]}})
    found = analyse(tagger, test_sentences, log=history)
    assert found.learning_curves.to_dict("list") == {"epoch": [1, 2], "loss": [2, 1]}
    found = analyse(tagger, test_sentences, log=tmp_path / "none.csv")
    assert found.missing["learning_curves"] == "there is no log of the training"
    damages = (b"", b"epoch,loss\n1,x\n", b"a\n1,2\n3,4,5\n", b"epoch\n\xff\x00\n")
    for damage in damages:
        (tmp_path / "training.csv").write_bytes(damage)
        found = analyse(tagger, test_sentences, log=tmp_path / "training.csv")
        assert "training.csv is damaged: " in found.missing["learning_curves"]
        assert "training.csv is damaged, so there" in found.warnings[-1]


@pytest.fixture(scope="module")
def parser():
    return parsers.random_parser()


@pytest.fixture(scope="module")
def parsed(parser):
    return analyse(parser, [*parsers.DEV, parsers.EMPTY], parsers.TRAIN)


def test_parser(parsed, parser):
    sentences = [*parsers.DEV, parsers.EMPTY]
    assert overall(parsed) == pytest.approx(
        parser.evaluate(sentences, return_dict=True)
    )
    scores = parser.scores(sentences)
    for name in ("by_relation", "by_distance", "by_sentence_length"):
        table = parsed.tables[name].drop(columns=["low", "high"], errors="ignore")
        pd.testing.assert_frame_equal(table, getattr(scores, name)())
    for row in parsed.by_sentence_length.itertuples():
        expected = tables.wilson(round(row.las * row.words), row.words)
        assert (row.low, row.high) == expected
    for row in parsed.by_distance.itertuples():
        if row.gold:
            found = round(row.recall * row.gold)
            assert (row.low, row.high) == tables.wilson(found, row.gold)
        else:
            assert np.isnan(row.low)
    assert parsed.missing["calibration"] == "a parser gives no probabilities"
    assert parsed.kinds["tokens"].sum() == scores.words
    assert parsed.by_pos["tokens"].sum() == scores.words
    heads = (parsed.by_pos["uas"] * parsed.by_pos["tokens"]).sum()
    assert heads / scores.words == pytest.approx(scores.uas)
    rows = parsed.by_word_frequency
    arcs = (rows["las"] * rows["tokens"]).sum()
    assert arcs / scores.words == pytest.approx(scores.las)


def test_words_that_a_parser_knows_from_vectors_are_unknown():
    [first, *rest] = parsers.DEV
    dev = [replace(first, tokens=["zebra", *first.tokens[1:]]), *rest]
    words = ["zebra", "dog"]
    vectors = WordVectors(words, np.ones((2, parsers.TINY["word_dim"]), "float32"))
    parser = parsers.random_parser(embeddings=vectors)
    assert "zebra" in parser.features.vocabularies["word"]
    rows = analyse(parser, dev, parsers.TRAIN).by_word_frequency
    assert set(rows["training"]).isdisjoint({"0", 0})
    unseen = {w for s in parsers.TRAIN for w in parser.features.normal_forms(s.tokens)}
    forms = [w for s in dev for w in parser.features.normal_forms(s.tokens)]
    found = rows.set_index("training")["tokens"]
    assert found["unknown"] == sum(form not in unseen for form in forms) > 0


def test_parser_errors_by_another_way(parsed, parser):
    labels, with_head, heads = Counter(), Counter(), Counter()
    trees = parser.predict(parsers.DEV)
    for sentence, tree, gold in zip(
        parsers.DEV, trees, parsers.gold(parsers.DEV), strict=True
    ):
        pos = ["ROOT", *sentence.columns["pos"]]
        for i, (head, label, gold_head, gold_label) in enumerate(
            zip(*tree, *gold, strict=True), 1
        ):
            pair = gold_label.split(":")[0], label.split(":")[0]
            labels[pair] += pair[0] != pair[1]
            with_head[pair] += pair[0] != pair[1] and head == gold_head
            heads[pos[i], pos[gold_head], pos[head]] += head != gold_head
    columns = ["gold", "predicted", "count", "with_right_head"]
    found = {(g, p): (n, m) for g, p, n, m in parsed.confusions[columns].to_numpy()}
    assert found == {k: (n, with_head[k]) for k, n in labels.items() if n}
    columns = ["pos", "gold_head", "predicted_head", "count"]
    found = {tuple(row[:3]): row[3] for row in parsed.head_errors[columns].to_numpy()}
    assert found == {k: n for k, n in heads.items() if n}
    row = parsed.head_errors_examples.iloc[0]
    words = ["ROOT", *parsers.DEV[row["sentence"] - 1].tokens]
    gold = parsers.gold(parsers.DEV)[row["sentence"] - 1][0][row["position"] - 1]
    predicted = trees[row["sentence"] - 1][0][row["position"] - 1]
    assert words[row["position"]] == row["word"]
    assert row["gold_head_word"] == words[gold]
    assert row["predicted_head_word"] == words[predicted]


def test_parser_without_parts_of_speech_or_punctuation():
    sentences = [
        replace(s, columns={k: s.columns[k] for k in ("head", "deprel")})
        for s in parsers.DEV
    ]
    parser = parsers.random_parser(tags=None)
    found = analyse(parser, sentences, punctuation="unicode", subtypes=True)
    expected = parser.evaluate(
        sentences, return_dict=True, punctuation="unicode", subtypes=True
    )
    assert overall(found) == pytest.approx(expected)
    assert found.kinds["tokens"].sum() < sum(map(len, sentences))
    assert "no column pos" in found.missing["by_pos"]
    dots = [replace(s, tokens=["."] * len(s)) for s in sentences]
    with pytest.raises(ValueError, match="no token counts"):
        analyse(parser, dots, punctuation="unicode")


# CCG parsers


@pytest.fixture(scope="module")
def derived(ccg_parser):
    """Two learnt sentences, one whose words are exchanged, and an empty one."""
    found = GOLD[1].derivation.to_dict()
    for node in found["nodes"]:
        node |= {"word": "the"} if "word" in node else {}
    other = Derivation.from_dict(found)
    wrong = replace(GOLD[1], tokens=["the"] * len(other), derivation=other)
    return [GOLD[2], wrong, Sentence([], []), GOLD[0]]


def test_derivations(ccg_parser, derived):
    found = analyse(ccg_parser, derived, GOLD)
    figures = overall(found)
    expected = ccg_parser.evaluate(derived, return_dict=True)
    del expected["head_accuracy"], expected["joint_accuracy"]
    assert figures == pytest.approx(expected)
    assert 0 < figures["labelled"] < 1
    gold = [s.derivation for s in derived if len(s)]
    tags = Counter(leaf.category for x in gold for leaf in x.leaves)
    by_category = found.by_category.set_index("category")
    assert by_category["tokens"].to_dict() == dict(tags)
    right = (by_category["tokens"] * by_category["derivation"]).sum()
    assert right / tags.total() == pytest.approx(figures["supertags"])
    rules = Counter(node.rule for x in gold for node in x.nodes())
    by_rule = found.by_rule.set_index("rule")
    assert by_rule["gold"].drop("(none)", errors="ignore").to_dict() == {
        **dict.fromkeys(by_rule.index.drop("(none)", errors="ignore"), 0),
        **rules,
    }
    whole = 2 * by_rule["right"].sum() / (by_rule["gold"] + by_rule["found"]).sum()
    assert whole == pytest.approx(figures["labelled"])
    lengths = found.by_sentence_length
    assert lengths["sentences"].tolist() == [3] and lengths["words"].sum() == 13
    assert lengths["exact"].tolist() == pytest.approx([figures["exact"]])
    assert found.confusions["count"].sum() == tags.total() - round(right)
    assert "no probability" in found.missing["calibration"]
    assert "By rule" in found._repr_html_()


def test_derivations_in_another_notation_have_the_same_figures(ccg_parser, derived):
    other = [
        replace(s, derivation=Derivation.from_auto(s.derivation.auto(), "pmb"))
        for s in derived
        if len(s)
    ]
    found, same = (analyse(ccg_parser, x, GOLD) for x in (other, derived))
    assert overall(found) == pytest.approx(overall(same))
    assert found.by_category.equals(same.by_category)
    assert ccg_parser.evaluate(other) == ccg_parser.evaluate(derived)
