"""What a report says of the measurement: how it differs from the paper's, and where."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments import papers
from keras_tagging.experiments.papers.table import Row, Settings, Table
from keras_tagging.experiments.reproduction.corpus import is_of_parsers
from keras_tagging.experiments.reproduction.settings import settings_of

# told apart from the other settings
_OWN_LINE = {"embeddings", "vectors", "jit_compile", "tags"}
_COUNTED = {
    "keep": "keep: all words count",
    "ptb": "ptb: words tagged `` '' : , . do not count",
    "unicode": "unicode: words of punctuation alone do not count",
}


def paper_of(table: Table | Settings) -> str:
    """Authors and year, from the module of the paper."""
    module = papers.PAPERS.get(table.paper)
    found = re.search(r" of (.+?), :cite:", (module and module.__doc__) or "")
    return found[1] if found else table.paper


def measured_rows(table: Table, results: Sequence[Mapping]) -> list[Row]:
    found = {result["row"] for result in results}
    return [row for row in table.rows if row.name in found]


def seeds_of(results: Sequence[Mapping]) -> list[int]:
    return sorted({result["seed"] for result in results})


def same_corpus(table: Table, info: Mapping) -> bool:
    """Whether the corpus measured on, or its folder, is called what the paper's is."""
    letters = re.sub("[^a-z0-9]", "", table.corpus.partition(",")[0].lower())
    called = "[^a-z0-9]*".join(letters) + "(?![a-z])"
    path = Path(str(info["corpus"]).lower())
    parts = path.parts[2:] if path.is_absolute() else path.parts  # /media is a disk
    return any(re.match(called, part) for part in parts[-2:])


def statement(table: Table, info: Mapping, results: Sequence[Mapping]) -> str:
    """The first thing to know of a report."""
    if same_corpus(table, info):
        words = (
            f"Measured on a corpus that is called as the paper's, {table.corpus}. The "
            "figures can be compared with the published ones as far as its release, "
            "splits and preparation are the same."
        )
    else:
        words = (
            "Measured on another corpus than the paper's, going by its name: on "
            f"{corpus_name(info)}, not {table.corpus}. The figures cannot be compared "
            "with the published ones, only which rows are better."
        )
    others = []
    if info["recipe"] != "paper":
        others.append(f"the recipe ({info['recipe']})")
    if scale := _scale(measured_rows(table, results), info):
        others.append(f"the scale ({', '.join(scale)})")
    if not others:
        return words
    verb = "is" if len(others) == 1 else "are"
    named = " and ".join(others)
    return f"{words} {named[0].upper()}{named[1:]} {verb} not the paper's."


def _scale(rows: Sequence[Row], info: Mapping) -> list[str]:
    """What --set and --epochs made other than the paper's in some row."""
    other = {name for name, _, _ in _settings(rows, info)}
    found = [f"{k} {plain(v)}" for k, v in info["settings"].items() if k in other]
    if info["epochs"] is not None and _epochs(rows) - {info["epochs"]}:
        found.append(f"epochs {info['epochs']}")
    return found


def corpus_name(info: Mapping) -> str:
    """The corpus as it was named, of a path its last part."""
    given = str(info["corpus"])
    return Path(given).name or given


def differences(
    table: Table, info: Mapping, results: Sequence[Mapping]
) -> list[tuple[str, str, str]]:
    """What was measured: name, in the paper, here; settings only where they differ."""
    rows = measured_rows(table, results)
    sizes = ", ".join(f"{n:,} {name}" for name, n in info["sentences"].items())
    found = [
        ("Corpus", table.corpus, corpus_name(info)),
        ("Sentences", "", sizes),
        ("Recipe", "paper", info["recipe"]),
    ]
    found += _settings(rows, info)
    if is_of_parsers(table):
        ours = (resolve_settings(row.architecture, *_given(row, info)) for row in rows)
        # of all parsers of the papers
        found.append(("tags", "predicted", _joined({given["tags"] for given in ours})))
    epochs = {result["epochs"] for result in results}
    found.append(("Epochs", _joined(_epochs(rows)), _joined(epochs)))
    if any(row.vectors for row in rows):
        here = vectors_told(info["embeddings"])
        found.append(("Pretrained vectors", "the paper's", here))
    if table.held_out is not None:
        held = f"{100 * table.held_out:g}% of the training and development sentences, "
        here = held + "others with each seed"
        found.append(("Development set", held.rstrip(", "), here))
    elif info.get("dev_share") is not None:
        held = f"{100 * info['dev_share']:g}% of the training sentences"
        found.append(("Development set", "the corpus's own", held))
    if is_of_parsers(table):
        kinds = (_COUNTED[kind] for kind in (table.punctuation, info["punctuation"]))
        found.append(("Punctuation", *kinds))
    if any(result["classes"] == "learnt" for result in results):
        here = "learnt from the corpus, which has none"
        found.append(("Word classes", "given by hand", here))
    found.append(("Seeds", "", ", ".join(map(str, seeds_of(results)))))
    return found


