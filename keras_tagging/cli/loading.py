"""Corpora, sentences and models that commands load."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from keras_tagging import kinds
from keras_tagging.cli.options import Errors, Format, Options, pairs, refuse
from keras_tagging.cli.output import note
from keras_tagging.cli.progress import Source
from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.entities import with_named_entities
from keras_tagging.corpora.loading import find_splits, is_public, load_treebank
from keras_tagging.corpora.problems import refuse_underived
from keras_tagging.corpora.public import PUBLIC
from keras_tagging.data import Corpus, detect_format, read
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.readers import source_name
from keras_tagging.data.sentence import NER
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
                    "the demo corpus has no text: give CoNLL-U, such as ud-en-ewt"
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
    from keras_tagging.runtime.pipeline import kinds_of_part

    each = [kinds.find((kinds_of_part(name) or [name])[0]).reading for name in names]
    return {key: any(reading[key] for reading in each) for key in each[0]}


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
    from keras_tagging.pipelines.any_model import refuse_no_model
    from keras_tagging.runtime.folder import is_onnx  # with NumPy

    as_it_is = beam_width is None and beta is None  # that of an ONNX file is fixed
    path = find_model(run, to_run=command is not None and as_it_is)
    if is_onnx(path):
        if command is None:
            raise ValueError(
                f"{run} was exported as ONNX: name the run that it came from"
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
                f"{run} has no CCG parser: keras-tagging {kind.command} {run}"
            )
    elif command not in (None, kind.command, "annotate"):
        raise ValueError(f"{run} holds a {kind}: keras-tagging {kind.command} {run}")
    elif kind.composed and not pipeline:
        names = [k for k, x in model.parts.items() if part in (None, x.kind)]
        files = " or ".join(f"{path / name}.keras" for name in names)
        raise ValueError(
            f"{run} holds a pipeline, and a {part or 'single model'} is needed: "
            f"{f'name {files}' if files else 'it has none'}"
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
        raise ValueError(f"{run} holds a {model.kind} without a --beam-width to set")
    model.beam_width = beam_width


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


NAMES = {"pos": "UPOS, column 4", "xpos": "XPOS, column 5"}  # in CoNLL-U
# A row with fewer than ten columns is damaged, which the reader then reports; one with
# two or three may be a numbered sentence.
ROW = re.compile(rb"[0-9]+([-.][0-9]+)?(\t[^\t]*){3,}")
PIECE = 1 << 20  # bytes of a line to read at once


class Lines:
    """The lines of a stream, which can be read only once.

    Args:
        stream: a binary stream.
        name: name of the stream, for messages.
        most: the number of lines to read ahead if they are blank or begin with #.
    """

    def __init__(self, stream, name: str, most: int = 200):
        self.stream, self.name = stream, name
        self.head = []
        for line in islice(self._pieces(), most):
            self.head.append(line)
            if _rows(line):
                break

    def _pieces(self) -> Iterator[bytes]:
        return iter(partial(self.stream.readline, PIECE), b"")

    def __iter__(self):
        yield from self.head
        with self.stream:
            yield from self._pieces()

    def are_conllu(self) -> bool:
        """Whether the first line that is not a comment looks like a row of CoNLL-U."""
        text = b"".join(self.head)
        # as in `data.read`, carriage returns end lines if there is no line feed
        rows = _rows(*text.split(b"\n" if b"\n" in text else b"\r"))
        return bool(rows) and ROW.fullmatch(rows[0]) is not None


def _rows(*lines: bytes) -> list[bytes]:
    lines = (line.removeprefix(b"\xef\xbb\xbf").strip(b" \r\n") for line in lines)
    return [line for line in lines if line.strip() and not line.startswith(b"#")]


@dataclass(frozen=True)
class Input:
    """The input of `tag`, `parse` and `annotate`.

    Args:
        items: pairs of a sentence, and its `Block` of lines if these are to be written
            with other columns, else None.
        source: for the progress.
        encoding: in which to write.
        is_text: whether a sentence is a line of text, with blanks between its words.
    """

    items: Iterator[tuple]
    source: Source
    encoding: str = "utf-8"
    is_text: bool = False


def read_input(
    file: str,
    format: str | None,
    options: dict,
    errors: str = "raise",
    *,
    keep: bool = True,
) -> Input:
    """Sentences of any format.

    Args:
        file: a path, or "-" for standard input, which is text, or with `keep` CoNLL-U
            if it looks so.
        format: of the file; None to recognise it.
        options: those of the format; `encoding` alone if lines are kept.
        errors: as in `data.read`.
        keep: whether lines of CoNLL-U and CoNLL-X are kept for the output.

    Raises:
        ValueError: if there is no such file, or an option does not fit the format.
    """
    stream = file
    if format is None:
        stream, format = recognise(file, options, keep)
    source = Source(file)
    stream = source.stream if stream == file else stream
    if not (keep and format in ("conllu", "conllx")):
        sentences = read(stream, format, errors=errors, **options)
        items = ((sentence, None) for sentence in sentences)
        return Input(items, source, is_text=format == "text")
    if unknown := set(options) - {"encoding"}:
        raise ValueError(f"--option {min(unknown)}: {format} has encoding only")
    items = ((block.sentence, block) for block in read_blocks(stream, **options))
    return Input(items, source, options.get("encoding", "utf-8"))


def recognise(file: str, options: dict, keep: bool = True):
    """The source for `data.read` and its format, None to let `data.read` recognise it.

    Args:
        file, options, keep: as in `read_input`.

    Raises:
        ValueError: if there is no such file, or for an option of another format.
    """
    if Path(file).is_file():  # a pipe can be read only once
        encoding = options.get("encoding")
        format = detect_format(file, encoding=encoding, options=options)
        ends = {".txt"} if format == "text" else {f".{format}"}
        if not ends & {*Path(file.lower()).suffixes[-2:]}:  # the name does not say it
            note(f"{file} is read as {format}; use --format to change this")
        return file, format
    name = source_name(file)  # raises if the file does not exist
    source = file
    if keep and "encoding" not in options:  # else bytes cannot be split into lines
        source = Lines(sys.stdin.buffer if file == "-" else open(file, "rb"), name)
        if source.are_conllu():
            return source, "conllu"
    if file != "-":
        return source, None
    if others := set(options) - {"encoding"}:
        raise ValueError(
            f"--option {min(others)}: standard input is text: name its --format"
        )
    return source, "text"


def with_columns(
    model, sentences: Iterable, of: Callable = lambda sentence: sentence
) -> Iterator:
    """Check that sentences have the columns that the model reads.

    Args:
        model: its `kind`, `input_columns` and `missing_column` are read.
        sentences: sentences, or items that have one.
        of: the function from an item to its sentence.

    Raises:
        ValueError: if the first hundred lack one, or always have `_` in it.
    """
    sentences = iter(sentences)
    head = list(islice(sentences, 100))
    filled = [sentence for sentence in map(of, head) if sentence.tokens]
    for name in model.input_columns:
        if filled and all({*s.columns.get(name, "_")} == {"_"} for s in filled):
            where = f" (in CoNLL-U {NAMES[name]})" if name in NAMES else ""
            raise ValueError(
                f"the {model.kind} reads the column {name!r}{where}, which the input "
                f"lacks: {model.missing_column.format(name=name)}"
            )
    yield from chain(head, sentences)


def gold_sentences(model, sentences: Iterable) -> list:
    """Annotated sentences with what the model reads and learns.

    A tagger that learns the column `ner` finds the tags of entities there.

    Raises:
        ValueError: see `with_columns`.
    """
    sentences = list(with_columns(model, sentences))
    if NER in getattr(model, "column_names", ()):
        return with_named_entities(sentences)
    return sentences
