"""Tables 1 to 4 of Kadari et al. (2018), :cite:`kadari2018`.

Gated recurrent unit model for a sequence tagging problem: a Bi-GRU for CCG
supertagging. The word vectors are a feature beside the learnt embeddings (section 2.2),
so the keyword of `build` is `vectors`, not `embeddings`.
"""

from keras_tagging.experiments.papers.table import Column, Row, Settings, Table

_PAPER = "kadari2018"

_SETTINGS = Settings(
    _PAPER,
    1,
    "The final chosen hyper-parameters for the best model",
    "bigru",
    (
        ("Word embeddings", "Google's word2Vec", "vectors", None),
        ("Hidden dimension", "300", "units", 300),
        ("Dropout", "0.2", "dropout", 0.2),
        ("Optimizer", "SGD", "optimizer", "sgd"),
        ("Learning rate", "0.01", "learning_rate", 0.01),
    ),
    note="The recipe has no vectors: pass Google's file with vectors=.",
)


def _one_best(name, split, *rows):
    """Columns and rows of Tables 2 and 3: name, citation or ours, figure."""
    return (Column(name, "accuracy", split),), tuple(
        Row(system, (figure,), "bigru", vectors=True)
        if system == "GRU"
        else Row(system, (figure,), citation=citation)
        for system, citation, figure in rows
    )


_DEV = _one_best(
    "Accuracy",
    "dev",
    ("C&C (gold pos)", "clark2007", 92.60),
    ("C&C (auto pos)", "clark2007", 91.50),
    ("NN", "lewis2014", 91.10),
    ("RNN", "xu2015", 93.07),
    ("GRU", None, 93.47),
)
_TEST = _one_best(
    "Sec-23",
    "test",
    ("C&C (gold pos)", "clark2007", 93.32),
    ("C&C (auto pos)", "clark2007", 92.02),
    ("NN", "lewis2014", 91.57),
    ("RNN", "xu2015", 93.00),
    ("GRU", None, 93.87),
)

# Table 4 as printed: WORD and SENT of each system, a line a level
_SYSTEMS = (
    ("GRU", None),
    ("RNN", "xu2015"),
    ("NN", "lewis2014"),
    ("C&C (auto pos)", "clark2007"),
    ("C&C (gold pos)", "clark2007"),
)
_LEVELS = {
    0.075: (97.22, 67.22, 97.33, 66.07, 96.83, 61.27, 96.34, 60.27, 97.34, 67.43),
    0.030: (98.08, 74.90, 98.12, 74.39, 97.81, 70.83, 97.05, 65.50, 97.92, 72.87),
    0.010: (98.71, 81.87, 98.71, 81.70, 98.54, 79.25, 97.63, 70.52, 98.37, 77.73),
    0.005: (99.01, 85.04, 99.01, 84.79, 98.84, 83.38, 97.86, 72.24, 98.52, 79.25),
    0.001: (99.42, 90.92, 99.41, 90.54, 99.29, 89.07, 98.25, 80.24, 99.17, 87.19),
}


def _multi_tagging():
    """Columns and rows of Table 4, transposed: a row a system."""
    columns = tuple(
        Column(f"{beta:.3f} {figure.upper()}", figure, "dev", beta)
        for beta in _LEVELS
        for figure in ("word", "sent")
    )
    rows = []
    for i, (system, citation) in enumerate(_SYSTEMS):
        figures = (line[2 * i : 2 * i + 2] for line in _LEVELS.values())
        published = tuple(figure for pair in figures for figure in pair)
        ours = citation is None
        architecture = "bigru" if ours else None
        rows.append(
            Row(system, published, architecture, vectors=ours, citation=citation)
        )
    return columns, tuple(rows)


TABLES = {
    1: _SETTINGS,
    2: Table(
        _PAPER,
        2,
        "1-best tagging accuracy on CCGbank section 00",
        "CCGbank",
        *_DEV,
    ),
    3: Table(_PAPER, 3, "1-best accuracy on the test set", "CCGbank", *_TEST),
    4: Table(
        _PAPER,
        4,
        "Multi-tagging accuracy on section 00 at different levels of beta",
        "CCGbank",
        *_multi_tagging(),
        note="According to the text, the GRU is better than all others on all levels. "
        "In the table the RNN has more words right at 0.075 and 0.030, and C&C with "
        "gold parts of speech more words and sentences at 0.075.",
    ),
}
