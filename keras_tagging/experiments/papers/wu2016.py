"""Tables 1 to 4 of Wu et al. (2016), :cite:`wu2016`.

An Empirical Exploration of Skip Connections for Sequential Tagging: stacked Bi-LSTMs
whose layers skip one another. Words start from GloVe vectors (section 6.1.2).
"""

from keras_tagging.experiments.papers.table import Column, Row, Table

_PAPER = "wu2016"
_DEV = Column("Dev", "accuracy", "dev")
_TEST = Column("Test", "accuracy", "test")

# Table 1: characters are the only features of a word's form, in both recipes
_FORMS = {"characters": 5, "suffixes": (), "prefixes": (), "shapes": False}
_NO_DROPOUT = {"dropout": 0.0, "layer_dropout": 0.0, "window_dropout": 0.0}


def _skip(num_layers, name, *published, group="", note=None, **settings):
    """One of our rows: gated skip connections to the outputs, except for `settings`."""
    settings = {"skip": "outputs", "gate": "joint", **settings}
    settings["num_layers"] = num_layers
    return Row(
        name, published, "skip-bilstm", settings, vectors=True, group=group, note=note
    )


_SYSTEMS = (
    Row("Clark and Curran (2007)", (91.5, 92.0), citation="clark2007"),
    Row("Lewis et al. (2014)", (91.3, 91.6), citation="lewis2014"),
    Row("Lewis et al. (2016)", (94.1, 94.3), citation="lewis2016"),
    Row("Xu et al. (2015)", (93.1, 93.0), citation="xu2015"),
    Row("Xu et al. (2016)", (93.49, 93.52), citation="xu2016"),
    Row("Vaswani et al. (2016)", (94.24, 94.5), citation="vaswani2016"),
    _skip(7, "7-layers + skip output + gating", 94.51, 94.67, **_FORMS),
    _skip(
        7,
        "7-layers + skip output + gating (no char)",
        *(94.33, 94.45),
        **_FORMS | {"characters": 0},
    ),
    _skip(
        7,
        "7-layers + skip output + gating (no dropout)",
        *(94.06, 94.0),
        **_FORMS | _NO_DROPOUT,
    ),
    _skip(
        9,
        "9-layers + skip output + gating",
        *(94.55, 94.69),
        **_FORMS,
        note="Table 3 has 94.7 on the test set.",
    ),
)

_INTERNALS, _OUTPUTS = "to the internals", "to the outputs"
_SKIPS = (
    Row(
        "H-LSTM",
        (93.14, 93.52),
        "highway-bilstm",
        {"num_layers": 7},
        vectors=True,
        citation="zhang2016",
    ),
    Row(
        "RHN",
        (94.28, 94.24),
        "rhn",
        {"depth": 3, "output_gate": True},
        vectors=True,
        citation="zilly2016",
        note="One bidirectional layer, L = 3; its state leaves the last micro-step "
        "through an output gate (footnote 2).",
    ),
    _skip(7, "no skip connections", 93.94, 94.26, skip=None, gate=None),
    _skip(7, "to the gates", 93.9, 94.22, skip="gates", gate=None),
    _skip(
        7,
        "to the internals, no gate",
        *(94.33, 94.63),
        group=_INTERNALS,
        skip="internals",
        gate=None,
    ),
    _skip(
        7,
        "to the internals, with gate",
        *(94.24, 94.52),
        group=_INTERNALS,
        skip="internals",
        note="The paper has no equation for its gate; here it is the gate of Eq. 15.",
    ),
    _skip(7, "to the outputs, no gate", 93.89, 93.98, group=_OUTPUTS, gate=None),
    _skip(
        7,
        "to the outputs, with gate, b_f = 5",
        *(94.23, 94.81),
        group=_OUTPUTS,
        forget_bias=5.0,
    ),
    _skip(
        7,
        "to the outputs, with gate, b_f = 0",
        *(94.51, 94.67),
        group=_OUTPUTS,
        forget_bias=0.0,
    ),
    _skip(
        7,
        "to the outputs, sigmoid mapping",
        *(94.02, 94.18),
        group=_OUTPUTS,
        mapping="sigmoid",
        note="The table maps the layer below; this must be an error for the skipped "
        "output.",
    ),
)

_DEPTHS = (
    _skip(3, "3", 94.21, 94.35),
    _skip(5, "5", 94.51, 94.57),
    _skip(7, "7", 94.51, 94.67),
    _skip(9, "9", 94.55, 94.7, note="Table 1 has 94.69 on the test set."),
    _skip(11, "11", 94.43, 94.65),
)

_POS = (
    Row("Søgaard (2011)", (97.5,), citation="sogaard2011"),
    Row("Ling et al. (2015)", (97.36,), citation="ling2015"),
    Row("Wang et al. (2015)", (97.78,), citation="wang2015"),
    Row("Vaswani et al. (2016)", (97.4,), citation="vaswani2016"),
    _skip(7, "7-layers + skip output + gating", 97.45),
    _skip(9, "9-layers + skip output + gating", 97.45),
)

TABLES = {
    1: Table(
        _PAPER,
        1,
        "1-best supertagging accuracy on CCGbank",
        "CCGbank",
        (_DEV, _TEST),
        _SYSTEMS,
        varies=("num_layers", "characters", *_NO_DROPOUT),
    ),
    2: Table(
        _PAPER,
        2,
        "Accuracy of 7-layer stacked bidirectional LSTMs, with different types of skip "
        "connections",
        "CCGbank",
        (_DEV, _TEST),
        _SKIPS,
        varies=("skip", "gate", "mapping", "forget_bias"),
    ),
    3: Table(
        _PAPER,
        3,
        "Accuracy using gated identity connections to cell outputs, with different "
        "number of stacked layers",
        "CCGbank",
        (_DEV, _TEST),
        _DEPTHS,
        varies=("num_layers",),
    ),
    4: Table(
        _PAPER,
        4,
        "Accuracy for part-of-speech tagging on WSJ",
        "Penn Treebank",
        (_TEST,),
        _POS,
        varies=("num_layers",),
        note="Sections 0-18 to train, 19-21 to choose the epoch, 22-24 to test.",
    ),
}
