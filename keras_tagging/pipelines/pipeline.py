"""A pipeline that can be saved, exported and evaluated.

Of its folder see `runtime.folder`.

Keras is imported for its own models alone: those that are ONNX files need none.

`training.json` says what is trained. While that is to replace a finished pipeline, it
names that one by its checksum: the pipeline and the folders of its parts stay until the
new one is saved, and the same command continues a killed training.
"""

import json
import os
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal, overload

from keras_tagging import kinds
from keras_tagging.data.sentence import Sentence
from keras_tagging.metrics.chunks import ChunkCounts
from keras_tagging.models.files.run_folder import TRAINING
from keras_tagging.onnx import NoRecurrentLayer
from keras_tagging.pipelines.figures import pipeline_scores
from keras_tagging.pipelines.words import write_words
from keras_tagging.runtime.folder import (
    PIPELINE,
    SUFFIXES,
    content_of,
    is_onnx,
    list_of,
    read_pipeline,
    strangers,
)
from keras_tagging.runtime.pipeline import TextPipeline, stages
from keras_tagging.utils.atomic import remove_partial, replacing_files, write_text
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.startup import require, start_keras
from keras_tagging.utils.stored import read_object, sha256_of

FORMATS = {"tf_saved_model": "", "onnx": SUFFIXES["onnx"]}
REMEDY = "choose another folder, or remove it"
#: the key of `training.json` with the checksum of the pipeline that is to be replaced
REPLACES = "replaces"
#: what the name of a part's folder ends in, as long as its pipeline replaces another
NEW = ".new"


