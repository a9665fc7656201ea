"""Tables 4 to 7 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`.

Improving Recurrent Neural Networks For Sequence Labelling: networks that read their own
labels as embeddings. The tables have a column for each direction; here each network and
direction has its row. The best epoch is the one with the best accuracy on the
development set (section 3.2), for F1 too.
"""

from keras_tagging.experiments.papers.table import Column, Row, Table

_PAPER = "dinarelli2016"
_NETWORKS = {
    "E-RNN": "elman-rnn",
    "J-RNN": "jordan-rnn",
    "I-RNN": "i-rnn",
    "I+E-RNN": "ie-rnn",
}
_DIRECTIONS = ("forward", "backward", "bidirectional")
_VARIES = ("label_input", "hidden_context", "direction")  # the first two by network
_F1 = (Column("F1", "f1", "test"),)
_ACCURACY = (Column("Accuracy", "accuracy", "test"),)


def _rows(*lines, group="", suffix="", **settings):
    """Rows from printed lines: a network, its citation, a figure for each direction."""
    rows = []
    for network, citation, *figures in lines:
        for direction, figure in zip(_DIRECTIONS, figures, strict=True):
            if figure is None:
                continue
            name = f"{network}, {direction}{suffix}"
            if citation:
                row = Row(name, (figure,), citation=citation, group=group)
            else:
                ours = {"direction": direction, **settings}
                row = Row(name, (figure,), _NETWORKS[network], ours, group=group)
            rows.append(row)
    return tuple(rows)


_ATIS = _rows(
    ("[7] E-RNN", "mesnil2013", 93.65, 92.12, None),
    ("[7] J-RNN", "mesnil2013", 93.77, 93.31, 93.98),
    ("[26] E-RNN", "mesnil2015", 94.98, None, 94.73),
    ("E-RNN", None, 93.41, 93.18, 93.41),
    ("J-RNN", None, 93.61, 93.55, 93.74),
    ("I-RNN", None, 93.84, 93.56, 93.73),
    ("I+E-RNN", None, 93.74, 93.44, 93.60),
    group="Words",
    units=100,
) + _rows(
    ("[8] E-RNN", "vukotic2015", 96.16, None, None),
    ("[8] CRF", "vukotic2015", None, None, 95.23),
    ("[6] E-RNN", "yao2013", 96.04, None, None),
    ("[26] E-RNN", "mesnil2015", 96.24, None, 96.29),
    ("[26] CRF", "mesnil2015", None, None, 95.16),
    ("E-RNN", None, 94.73, 93.61, 94.71),
    ("J-RNN", None, 94.94, 94.80, 94.89),
    ("I-RNN", None, 95.21, 94.64, 94.75),
    ("I+E-RNN", None, 94.84, 94.61, 94.79),
    group="Classes",
    suffix=", classes",
    units=100,
    columns=("word_class",),
)

_MEDIA = _rows(
    ("[8] E-RNN", "vukotic2015", 81.94, None, None),
    ("[8] J-RNN", "vukotic2015", 83.25, None, None),
    ("[8] CRF", "vukotic2015", None, None, 86.00),
    ("E-RNN", None, 82.64, 82.61, 83.13),
    ("J-RNN", None, 83.06, 83.74, 84.29),
    ("I-RNN", None, 84.91, 86.28, 86.71),
    ("I+E-RNN", None, 84.58, 85.84, 86.21),
    units=100,
)

_FTB = _rows(
    ("[19] MElt_fr^0", "denis2012", None, None, 97.00),
    ("E-RNN", None, 96.31, 96.30, 96.32),
    ("J-RNN", None, 96.31, 96.27, 96.32),
    ("I-RNN", None, 96.36, 96.37, 96.51),
    ("I+E-RNN", None, 96.28, 96.33, 96.48),
    units=300,
    normalise="dinarelli",
)

_PTB = _rows(
    ("[28]", "toutanova2003", None, None, 97.24),
    ("[29]", "shen2007", None, None, 97.33),
    ("[5] NN+SLL", "collobert2011", None, None, 96.37),
    ("E-RNN", None, 96.75, 96.76, 96.75),
    ("J-RNN", None, 96.71, 96.69, 96.77),
    ("I-RNN", None, 96.75, 96.72, 96.90),
    ("I+E-RNN", None, 96.73, 96.71, 96.93),
    units=400,
    normalise="dinarelli",
)

TABLES = {
    4: Table(
        _PAPER,
        4,
        "Results of spoken language understanding on the ATIS corpus",
        "ATIS",
        _F1,
        _ATIS,
        varies=(*_VARIES, "columns"),
        monitor="val_accuracy",
        held_out=0.18,
    ),
    5: Table(
        _PAPER,
        5,
        "Results of spoken language understanding on the MEDIA corpus",
        "MEDIA",
        _F1,
        _MEDIA,
        varies=_VARIES,
        monitor="val_accuracy",
    ),
    6: Table(
        _PAPER,
        6,
        "Results of part-of-speech tagging on the French Treebank",
        "French Treebank",
        _ACCURACY,
        _FTB,
        varies=_VARIES,
        monitor="val_accuracy",
    ),
    7: Table(
        _PAPER,
        7,
        "Results of part-of-speech tagging on the Penn Treebank",
        "Penn Treebank",
        _ACCURACY,
        _PTB,
        varies=_VARIES,
        monitor="val_accuracy",
        note="Sections 0-18 to train, 19-21 to choose the epoch, 22-24 to test.",
    ),
}
