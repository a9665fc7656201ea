"""A tagger or parser as one ONNX file: strings in, tags or trees out."""
