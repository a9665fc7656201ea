"""Tables 1 to 4 of Wu et al. (2017), :cite:`wu2017`.

Shortcut Sequence Tagging: stacked Bi-LSTMs whose cells replace their own state with the
output of two layers below. Words start from GloVe vectors (section 5.1). Tables
2 to 4 do not say how many layers they have; here 9, Table 1's.
"""

from keras_tagging.experiments.papers.table import Column, Row, Table

_PAPER = "wu2017"
_COLUMNS = (Column("Dev", "accuracy", "dev"), Column("Test", "accuracy", "test"))


def _row(name, *published, group="", vectors=True, note=None, **settings):
    """One of our rows: 9 shortcut blocks of Eq. 10, changed by the settings."""
    return Row(
        name,
        published,
        "shortcut-bilstm",
        {"num_layers": 9, **settings},
        vectors=vectors,
        group=group,
        note=note,
    )


def _wu2016(name, num_layers, *published, group="", note=None):
    """A row taken from Wu et al. (2016)."""
    return Row(
        name,
        published,
        "skip-bilstm",
        {"num_layers": num_layers, "skip": "outputs", "gate": "joint"},
        vectors=True,
        group=group,
        citation="wu2016",
        note=note,
    )


_SYSTEMS = (
    Row("Clark and Curran", (91.5, 92.0), citation="clark2007"),
    Row("MLP (Lewis et al.)", (91.3, 91.6), citation="lewis2014"),
    Row("Bi-LSTM (Lewis et al.)", (94.1, 94.3), citation="lewis2016"),
    Row("Elman-RNN (Xu et al.)", (93.1, 93.0), citation="xu2015"),
    Row("Bi-RNN (Xu et al.)", (93.49, 93.52), citation="xu2016"),
    Row("Bi-LSTM (Vaswani et al.)", (94.24, 94.5), citation="vaswani2016"),
    _wu2016("9-stacked Bi-LSTM (Wu et al.)", 9, 94.55, 94.69),
    _row(
        "9-stacked: mixed block",
        *(94.72, 95.08),
        self_connection=True,
        note="Built according to the caption, Eq. 7. The figure on the development set "
        "is that of Table 2's row with the lower cell; that row has 94.98 on the test "
        "set.",
    ),
    _row("9-stacked: shortcut block", 94.93, 95.12),
)

_MIXED, _BLOCK = "mixed block (Eq. 7)", "shortcut block (Eq. 10)"
_BLOCKS = (
    _wu2016(
        "h updated, with gate",
        7,
        *(94.51, 94.67),
        group="h updated",
        note="Taken from Wu et al. (2016), 7 layers.",
    ),
    _row(
        "mixed block, no gate",
        *(93.84, 93.84),
        group=_MIXED,
        self_connection=True,
        internal="plain",
        output="plain",
        gate=None,
    ),
    _row(
        "mixed block, highway gate",
        *(94.49, 94.62),
        group=_MIXED,
        self_connection=True,
        internal="highway",
        output="highway",
    ),
    _row(
        "mixed block, shortcuts for both c and h",
        *(94.72, 94.98),
        group=_MIXED,
        self_connection=True,
        cell_shortcut=True,
        note="The text and Table 1's mixed block have 95.08 on the test set.",
    ),
    _row("shortcut block, no gate in h", 94.15, 94.29, group=_BLOCK, output="plain"),
    _row("shortcut block, no gate in m", 94.77, 94.97, group=_BLOCK, internal="plain"),
    _row(
        "shortcut block, no shortcut in internal",
        *(93.83, 94.01),
        group=_BLOCK,
        internal=None,
    ),
    _row(
        "shortcut block, no shortcut in cell output",
        *(93.58, 93.82),
        group=_BLOCK,
        output=None,
    ),
)

_NON_LINEAR, _STOCHASTIC = "non-linear mapping", "stochastic sampling"
_GATES = (
    _row("scaled mapping, tanh", 94.60, 94.81, mapping="tanh"),
    _row(
        "linear mapping",
        *(92.07, 92.15),
        gate="scale",
        note="A vector times the skipped output, as the table has it; Eq. 15 has a "
        'matrix, gate="linear".',
    ),
    _row(
        "non-linear mapping, W h_t^{l-1}",
        *(94.79, 94.91),
        group=_NON_LINEAR,
        gate="below",
        note="Section 5.1 gives 94.79 as the figure on the test set.",
    ),
    _row(
        "non-linear mapping, U h_{t-1}^l",
        *(94.21, 94.56),
        group=_NON_LINEAR,
        gate="recurrent",
    ),
    _row(
        "non-linear mapping, V h_t^{l-2}",
        *(94.60, 94.78),
        group=_NON_LINEAR,
        gate="skip",
    ),
    _row(
        "stochastic sampling, p = 0.5",
        *(91.12, 91.47),
        group=_STOCHASTIC,
        gate="bernoulli",
        bernoulli_p=0.5,
    ),
    _row(
        "stochastic sampling, p = sigma(H h_t^{l-1})",
        *(93.90, 94.06),
        group=_STOCHASTIC,
        gate="learned-bernoulli",
    ),
)

# Table 4: the inputs of section 4.1 and no others, in both recipes
_INPUTS = {
    "words": True,
    "capitals": True,
    "characters": 5,
    "window": 3,
    "window_over": "features",
    "suffixes": (),
    "prefixes": (),
    "shapes": False,
}
_WINDOW, _CHARACTERS = "window size", "character-level"
_HYPER_PARAMETERS = (
    _row(
        "window size, k = 0",
        *(93.96, 94.06),
        group=_WINDOW,
        **_INPUTS | {"window": 1},
        note="The current word only.",
    ),
    _row("window size, k = 5", 94.27, 94.81, group=_WINDOW, **_INPUTS | {"window": 5}),
    _row("window size, k = 7", 94.52, 94.71, group=_WINDOW, **_INPUTS | {"window": 7}),
    _row(
        "character-level, l_w = 0",
        *(93.59, 93.71),
        group=_CHARACTERS,
        **_INPUTS | {"characters": 0},
    ),
    _row(
        "character-level, l_w = 3",
        *(94.21, 94.41),
        group=_CHARACTERS,
        **_INPUTS | {"characters": 3},
    ),
    _row(
        "character-level, l_w = 7",
        *(94.43, 94.75),
        group=_CHARACTERS,
        **_INPUTS | {"characters": 7},
    ),
    _row(
        "character only",
        *(92.17, 93.0),
        vectors=False,
        **_INPUTS | {"words": False, "capitals": False},
    ),
)

TABLES = {
    1: Table(
        _PAPER,
        1,
        "1-best supertagging accuracy on CCGbank",
        "CCGbank",
        _COLUMNS,
        _SYSTEMS,
        varies=("self_connection", "gate"),
    ),
    2: Table(
        _PAPER,
        2,
        "Comparison of shortcut variants",
        "CCGbank",
        _COLUMNS,
        _BLOCKS,
        varies=("self_connection", "internal", "output", "gate", "cell_shortcut"),
    ),
    3: Table(
        _PAPER,
        3,
        "Comparison of gating functions",
        "CCGbank",
        _COLUMNS,
        _GATES,
        varies=("mapping", "gate"),
    ),
    4: Table(
        _PAPER,
        4,
        "Comparison of hyper-parameters",
        "CCGbank",
        _COLUMNS,
        _HYPER_PARAMETERS,
        varies=("window", "characters", "words", "capitals"),
    ),
}
