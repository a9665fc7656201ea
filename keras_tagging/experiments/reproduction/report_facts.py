"""The facts of a report: how the measurement differs from the paper's, and where."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments import papers
from keras_tagging.experiments.documents import NONE
from keras_tagging.experiments.papers.table import Row, Settings, Table
from keras_tagging.experiments.reproduction.corpus import is_of_parsers
from keras_tagging.experiments.reproduction.report_templates import Grid, Line
from keras_tagging.experiments.reproduction.settings import settings_of, takes_vectors

# listed apart from the other settings
_OWN_LINE = {"embeddings", "vectors", "jit_compile", "tags", "epochs"}
_PUNCTUATION = {
    "keep": "keep: all words count",
    "ptb": "ptb: words tagged `` '' : , . do not count",
    "unicode": "unicode: words of punctuation alone do not count",
}


def title(table: Table | Settings) -> str:
    """The heading of a report, with the authors and the year of the paper."""
    module = papers.PAPERS.get(table.paper)
    authors = re.search(r" of (.+?), :cite:", (module and module.__doc__) or "")
    paper = authors[1] if authors else table.paper
    return f"{paper}, Table {table.number}: {table.caption}"


def measured_rows(table: Table, results: Sequence[Mapping]) -> list[Row]:
    names = {result["row"] for result in results}
    return [row for row in table.rows if row.name in names]


def _seeds(results: Sequence[Mapping]) -> list[int]:
    return sorted({result["seed"] for result in results})


def same_corpus(table: Table, info: Mapping) -> bool:
    """Whether the corpus, or its folder, has the name of the paper's corpus."""
    letters = re.sub("[^a-z0-9]", "", table.corpus.partition(",")[0].lower())
    name = "[^a-z0-9]*".join(letters) + "(?![a-z])"
    path = Path(str(info["corpus"]).lower())
    parts = path.parts[2:] if path.is_absolute() else path.parts  # /media is a disk
    return any(re.match(name, part) for part in parts[-2:])


def scale(table: Table, info: Mapping, results: Sequence[Mapping]) -> str:
    """The options --set and --epochs that differ from the paper in some row."""
    rows = measured_rows(table, results)
    names = {name for name, _, _ in _changed_settings(rows, info)}
    changed = [f"{k} {in_words(v)}" for k, v in info["settings"].items() if k in names]
    if info["epochs"] is not None and _paper_epochs(rows) - {info["epochs"]}:
        changed.append(f"epochs {info['epochs']}")
    return ", ".join(changed)


def corpus_name(info: Mapping) -> str:
    """The corpus as the user named it; the last part of a path."""
    return Path(str(info["corpus"])).name or str(info["corpus"])


def differences(table: Table, info: Mapping, results: Sequence[Mapping]) -> Grid:
    """The conditions in the paper and here; settings only where they differ."""
    rows = measured_rows(table, results)
    sizes = ", ".join(f"{n:,} {name}" for name, n in info["sentences"].items())
    lines = [
        ("Corpus", table.corpus, corpus_name(info)),
        ("Sentences", "", sizes),
        ("Recipe", "paper", info["recipe"]),
        *_changed_settings(rows, info),
    ]
    if is_of_parsers(table):
        tags = {_our_settings(row, info)["tags"] for row in rows}
        # all parsers of the papers have predicted tags
        lines.append(("tags", "predicted", _alternatives(tags)))
    epochs = {result["epochs"] for result in results}
    lines.append(("Epochs", _alternatives(_paper_epochs(rows)), _alternatives(epochs)))
    if any(takes_vectors(row, table, info["embeddings"]) for row in rows):
        here = describe_vectors(info["embeddings"])
        theirs = "the paper's" if any(row.vectors for row in rows) else None
        lines.append(("Pretrained vectors", theirs, here))
    if table.held_out is not None:
        share = f"{100 * table.held_out:g}% of the training and development sentences"
        lines.append(("Development set", share, f"{share}, others with each seed"))
    elif info.get("dev_share") is not None:
        share = f"{100 * info['dev_share']:g}% of the training sentences"
        lines.append(("Development set", "the corpus's own", share))
    if is_of_parsers(table):
        kinds = _PUNCTUATION[table.punctuation], _PUNCTUATION[info["punctuation"]]
        lines.append(("Punctuation", *kinds))
    if any(result["classes"] == "learnt" for result in results):
        here = "learnt from the corpus, which has none"
        lines.append(("Word classes", "given by hand", here))
    lines.append(("Seeds", "", ", ".join(map(str, _seeds(results)))))
    lines = [Line([name, paper or NONE, here]) for name, paper, here in lines]
    return Grid(["", "Paper", "Here"], lines, left=3)


