"""Tables 2 to 5 of Elkaref & Bohnet (2017), :cite:`elkaref2017`.

A Simple LSTM model for Transition-based Dependency Parsing: recurrent parsers that
start from the weights of a feed-forward one. These "use the final trained embeddings of
their respective FFN baseline", so only baselines start from GloVe vectors.
"""

from keras_tagging.experiments.papers.table import Column, Row, Table

_PAPER = "elkaref2017"
_CORPUS = "Penn Treebank, Stanford dependencies"
_DEV = (Column("UAS", "uas", "dev"), Column("LAS", "las", "dev"))
_DEV_AND_TEST = (
    Column("Dev UAS", "uas", "dev"),
    Column("Dev LAS", "las", "dev"),
    Column("Test UAS", "uas", "test"),
    Column("Test LAS", "las", "test"),
)
_TAGS = (
    "The paper's part-of-speech tags are predicted; here they are gold, unless --set "
    "tags=predicted."
)

_FFN, _LSTM = "Feed-Forward Network", "LSTM Network"


def _others(name, citation, *published, group, note=None):
    return Row(name, published, citation=citation, group=group, note=note)


_SYSTEMS = (
    _others("C & M (2014)", "chen2014", 92.00, 89.70, 91.80, 89.60, group=_FFN),
    _others("Andor et al. (2016)", "andor2016", 92.85, 90.59, 92.95, 91.02, group=_FFN),
    _others("Weiss et al. (2015)", "weiss2015", None, None, 93.19, 91.18, group=_FFN),
    Row(
        "Our FFN baseline",
        (92.76, 90.47, 92.10, 89.95),
        "ffn-parser",
        vectors=True,
        group=_FFN,
    ),
    _others(
        "Kuncoro et al. (2016)", "kuncoro2016", None, 87.8, None, 87.5, group=_LSTM
    ),
    _others(
        "Zhang et al. (2015)",
        None,
        *(92.66, 89.14, 91.99, 88.69),
        group=_LSTM,
        note="Not in the paper's list of references.",
    ),
    _others(
        "K & G (2016a)", "kiperwasser2016easy", 93.3, 90.8, 93.0, 90.9, group=_LSTM
    ),
    _others("K & G (2016b)", "kiperwasser2016", None, None, 93.9, 91.9, group=_LSTM),
    _others("Dyer et al. (2015)", "dyer2015", 93.2, 90.9, 93.1, 90.9, group=_LSTM),
    Row(
        "Our LSTM baseline",
        (93.23, 90.94, 92.77, 90.64),
        "lstm-parser",
        vectors=True,
        group=_LSTM,
    ),
    Row(
        "Our bootstrapped model",
        (93.41, 91.20, 93.06, 91.01),
        "lstm-parser",
        bootstrap="Our FFN baseline",
        group=_LSTM,
    ),
)


def _rows(embeddings, *lines):
    """Rows with one kind of embeddings: name, architecture, UAS, LAS, gates, note.

    The gates, "all" or some names, are those that start from the hidden layer of the
    FFN baseline; a baseline has none.
    """
    rows = []
    for name, architecture, uas, las, *more in lines:
        gates, note = (*more, None, None)[:2]
        row = Row(
            f"{name}, {embeddings.lower()}",
            (uas, las),
            architecture,
            vectors=embeddings == "Pre-trained" and not gates,
            bootstrap=f"FFN baseline, {embeddings.lower()}" if gates else None,
            gates=gates or "all",
            group=f"{embeddings} Embeddings",
            note=note,
        )
        rows.append(row)
    return tuple(rows)


_UNITS = _rows(
    "Random",
    ("FFN baseline", "ffn-parser", 92.21, 89.85),
    (
        "LSTM baseline",
        "lstm-parser",
        *(92.16, 89.87),
        None,
        "Its UAS is below the FFN baseline's.",
    ),
    (
        "bootstrapped LSTM",
        "lstm-parser",
        *(92.43, 90.06),
        "all",
        "Table 4 has these figures for the o gate alone, 92.38 and 90.01 for all.",
    ),
    ("Elman baseline", "elman-parser", 91.97, 89.62),
    ("bootstrapped Elman", "elman-parser", 92.40, 90.06, "all"),
    ("GRU baseline", "gru-parser", 91.62, 89.18),
    (
        "bootstrapped GRU",
        "gru-parser",
        *(91.67, 89.31),
        "all",
        "Table 5 has these figures for the h gate alone, 91.73 and 89.20 for all.",
    ),
) + _rows(
    "Pre-trained",
    ("FFN baseline", "ffn-parser", 92.76, 90.47),
    ("LSTM baseline", "lstm-parser", 93.23, 90.94),
    ("bootstrapped LSTM", "lstm-parser", 93.41, 91.20, "all"),
    ("Elman baseline", "elman-parser", 92.01, 89.47),
    ("bootstrapped Elman", "elman-parser", 92.87, 90.52, "all"),
    ("GRU baseline", "gru-parser", 92.21, 89.77),
    (
        "bootstrapped GRU",
        "gru-parser",
        *(92.14, 89.78),
        "all",
        "Table 5 has these figures for the h gate alone, 89.30 and 86.09 for all.",
    ),
)

