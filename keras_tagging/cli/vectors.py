"""The command that trains word vectors: train vectors."""

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.cli.inputs import read_text
from keras_tagging.cli.jobs import at_work
from keras_tagging.cli.loading import load_pipeline
from keras_tagging.cli.options import refuse
from keras_tagging.cli.progress import applied, watched
from keras_tagging.cli.talk import say
from keras_tagging.cli.tasks import Work
from keras_tagging.data.readers import source_name
from keras_tagging.encoding.batching import slices
from keras_tagging.utils.atomic import locked, replacing
from keras_tagging.utils.startup import start_keras
from keras_tagging.utils.stored import read_object

REMEDY = "begin again with --no-resume"
#: in the folder of a run, what identifies its text
TEXT = "text.json"
ENDINGS = (".npz", ".txt", ".bin")
#: characters of a piece of text, which ends with a paragraph, or at the latest after
#: ten times as many with a line
PIECE = 100_000
#: a slice of `at_work` for each piece
ALONE = 10**9


@dataclass(frozen=True)
class Learning:
    """How vectors are learnt.

    Args:
        method: Words alone, or as sums of their pieces of 3 to 6 characters.
        dim: The dimension of a vector.
        window: Words on each side: 2 for words of the same syntax, 5 or more for those
            of one topic.
        min_count: Leave out words that occur less often.
        epochs: Passes over the text.
        skip_gram: Skip-gram instead of continuous bag of words.
        seed: Of all random numbers.
    """

    method: Literal["word2vec", "fasttext"] = "word2vec"
    dim: Annotated[int, typer.Option(min=1)] = 100
    window: Annotated[int, typer.Option(min=1)] = 2
    min_count: Annotated[int, typer.Option(min=1)] = 5
    epochs: Annotated[int, typer.Option(min=1)] = 5
    skip_gram: bool = False
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1)] = 0


def train_vectors(
    files: Annotated[list[str], typer.Argument(metavar="TEXT...")],
    out: Annotated[Path, typer.Option(metavar="FILE")],
    *,
    segmenter: Annotated[Path | None, typer.Option(metavar="MODEL")] = None,
    input: Literal["text", "lines", "tokens"] = "text",
    encoding: str | None = None,
    normalise: Literal["kadari", "wu", "lower", "none"] = "kadari",
    learning: Learning,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    resume: bool = True,
    force: bool = False,
) -> None:
    """Train word vectors on text, in memory that does not grow with the text.

    The text is split into words once, and learnt from epoch by epoch. FILE.run, a
    folder, has the words of each finished TEXT and the state after each finished epoch:
    after a kill, the same command continues there. It is removed at the end. With one
    job, the same text and options give the same vectors; several are quicker.

    The file is for --embeddings, and for vectors= of taggers: .npz in half precision;
    .txt of word2vec; or with --method fasttext .bin of fastText, which has vectors of
    further words too.

    Examples:
        keras-tagging train vectors news.txt blogs.txt --segmenter en --out own.npz
        keras-tagging train vectors tokens.txt --input tokens --dim 50 --out own.npz
        keras-tagging train vectors *.txt --segmenter runs/en --jobs 4 --out own.npz

    Args:
        files: Files of text; they may be compressed.
        out: Where to write, a name in .npz, .txt or .bin.
        segmenter: What finds sentences and words: the name of an installed model, a
            run or a pipeline.
        input: Running text; lines, each of which is a sentence of running text; or one
            sentence a line with blanks between tokens, which needs no segmenter.
        encoding: Of the text; by default UTF-8.
        normalise: Words are learnt in the normal form by which models look them up,
            see their keyword `normalise`; none keeps them as they are.
        jobs: Processes that split the text, and threads that learn; with several of
            these, the vectors differ a little from run to run.
        resume: Continue the run that was stopped.
        force: Replace a file.
    """
    check(files, out, segmenter, input, learning.method, force)
    busy = f"another process trains {out}: wait until it ends"
    with locked(out.parent, busy, f".{out.name}.lock"):
        folder = out.with_name(f"{out.name}.run")
        if not resume:
            shutil.rmtree(folder, ignore_errors=True)
        how = {"segmenter": segmenter, "input": input, "encoding": encoding}
        how["normalise"] = normalise
        text = [*map(_state, files), {k: str(v) for k, v in how.items()}]
        _check_text(folder / TEXT, text)
        try:
            paths = _split(files, folder, segmenter, input, encoding, normalise, jobs)
        except (ValueError, OSError):
            if not any(folder.glob("*.txt")):  # there is nothing to continue
                shutil.rmtree(folder)
            raise
        run = _learnt(folder, paths, learning, jobs, out)
        with replacing(out) as partial:
            _write(run, partial)
        shutil.rmtree(folder)
    say(f"\nWritten to {out}. Next:")
    say(f"keras-tagging train bigru --corpus CORPUS --set vectors={out} --out DIR")


