"""Find the training, development and test files of a corpus, and load them."""

import glob
import re
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from keras_tagging.corpora.public import PUBLIC, locate, unknown
from keras_tagging.data.formats.json_lines import pair_of
from keras_tagging.data.formats.treebanks import tag_column
from keras_tagging.data.readers import (
    CorpusError,
    check_options,
    detect_format,
    read,
    recognised,
)
from keras_tagging.data.records import left_out
from keras_tagging.data.sentence import SPLITS, Corpus

# Words in the name of a file or folder, and the split that each stands for.
SPLIT_WORDS = {
    **dict.fromkeys(["train", "training", "trn"], "train"),
    **dict.fromkeys(["dev", "devel", "development"], "dev"),
    **dict.fromkeys(["valid", "validation", "val", "testa"], "dev"),
    **dict.fromkeys(["test", "tst", "testb"], "test"),
    **dict.fromkeys(["eval", "evaluation"], "eval"),
}
CCGBANK_SECTIONS = {
    "train": [f"{section:02}" for section in range(2, 22)],
    "dev": ["00"],
    "test": ["23"],
}
# such as en_ewt-ud-train.conllu
_UD_FILE = re.compile(r"([a-z]{2,3})_[a-z0-9]+-ud-[a-z]+")
THEMSELVES = (
    "pass the files themselves, those for development and testing with dev= and test="
)
NOT_CORPORA = {".md", ".rst", ".html", ".pdf", ".py", ".sh", ".xml", ".zip"}

Files = str | Path | Sequence[str | Path]
DEMO = Path(__file__).with_name("demo_sentences")


def load_corpus(
    path: Files | None,
    format: str | None = None,
    *,
    dev: Files | None = None,
    test: Files | None = None,
    errors: str = "raise",
    require_train: bool = True,
    **options: Any,
) -> Corpus:
    """Load a corpus into memory.

    In a directory, a whole word in the name of a file tells its split: train or
    training; dev, devel, valid or validation; test, or else eval (also `testa`, `testb`
    as in CoNLL-2003). In a folder of that name there may be `seq.in` and `seq.out`, or
    brat's pairs of `.txt` and `.ann`. Several files may claim one split. Then files
    whose names differ only in that word form a group, and the group with a training
    file wins, then the one with a development file, then the one with a test file: in
    ATIS `atis-2.train` and `atis-2.dev` come before `atis.train`, which contains both.
    After that, other files come before `.txt` and `.raw`, which accompany CoNLL-U.
    Names with `w-intent` are left out. If no file name tells a split, folders with such
    names are read as a whole, or else CCGBank's `AUTO/02` to `21`, `00` and `23`.

    Args:
        path: "demo" for the corpus that comes with the package, the name of a public
            corpus in `data.PUBLIC`, a directory, or the training data: a file, a list
            of files or a glob pattern. None: no training data. An existing path takes
            precedence over a public corpus of that name. A public corpus is taken from
            the folder in the environment variable KERAS_TAGGING_DATA, or downloaded
            once to KERAS_TAGGING_CACHE or the user's cache; its licence and citation
            are printed.
        format: the format of all files, as in `read`. By default it is recognised from
            the first file of each ending (`.conll`, `.jsonl`); it is known for public
            corpora.
        dev, test: a file, list or pattern each, instead of the directory's.
        errors: as in `read`; with "skip" one warning gives the total, and
            `Corpus.skipped` the number for each file.
        require_train: False to accept a corpus without training data; a `path` that
            is not a directory is then the test data.
        options: as in `read`, for example `tag_column=4`.

    Raises:
        CorpusError: if files are missing, ambiguous or malformed, or cannot be
            downloaded.
        ValueError: if an option is unknown.
    """
    if path == "demo" and (dev is test is None or not Path(path).exists()):
        if not (dev is test is format is None) or options:
            raise ValueError("the demo corpus has no dev=, test=, format= or options")
        return demo_corpus()
    files: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    is_one = isinstance(path, str | Path)
    is_directory = is_one and Path(path).is_dir()
    if is_public(path):
        files.update({split: [file] for split, file in locate(path).items()})
        if format in (None, PUBLIC[path].format):
            format, options = PUBLIC[path].format, {**PUBLIC[path].options, **options}
    elif is_directory:
        files.update(find_splits(path))
    elif path is not None:
        files["train" if require_train else "test"] = _expand(path)
    for split, pattern in (("dev", dev), ("test", test)):
        if pattern is not None:
            files[split] = _expand(pattern)
    every = [file for split in files.values() for file in split]
    if not every or (require_train and not files["train"]):
        names = sorted(e.name for e in Path(path).iterdir()) if is_directory else []
        raise CorpusError(
            f"{path}: no file is named {'train' if require_train else 'train or test'} "
            f"or the like (found: {', '.join(names[:8]) or 'nothing'}); {THEMSELVES}"
        )
    if format is None:
        formats = _formats(every, options)
    else:
        formats = dict.fromkeys(map(_ending, every), format)
    for each in formats.values():
        check_options(each, {k: v for k, v in options.items() if k != "encoding"})

    skipped, messages, splits = {}, [], {split: [] for split in files}
    for split, paths in files.items():
        for file in paths:
            problems: list[str] = []
            its_format = formats[_ending(file)]
            try:
                splits[split] += read(
                    file, its_format, errors=errors, skipped=problems, **options
                )
            except CorpusError as error:
                hint = "" if format else recognised(its_format)
                raise type(error)(f"{error}{hint}") from None
            if problems:
                skipped[str(file)] = len(problems)
                messages += problems
    if messages:
        what = f"{left_out(len(messages))}; the first: {messages[0]}"
        warnings.warn(what, stacklevel=2)
    format = formats[_ending(every[0])]
    if require_train and not splits["train"]:
        raise CorpusError(f"{files['train'][0]}: no sentences; check format={format!r}")
    used = {split: [str(file) for file in paths] for split, paths in files.items()}
    return Corpus(
        **splits,
        name=str(path) if is_one else ", ".join(map(str, path or ())),
        format=format,
        skipped=skipped,
        files=used,
        tag_column=tag_column(format, options.get("tag")),
        language=PUBLIC[path].language if is_public(path) else _language(every),
    )