class Pipeline(TextPipeline):
    """Models that annotate text one after the other; any of them may be left out.

    The segmenter finds the sentences and words of a text, and a biaffine parser gives
    each word its labels, a head and a relation. A transition parser reads the tags that
    a tagger has predicted, in the columns that it needs::

        pipeline = keras_tagging.Pipeline(segmenter, parser=parser)
        for sentence in pipeline.annotate(open("book.txt")):
            sentence.tokens, sentence.columns["pos"], sentence.surface.offsets

    Args:
        segmenter: a model whose `segment` turns a text into sentences. Without it, a
            text has a sentence in each line, with blanks between its words.
        tagger: a `Tagger`, or a `runtime.OnnxTagger`.
        parser: a `BiaffineParser` or a `Parser`, or one of ONNX.
        **others: models of other kinds by the names of these, such as
            ``ccg_parser=``, and further taggers by names of your own, such as
            ``entities=``. They come last, may read what those before give, and give
            columns that these do not.

    Attributes:
        metadata: the corpus and the figures, if it has been trained as a whole.

    Raises:
        ValueError: if there is no model, one is not of its kind, reads a column that
            none before gives, or gives one that another gives.
    """

    # Files

    def save(
        self, folder: str | Path, overwrite=True, *, half_precision: bool = False
    ) -> None:
        """Write `segmenter.keras`, `parser.keras` and so on, and `pipeline.json`.

        The last one is written last, and has the checksums of the others, so that a
        folder that was halved by a kill, or mixed with another one, is refused. Beside
        each model are its metadata. With `half_precision` the files have half the size,
        and cannot go on with training as if it had not stopped: see
        `models.files.saving.halve`.

        Raises:
            FileExistsError: if the folder has a pipeline or a file of such a name, and
                `overwrite` is false.
            ValueError: if another process saves in the folder, or it has models that
                would be taken for parts.
            AttributeError: if a part is an ONNX file, which has no weights to save.
            OSError: if the folder cannot be written.
        """
        folder = Path(folder)
        files = [PIPELINE, *(f"{name}.keras" for name in self.parts)]
        if not overwrite and (there := [x for x in files if (folder / x).exists()]):
            has = "a pipeline" if PIPELINE in there else there[0]
            raise FileExistsError(f"{folder} has {has}: give overwrite=True")
        _check_strangers(folder, "keras", self.parts)
        old = (
            folder / f"{name}{suffix}"
            for name in _parts_before(folder) - set(self.parts)
            for suffix in (".keras", ".metadata.json")
        )
        with replacing_files(folder, PIPELINE, old) as written:
            _write(self, written, half_precision)

    @classmethod
    def load(cls, folder: str | Path) -> "Pipeline":
        """Read what `save` or `export` has written, or an installed model by its name.

        Of ONNX files it needs neither TensorFlow nor Keras. It opens the files of the
        folder alone, whatever `pipeline.json` says, and each model is checked as by
        `keras_tagging.load`, or `keras_tagging.runtime.load` if it is an ONNX file.

        Raises:
            ValueError: if there is no pipeline, or a file is missing, damaged, or not
                the one that was saved.
            ImportError: for ONNX files without ONNX Runtime.
            OSError: if a file cannot be opened.
        """
        folder = find_model(folder)
        content = content_of(folder)
        if content["files"] == "onnx":
            from keras_tagging.runtime.onnx_file import read_parts

            return read_parts(folder, content, cls)
        start_keras()
        from keras_tagging.models.files.loading import read

        return read_pipeline(folder, content, read, cls)

    def export(
        self, folder: str | Path, *, format: str = "tf_saved_model", **options: Any
    ) -> dict[str, str]:
        """Write each model for serving: see `models.files.export`.

        ONNX files have a `pipeline.json` beside them: `annotate` and `Pipeline.load`
        take the folder, and need no TensorFlow. The file of a parser that reads tags
        has them as an input, as it does alone.

        Args:
            folder: gets a file for each part, such as `parser.onnx`, or a folder with
                its SavedModel.
            format: "tf_saved_model" or "onnx".
            **options: of `models.files.export`; `top_k` is for parts that tag.

        Returns:
            The parts that are left out because they have no such form, with the
            reason.

        Raises:
            ValueError: if there is no such format, nothing can be exported, the folder
                holds a pipeline that was saved, or models that would be taken for
                parts, or as in `models.files.export`.
        """
        folder = Path(folder)
        check_known("format", format, list(FORMATS))
        reasons = {x: _unexportable(m, format) for x, m in self.parts.items()}
        left_out = {name: reason for name, reason in reasons.items() if reason}
        if len(left_out) == len(reasons):
            raise ValueError(f"nothing to export: {'; '.join(left_out.values())}")
        if (folder / PIPELINE).is_file() and not is_onnx(folder):
            raise ValueError(f"{folder} holds a saved pipeline: choose another folder")
        described, words = {}, {}
        if format == "onnx":
            require("onnx", "onnx")
            _check_strangers(folder, format, self.parts)
            words = write_words(folder, self.parts)
        for name, model in self.parts.items():
            if name in left_out:
                continue
            path = folder / f"{name}{FORMATS[format]}"
            top_k = "top_k" in kinds.of(model).options
            of_kind = {k: x for k, x in options.items() if k != "top_k" or top_k}
            if name in words:
                of_kind["words"] = words[name]
            try:
                model.export(path, format=format, **of_kind)
            except NoRecurrentLayer:  # one with nothing to compute in 8 bits
                model.export(path, format=format, **of_kind | {"int8": False})
            if format == "onnx":
                described[name] = {"sha256": sha256_of(path)}
        if described:
            for name in _parts_before(folder) - set(described):  # of an export before
                (folder / f"{name}{SUFFIXES['onnx']}").unlink(missing_ok=True)
            files = next((about["files"] for about in words.values()), None)
            write_text(folder / PIPELINE, _list(self, described, "onnx", files))
        return left_out

    def shrink_vectors(
        self,
        words: int | Collection[str] | None = None,
        dtype: str = "float16",
        keep: Collection[str] | None = (),
    ) -> "Pipeline":
        """The same pipeline with fewer pretrained vectors in all of its models.

        Args:
            words, dtype, keep: as in `shrink_vectors` of a model.

        Returns:
            A new pipeline, with the models that have no such vectors as they are. Its
            figures are those from before: `evaluate` it.

        Raises:
            ValueError: if no model has such vectors, or as there.
        """
        from keras_tagging.models.shrinking import shrunk_parts

        smaller = type(self)(**shrunk_parts(self.parts, words, dtype, keep))
        smaller.metadata = dict(self.metadata)
        return smaller

    # Evaluation

    @overload
    def evaluate(
        self, sentences: Iterable[Sentence], *, return_dict: Literal[True] = ...
    ) -> dict[str, float]: ...
    @overload
    def evaluate(
        self, sentences: Iterable[Sentence], *, return_dict: Literal[False]
    ) -> list[float]: ...
    def evaluate(self, sentences, *, return_dict: bool = True):
        """The figures of what the pipeline annotates, from raw text on.

        Args:
            sentences: gold sentences. A pipeline with a segmenter reads their text, so
                they need a `surface`: read CoNLL-U with ``surface=True``.
            return_dict: False for a list of the figures alone, as Keras' `evaluate`
                gives by default.

        Returns:
            F1 of `tokens`, `sentences` and `words`, and of `upos`, `xpos`, `feats`,
            `lemma`, `uas`, `las` and `entities` as far as it gives them: see
            `metrics.raw_text_scores`. Entities are a column `ner` of both; those of
            gold words, `entities_of_gold_words`, are beside them if the text is read.
            With a CCG parser, of sentences with derivations, those of
            `metrics.DerivationScores` too.
        """
        scores = self.scores(sentences)
        figures = {name: counts.f1 for name, counts in scores.items()}
        return figures if return_dict else [*figures.values()]

    def scores(self, sentences: Iterable[Sentence]) -> dict[str, ChunkCounts]:
        """The counts behind the figures of `evaluate`, with precision and recall."""
        return pipeline_scores(self, sentences)


