from typing import Any

import keras

from keras_tagging.cells.configuration import Named, config_of

KINDS = ("kernel", "recurrent", "bias")


class RegularizedLayer(keras.layers.Layer):
    """A layer with Keras' regularizers and constraints for its three kinds of weights.

    Args:
        kernel_regularizer, kernel_constraint: of the weights that read an input.
        recurrent_regularizer, recurrent_constraint: of the matrices that read the
            layer's own output at other positions.
        bias_regularizer, bias_constraint: of the biases.
    """

    def __init__(
        self,
        *,
        kernel_regularizer: Named = None,
        recurrent_regularizer: Named = None,
        bias_regularizer: Named = None,
        kernel_constraint: Named = None,
        recurrent_constraint: Named = None,
        bias_constraint: Named = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = keras.regularizers.get(recurrent_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.recurrent_constraint = keras.constraints.get(recurrent_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)

    def add_regularized(self, kind, name, shape, initializer):
        """A weight with the regularizer and the constraint of its kind.

        Args:
            kind: "kernel", "recurrent" or "bias".
            name, shape, initializer: those of `add_weight`.
        """
        return self.add_weight(
            shape=shape,
            initializer=initializer,
            name=name,
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def get_config(self):
        options = ("regularizer", "constraint")
        names = [f"{kind}_{option}" for option in options for kind in KINDS]
        return {**super().get_config(), **config_of(self, *names)}