def load_treebank(path: Files | None, format: str | None = None, **options) -> Corpus:
    """Load a corpus and check its trees (`trees=True`), if its format can."""
    try:
        return load_corpus(path, format, **{"trees": True} | options)
    except CorpusError:
        raise
    except ValueError:  # the format has no such option
        return load_corpus(path, format, **options)


def _ending(file: Path) -> str:
    """The ending of a file's name, or "" if it names a split, as in `eng.testa`."""
    ending = Path(file.name.lower().removesuffix(".gz")).suffix
    return "" if ending[1:] in SPLIT_WORDS else ending


def _formats(files: list[Path], options: Mapping[str, object]) -> dict[str, str]:
    """The format of each ending, recognised from the first file that has it.

    If its lines fit several formats, the format of the first file of all is tried.
    """
    formats: dict[str, str] = {}
    encoding = options.get("encoding")
    for file in files:
        if _ending(file) not in formats:
            first = next(iter(formats.values()), None)
            its_format = detect_format(
                file, encoding=encoding, default=first, options=options
            )
            formats[_ending(file)] = its_format
    return formats


def _language(files: list[Path]) -> str:
    """The code that the names of the files of a UD treebank begin with, else ""."""
    codes = {m[1] if (m := _UD_FILE.match(file.name)) else "" for file in files}
    return codes.pop() if len(codes) == 1 else ""


def is_public(path: Files) -> bool:
    """Whether this is the name of a public corpus, and not of a file or directory."""
    return isinstance(path, str) and path in PUBLIC and not Path(path).exists()


def _expand(files: Files) -> list[Path]:
    """The files of a path, a list of them or a pattern."""
    if not isinstance(files, str | Path):
        return [path for file in files for path in _expand(file)]
    if Path(files).is_file():
        return [Path(files)]
    matches = sorted(Path(match) for match in glob.glob(str(files), recursive=True))
    paths = [match for match in matches if match.is_file()]
    if not paths:
        only = f"{files}: is a directory; name the files in it"
        raise CorpusError(only if matches else unknown(files))
    return paths


def find_splits(directory: str | Path) -> dict[str, list[Path]]:
    """The files of the splits of a directory, as `load_corpus` describes.

    Raises:
        CorpusError: if several files are equally good for a split.
    """
    directory = Path(directory)
    named = _by_name(directory, _files_in(directory))
    splits = named or _by_folder(directory) or _ccgbank(directory)
    if "eval" in splits:
        splits.setdefault("test", splits["eval"])
        del splits["eval"]
    return splits


def _files_in(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and not path.name.startswith(".")
        and "w-intent" not in path.name
        and path.suffix.lower() not in NOT_CORPORA
    ]


