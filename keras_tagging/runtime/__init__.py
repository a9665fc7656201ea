"""ONNX files of our models, run without TensorFlow, Keras or gensim.

``model.export("tagger.onnx", format="onnx")`` writes them; ONNX Runtime and its
extensions run them (the extra ``runtime``).
"""

import lazy_loader

# imported on first use: ONNX Runtime takes half a second
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
