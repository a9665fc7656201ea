import keras
from keras import ops

from keras_tagging.cells.initializers import reseed
from keras_tagging.layers.projected_rnn import ProjectedRNN


@keras.saving.register_keras_serializable("keras_tagging")
class BidirectionalStack(keras.layers.Layer):
    """Recurrent layers that read a sentence in both directions.

    With `merge="layer"` every layer reads both directions of the layer below,
    concatenated (Kadari et al. 2018, section 2.2, :cite:`kadari2018`). With
    `merge="top"` the two directions are separate stacks whose last outputs are
    concatenated (Wu et al. 2016, Eq. 9, :cite:`wu2016`).

    Args:
        cell: the cell of every layer and direction. It is copied: each copy has
            weights of its own, and initializers with a seed are given further seeds.
        num_layers: int. Recurrent layers in each direction.
        merge: `"top"` or `"layer"`.
        dropout: fraction of the outputs dropped in training: one float for all
            layers, or one for each.
        seed: int. Seed of the dropout masks; by default Keras' global seed.

    Call arguments:
        inputs: `(batch, time, features)`.
        mask: `(batch, time)`, False at padding.

    Returns:
        `(batch, time, 2 * output_size)`, forward direction first, 0 at padding.

    Raises:
        ValueError: if `merge` is neither of the two, or `dropout` has not
            `num_layers` entries.
    """

    def __init__(
        self, cell, num_layers=2, merge="top", dropout=0.0, seed=None, **kwargs
    ):
        if merge not in ("top", "layer"):
            raise ValueError(f'merge is "top" or "layer", not {merge!r}')
        rates = dropout
        if not isinstance(rates, (list, tuple)):
            rates = [dropout] * num_layers
        if len(rates) != num_layers:
            raise ValueError(f"{len(rates)} dropout rates for {num_layers} layers")
        super().__init__(**kwargs)
        self.supports_masking = True
        self.num_layers = num_layers
        self.merge = merge
        self.dropout = dropout
        self.seed = seed
        # Only its configuration is kept: the prototype itself is never built.
        self.cell_config = keras.saving.serialize_keras_object(cell)
        self.forward_layers = []
        self.backward_layers = []
        self.dropout_layers = []
        for index, rate in enumerate(rates):
            for direction, layers in enumerate(
                (self.forward_layers, self.backward_layers)
            ):
                layers.append(
                    ProjectedRNN(
                        copy_cell(cell, 2 * index + direction),
                        return_sequences=True,
                        go_backwards=bool(direction),
                        zero_output_for_mask=True,
                        name=f"{('forward', 'backward')[direction]}_{index + 1}",
                    )
                )
            self.dropout_layers.append(
                keras.layers.Dropout(
                    rate,
                    seed=None if seed is None else seed + index,
                    dtype=self.dtype_policy,
                    name=f"dropout_{index + 1}",
                )
            )

    def build(self, input_shape):
        for forward, backward in zip(
            self.forward_layers, self.backward_layers, strict=True
        ):
            forward.build(input_shape)
            backward.build(input_shape)
            width = forward.cell.output_size
            if self.merge == "layer":
                width *= 2
            input_shape = (*input_shape[:-1], width)

    def call(self, inputs, mask=None, training=False):
        ltr = rtl = inputs
        for forward, backward, dropout in zip(
            self.forward_layers, self.backward_layers, self.dropout_layers, strict=True
        ):
            ltr = forward(ltr, mask=mask, training=training)
            # The backward loop starts at the padding, whose steps the mask skips.
            rtl = ops.flip(backward(rtl, mask=mask, training=training), axis=1)
            outputs = dropout(ops.concatenate([ltr, rtl], axis=-1), training=training)
            if self.merge == "layer":
                ltr = rtl = outputs
            else:
                ltr, rtl = ops.split(outputs, 2, axis=-1)
        return outputs

    def compute_mask(self, inputs, mask=None):
        return mask

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2 * self.forward_layers[-1].cell.output_size)

    def get_config(self):
        return {
            **super().get_config(),
            "cell": self.cell_config,
            "num_layers": self.num_layers,
            "merge": self.merge,
            "dropout": self.dropout,
            "seed": self.seed,
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})


def copy_cell(cell, index):
    """An unbuilt copy of a cell, its seeds (if it has any) moved on by `index`.

    It is made without `deserialize_keras_object`, which inside `load_model` returns
    one shared cell for equal configurations.
    """
    # Gates take consecutive seeds, hence the stride.
    return type(cell).from_config(reseed(cell.get_config(), 100 * index))
