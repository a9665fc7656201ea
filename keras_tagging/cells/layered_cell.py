from typing import Any

from keras import ops

from keras_tagging.cells.configuration import Tensor
from keras_tagging.cells.recurrent_cell import RecurrentCell
from keras_tagging.cells.splitting import split


class LayeredCell(RecurrentCell):
    """A cell that may read further layers than the one below, appended to its input.

    By default the input is that of the layer alone, and the cell is that of the lowest
    layer, which has nothing else to read: an LSTM without skip, for instance, so that
    `keras.layers.RNN` trains it on any features. In their higher layers,
    `BidirectionalStack` and `SkipStackCell` append outputs of other layers, and build
    the cells with `appended_inputs=True`.

    Attributes:
        reads: what stands after the layer input in `inputs`, each `units` wide:
            "skip" (:math:`h_t^{l-2}`), "below_cell" (:math:`c_t^{l-1}`), "skip_cell"
            (:math:`c_t^{l-2}`). Empty without `appended_inputs`.

    Args:
        units: int. Size of :math:`h_t`.
        appended_inputs: whether outputs of other layers follow the layer input.
        **kwargs: those of :class:`keras_tagging.cells.RecurrentCell`.

    Raises:
        ValueError: when built in the list of `keras.layers.RNN([...])`, which hands a
            cell the output of the cell before it and nothing else.
    """

    # does the cell, as it is set, read anything appended?
    could_read = False

    def __init__(self, units: int, appended_inputs: bool = False, **kwargs: Any):
        super().__init__(units, **kwargs)
        self.appended_inputs = appended_inputs

    def layer_features(self, input_shape) -> int:
        """Features of the layer input, without what `reads` names.

        Raises:
            ValueError: see the class.
        """
        # `path` is that of the layers around: Keras names the one it makes of a list
        lacks = self.could_read and not self.appended_inputs
        if lacks and "stacked_rnn_cells" in (self.path or ""):
            raise ValueError(
                f"RNN([...]) cannot hand {type(self).__name__} what it reads of lower "
                "layers: give RNN(SkipStackCell([...])), or switch its skips off"
            )
        return input_shape[-1] - len(self.reads) * self.units

    def split_inputs(self, inputs: Tensor) -> list[Tensor]:
        """The layer input, then what `reads` names; `inputs` `(..., features)`."""
        width = inputs.shape[-1] - len(self.reads) * self.units
        ends = [width + i * self.units for i in range(len(self.reads))]
        return split(inputs, ends)

    def vertical_gate(self, x, k, kernel, skip_kernel, bias):
        """sigma(U h^{l-1} + V h^{l-2} + b); W17 Eq. 6."""
        z = self.affine(x, kernel, bias) + ops.matmul(k, skip_kernel)
        return self.recurrent_activation(z)

    def for_layer(self, layer: int):
        """Layer 1 has no layer below it but the input: nothing is appended."""
        return {**self.get_config(), "appended_inputs": layer > 1}

    def get_config(self):
        return {**super().get_config(), "appended_inputs": self.appended_inputs}

    @classmethod
    def from_config(cls, config):
        # cells saved before there was the keyword read what was appended
        return cls(**{"appended_inputs": True, **config})
