"""A worker: it loads the model once, and turns shards into files."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path

from keras_tagging.data.annotation import (
    ConlluWriter,
    as_json,
    comments_of,
    conllu_columns,
)
from keras_tagging.data.raw_text import sentences_of_lines
from keras_tagging.data.sentence import Sentence
from keras_tagging.scale.model_files import load_pipeline
from keras_tagging.scale.shards import Shard
from keras_tagging.scale.units import Unit, units_of
from keras_tagging.utils.atomic import replacing

OUTPUTS = ("conllu", "jsonl")
#: how often a shard is begun in one run: its worker may be killed, but not by the shard
TRIES = 5


@dataclass(frozen=True)
class Work:
    """The task that all workers of a run share.

    Args:
        model: as `model_files.model_name` gives it.
        sha256: the fingerprint of the model, which every machine must have.
        out: the folder of the shards, which all machines see.
        output: "conllu" or "jsonl".
        threads: of a worker.
    """

    model: str
    sha256: str
    out: str
    output: str = "conllu"
    threads: int = 1

    def path(self, shard: Shard) -> Path:
        """The file of a shard."""
        return Path(self.out) / f"part-{shard.number:06}.{self.output}"

    def tries(self, shard: Shard) -> Path:
        """A file that has a byte for each time that the shard was begun."""
        return Path(self.out) / ".tries" / f"{shard.number:06}"


class Worker:
    """Annotates shards; Ray calls it with a row for each.

    What a user can mend is given back as text: a retry would not mend it.

    Args:
        work: what it does.
        load: function from the work to the pipeline.
    """

    def __init__(self, work: Work, load: Callable | None = None):
        self.work, self.error = work, None
        try:
            self.pipeline = (load or _loaded)(work)
        except (ValueError, OSError) as error:
            self.error = str(error)

    def __call__(self, row: dict) -> dict:
        shard = Shard(**json.loads(row["shard"]))
        done = {"number": shard.number, "sentences": 0, "words": 0, "error": self.error}
        if self.error is None:
            try:
                done["sentences"], done["words"] = self.annotate(shard)
            except (ValueError, OSError) as error:
                named = any(x in str(error) for x in (shard.path, self.work.out))
                done["error"] = str(error) if named else f"{shard.place}: {error}"
        return done

    def annotate(self, shard: Shard) -> tuple[int, int]:
        """Write the file of a shard, all of it or nothing.

        Returns:
            The numbers of sentences and of words.

        Raises:
            ValueError: if the input is malformed, the output has no place for what the
                models give, or the shard has ended too many workers.
            OSError: if a file cannot be read or written.
        """
        tries = self.work.tries(shard)
        _count_try(tries, shard)
        sentences = words = 0
        with replacing(self.work.path(shard)) as partial:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                for text, length in self._written(shard):
                    file.write(text)
                    sentences += length > 0
                    words += length
                file.flush()
                os.fsync(file.fileno())
        tries.unlink(missing_ok=True)
        return sentences, words

    def _written(self, shard: Shard) -> Iterator[tuple[str, int]]:
        """The text of each sentence, and the number of its words."""
        write = (Conllu if self.work.output == "conllu" else _as_json)(self.pipeline)
        for unit, sentence in annotated(
            self.pipeline, units_of(shard), is_segmented=shard.kind == "tokens"
        ):
            yield write(unit, sentence), len(sentence)


def annotated(
    pipeline, units: Iterable[Unit], is_segmented: bool = False
) -> Iterator[tuple[Unit, Sentence]]:
    """The sentences of units, annotated, each with its unit.

    Each text is segmented alone, and all sentences are tagged and parsed together.

    Args:
        pipeline: a `Pipeline`.
        units: documents and sentences.
        is_segmented: whether texts have a sentence in each line.
    """
    segmenter = None if is_segmented else pipeline.segmenter
    segment = sentences_of_lines if segmenter is None else segmenter.segment
    pairs, ahead = tee(_sentences(units, segment))
    found = pipeline.annotate(sentence for _, sentence in ahead)
    for (unit, _), sentence in zip(pairs, found, strict=True):
        yield unit, sentence


def _sentences(units: Iterable[Unit], segment) -> Iterator[tuple[Unit, Sentence]]:
    for unit in units:
        if unit.text is None:
            yield unit, unit.sentence
            continue
        for sentence in segment(unit.text):
            if unit.start:
                surface = sentence.surface
                moved = replace(surface, start=unit.start + surface.start)
                sentence = replace(sentence, surface=moved)
            yield unit, sentence


class Conllu:
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
            own = self._columns(sentence), comments_of(sentence)
            return unit.block.with_columns(*own)
        if unit is not self._unit:
            self._unit = unit
            self._writer = ConlluWriter(unit.id, continued=unit.start > 0)
        return self._writer.write(sentence)


def _as_json(_pipeline) -> Callable[[Unit, Sentence], str]:
    def write(unit: Unit, sentence: Sentence) -> str:
        return as_json(sentence, id=unit.id)

    return write


def _count_try(path: Path, shard: Shard) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(b".")
    if path.stat().st_size > TRIES:
        raise ValueError(
            f"{shard.place}: {TRIES} workers have died in the shard that begins here: "
            "give them more memory, or make shards smaller with --shard-size"
        )


def _loaded(work: Work):
    return load_pipeline(work.model, work.threads, work.sha256)