def _settings(rows: Sequence[Row], info: Mapping) -> list[tuple[str, str, str]]:
    paper, here = {}, {}
    for row in rows:
        theirs = resolve_settings(row.architecture, "paper", dict(row.settings))
        ours = resolve_settings(row.architecture, *_given(row, info))
        for name in set(theirs) - _OWN_LINE - {"epochs"}:
            if theirs[name] != ours[name]:
                paper.setdefault(name, []).append(theirs[name])
                here.setdefault(name, []).append(ours[name])
    return [(name, _joined(paper[name]), _joined(here[name])) for name in sorted(paper)]


def _given(row: Row, info: Mapping) -> tuple[str, dict]:
    """Recipe and keywords that a row was built with."""
    return info["recipe"], settings_of(row, info)


def _epochs(rows: Sequence[Row]) -> set[int]:
    settings = (
        resolve_settings(row.architecture, "paper", dict(row.settings)) for row in rows
    )
    return {given["epochs"] for given in settings}


def _joined(values) -> str:
    """Different values, such as "100 or 300"."""
    return " or ".join(dict.fromkeys(map(plain, sorted(values, key=str))))


def plain(value) -> str:
    """The value of a setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == ():
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {plain(v)}" for k, v in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def vectors_told(embeddings: str) -> str:
    """What the words of rows with pretrained vectors start from."""
    if embeddings == "train":
        return "word2vec, trained by gensim on the training sentences of each seed"
    return "none: random ones" if embeddings == "none" else Path(embeddings).name


def command(
    table: Table, info: Mapping, results: Sequence[Mapping], folder=None
) -> list[str]:
    """The command that measures the same again, in pieces."""
    reading = info["reading"]
    options = [("corpus", info["corpus"])]
    options += [(name, reading[name]) for name in ("dev", "test", "format")]
    options += [("option", f"{k}={v}") for k, v in reading["options"].items()]
    if reading["errors"] != "raise":
        options.append(("errors", reading["errors"]))
    options.append(("dev-share", info["dev_share"]))
    rows = measured_rows(table, results)
    if len(rows) < sum(row.architecture is not None for row in table.rows):
        options += [("rows", row.name) for row in rows]
    options += [("seeds", max(seeds_of(results), default=None))]
    options += [("epochs", info["epochs"]), ("recipe", info["recipe"])]
    options += [("set", f"{k}={v}") for k, v in info["settings"].items()]
    options.append(("embeddings", info["embeddings"]))
    if info["punctuation"] != table.punctuation:
        options.append(("punctuation", info["punctuation"]))
    options.append(("out", folder))
    start = f"keras-tagging reproduce {table.paper} --table {table.number}"
    given = [(name, value) for name, value in options if value is not None]
    return [start, *(f"--{name} {shlex.quote(str(value))}" for name, value in given)]


def surroundings(info: Mapping, results: Sequence[Mapping]) -> list[str]:
    """The machines and versions of all runs, a sentence each."""
    runs = [{**info, **result} for result in results] or [info]
    versions = [", ".join(f"{k} {v}" for k, v in r["versions"].items()) for r in runs]
    told = {"Machine": [run["machine"] for run in runs], "Versions": versions}
    return [f"{name}: {'; or '.join(dict.fromkeys(v))}." for name, v in told.items()]


def missing(
    table: Table, results: Sequence[Mapping], failures: Sequence[str]
) -> list[str]:
    """What a report lacks, a line each: rows, seeds of a row, jobs that failed."""
    seeds = {}
    for result in results:
        seeds.setdefault(result["row"], set()).add(result["seed"])
    ours = [row.name for row in table.rows if row.architecture]
    lines = []
    if absent := [name for name in ours if name not in seeds]:
        lines.append(f"Rows not measured: {'; '.join(absent)}.")
    for name in ours:
        lacking = sorted(set(seeds_of(results)) - seeds.get(name, set()))
        if name in seeds and lacking:
            listed = ", ".join(map(str, lacking))
            word = "seed" if len(lacking) == 1 else "seeds"
            lines.append(f"{name}: without {word} {listed}.")
    return [*lines, *(f"Failed: {failure}" for failure in failures)]


def failures_in(folder: Path) -> list[str]:
    """The first line of each file on a job that failed."""
    files = sorted((folder / "failures").glob("[!.]*.txt"))
    lines = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return [text.partition("\n")[0] for text in lines]