def _split_of(name: str) -> tuple[str | None, str]:
    """The split that a name stands for, and the name with a gap for that word."""
    words = re.split(r"([^a-z0-9]+)", name.lower())
    splits = [SPLIT_WORDS.get(word) for word in words]
    pattern = "".join("*" if s else w for w, s in zip(words, splits, strict=True))
    distinct = set(splits) - {None}
    return (distinct.pop() if len(distinct) == 1 else None), pattern


def _by_name(directory: Path, files: list[Path]) -> dict[str, list[Path]]:
    families: dict[str, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for file in files:
        split, pattern = _split_of(file.name)
        if split:
            families[pattern][split].append(file)

    def rank(pattern: str) -> tuple:
        family = families[pattern]
        incomplete = [split not in family for split in ("train", "dev", "test")]
        is_plain_text = re.search(r"\.(txt|raw)(\.gz)?$", pattern) is not None
        return (*incomplete, is_plain_text, pattern.endswith(".gz"))

    splits = {}
    for split in ("train", "dev", "test", "eval"):
        having = [pattern for pattern in families if split in families[pattern]]
        best = min(map(rank, having), default=None)
        candidates = [
            file
            for pattern in having
            if rank(pattern) == best
            for file in families[pattern][split]
        ]
        if len(candidates) > 1:
            names = ", ".join(file.name for file in candidates)
            raise CorpusError(_several(directory, names, f"{split} file"))
        if candidates:
            splits[split] = candidates
    return splits


def _several(directory: Path, names: str, what: str) -> str:
    return f"{directory}: {names} could each be the {what}; {THEMSELVES}"


def _by_folder(directory: Path) -> dict[str, list[Path]]:
    splits = {}
    for folder in sorted(filter(Path.is_dir, directory.iterdir())):
        split = SPLIT_WORDS.get(folder.name.lower())
        if not split:
            continue
        files = _firsts(_files_in(folder))
        if len({file.suffix for file in files}) > 1:
            raise CorpusError(f"{folder}: has files of several kinds; {THEMSELVES}")
        if not files:
            continue
        if split in splits:
            names = f"{splits[split][0].parent.name}, {folder.name}"
            raise CorpusError(_several(directory, names, f"{split} folder"))
        splits[split] = files
    return splits


def _firsts(files: list[Path]) -> list[Path]:
    """The first file of each pair, without the files that accompany pairs."""
    pairs = {file for file in files if pair_of(file)}
    stems = {file.with_suffix("") for file in pairs}
    beside = {"seq.in", "seq.out", "label", "annotation.conf", "visual.conf"}
    if all(f.name in beside or f.with_suffix("") in stems for f in files):
        return sorted(pairs) or files
    return files


def _ccgbank(directory: Path) -> dict[str, list[Path]]:
    for root in (directory / "data" / "AUTO", directory / "AUTO", directory):
        splits = {
            split: [f for name in names for f in sorted(root.glob(f"{name}/*.auto*"))]
            for split, names in CCGBANK_SECTIONS.items()
        }
        if any(splits.values()):
            return {split: files for split, files in splits.items() if files}
    return {}


def hold_out(corpus: Corpus, share: float, seed: int) -> None:
    """Move a random share of the training sentences to the development set.

    Args:
        corpus: the corpus, which is changed in place.
        share: a fraction of the training sentences.
        seed: the seed of the draw.

    Raises:
        ValueError: if there are development sentences already, or one of the two
            splits would be empty.
    """
    if corpus.dev:
        raise ValueError("--dev-share: the corpus has development sentences already")
    total = len(corpus.train)
    count = round(share * total) if 0 < share < 1 else 0
    if not 0 < count < total:
        raise ValueError(f"--dev-share {share} takes {count} of {total} sentences")
    held = set(Random(seed).sample(range(total), count))
    corpus.dev = [s for i, s in enumerate(corpus.train) if i in held]
    corpus.train = [s for i, s in enumerate(corpus.train) if i not in held]


def demo_corpus() -> Corpus:
    """The demo corpus: 2000 training, 400 development and 400 test sentences.

    Its English, like a phrase book's, is drawn from a hand-written CCG grammar, which
    is beside its tests. The tag of a token is its CCG category, in the notation of
    CCGbank. The columns are `pos` (Penn Treebank), `head` and `deprel` (Universal
    Dependencies, except that a stranded preposition depends on its verb). Trees are
    projective, except for questions and relative clauses that reach into an embedded
    clause: "What did she say he read ?". No sentence occurs twice.
    """
    splits = {name: list(read(DEMO / f"{name}.jsonl.gz")) for name in SPLITS}
    return Corpus(**splits, name="demo", format="demo")
