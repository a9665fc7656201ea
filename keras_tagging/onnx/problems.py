"""Errors of an export. Neither Keras nor onnx here."""


class NoRecurrentLayer(ValueError):
    """There is nothing to compute in 8 bits."""
