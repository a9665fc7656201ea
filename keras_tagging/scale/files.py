"""Files annotated on Ray Data, each into a file of its own."""

import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from keras_tagging.data.annotation import (
    ConlluWriter,
    as_json,
    comments_of,
    conllu_columns,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.scale.dataset import (
    annotated,
    imported_ray,
    load_pipeline,
    model_name,
    started,
)
from keras_tagging.scale.reading import Unit, read_units
from keras_tagging.utils.atomic import replacing

#: bytes of units that an actor gets at once
BLOCK = 1_000_000
#: units that are read before they go on
UNITS = 100


def annotate_files(
    model,
    files: Mapping[Path, Path],
    kinds: Sequence[str],
    *,
    output: str = "conllu",
    encoding: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    address: str | None = None,
) -> Iterator[tuple[int, int]]:
    """Annotate files, each into a file of its own, which appears when it is whole.

    What is done stays if the run is killed. A worker that dies is replaced.

    Args:
        model: a path, or the name of an installed model.
        files: paths, and the files to write.
        kinds: those of the paths, see `reading.read_units`.
        output: "conllu" or "jsonl".
        encoding: of the files; by default UTF-8.
        workers: processes that annotate; None for as many as there are CPUs for.
        threads: CPUs of each.
        address: of a Ray cluster; None for that of the environment variable
            RAY_ADDRESS, or else one on this machine, of this run alone.

    Yields:
        For each file that is written the numbers of its sentences and words.

    Raises:
        ValueError: if an input is malformed; the message has its place.
        ImportError: if Ray is not installed.
        OSError: if the cluster cannot be reached, or a file not be read or written.
    """
    ray, name = imported_ray(), model_name(model)
    with started(ray, address, max(os.cpu_count() or 1, (workers or 1) * threads)):
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        context.target_max_block_size = BLOCK
        rows = [
            {"file": number, "path": str(path.absolute()), "kind": kind}
            for number, (path, kind) in enumerate(zip(files, kinds, strict=True))
        ]
        pool = {"min_size": 1} if workers is None else {"size": workers}
        pieces = (
            ray.data.from_items(rows, override_num_blocks=len(rows))
            .map_batches(_read, fn_kwargs={"encoding": encoding}, batch_size=1)
            .map_batches(
                FileAnnotator,
                fn_constructor_args=(name, threads, output),
                batch_size=None,
                compute=ray.data.ActorPoolStrategy(**pool),
                num_cpus=threads,
            )
        )
        by_file = groupby(pieces.iter_rows(), itemgetter("file"))
        for (path, target), (_, rows) in zip(files.items(), by_file, strict=True):
            yield _write(path, target, rows)


def _write(path: Path, target: Path, pieces: Iterator[Mapping]) -> tuple[int, int]:
    sentences = words = 0
    with replacing(target) as partial:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            for piece in pieces:
                if error := piece["error"]:
                    named = str(path) in error
                    raise ValueError(error if named else f"{path}: {error}")
                file.write(piece["text"])
                sentences += int(piece["sentences"])
                words += int(piece["words"])
    return sentences, words


def _read(batch: dict, encoding: str | None) -> Iterator[dict]:
    """The units of a file in batches, which Ray keeps as bytes.

    The first one is empty, so that an empty file has one too. An error that a user can
    mend is told in the place of a unit: Ray would try again.
    """
    [number], [path], [kind] = batch["file"], batch["path"], batch["kind"]

    def batch_of(units: list[Unit], error: str = "") -> dict:
        content = pickle.dumps(units)
        return {"file": [number], "units": [content], "error": [error]}

    yield batch_of([])
    units: list[Unit] = []
    try:
        for unit in read_units(Path(path), str(kind), encoding):
            units.append(unit)
            if len(units) == UNITS or unit.text is not None:
                yield batch_of(units)
                units = []
    except (ValueError, OSError) as error:
        yield batch_of(units, str(error))
    else:
        yield batch_of(units)


class FileAnnotator:
    """The function from units to the text that is written of them.

    Args:
        model: as `model_name` gives it.
        threads: of this process.
        output: "conllu" or "jsonl".
    """

    def __init__(self, model: str, threads: int, output: str):
        self.failure = None
        try:
            self.pipeline = load_pipeline(model, threads)
            self.write = ConlluText(self.pipeline) if output == "conllu" else _as_json
        except (ValueError, OSError, ImportError) as error:
            self.failure = error

    def __call__(self, batch: dict) -> Iterator[dict]:
        rows = zip(batch["file"], batch["units"], batch["error"], strict=True)
        for number, of_file in groupby(rows, itemgetter(0)):
            parts = list(of_file)
            # made by `_read` in this job, never read from a file
            units = [unit for _, part, _ in parts for unit in pickle.loads(part)]
            texts, lengths, error = [], [], "".join(error for *_, error in parts)
            try:
                if self.failure is not None:
                    raise self.failure
                for unit, sentence in annotated(self.pipeline, units):
                    texts.append(self.write(unit, sentence))
                    lengths.append(len(sentence))
            except (ValueError, OSError, ImportError) as failure:
                error = str(failure)
            made = {"file": [number], "text": ["".join(texts)], "error": [error]}
            counts = {"sentences": [np.count_nonzero(lengths)], "words": [sum(lengths)]}
            yield made | counts


class ConlluText:
    """The function from a unit and one of its sentences to CoNLL-U.

    Of a sentence that was CoNLL-U before, only the columns of the models change.

    Args:
        pipeline: whose columns they are.
    """

    def __init__(self, pipeline):
        self._names = pipeline.columns
        self._columns = self._unit = self._writer = None

    def __call__(self, unit: Unit, sentence: Sentence) -> str:
        if unit.block is not None:
            self._columns = self._columns or conllu_columns(self._names)
            return unit.block.with_columns(
                self._columns(sentence), comments_of(sentence)
            )
        if unit is not self._unit:
            # a unit that goes on with the document goes on with its writer
            if not unit.start or self._unit is None or unit.id != self._unit.id:
                self._writer = ConlluWriter(unit.id, continued=unit.start > 0)
            self._unit = unit
        return self._writer.write(sentence)


def _as_json(unit: Unit, sentence: Sentence) -> str:
    return as_json(sentence, id=unit.id)
