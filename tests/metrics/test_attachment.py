import math
import random

import numpy as np
import pytest
from reference.attachment import by_loops

from keras_tagging.data import Sentence
from keras_tagging.metrics import attachment_scores


def sentence(rows):
    """From rows of "form xpos head deprel"."""
    if not rows:
        return Sentence([])
    forms, xpos, heads, deprels = zip(*(row.split() for row in rows), strict=True)
    columns = {"xpos": xpos, "head": heads, "deprel": deprels}
    return Sentence(list(forms), columns={k: list(v) for k, v in columns.items()})


GOLD = [
    sentence(
        [
            "The DT 2 det",
            "cat NN 3 nsubj",
            "saw VBD 0 root",
            "dogs NNS 3 obj",
            ". . 3 punct",
        ]
    ),
    sentence([]),
    sentence(["Was VBD 3 aux:pass", "it PRP 3 nsubj:pass", "seen VBN 0 root"]),
]
HEADS = [[2, 3, 0, 2, 3], [], [3, 3, 0]]
DEPRELS = [["det", "obj", "root", "obj", "punct"], [], ["aux", "nsubj:pass", "root"]]


def values(table):
    """Rows with nan as None, so that they can be compared."""
    rows = table.to_numpy(object).tolist()
    return [[None if value != value else value for value in row] for row in rows]


def right(gold, **options):
    """Which words count, told by making every head wrong but theirs."""
    length = len(gold)
    heads = np.where(np.eye(length), 0, 1)  # the gold head is 0 for all words
    return [
        bool(attachment_scores([gold], [row], [["dep"] * length], **options).uas)
        for row in heads
    ]


def test_punctuation_of_the_penn_treebank():
    tags = ["``", "''", ":", ",", ".", "-LRB-", "-RRB-", "HYPH", "$", "#", "SYM", "NN"]
    # a comma as form does not matter, nor does `pos` where there is `xpos`
    columns = {"head": ["0"] * 12, "deprel": ["dep"] * 12, "xpos": tags}
    gold = Sentence([","] * 12, columns={**columns, "pos": [","] * 12})
    assert right(gold, punctuation="ptb") == [False] * 5 + [True] * 7
    gold = Sentence([","] * 12, columns={**columns, "pos": columns.pop("xpos")})
    assert right(gold, punctuation="ptb") == [False] * 5 + [True] * 7


NO_WORDS = ". ... ?! , '' \" ( ] -- « „ — ¿ … 。 ، _ & % * # @ / :-)"
WORDS = "$ + < = ^ `` | ~ € © 's a. 1,5 .com =) <3 ´ 😀"


def test_punctuation_by_unicode():
    columns = {"head": ["0", "1"], "deprel": ["dep"] * 2}
    for form in [*NO_WORDS.split(), *WORDS.split()]:
        gold = [Sentence([form, "word"], columns=columns)]
        scores = attachment_scores(gold, [[0, 2]], [["dep"] * 2], punctuation="unicode")
        counts = form in WORDS.split()
        assert (scores.words, scores.uas) == (1 + counts, 0.5 * counts), form


@pytest.mark.parametrize("punctuation", ["keep", "ptb", "unicode"])
@pytest.mark.parametrize("gold", [[], [[]], [[], [". . 0 root"]]])
def test_nothing_to_count(gold, punctuation):
    gold = [sentence(rows) for rows in gold]
    if punctuation == "keep":
        gold = [s for s in gold if not s.tokens]
    predicted = [[0] * len(s) for s in gold], [["root"] * len(s) for s in gold]
    scores = attachment_scores(gold, *predicted, punctuation=punctuation)
    figures = [scores.uas, scores.las, scores.label_accuracy, scores.ucm, scores.lcm]
    assert all(math.isnan(figure) for figure in figures)
    assert scores.words == 0
    assert scores.by_sentence.tolist() == [[0, 0, 0]] * len(gold)
    assert len(scores.by_relation()) == 0
    assert len(scores.by_sentence_length()) == sum(map(bool, map(len, gold)))
    assert values(scores.by_distance()) == [
        [distance, 0, 0, None, None, None, None]
        for distance in ("root", "1", "2", "3-6", "7+")
    ]


