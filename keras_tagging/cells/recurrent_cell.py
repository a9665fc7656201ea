from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Named, Stepped, Tensor, config_of
from keras_tagging.cells.initializers import per_gate, reseeded
from keras_tagging.cells.regularized_layer import RegularizedLayer

# Keras draws the masks of such cells once for all steps. It exports no name for the
# class, only cells that are of it.
DropoutRNNCell = next(
    base for base in keras.layers.LSTMCell.__mro__ if base.__name__ == "DropoutRNNCell"
)

MAPPINGS = {"identity": "linear", "sigmoid": "sigmoid", "tanh": "tanh"}


class RecurrentCell(DropoutRNNCell, RegularizedLayer):
    """Base of the cells: options, weights, and `call` as `project` then `step`.

    A cell states its equations in three methods:

    * `project(inputs, training)`: all that does not depend on the state, for any
      leading shape, so that it can run over a whole sequence at once;
    * `recurrent_weights()`: the matrices the step multiplies with. The first one
      multiplies `states[0]`, and the product is added to the leading columns of what
      `project` returns: `ProjectedRNN` relies on that;
    * `step(projected, states, weights, mask)`: the recurrent part of one time step. It
      multiplies :math:`h_{t-1}` by the mask, if there is one, where a matrix reads it.

    `step` and `call` take the states as a list; a cell with one state also takes the
    bare tensor, as Keras' own cells do. They always return a list.

    Attributes:
        gates: names of the gates, in the order of the blocks of `kernel`.
        reads: what stands after the layer input in `inputs`; nothing, unless the cell
            is a `LayeredCell`.

    Args:
        units: int. Size of :math:`h_t`.
        activation: activation of the candidate and of the cell.
        recurrent_activation: activation of the gates.
        use_bias: whether there are biases.
        kernel_initializer: initializer of the matrices that read other layers.
        recurrent_initializer: initializer of each square block that reads
            :math:`h_{t-1}`.
        bias_initializer: initializer of the biases.
        dropout: fraction of the layer's input dropped in training, the same features
            at all steps of a sequence; never what a stack appends to it.
        recurrent_dropout: fraction of :math:`h_{t-1}` dropped in training where a
            matrix reads it, the same units at all steps and for all gates. What is
            carried on without a matrix, as in a GRU, is not dropped.
        seed: int, of what the cell draws; by default Keras' global seed.
        **kwargs: the regularizers and constraints of
            :class:`keras_tagging.cells.RegularizedLayer`, `name`, `dtype`,
            `trainable`.
    """

    gates = ()
    reads = ()
    gate_recurrent_kernel = None  # of a gate that reads h_tm1 and is not in `gates`

    def __init__(
        self,
        units: int,
        activation: Named = "tanh",
        recurrent_activation: Named = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Named = "glorot_uniform",
        recurrent_initializer: Named = "orthogonal",
        bias_initializer: Named = "zeros",
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.dropout = dropout
        self.recurrent_dropout = recurrent_dropout
        self.seed = seed
        draws = dropout or recurrent_dropout
        self.seed_generator = keras.random.SeedGenerator(seed) if draws else None

    @property
    def state_sizes(self) -> list[int]:
        """The sizes of the states as a list, where `state_size` may be one number."""
        size = self.state_size
        return list(size) if isinstance(size, (list, tuple)) else [size]

    # Weights

    def add_kernel(self, name: str, features: int, num_gates: int = 1) -> Tensor:
        """A matrix that reads another layer: `(features, num_gates * units)`."""
        shape = (features, num_gates * self.units)
        draw = self._draw(self.kernel_initializer)
        return self.add_regularized("kernel", name, shape, draw)

    def add_recurrent_kernel(self, name: str, num_gates: int = 1) -> Tensor:
        """A matrix that reads h_tm1, each gate's block drawn on its own."""
        shape = (self.units, num_gates * self.units)
        draw = per_gate(self._draw(self.recurrent_initializer), num_gates)
        return self.add_regularized("recurrent", name, shape, draw)

    def add_vector(self, name: str) -> Tensor:
        """Weights `(units,)` of an element-wise product: each unit reads one input."""
        draw = self._draw(self.kernel_initializer)

        def initialize(shape, dtype=None):
            return draw((1, *shape), dtype=dtype)[0]

        return self.add_regularized("kernel", name, (self.units,), initialize)

    def add_bias(self, name="bias", gates=("",), start=None):
        """Biases `(len(gates) * units,)`, or None without `use_bias`.

        Args:
            gates: names of the blocks.
            start: by gate, its initial bias; 0 leaves that of the initializer.
        """
        if not self.use_bias:
            return None
        start = start or {}
        draw = self._draw(self.bias_initializer)

        def initialize(shape, dtype=None):
            bias = draw(shape, dtype=dtype)
            values = [start.get(gate, 0.0) for gate in gates]
            values = ops.cast(ops.repeat(values, self.units), dtype)
            return ops.where(ops.equal(values, 0), bias, values)

        shape = (len(gates) * self.units,)
        return self.add_regularized("bias", name, shape, initialize)

    def _draw(self, initializer):
        # every weight of the cell takes seeds of its own, a block for its gates
        return reseeded(initializer, 10 * len(self.weights))

    # Computation

    def project(self, inputs: Tensor, training: bool = False) -> Tensor:
        """The input products and biases of all gates; a cell may have more.

        Args:
            inputs: `(..., features)`.

        Returns:
            `(..., G * units)`, in order of `gates`.
        """
        return self.affine(inputs, self.kernel, self.bias)

    def affine(self, inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
        """`inputs @ kernel + bias`; a bias of None adds nothing."""
        outputs = ops.matmul(inputs, kernel)
        return outputs if bias is None else outputs + bias

    def listed(self, states: Tensor) -> list[Tensor]:
        """The states as a list, each `(batch, size)`."""
        return list(states) if isinstance(states, (list, tuple)) else [states]

    def recurrent_weights(self) -> list[Tensor]:
        """The one matrix that `step` multiplies h_tm1 with."""
        if self.gate_recurrent_kernel is None:
            return [self.recurrent_kernel]
        parts = [self.recurrent_kernel, self.gate_recurrent_kernel]
        return [ops.concatenate(parts, axis=1)]

    def drop(self, inputs, states, training):
        """Dropout of the inputs and of h_tm1, with the masks of this sequence.

        `keras.layers.RNN` has them drawn before its loop. Who calls a cell without it
        gets the same masks until `reset_dropout_mask` and
        `reset_recurrent_dropout_mask`, as with the cells of Keras.

        Args:
            inputs: `(batch, features)`, or `(batch, time, features)`.
            states: as in `call`.
            training: whether anything is dropped.

        Returns:
            The inputs, and the keyword `mask` for `step`, if it needs one.
        """
        if training and self.dropout:
            steps = len(inputs.shape) == 3
            mask = self.get_dropout_mask(inputs[:, 0] if steps else inputs)
            if appended := len(self.reads) * self.units:
                kept = ops.ones_like(mask[:, -appended:])
                mask = ops.concatenate([mask[:, :-appended], kept], axis=-1)
            inputs = inputs * (ops.expand_dims(mask, 1) if steps else mask)
        if training and self.recurrent_dropout:
            h_tm1 = self.listed(states)[0]
            return inputs, {"mask": self.get_recurrent_dropout_mask(h_tm1)}
        return inputs, {}

    def recur(self, h_tm1, matrix, mask=None):
        """`h_tm1 @ matrix`, with `h_tm1` dropped by the mask of `drop`."""
        return ops.matmul(h_tm1 if mask is None else h_tm1 * mask, matrix)

    def call(self, inputs: Tensor, states: Tensor, training: bool = False) -> Stepped:
        inputs, options = self.drop(inputs, states, training)
        return self.step(self.project(inputs, training=training), states, **options)

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        return [
            ops.zeros((batch_size, size), dtype=self.compute_dtype)
            for size in self.state_sizes
        ]

    # Configuration

    def for_layer(self, layer: int):
        """The configuration of this cell in a stack's layer number `layer`, from 1."""
        return self.get_config()

    def get_config(self):
        names = ("units", "activation", "recurrent_activation", "use_bias")
        names += ("kernel_initializer", "recurrent_initializer", "bias_initializer")
        names += ("dropout", "recurrent_dropout", "seed")
        return {**super().get_config(), **config_of(self, *names)}
