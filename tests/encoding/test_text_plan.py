"""Which sentences of a text each epoch learns from, and in which batches."""

from collections import Counter

import numpy as np
import pytest

from keras_tagging import CorpusError, Sentence
from keras_tagging.data import CorpusFiles
from keras_tagging.encoding import batching
from keras_tagging.encoding.batching import (
    EncodedSentences,
    MixedBatches,
    TextPlan,
    TrainingBatches,
)

WORDS = [[f"w{i}"] * (1 + i * 7 % 5) for i in range(47)]
BY_SIZE, BY_TOKENS = {"batch_size": 3}, {"token_budget": 12}


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(batching, "PREDICTION_SENTENCES", 10)


class Text:
    """Sentences that are read again and again, and how often they were."""

    def __init__(self, words=WORDS):
        self.words, self.reads = words, 0

    def __iter__(self):
        for words in self.words:
            self.reads += 1
            yield words


def words_of(batches):
    return [[s.tokens for s in batch] for batch in batches]


@pytest.mark.parametrize("sizes", [BY_SIZE, BY_TOKENS])
@pytest.mark.parametrize("most", [1, 5, 99])
def test_every_sentence_has_its_turn(sizes, most):
    """Each is in one batch of a pass over the text, in whatever epochs that is."""
    plan = TextPlan(WORDS, most, sizes)
    total = len(plan._ends) and int(plan._ends[-1])
    assert len(plan) == min(most, total) and plan.sentences == 47
    assert plan.tokens == sum(map(len, WORDS))
    epochs = [words_of(plan.epoch(number)) for number in range(total)]
    assert all(len(epoch) == len(plan) for epoch in epochs)
    batches = [batch for epoch in epochs for batch in epoch]
    one_pass = Counter(words[0] for batch in batches[:total] for words in batch)
    assert one_pass == dict.fromkeys((words[0] for words in WORDS), 1)
    # and the next pass has the same batches
    for number, batch in enumerate(batches):
        assert batch == batches[number % total]
        lengths = [*map(len, batch)]
        assert len(batch) <= 3 if sizes is BY_SIZE else len(batch) * max(lengths) <= 12
    assert plan.tokens_of_epoch == pytest.approx(plan.tokens * len(plan) / total)


def test_an_epoch_is_the_same_whatever_came_before():
    whole = TextPlan(WORDS, 4, BY_TOKENS, seed=3)
    expected = [words_of(whole.epoch(number)) for number in range(9)]
    for number in (8, 2, 2, 0, 5):
        assert (
            words_of(TextPlan(WORDS, 4, BY_TOKENS, seed=3).epoch(number))
            == (expected[number])
        )
        assert words_of(whole.epoch(number)) == expected[number]
    other = TextPlan(WORDS, 4, BY_TOKENS, seed=4)
    assert words_of(other.epoch(0)) != expected[0]
    assert other.sha256 == whole.sha256 != TextPlan(WORDS[1:], 4, BY_TOKENS).sha256


def test_the_text_is_read_on_and_not_anew():
    text = Text()
    plan = TextPlan(text, 2, BY_SIZE)
    assert text.reads == 47
    for number in range(7):  # 14 of 17 batches: not yet at the end
        plan.epoch(number)
    assert text.reads <= 2 * 47


def test_sentences_without_words_and_texts_without_any():
    text = [[], ["a"], Sentence([]), Sentence(["b", "c"])]
    plan = TextPlan(text, 9, BY_SIZE)
    assert plan.sentences == 2 and plan.tokens == 3
    with pytest.raises(ValueError, match="has no token"):
        TextPlan([[]], 9, BY_SIZE)


@pytest.mark.parametrize("words", [WORDS[:12], []])
def test_a_text_that_has_changed(words):
    text = Text()
    plan = TextPlan(text, 9, BY_SIZE)
    text.words = words
    with pytest.raises(ValueError, match="has changed since the training began"):
        [plan.epoch(number) for number in range(3)]


def encoded(sentences):
    lengths = [len(s) for s in sentences]
    ids = np.array([[1 + int(s.tokens[0][1:])] for s in sentences for _ in s.tokens])
    offsets = np.cumsum([0, *lengths])
    return EncodedSentences(ids, offsets, np.zeros(len(ids), "int32"))


@pytest.mark.parametrize("of_text, count", [(47, 4), (3, 1)])
def test_batches_of_both_take_turns(of_text, count):
    gold = [Sentence([f"w{100 + i}"] * 2) for i in range(11)]
    batches = TrainingBatches(encoded(gold), batch_size=3)
    plan = TextPlan(WORDS[:of_text], len(batches), BY_SIZE)
    asked = []

    def teach(sentences):
        asked.append(sentences)
        return TrainingBatches(encoded(sentences), batch_size=3)

    mixed = MixedBatches(batches, plan, teach)
    assert len(mixed) == 4 + count
    assert len(list(mixed)) == 4 and not asked  # before the first epoch
    for epoch in range(3):
        mixed.epoch = epoch
        batches.epoch = epoch
        own = [ids.tolist() for ids, _, _ in batches]
        found = [ids.tolist() for ids, _, _ in mixed]
        assert found == [ids.tolist() for ids, _, _ in mixed]
        of_gold = [ids for ids in found if ids[0][0][0] > 100]
        assert of_gold == own and len(asked) == epoch + 1
        rest = [ids for ids in found if ids[0][0][0] <= 100]
        firsts = [[row[0][0] - 1 for row in ids] for ids in rest]
        assert firsts == [
            [int(s.tokens[0][1:]) for s in batch] for batch in plan.epoch(epoch)
        ]
        if count == 4:  # one after the other
            assert [ids[0][0][0] > 100 for ids in found] == [True, False] * 4
        else:  # as early as can be
            assert found[1] == rest[0]
    assert mixed.num_targets == pytest.approx(22 + plan.tokens_of_epoch)


def test_words_of_the_text_that_gold_sentences_lack_stay():
    """Words that occur once in gold sentences become unknown there, and in the text."""
    gold = [Sentence([f"w{i}"]) for i in range(20)]
    batches = TrainingBatches(encoded(gold), batch_size=30, unknown_rate=1.0)
    text = [[f"w{i}"] for i in (3, 4, 19, 20, 4000)]
    plan = TextPlan(text, 9, {"batch_size": 30})

    def teach(sentences):
        return TrainingBatches(encoded(sentences), batch_size=30)

    mixed = MixedBatches(batches, plan, teach)
    mixed.epoch = 0
    (first, _, _), (second, _, _) = mixed
    assert set(first.ravel().tolist()) == {batching.UNKNOWN_ID}
    assert sorted(second.ravel().tolist()) == [1, 1, 1, 21, 4001]


def test_files_are_read_again(tmp_path):
    lines, rows = tmp_path / "a.txt", tmp_path / "b.conllu"
    lines.write_text("a b\nc d\n", "utf-8")  # as many words each: any format fits
    rows.write_text("1\tx\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n", "utf-8")
    files = CorpusFiles([lines, rows])
    for _ in range(2):
        assert [s.tokens for s in files] == [["a", "b"], ["c", "d"], ["x"]]
    assert str(lines) in repr(files)
    with pytest.raises(CorpusError, match="none.txt"):
        CorpusFiles([tmp_path / "none.txt"])
    with pytest.raises(CorpusError, match="read again and again"):
        CorpusFiles(["-"])
