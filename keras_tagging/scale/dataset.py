"""Datasets of Ray, annotated: rows in, the same rows with further columns out."""

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

from keras_tagging import runtime
from keras_tagging.data.annotation import comments_of
from keras_tagging.data.raw_text import sentences_of_lines
from keras_tagging.data.sentence import Sentence
from keras_tagging.runtime.folder import is_onnx
from keras_tagging.runtime.pipeline import pipeline_of
from keras_tagging.scale.reading import COLUMNS, Unit, unit_of_row
from keras_tagging.utils.heap import return_large_blocks
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.startup import require, silenced

if TYPE_CHECKING:
    import ray.data

#: rows that a worker annotates at once
BATCH = 1000
#: columns of sentences that tables call otherwise
NAMES = {"pos": "upos"}
SPAN = ("text", "label", "start", "end", "probability")


def annotate_dataset(
    model: str | Path,
    dataset: "ray.data.Dataset",
    *,
    workers: int | None = None,
    threads: int = 1,
    gpus: float = 0,
    batch_size: int = BATCH,
) -> "ray.data.Dataset":
    """Annotate a dataset of Ray with a model that each worker loads.

    A row has `tokens`, the words of a sentence, or else `text`, which may have many
    sentences. It gets the columns of the models: `upos`, `xpos`, `feats`, `lemma`,
    `head`, `deprel`, or `tags` for tags without a column. Each is a list with a value
    for each word; of a text, a list of such lists, one for each sentence, together with
    `tokens`, its words, and `offsets`, for each word the begin and the end of its token
    in the text. A tagger with chunk tags gives `spans`, and a CCG parser `derivation`,
    a line of an `.auto` file for each sentence. The other columns, such as an `id`,
    stay as they are, and a column of the same name as a new one is replaced.

    Nothing is computed before the result is used, and no more rows are held than a
    batch for each worker::

        rows = ray.data.read_parquet("reviews/")
        keras_tagging.annotate_dataset("en", rows).write_parquet("annotated/")

    Args:
        model: the folder or file of a model, or the name of an installed one. Every
            machine must have it in the same place.
        dataset: a `ray.data.Dataset`.
        workers: processes; None for as many as the cluster has room for.
        threads: CPUs of each.
        gpus: of each, or a share of one.
        batch_size: rows that a worker annotates at once.

    Returns:
        A `ray.data.Dataset` with as many rows.

    Raises:
        ValueError: if there is no such model, or here or later, if a row has neither
            text nor tokens, or a value beyond a limit.
        ImportError: if Ray is not installed.
    """
    ray = imported_ray()
    pool = {"min_size": 1} if workers is None else {"size": workers}
    return dataset.map_batches(
        Annotator,
        fn_constructor_args=(model_name(model), threads),
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(**pool),
        num_cpus=threads,
        num_gpus=gpus or None,
        udf_modifying_row_count=False,
    )


class Annotator:
    """The function from a table to the same table with further columns.

    Args:
        model: as `model_name` gives it.
        threads: of this process.

    Raises:
        ValueError: if the model is damaged.
    """

    def __init__(self, model: str, threads: int = 1):
        self.pipeline = load_pipeline(model, threads)

    def __call__(self, table):
        units = [
            unit_of_row(row, str(number), f"row {number} of a batch")
            for number, row in enumerate(_rows(table), 1)
        ]
        answers = {id(unit): [] for unit in units}
        for unit, sentence in annotated(self.pipeline, units):
            answers[id(unit)].append(sentence)
        is_text = "tokens" not in table.column_names
        for name, values, kind in self._columns([*answers.values()], is_text):
            table = _with_column(table, name, values, kind)
        return table

    def _columns(self, answers: list[list[Sentence]], is_text: bool):
        """The name, the values and the type of each new column."""
        import pyarrow as pa

        def column(values, kind, empty):
            """A value for each sentence; of a row that is one, that alone."""
            rows = [[values(s) for s in sentences] for sentences in answers]
            if is_text:
                return rows, pa.list_(kind)
            return [row[0] if row else empty for row in rows], kind

        if is_text:
            yield "tokens", *column(lambda s: list(s.tokens), pa.list_(pa.string()), [])
            kind = pa.list_(pa.list_(pa.int64()))
            yield "offsets", *column(lambda s: s.surface.word_offsets, kind, [])
        for name in self.pipeline.columns:
            kind = pa.list_(pa.int32() if name == "head" else pa.string())
            values = partial(_values, name=name)
            yield NAMES.get(name, name), *column(values, kind, [])
        if self.pipeline.gives_derivations:
            lines = column(lambda s: comments_of(s).get("auto"), pa.string(), None)
            yield "derivation", *lines
        if self.pipeline.gives_spans:
            texts, whole, share = pa.string(), pa.int64(), pa.float32()
            kinds = dict(zip(SPAN, (texts, texts, whole, whole, share), strict=True))
            spans = [
                [{k: getattr(span, k) for k in SPAN} for s in row for span in s.spans]
                for row in answers
            ]
            yield "spans", spans, pa.list_(pa.struct(kinds))


def _rows(table) -> Iterator[dict]:
    """The rows, with the columns that are read; no tokens are an empty sentence."""
    names = [name for name in COLUMNS if name in table.column_names and name != "id"]
    for row in table.select(names).to_pylist():
        yield {**row, "tokens": row["tokens"] or []} if "tokens" in row else row


def _values(sentence: Sentence, name: str) -> list:
    if name == "tags":
        return sentence.tags if sentence.tags is not None else []
    values = sentence.columns.get(name, [])
    return list(map(int, values)) if name == "head" else values


def _with_column(table, name: str, values: list, kind):
    import pyarrow as pa

    array = pa.array(values, kind)
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, array)
    return table.append_column(name, array)


# Ray itself, and the model that its actors load


def imported_ray():
    """The package `ray` with `ray.data`.

    Raises:
        ImportError: if they are not installed; the message says how to.
    """
    # of Ray's own core: what concerns a user comes as an exception
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    require("ray", "ray")
    import ray
    import ray.data

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
