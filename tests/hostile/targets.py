"""Every target by its name."""

from hostile import (
    file_targets,
    folder_targets,
    model_targets,
    onnx_targets,
    run_targets,
    text_targets,
    vector_targets,
)

TARGETS = {
    **text_targets.TARGETS,
    **file_targets.TARGETS,
    **vector_targets.TARGETS,
    **onnx_targets.TARGETS,  # before TensorFlow is loaded
    **model_targets.TARGETS,
    **run_targets.TARGETS,
    **folder_targets.TARGETS,
}
