"""Ray's actors share Ray itself, the model that they load, and its answers."""

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import tee
from pathlib import Path

from keras_tagging import runtime
from keras_tagging.data.raw_text import sentences_of_lines
from keras_tagging.data.sentence import Sentence
from keras_tagging.runtime.folder import is_onnx
from keras_tagging.runtime.pipeline import pipeline_of
from keras_tagging.scale.reading import Unit
from keras_tagging.utils.heap import return_large_blocks
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.startup import silenced


def imported_ray():
    """The package `ray` with `ray.data`.

    Raises:
        ImportError: if they are not installed; the message says how to.
    """
    # of Ray's own core: what concerns a user comes as an exception
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data
    except ImportError:
        raise ImportError(
            "Ray is not installed: pip install 'keras-tagging[ray]'"
        ) from None
    return ray


@contextmanager
def started(ray, address: str | None, cpus: int) -> Iterator[None]:
    """Ray, for a block; if it runs in this process already, that one.

    Args:
        ray: the package.
        address: of the cluster; None for that of the environment variable RAY_ADDRESS,
            or else one on this machine, of this block alone.
        cpus: those of the latter.

    Raises:
        OSError: if the cluster cannot be reached.
    """
    if ray.is_initialized():
        yield
        return
    options: dict = {"address": address or os.environ.get("RAY_ADDRESS")}
    if not options["address"]:
        options = {"address": "local", "num_cpus": cpus, "include_dashboard": False}
    with silenced():  # its core tells that it was told to be quiet
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield
    finally:
        ray.shutdown()


def model_name(model: str | Path) -> str:
    """The name by which an actor in another folder finds a model.

    Raises:
        ValueError: if there is no such model.
    """
    if not (path := find_model(model)).exists():
        raise ValueError(
            f"{path}: no such model; train writes model.keras in its --out"
        )
    return str(Path(model).resolve()) if Path(model).exists() else str(model)


def load_pipeline(model: str, threads: int):
    """The pipeline of a name, or that of a single model, with so many threads.

    TensorFlow has as many in the whole process, if it has not been started before.

    Raises:
        ValueError: if the model is damaged, or of another kind.
        OSError: if it cannot be read.
    """
    if is_onnx(Path(model)):
        return_large_blocks()
        return pipeline_of(runtime.load(model, threads=threads))
    import keras_tagging

    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", str(threads))
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", str(threads))
    return pipeline_of(keras_tagging.load(model))


def annotated(pipeline, units: Iterable[Unit]) -> Iterator[tuple[Unit, Sentence]]:
    """The sentences of units, annotated, each with its unit.

    Each text is segmented alone, and all sentences are tagged and parsed together.
    """
    pairs, ahead = tee(_sentences(pipeline, units))
    answers = pipeline.annotate(sentence for _, sentence in ahead)
    for (unit, _), sentence in zip(pairs, answers, strict=True):
        yield unit, sentence


def _sentences(pipeline, units: Iterable[Unit]) -> Iterator[tuple[Unit, Sentence]]:
    segmenter = pipeline.segmenter
    segment = sentences_of_lines if segmenter is None else segmenter.segment
    for unit in units:
        if unit.text is None:
            yield unit, unit.sentence
            continue
        for sentence in segment([unit.text]):
            if unit.start:
                start = unit.start + sentence.surface.start
                sentence = replace(
                    sentence, surface=replace(sentence.surface, start=start)
                )
            yield unit, sentence
