"""The keywords of the cells that architectures have, each checked by its owner.

A cell checks itself with these. They import no Keras, so that an architecture can be
checked and its keywords listed before there is a network. A call builds the cell.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal

from keras_tagging.utils.checks import Checked, Parts, Rule, check_fields

Mapping = Literal["identity", "sigmoid", "tanh"]
Place = Literal["gated", "plain", "highway"] | None
ShortcutGate = Literal[
    "vertical",
    "below",
    "recurrent",
    "skip",
    "linear",
    "scale",
    "bernoulli",
    "learned-bernoulli",
]


class CellOptions(Checked):
    """Options of a cell, which a call builds.

    Attributes:
        cell: the name of its class.
    """

    cell: ClassVar[str]

    def __call__(self, units, *, seed=None, **initializers):
        from keras_tagging import cells

        return getattr(cells, self.cell)(units, **asdict(self), **initializers)


@dataclass(frozen=True, kw_only=True)
class GRU(CellOptions):
    """Options of :class:`keras_tagging.cells.GRUCell`."""

    cell: ClassVar[str] = "GRUCell"
    update: Literal["new", "keep"] = "new"


@dataclass(frozen=True, kw_only=True)
class SkipLSTM(CellOptions):
    """Options of :class:`keras_tagging.cells.SkipLSTMCell`."""

    cell: ClassVar[str] = "SkipLSTMCell"
    skip: Literal["outputs", "internals", "gates"] | None = "outputs"
    gate: Literal["joint", "exclusive", "vertical"] | None = "joint"
    mapping: Mapping = "identity"
    forget_bias: float = 0.0

    def __post_init__(self):
        check_fields(self)
        if self.gate is not None and self.skip not in ("outputs", "internals"):
            raise ValueError(
                f"skip={self.skip!r} leaves nothing to gate: give gate=None"
            )


@dataclass(frozen=True, kw_only=True)
class LSTM(Checked):
    """Options of `SkipLSTMCell` without a skip: Eq. 9 of :cite:`wu2016`.

    With `peepholes` the gates read the cell, as in :class:`HighwayLSTM` without its
    depth gate: the LSTM of Kuncoro et al. (2016), with which Elkaref & Bohnet (2017)
    compare theirs (sections 3.3 and 5), :cite:`elkaref2017`.
    """

    forget_bias: float = 0.0
    peepholes: bool = False

    def __call__(self, units, **options):
        cell = SkipLSTM(skip=None, gate=None, forget_bias=self.forget_bias)
        if self.peepholes:
            cell = HighwayLSTM(
                depth_gate=False, peepholes=True, forget_bias=self.forget_bias
            )
        return cell(units, **options)


@dataclass(frozen=True, kw_only=True)
class CoupledLSTM(LSTM):
    """Options of an LSTM, or :class:`keras_tagging.cells.CoupledLSTMCell`.

    That of Lample et al. (2016), :cite:`lample2016`, has no gate f, and its gates read
    the cell: `forget_bias` and `peepholes` change nothing there.
    """

    coupled: bool = False

    def __call__(self, units, *, seed=None, **initializers):
        if not self.coupled:
            return super().__call__(units, seed=seed, **initializers)
        from keras_tagging.cells import CoupledLSTMCell

        return CoupledLSTMCell(units, **initializers)


@dataclass(frozen=True, kw_only=True)
class ShortcutBlock(CellOptions):
    """Options of :class:`keras_tagging.cells.ShortcutBlockCell`."""

    cell: ClassVar[str] = "ShortcutBlockCell"
    self_connection: bool = False
    internal: Place = "gated"
    output: Place = "gated"
    gate: ShortcutGate | None = "vertical"
    mapping: Mapping = "identity"
    cell_shortcut: bool = False
    bernoulli_p: Annotated[float, Rule(lambda x: 0 <= x <= 1, "from 0 to 1")] = 0.5

    def __post_init__(self):
        check_fields(self)
        places = {self.internal, self.output}
        if (self.gate is None) == bool(places & {"gated", "highway"}):
            raise ValueError(
                f"internal={self.internal!r} and output={self.output!r} do not fit "
                f'gate={self.gate!r}: "gated" and "highway" need one, others None'
            )
        if "highway" in places and self.gate == "linear":
            raise ValueError('"highway" needs 1 - g, which gate="linear" has not')
        gated = places == {"gated"} and self.gate == "vertical"
        if self.cell_shortcut and not (self.self_connection and gated):
            raise ValueError(
                'cell_shortcut needs self_connection=True, internal="gated", '
                'output="gated" and gate="vertical"'
            )

    def __call__(self, units, *, seed=None, **initializers):
        if "bernoulli" in (self.gate or ""):
            initializers["seed"] = seed
        return super().__call__(units, **initializers)


@dataclass(frozen=True, kw_only=True)
class HighwayLSTM(CellOptions):
    """Options of :class:`keras_tagging.cells.HighwayLSTMCell`."""

    cell: ClassVar[str] = "HighwayLSTMCell"
    depth_gate: bool = True
    peepholes: bool = False
    forget_bias: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RecurrentHighway(CellOptions):
    """Options of :class:`keras_tagging.cells.RecurrentHighwayCell`."""

    cell: ClassVar[str] = "RecurrentHighwayCell"
    depth: Parts = 3
    coupled: bool = False
    output_gate: bool = True
    transform_bias: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Elman(CellOptions):
    """Options of :class:`keras_tagging.cells.ElmanCell` in a parser.

    "To avoid having any dead ReLUs" its biases start above 0: Elkaref & Bohnet (2017),
    section 5, :cite:`elkaref2017`.
    """

    cell: ClassVar[str] = "ElmanCell"
    hidden_bias: float = 0.02

    def __call__(self, units, *, seed=None, **initializers):
        import keras

        from keras_tagging import cells

        start = keras.initializers.Constant(self.hidden_bias)
        return getattr(cells, self.cell)(units, bias_initializer=start, **initializers)


@dataclass(frozen=True, kw_only=True)
class FeedForward(Elman):
    """Options of :class:`keras_tagging.cells.FeedForwardCell`, as in `Elman`."""

    cell: ClassVar[str] = "FeedForwardCell"
