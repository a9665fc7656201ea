"""ONNX files of taggers and parsers as a service over HTTP.

`keras-tagging serve` starts it (the extra ``serve``). One process speaks HTTP and
collects requests into batches; others, the workers, run the files. None imports
TensorFlow or Keras.
"""