_LSTM_GATES = _rows(
    "Random",
    ("FFN baseline", "ffn-parser", 92.21, 89.85),
    ("LSTM baseline", "lstm-parser", 92.16, 89.87),
    ("bootstrapped i gate", "lstm-parser", 92.29, 90.00, ("i",)),
    ("bootstrapped j gate", "lstm-parser", 92.38, 89.96, ("j",)),
    ("bootstrapped f gate", "lstm-parser", 92.25, 89.81, ("f",)),
    (
        "bootstrapped o gate",
        "lstm-parser",
        *(92.43, 90.06),
        ("o",),
        "Table 3 has these figures for the bootstrapped LSTM.",
    ),
    ("bootstrapped all gates", "lstm-parser", 92.38, 90.01, "all"),
) + _rows(
    "Pre-trained",
    ("FFN baseline", "ffn-parser", 92.76, 90.47),
    ("LSTM baseline", "lstm-parser", 93.23, 90.94),
    ("bootstrapped i gate", "lstm-parser", 93.20, 90.96, ("i",)),
    ("bootstrapped j gate", "lstm-parser", 93.30, 91.02, ("j",)),
    ("bootstrapped f gate", "lstm-parser", 93.42, 91.22, ("f",)),
    ("bootstrapped o gate", "lstm-parser", 93.35, 91.11, ("o",)),
    ("bootstrapped all gates", "lstm-parser", 93.41, 91.20, "all"),
)

_H_GATE = "Table 3 has these figures for the bootstrapped GRU."
_GRU_GATES = _rows(
    "Random",
    ("FFN baseline", "ffn-parser", 92.21, 89.85),
    ("GRU baseline", "gru-parser", 91.62, 89.18),
    ("bootstrapped r gate", "gru-parser", 91.70, 89.15, ("r",)),
    ("bootstrapped z gate", "gru-parser", 90.59, 87.90, ("z",)),
    ("bootstrapped h gate", "gru-parser", 91.67, 89.31, ("h",), _H_GATE),
    ("bootstrapped all gates", "gru-parser", 91.73, 89.20, "all"),
) + _rows(
    "Pre-trained",
    ("FFN baseline", "ffn-parser", 92.76, 90.47),
    ("GRU baseline", "gru-parser", 92.21, 89.77),
    ("bootstrapped r gate", "gru-parser", 92.22, 89.79, ("r",)),
    ("bootstrapped z gate", "gru-parser", 92.62, 90.37, ("z",)),
    ("bootstrapped h gate", "gru-parser", 92.14, 89.78, ("h",), _H_GATE),
    ("bootstrapped all gates", "gru-parser", 89.30, 86.09, "all"),
)

TABLES = {
    2: Table(
        _PAPER,
        2,
        "Final dev and test set scores on WSJ (SD)",
        _CORPUS,
        _DEV_AND_TEST,
        _SYSTEMS,
        punctuation="ptb",
        note=f"{_TAGS} Andor et al. and Weiss et al. are the greedy models; Zhang et "
        "al. use no pretrained vectors.",
    ),
    3: Table(
        _PAPER,
        3,
        "Dev set scores on WSJ (SD) for different RNN types",
        _CORPUS,
        _DEV,
        _UNITS,
        punctuation="ptb",
        note=_TAGS,
    ),
    4: Table(
        _PAPER,
        4,
        "Dev set scores on WSJ (SD) for individually bootstrapped LSTM gates",
        _CORPUS,
        _DEV,
        _LSTM_GATES,
        punctuation="ptb",
        note=_TAGS,
    ),
    5: Table(
        _PAPER,
        5,
        "Dev set scores on WSJ (SD) for individually bootstrapped GRU gates",
        _CORPUS,
        _DEV,
        _GRU_GATES,
        punctuation="ptb",
        note=_TAGS,
    ),
}
