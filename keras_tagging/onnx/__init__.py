"""A tagger or parser as one ONNX file: strings in, tags or trees out."""


class NoRecurrentLayer(ValueError):
    """There is nothing to compute in 8 bits."""
