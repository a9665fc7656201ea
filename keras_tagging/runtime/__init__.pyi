# See `keras_tagging/__init__.pyi`.

from .models import OnnxParser as OnnxParser
from .models import OnnxTagger as OnnxTagger
from .onnx_file import load as load
from .pipeline import TextPipeline as TextPipeline
from .segmenter import OnnxSegmenter as OnnxSegmenter
