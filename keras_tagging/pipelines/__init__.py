"""Models that annotate text one after the other: plan, training, files, figures."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(
    __name__, __file__, light=["Pipeline", "PipelinePlan", "load"]
)
