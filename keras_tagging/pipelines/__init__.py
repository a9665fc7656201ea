"""Models that annotate text one after the other: plan, training, files, figures."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "any_model": ["load"],
        "pipeline": ["Pipeline"],
        "plan": ["PipelinePlan"],
        "training": ["train_pipeline"],
    },
    light=["any_model", "pipeline", "plan"],
)