def check(files, out: Path, segmenter, input: str, method: str, force: bool) -> None:
    """Refuse options before anything is read: see `train_vectors`.

    Raises:
        ValueError: naming the option and the remedy.
    """
    if out.suffix not in ENDINGS:
        pickled = out.suffix in (".kv", ".model")
        raise ValueError(
            f"--out {out}: "
            + ("gensim's own files are pickles, which can run code; " * pickled)
            + "name a file in .npz or .txt, or with --method fasttext in .bin"
        )
    if out.suffix == ".bin" and method != "fasttext":
        raise ValueError(f"--out {out}: .bin is fastText's: give --method fasttext")
    if out.exists() and not force:
        raise ValueError(f"{out} exists: choose another --out, or give --force")
    if segmenter is None and input != "tokens":
        raise ValueError(
            f"--input {input} needs what finds words: give --segmenter, such as en; or "
            "--input tokens, a sentence a line with blanks between its words"
        )
    if input == "tokens":
        refuse(
            "--input tokens is split into words, and has no", {"segmenter": segmenter}
        )
    for file in files:
        source_name(file)  # raises if there is none
        if file == "-":
            raise ValueError("-: a killed run reads its text again: give files")


@dataclass(frozen=True)
class Segmenting:
    """The task of splitting pieces of text, for `at_work`.

    Args:
        run, lines: the segmenter, and whether each line is a sentence.
    """

    run: Path
    lines: bool

    def load(self, threads: int | None = None) -> Work:
        """The task with its model: from each piece to the words of its sentences."""
        segmenter = load_pipeline(self.run, threads).segmenter
        if segmenter is None:
            raise ValueError(f"{self.run} has no segmenter: give one, such as en")

        def split(pieces: Iterable[str]) -> Iterator[list[list[str]]]:
            for piece in pieces:
                yield [s.tokens for s in segmenter.segment(piece, self.lines)]

        return Work(split, entries=ALONE)


def _state(file: str) -> list:
    """The path, size and time of a file, which identify it unread."""
    state = Path(file).stat()
    return [str(Path(file).resolve()), state.st_size, state.st_mtime_ns]


def _check_text(path: Path, text: list) -> None:
    """Write what identifies the text, or refuse another one."""
    about = {"text": json.loads(json.dumps(text))}
    if not path.exists():
        with replacing(path) as partial:
            partial.write_text(json.dumps(about) + "\n", encoding="utf-8")
    elif read_object(path, REMEDY) != about:
        raise ValueError(
            f"{path.parent} has a run on another text, or with other options of its "
            f"words: repeat that command, or {REMEDY}"
        )


def _split(files, folder, segmenter, input, encoding, normalise, jobs) -> list[Path]:
    """The sentences of each file, in a file of the folder: a line each, with tabs."""
    paths = [folder / f"{number:06}.txt" for number, _ in enumerate(files, 1)]
    left = [pair for pair in zip(files, paths, strict=True) if not pair[1].exists()]
    task = nullcontext()
    if left and segmenter is not None:
        task = at_work(Segmenting(segmenter, input == "lines"), jobs)
    with task as work:
        for file, path in left:
            kind = "tokens" if input == "tokens" else "text"
            found, source = read_text(file, kind, encoding)
            if work is None:
                sentences = (s.tokens for _, s in applied(iter, found, source))
            else:
                done = applied(work.results, pieces_of(found), source, "pieces of text")
                sentences = chain.from_iterable(result for _, result in done)
            with replacing(path) as partial:
                with partial.open("w", encoding="utf-8", newline="\n") as stream:
                    for words in _normal(sentences, normalise):
                        stream.write("\t".join(words) + "\n")
            say(f"{file}: split into words")
    return paths


def pieces_of(lines: Iterable[str]) -> Iterator[str]:
    """The text in pieces that end with a paragraph, if it has any."""
    held, size = [], 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= 10 * PIECE or (size >= PIECE and not line.strip()):
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def _normal(sentences: Iterable[list[str]], normalise: str) -> Iterator[list[str]]:
    """The sentences in the normal form of their words, without blanks inside."""
    start_keras()
    from keras_tagging.encoding.token_features import TokenFeatures

    features = None if normalise == "none" else TokenFeatures(normalise=normalise)
    for some in slices(filter(None, sentences)):
        words = [" ".join(word.split()) for words in some for word in words]
        if features is not None:
            words = features.normal_forms(words)
        rest = iter(words)
        yield from (list(islice(rest, len(sentence))) for sentence in some)


def _learnt(folder: Path, paths: list[Path], learning: Learning, jobs: int, out: Path):
    """The finished run in a folder."""
    from keras_tagging.vectors.run import SentenceFiles, VectorOptions, VectorRun

    options = VectorOptions(**vars(learning))
    run = VectorRun(folder, SentenceFiles(paths), options, jobs)
    blank = next((word for word in run.counts if " " in word), None)
    if out.suffix == ".txt" and blank is not None:
        raise ValueError(
            f"--out {out}: the word {blank!r} has a blank, which .txt cannot hold: "
            "name a file in .npz"
        )
    say(f"{run.words:,} words, {len(run.counts):,} of them different and frequent")
    for epoch in run.epochs(lambda sentences: watched(sentences, run.lines)):
        say(f"Epoch {epoch} of {options.epochs}")
    return run


def _write(run, path: Path) -> None:
    """Write the vectors of a run as what the name ends in."""
    if path.suffix == ".npz":
        from keras_tagging.vectors import save_vectors

        save_vectors(run.vectors(), path)
    elif path.suffix == ".txt":
        run.model.wv.save_word2vec_format(str(path))
    else:
        from gensim.models.fasttext import save_facebook_model

        save_facebook_model(run.model, str(path))