def _changed_settings(rows: Sequence[Row], info: Mapping) -> list[tuple]:
    """Name, values of the paper and ours, for settings that differ in some row."""
    both = [(_paper_settings(row), _our_settings(row, info)) for row in rows]
    names = sorted({name for paper, _ in both for name in paper} - _OWN_LINE)
    changed = []
    for name in names:
        values = [
            (a[name], b[name]) for a, b in both if name in a and a[name] != b[name]
        ]
        if values:
            changed.append((name, *map(_alternatives, zip(*values, strict=True))))
    return changed


def _paper_settings(row: Row) -> dict:
    return resolve_settings(row.architecture, "paper", dict(row.settings))


def _our_settings(row: Row, info: Mapping) -> dict:
    return resolve_settings(row.architecture, info["recipe"], settings_of(row, info))


def _paper_epochs(rows: Sequence[Row]) -> set[int]:
    return {_paper_settings(row)["epochs"] for row in rows}


def _alternatives(values: Iterable) -> str:
    """The different values in words, such as "100 or 300"."""
    return " or ".join(dict.fromkeys(map(in_words, sorted(values, key=str))))


def in_words(value) -> str:
    """The value of a setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == ():
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {in_words(v)}" for k, v in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(in_words, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def describe_vectors(embeddings: str) -> str:
    """The initial word vectors, for rows with pretrained ones."""
    if embeddings == "train":
        return "word2vec, trained by gensim on the training sentences of each seed"
    return "none: random ones" if embeddings == "none" else Path(embeddings).name


def command(
    table: Table, info: Mapping, results: Sequence[Mapping], folder=None
) -> list[str]:
    """The command that repeats the measurement, in pieces to break lines between."""
    reading, rows = info["reading"], measured_rows(table, results)
    every_row = len(rows) == sum(row.architecture is not None for row in table.rows)
    usual_punctuation = info["punctuation"] == table.punctuation
    options = [
        ("corpus", info["corpus"]),
        *((name, reading[name]) for name in ("dev", "test", "format")),
        *(("option", f"{k}={v}") for k, v in reading["options"].items()),
        ("errors", None if reading["errors"] == "raise" else reading["errors"]),
        ("dev-share", info["dev_share"]),
        *(("rows", row.name) for row in rows if not every_row),
        ("seeds", max(_seeds(results), default=None)),
        ("epochs", info["epochs"]),
        ("recipe", info["recipe"]),
        *(("set", f"{k}={v}") for k, v in info["settings"].items()),
        ("embeddings", info["embeddings"]),
        ("punctuation", None if usual_punctuation else info["punctuation"]),
        ("out", folder),
    ]
    start = f"keras-tagging reproduce {table.paper} --table {table.number}"
    options = [(name, str(value)) for name, value in options if value is not None]
    return [start, *(f"--{name} {shlex.quote(value)}" for name, value in options)]


def missing(table: Table, results: Sequence[Mapping], folder: Path | None) -> list[str]:
    """Rows without results, seeds that a row lacks, and failed jobs, in a line each."""
    seeds = {}
    for result in results:
        seeds.setdefault(result["row"], set()).add(result["seed"])
    ours = [row.name for row in table.rows if row.architecture]
    lines = []
    if absent := [name for name in ours if name not in seeds]:
        lines.append(f"Rows not measured: {'; '.join(absent)}.")
    for name in ours:
        lacking = sorted(set(_seeds(results)) - seeds.get(name, set()))
        if name in seeds and lacking:
            word = "seed" if len(lacking) == 1 else "seeds"
            lines.append(f"{name}: without {word} {', '.join(map(str, lacking))}.")
    files = sorted((folder / "failures").glob("[!.]*.txt")) if folder else []
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    failures = (text.partition("\n")[0] for text in texts)
    return [*lines, *(f"Failed: {failure}" for failure in failures)]
