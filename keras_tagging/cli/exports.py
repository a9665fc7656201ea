"""The command that writes models for others to run: export."""

from pathlib import Path
from typing import Annotated

import typer

from keras_tagging import kinds
from keras_tagging.cli.loading import load_model, set_beam
from keras_tagging.cli.messages import remark, show
from keras_tagging.cli.options import BeamWidth, Run, refuse


def export(
    run: Run,
    out: Annotated[Path, typer.Argument()],
    top_k: int | None = None,
    int8: bool = False,
    onnx: bool = False,
    beam_width: BeamWidth = None,
) -> None:
    """Write a SavedModel, or ONNX: strings in, tags and probabilities, or trees, out.

    A name that ends in .onnx is a file for ONNX Runtime, any other one a folder for
    TensorFlow. A pipeline is written into a folder, one SavedModel for each of its
    models, or with --onnx one file, which annotate and serve read. ONNX needs the extra
    onnx: pip install 'keras-tagging[onnx]'.

    Examples:
        keras-tagging export runs/demo served/
        keras-tagging export runs/demo tagger.onnx
        keras-tagging export runs/demo small.onnx --int8
        keras-tagging export en served/ --onnx

    Args:
        out: Folder for the SavedModel, or, with --onnx, for the ONNX files of a
            pipeline; or a file NAME.onnx.
        top_k: For taggers, the number of tags to give for each token; 5 by default.
        int8: For ONNX, integers of 8 bits in recurrent layers: smaller, faster, and a
            few other tags.
        onnx: Of a pipeline, ONNX files, not SavedModels.
    """
    if int8 and out.suffix != ".onnx" and not onnx:
        raise ValueError(f"--int8 is of ONNX files: name {out}.onnx, or give --onnx")
    options = {} if top_k is None else {"top_k": top_k}
    if int8:
        options["int8"] = True
    model = load_model(run, pipeline=True)
    kind = kinds.of(model)
    if kind.composed:
        refuse(f"{run} holds a pipeline, which has no", {"beam_width": beam_width})
        if out.suffix == ".onnx":
            raise ValueError(f"{out}: a pipeline has several files: name a folder")
        form = "onnx" if onnx else "tf_saved_model"
        left_out = model.export(out, format=form, **options)
        for name, reason in left_out.items():
            remark(f"the {name} is left out: {reason}")
        written = ", ".join(name for name in model.parts if name not in left_out)
        show(f"Written to {out}: {written}")
        return
    no_pipeline = f"{run} is no pipeline: name a file NAME.onnx, as there is no"
    refuse(no_pipeline, {"onnx": onnx})
    set_beam(run, model, beam_width)
    if "top_k" not in kind.options:
        refuse(f"{run} holds a {kind}, which has no", {"top_k": top_k})
    if out.suffix != ".onnx":
        model.export(out, format="tf_saved_model", **options)
        show(f"Written to {out}: serve it with TensorFlow")
        return
    model.export(out, format="onnx", **options)
    show(f"Written to {out}: for keras-tagging {kind.command} and ONNX Runtime")
