"""Corpora and models that commands load."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from keras_tagging import kinds
from keras_tagging.cli.options import Errors, Format, Options, pairs, refuse
from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.loading import find_splits, is_public, load_treebank
from keras_tagging.corpora.problems import refuse_underived
from keras_tagging.corpora.public import PUBLIC
from keras_tagging.data import Corpus
from keras_tagging.utils.heap import return_large_blocks
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.startup import start_program


@dataclass(frozen=True)
class Reading:
    """How a corpus is read."""

    format: Format = None
    option: Options = None
    errors: Errors = "raise"

    @property
    def options(self) -> dict:
        """The options of the format."""
        return pairs("--option", self.option)

    def corpus(
        self,
        corpus,
        *,
        trees=False,
        surfaces=False,
        derivations=False,
        default=None,
        **files,
    ) -> Corpus:
        """Load a corpus; with `trees`, its trees are checked if the format can.

        With `surfaces`, its sentences have their text, which is in CoNLL-U only. With
        `derivations`, a corpus without them is refused.

        Args:
            default: the format, if none was given; None to recognise it.
            files: further arguments of `load_corpus`.
        """
        options = {"errors": self.errors, **files, **self.options}
        if surfaces:
            if corpus == "demo":
                raise ValueError(
                    "the demo corpus has no text: a segmenter learns from CoNLL-U, "
                    "such as --corpus ud-en-ewt"
                )
            options["surface"] = True
        load = load_treebank if trees else load_corpus
        data = load(corpus, self.format or default, **options)
        if derivations:
            refuse_underived(data)
        return data

    def split(self, corpus, split: str, **reading) -> tuple[Corpus, list]:
        """Load a corpus, and return it with the sentences of a split.

        Raises:
            ValueError: if the split has no sentences.
        """
        data = self.corpus(corpus, require_train=False, **reading)
        if sentences := getattr(data, split):
            return data, sentences
        present = ", ".join(name for name, _ in data.splits())
        raise ValueError(f"{corpus} has no {split} sentences: give --split {present}")


def holds_derivations(corpus: str, format: str | None = None) -> bool:
    """Whether the files of a corpus are those of CCG derivations.

    Args:
        corpus: as in the commands.
        format: that was given; None to recognise it by the names of the files.
    """
    if format is not None:
        return format == "auto"
    if is_public(corpus):
        return PUBLIC[corpus].format == "auto"
    path = Path(corpus)
    files = chain(*find_splits(path).values()) if path.is_dir() else [path]
    return any(file.name.removesuffix(".gz").endswith(".auto") for file in files)


def kinds_reading(names: Iterable[str]) -> dict[str, bool]:
    """Keywords of `Reading.corpus` for these parts of a pipeline together."""
    from keras_tagging.runtime.pipeline import kind_of_part

    each = [kinds.find(kind_of_part(name) or name).reading for name in names]
    return {key: any(x[key] for x in each) for key in ("trees", "surfaces")}


def load_model(
    run: Path,
    beam_width: int | None = None,
    command: str | None = None,
    *,
    pipeline: bool = False,
    threads: int | None = None,
    part: str | None = None,
    beta: float | None = None,
):
    """Load a trained model; with `command`, refuse one for another command.

    With `command`, it may be an ONNX file, or a pipeline of them, which is run without
    Keras, by this number of threads, or as many as there are cores; and TensorFlow has
    one thread. It may be a pipeline only if `pipeline` is true, or if `command` is
    "derive" and it has a CCG parser. Without `command`, `part` is the kind of model
    that is needed, which an error about a pipeline names. With `beam_width` or `beta`
    an installed model is that of Keras, which can search in another way.
    """
    from keras_tagging.pipelines.loading import refuse_no_model
    from keras_tagging.runtime.folder import is_onnx  # with NumPy

    as_it_is = beam_width is None and beta is None  # that of an ONNX file is fixed
    path = find_model(run, to_run=command is not None and as_it_is)
    if is_onnx(path):
        if command is None:
            raise ValueError(
                f"{run} was exported as ONNX: this command needs the run, or the "
                ".keras file, that it came from"
            )
        if beam_width is not None:
            raise ValueError(
                f"{run} was exported as ONNX, with its beam: give --beam-width to "
                "export"
            )
        from keras_tagging import runtime

        return_large_blocks()
        model = runtime.load(path, threads=threads)
    else:
        refuse_no_model(path)
        start_program(one_thread=command is not None)
        import keras_tagging

        model = keras_tagging.load(path)
    kind = kinds.of(model)
    searched = model
    if command == "derive" and kind.composed:
        searched = model.derivation_parser
        if searched is None:
            raise ValueError(
                f"{run} holds a pipeline without a CCG parser, which derive needs: "
                f"keras-tagging {kind.command} {run}"
            )
    elif command not in (None, kind.command, "annotate"):
        raise ValueError(f"{run} holds a {kind}: keras-tagging {kind.command} {run}")
    elif kind.composed and not pipeline:
        needed = part or "single model"
        raise ValueError(
            f"{run} holds a pipeline, and a {needed} is needed: "
            f"{single_of(model, path, part)}"
        )
    set_beam(run, searched, beam_width)
    return model


def set_beam(run: Path, model, beam_width: int | None) -> None:
    """Take the --beam-width of a command.

    Raises:
        ValueError: if the search of the model has no beam.
    """
    if beam_width is None:
        return
    if not hasattr(model, "beam_width"):
        raise ValueError(
            f"{run} holds a {model.kind}, whose search has no beam: leave --beam-width "
            "out"
        )
    model.beam_width = beam_width


def single_of(pipeline, folder: Path, part: str | None) -> str:
    """The file to give in the place of a pipeline, where a single model is needed.

    Args:
        pipeline: the pipeline.
        folder: where it is.
        part: the kind of the model; None for any.
    """
    names = [k for k, x in pipeline.parts.items() if part in (None, x.kind)]
    files = [str(folder / f"{name}.keras") for name in names]
    return f"name {' or '.join(files)}" if files else "it has none"


def refuse_others(run: Path, model, options: dict) -> dict:
    """The options that were given; refuse those that the model does not have.

    Args:
        run: the folder of the model.
        model: the model; its `report_options` are allowed.
        options: the values by name; None or False if not given.
    """
    others = {k: v for k, v in options.items() if k not in model.report_options}
    refuse(f"{run} holds a {model.kind}, which has no", others)
    return {k: v for k, v in options.items() if v is not None and v is not False}


def load_pipeline(run: Path, threads: int | None = None, parts: str | None = None):
    """A pipeline, or the pipeline of a single model.

    Args:
        run: where it is.
        threads: of ONNX Runtime; None for as many as there are cores.
        parts: those that are wanted, with commas between them; None for all.
    """
    model = load_model(run, command="annotate", pipeline=True, threads=threads)
    from keras_tagging.runtime.pipeline import pipeline_of

    pipeline = pipeline_of(model)
    if parts is None:
        return pipeline
    return pipeline.only([name.strip() for name in parts.split(",")])
