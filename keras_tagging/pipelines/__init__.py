"""Models that annotate text one after the other: plan, training, files, figures."""

import lazy_loader

# imported on first use: Keras and TensorFlow take seconds
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "loading": ["load"],
        "pipeline": ["Pipeline"],
        "plan": ["PipelinePlan"],
        "training": ["train_pipeline"],
    },
)
