import keras
from keras import ops

from keras_tagging.cells.initializers import per_gate, reseeded

MAPPINGS = {"identity": "linear", "sigmoid": "sigmoid", "tanh": "tanh"}


class RecurrentCell(keras.layers.Layer):
    """What the cells share: options, weights, and `call` as `project` then `step`.

    A cell states its equations in three methods:

    * `project(inputs, training)`: all that does not depend on the state, for any
      leading shape, so that it can run over a whole sequence at once;
    * `recurrent_weights()`: the matrices the step multiplies with. The first one
      multiplies `states[0]`, and the product is added to the leading columns of what
      `project` returns: `ProjectedRNN` relies on that;
    * `step(projected, states, weights)`: the recurrent part of one time step.

    Attributes:
        gates: names of the gates, in the order of the blocks of `kernel`.
        reads: what stands after the layer input in `inputs`, each `units` wide:
            "skip" (:math:`h_t^{l-2}`), "below_cell" (:math:`c_t^{l-1}`), "skip_cell"
            (:math:`c_t^{l-2}`). `BidirectionalStack` provides them.

    Args:
        units: int. Size of :math:`h_t`.
        activation: activation of the candidate and of the cell.
        recurrent_activation: activation of the gates.
        use_bias: whether there are biases.
        kernel_initializer: initializer of the matrices that read other layers.
        recurrent_initializer: initializer of each square block that reads
            :math:`h_{t-1}`.
        bias_initializer: initializer of the biases.
    """

    gates = ()
    reads = ()
    gate_recurrent_kernel = None  # of a gate that reads h_tm1 and is not in `gates`

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        **kwargs,
    ):
        if not isinstance(units, int) or units < 1:
            raise ValueError(f"units={units!r}: a positive whole number is meant")
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    # Weights

    def add_kernel(self, name, features, num_gates=1):
        """A matrix that reads another layer: `(features, num_gates * units)`."""
        return self.add_weight(
            shape=(features, num_gates * self.units),
            initializer=self._draw(self.kernel_initializer),
            name=name,
        )

    def add_recurrent_kernel(self, name, num_gates=1):
        """A matrix that reads h_tm1, each gate's block drawn on its own."""
        return self.add_weight(
            shape=(self.units, num_gates * self.units),
            initializer=per_gate(self._draw(self.recurrent_initializer), num_gates),
            name=name,
        )

    def add_vector(self, name):
        """Weights `(units,)` of an element-wise product: each unit reads one input."""
        draw = self._draw(self.kernel_initializer)
        return self.add_weight(
            shape=(self.units,),
            initializer=lambda shape, dtype=None: draw((1, *shape), dtype=dtype)[0],
            name=name,
        )

    def add_bias(self, name="bias", gates=("",), start=None):
        """Biases `(len(gates) * units,)`, or None without `use_bias`.

        Args:
            gates: names of the blocks.
            start: by gate, what is added to its initial bias.
        """
        if not self.use_bias:
            return None
        start = start or {}
        draw = self._draw(self.bias_initializer)

        def initialize(shape, dtype=None):
            bias = draw(shape, dtype=dtype)
            offsets = [start.get(gate, 0.0) for gate in gates]
            return bias + ops.cast(ops.repeat(offsets, self.units), dtype)

        size = len(gates) * self.units
        return self.add_weight(shape=(size,), initializer=initialize, name=name)

    def _draw(self, initializer):
        # every weight of the cell takes seeds of its own, a block for its gates
        return reseeded(initializer, 10 * len(self.weights))

    def layer_features(self, input_shape):
        """Features of the layer input, without what `reads` names.

        Raises:
            ValueError: if none are left.
        """
        features = input_shape[-1] - len(self.reads) * self.units
        if features < 1:
            raise ValueError(
                f"{type(self).__name__} reads the layer input and then "
                f"{' and '.join(self.reads)} of units={self.units}, concatenated: "
                f"{input_shape[-1]} features are too few"
            )
        return features

    # Computation

    def split_inputs(self, inputs):
        """The layer input, then what `reads` names; `inputs` `(..., features)`."""
        width = inputs.shape[-1] - len(self.reads) * self.units
        ends = [width + i * self.units for i in range(len(self.reads))]
        return ops.split(inputs, ends, axis=-1) if ends else [inputs]

    def affine(self, inputs, kernel, bias):
        """`inputs @ kernel + bias`; a bias of None adds nothing."""
        outputs = ops.matmul(inputs, kernel)
        return outputs if bias is None else outputs + bias

    def vertical_gate(self, x, k, kernel, skip_kernel, bias):
        """sigma(U h^{l-1} + V h^{l-2} + b); W17 Eq. 6."""
        z = self.affine(x, kernel, bias) + ops.matmul(k, skip_kernel)
        return self.recurrent_activation(z)

    def recurrent_weights(self):
        """The one matrix that `step` multiplies h_tm1 with."""
        if self.gate_recurrent_kernel is None:
            return [self.recurrent_kernel]
        parts = [self.recurrent_kernel, self.gate_recurrent_kernel]
        return [ops.concatenate(parts, axis=1)]

    def call(self, inputs, states, training=False):
        return self.step(self.project(inputs, training=training), states)

    def get_initial_state(self, batch_size=None):
        sizes = self.state_size
        sizes = sizes if isinstance(sizes, list) else [sizes]
        return [ops.zeros((batch_size, n), dtype=self.compute_dtype) for n in sizes]

    # Configuration

    def for_layer(self, layer):
        """The configuration of this cell in a stack's layer number `layer`, from 1."""
        return self.get_config()

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "recurrent_activation": keras.activations.serialize(
                self.recurrent_activation
            ),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(
                self.recurrent_initializer
            ),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
        }