def changed(column, value):
    """The gold trees with this value in the last one; None for no such column."""
    columns = {k: v for k, v in GOLD[2].columns.items() if k != column}
    if value is not None:
        columns[column] = [value] * len(GOLD[2])
    return [*GOLD[:2], Sentence(GOLD[2].tokens, columns=columns)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": [*HEADS[:2], [3, 3]]}, "3 has 3 words but 2 predicted heads"),
        ({"heads": HEADS[:2]}, "sentence 3 has 3 words but no predicted heads"),
        ({"gold": changed("head", None)}, "sentence 3 has no column 'head'"),
        (
            {"gold": changed("xpos", None), "punctuation": "ptb"},
            "sentence 3 has no column 'xpos' or 'pos'",
        ),
        (
            {"gold": changed("xpos", "PUNCT"), "punctuation": "ptb"},
            "sentence 3 has no tags of the Penn Treebank",
        ),
        ({"punctuation": "ud"}, "unknown punctuation 'ud'"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        attachment_scores(
            **{"gold": GOLD, "heads": HEADS, "deprels": DEPRELS} | options
        )


PUNCTUATION = {
    "keep": lambda form, xpos: True,
    "ptb": lambda form, xpos: xpos not in ("``", "''", ":", ",", "."),
    "unicode": lambda form, xpos: form.strip(".,!-()'\"") != "",
}


@pytest.mark.parametrize("subtypes", [False, True])
@pytest.mark.parametrize("punctuation", PUNCTUATION)
def test_equals_a_loop_over_words(punctuation, subtypes):
    rng = random.Random(punctuation)
    names = ["root", "nsubj", "nsubj:pass", "obl", "obl:tmod", "obl:agent", "punct"]
    gold, heads, deprels, rows = [], [], [], []
    for number in range(150):
        length = rng.choice([0, 1, 2, 5, 10, 11, 20, 21, 45])
        trees = []
        for position in range(1, length + 1):
            head, deprel = rng.randint(0, length), rng.choice(names)
            form = rng.choice(["a", "b.", "$", "=)", ".", "--", "('", "!!!"])
            xpos = rng.choice(["NN", "$", "-LRB-", ":", ",", ".", "''", "``"])
            keeps = rng.random() < 0.8
            found = head if keeps else rng.randint(0, length)
            label = deprel if rng.random() < 0.7 else rng.choice(names)
            trees.append((number, length, position, form, xpos))
            trees[-1] += (head, deprel, found, label)
        if number < 50:  # some complete trees
            trees = [(*row[:7], *row[5:7]) for row in trees]
        rows += trees
        gold.append(sentence([" ".join(map(str, row[3:7])) for row in trees]))
        heads.append([row[7] for row in trees])
        deprels.append([row[8] for row in trees])
    scores = attachment_scores(
        gold, heads, deprels, punctuation=punctuation, subtypes=subtypes
    )
    overall, by_sentence, relations, lengths, distances = by_loops(
        rows, subtypes, PUNCTUATION[punctuation]
    )
    figures = [scores.uas, scores.las, scores.label_accuracy, scores.ucm, scores.lcm]
    assert figures == overall
    assert all(0.1 < figure < 0.9 for figure in figures)
    assert scores.by_sentence.tolist() == [
        by_sentence.get(number, [0, 0, 0]) for number in range(150)
    ]
    table = scores.by_relation()
    assert {row[0]: pytest.approx(row[1:]) for row in table.to_numpy(object)} == (
        relations
    )
    assert table["gold"].is_monotonic_decreasing
    for row in scores.by_distance().to_numpy(object):
        assert distances[row[0]] == pytest.approx(row[1:])
    table = scores.by_sentence_length()
    for row in table.to_numpy(object):
        assert lengths[row[0]] == row[2:].tolist()
    assert table["words"].sum() == scores.words