# Its folder


def _write(pipeline, partial: Path, half_precision: bool) -> None:
    """Write the files of a pipeline into an empty folder."""
    from keras_tagging.models.files.saving import halve

    for name, model in pipeline.parts.items():
        path = partial / f"{name}.keras"
        model.save(path)
        if half_precision:
            halve(path)
    sums = {x: {"sha256": sha256_of(partial / f"{x}.keras")} for x in pipeline.parts}
    (partial / PIPELINE).write_text(_list(pipeline, sums), encoding="utf-8")


def _parts_before(folder: Path) -> set[str]:
    """The parts that the list of a folder names: other files are not a pipeline's."""
    try:
        return set(content_of(folder)["parts"])
    except ValueError:  # there is no list, or it is damaged
        return set()


def _check_strangers(folder: Path, files: str, parts: Collection[str]) -> None:
    """Raise a ValueError for a model in a folder that would be taken for a part there.

    Args:
        folder: of a pipeline, or of one that is to be.
        files: "keras" or "onnx".
        parts: that are to be written.
    """
    for other in strangers(folder, files, {*parts} | _parts_before(folder)):
        raise ValueError(
            f"{other}: would be taken for the {other.stem} of this pipeline, which has "
            "none: move it, or choose another folder"
        )


def _list(pipeline, parts: dict, files: str = "keras", words=None) -> str:
    """The text of `pipeline.json`."""
    from keras_tagging.models.files.saving import versions

    content = {"files": files, "parts": parts, "versions": versions()}
    if words:
        content["words"] = words
    return list_of(content | {"metadata": pipeline.metadata})


def _unexportable(model, format: str) -> str | None:
    """Why a part has no such form; None if it has."""
    if not hasattr(model, "export"):
        return "it is exported already, and can be copied"
    if format == "tf_saved_model" and kinds.of(model).reads == "text":
        return "no SavedModel reads text of any length, an ONNX file does"
    if format == "tf_saved_model" and not getattr(model, "served_layers", True):
        return "its search is in NumPy, which no SavedModel has"
    return None


# The state of a training


def is_finished(out: Path) -> bool:
    """Whether a folder has a pipeline that no training is to replace.

    Raises:
        ValueError: if `training.json` is damaged.
    """
    path, training = out / PIPELINE, out / TRAINING
    about = read_object(training, REMEDY) if training.exists() else {}
    return path.exists() and about.get(REPLACES) != sha256_of(path)


def start_run(out: Path, about: dict, again: bool = False) -> str:
    """Write what is trained into a folder; refuse a folder with anything else.

    Args:
        out: the folder, which this process has locked.
        about: what identifies the training, for JSON.
        again: whether to begin again. The training in the folder is removed. If it has
            a pipeline, that stays with its parts until the new one replaces it.

    Returns:
        What the names of the folders of the parts end in until `end_run`.

    Raises:
        ValueError: if the folder has another training, or a damaged file.
    """
    path, about = out / TRAINING, json.loads(json.dumps(about, default=str))
    if again and (out / PIPELINE).exists():
        about[REPLACES] = sha256_of(out / PIPELINE)
    ends = {NEW} if REPLACES in about else {NEW, ""}
    for end in ends if again else ():
        for name in stages():
            shutil.rmtree(out / f"{name}{end}", ignore_errors=True)
    if again or not path.exists():
        # last: no part of another training is taken for its own
        _write_training(path, about)
    before = read_object(path, REMEDY)
    for name, value in about.items():
        if before.get(name) != value:
            raise ValueError(
                f"{out} has the training of another pipeline, with another {name}: "
                "choose another folder, or repeat what began it"
            )
    return NEW if REPLACES in before else ""


def end_run(out: Path) -> None:
    """Remove what a finished training no longer needs, in a folder that had one."""
    if not (out / TRAINING).exists():
        return
    about = read_object(out / TRAINING, REMEDY)
    if about.pop(REPLACES, None):
        for old in (out / name for name in stages()):
            new = out / f"{old.name}{NEW}"
            # after a kill, some are in their places already
            if new.exists() or old.name not in about["plan"]["parts"]:
                shutil.rmtree(old, ignore_errors=True)
            if new.exists():
                os.replace(new, old)
        _write_training(out / TRAINING, about)
    remove_partial(out)


def _write_training(path: Path, about: dict) -> None:
    write_text(path, json.dumps(about, indent=2) + "\n")
