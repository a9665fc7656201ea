# See `keras_tagging/__init__.pyi`.

from .any_model import load as load
from .backbone import Backbone as Backbone
from .backbone import backbone as backbone
from .pipeline import Pipeline as Pipeline
from .plan import PipelinePlan as PipelinePlan
from .training import train_pipeline as train_pipeline
