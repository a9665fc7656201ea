"""Datasets of Ray, annotated: rows in, the same rows with further columns out."""

from collections.abc import Iterator
from functools import partial

from keras_tagging.data.annotation import comments_of
from keras_tagging.data.sentence import Sentence
from keras_tagging.scale.actors import (
    annotated,
    imported_ray,
    load_pipeline,
    model_name,
)
from keras_tagging.scale.reading import COLUMNS, unit_of_row

#: rows that a worker annotates at once
BATCH = 1000
#: columns of sentences that tables call otherwise
NAMES = {"pos": "upos"}
SPAN = ("text", "label", "start", "end", "probability")


def annotate_dataset(
    model,
    dataset,
    *,
    workers: int | None = None,
    threads: int = 1,
    gpus: float = 0,
    batch_size: int = BATCH,
):
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
