"""The report of a reproduction: published figures beside measured ones."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments import papers
from keras_tagging.experiments.comparison import p_value
from keras_tagging.experiments.papers import Column, Row, Settings, Table
from keras_tagging.experiments.reproduction.plan import check_settings, is_of_parsers
from keras_tagging.metrics import holm
from keras_tagging.metrics.significance import figure_of, is_limit
from keras_tagging.utils.atomic import replacing, write_text

RESAMPLES = 9999
LEVEL = 0.05  # of significance
ALL_TESTED = 2  # a table with more columns is tested in one of them
SHOWN = 30  # pairs of rows on the page
NONE = "\N{EN DASH}"  # a cell without a figure
MEASURED = ["row", "seed", "column", "published", "measured", "tags_a_word"]
TRAINING = ["best_epoch", "epochs", "seconds", "parameters"]
# settings that the page tells otherwise
UNLISTED = {"embeddings", "vectors", "jit_compile", "tags"}
TEST = """\
A paired permutation test (approximate randomisation, {resamples:,} resamples) exchanges
the answers of two rows at random, word by word for accuracy and sentence by sentence
for F1 and attachment scores, those of all seeds that both have together; the statistic
is the difference of the mean figures. p tells how far these sentences bear out a
difference between these trained models, not how far other seeds would. Holm's
correction is for all pairs of a column. Sentences are the stricter choice for accuracy:
`keras_tagging.compare(..., units="sentences")`."""


def write_report(
    table: Table, info: Mapping, results: Sequence[Mapping], folder: str | Path
) -> list[Path]:
    """Write the report of a reproduction. Each file is replaced as a whole.

    Args:
        table: the table that was reproduced.
        info, results: as returned by `reproduction.read_results`.
        folder: the folder of the reproduction, which also lists the jobs that failed.
            The files are report.md; report.csv, with a line for each run and column of
            the table; report.pairs.csv, with a line for each tested pair of rows;
            report.png, if matplotlib is installed.

    Returns:
        The files, report.md first.
    """
    folder = Path(folder)
    runs = runs_of(table, results)
    columns = tested_columns(table)
    tested = {column.name: pairs(table, results, column) for column in columns}
    plots = draw(table, runs, folder / "report.png")
    text = markdown(table, info, results, runs, tested, folder, bool(plots))
    write_text(folder / "report.md", text, errors="replace")
    frames = {"report.csv": runs}
    if tested:
        frames["report.pairs.csv"] = pd.concat(tested.values())
    for name, frame in frames.items():
        with replacing(folder / name) as partial:
            frame.to_csv(partial, index=False, lineterminator="\n")
    return [folder / "report.md", *(folder / name for name in frames), *plots]


# Figures and tests


def runs_of(table: Table, results: Sequence[Mapping]) -> pd.DataFrame:
    """The measured figures, with a line for each run and column of the table.

    Columns: `row`, `seed`, `column`; `published` and `measured`, nan if there is no
    figure; `tags_a_word`, for `word` figures: the average number of assigned tags;
    `best_epoch`, `epochs`, `seconds`, `parameters`.
    """
    names = [row.name for row in table.rows]
    records = []
    for result in sorted(results, key=lambda r: (names.index(r["row"]), r["seed"])):
        row = table.rows[names.index(result["row"])]
        for column, published in zip(table.columns, row.published, strict=True):
            counts = result["evidence"][column.name]
            # results of earlier versions have two counts
            assigned = counts[2:] if column.figure == "word" else []
            record = {"row": row.name, "seed": result["seed"], "column": column.name}
            record |= {"published": published}
            record |= {"measured": result["figures"][column.name]}
            record |= {"tags_a_word": np.mean(assigned) if assigned else np.nan}
            records.append(record | {name: result[name] for name in TRAINING})
    frame = pd.DataFrame(records, columns=[*MEASURED, *TRAINING])
    return frame.astype(dict.fromkeys(MEASURED[3:], float))


def means_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Published figures beside `mean`, `std` and `count` of those of the seeds.

    The index has the row and the column; the standard deviation has n - 1 in the
    denominator, and is nan for one seed.
    """
    groups = runs.groupby(["row", "column"], sort=False)
    means = groups["measured"].agg(["mean", "std", "count"])
    return means.join(groups[["published", "tags_a_word"]].mean())


def tested_columns(table: Table) -> tuple[Column, ...]:
    """The columns in which rows are compared: all of them if there are at most two.

    Otherwise the first column of test sentences, or the first of all. More tests of the
    same models would say little more, and each needs a correction. Development
    sentences that each seed holds out for itself are not tested.
    """
    columns = [c for c in table.columns if table.held_out is None or c.split == "test"]
    if len(table.columns) <= ALL_TESTED:
        return tuple(columns)
    test = [column for column in columns if column.split == "test"]
    return tuple((test or columns)[:1])


def pairs(table: Table, results: Sequence[Mapping], column: Column) -> pd.DataFrame:
    """Test which measured rows differ in a column: all pairs, the smallest p first.

    A pair is tested on the seeds that both rows have, see `metrics.paired_permutation`.

    Returns:
        A line for each pair, with `column`; `better` and `worse`, the names of the
        rows; `difference` of their means over the shared seeds, not negative; `seeds`;
        `ahead`, the number of seeds in which the better row is ahead; `p`; `holm`, p
        corrected for all pairs of the column; `published_difference`, nan if a figure
        is missing.
    """
    counts: dict[str, dict] = {}
    for result in results:
        if result["figures"][column.name] is not None:
            # the third count of `word`, which some results lack, is not tested
            used = 3 if column.figure == "f1" else 2
            rows = np.array(result["evidence"][column.name][:used]).T
            counts.setdefault(result["row"], {})[result["seed"]] = rows
    figure, index = figure_of(column.figure), table.columns.index(column)
    published = {r.name: r.published[index] for r in table.rows if r.name in counts}
    records = []
    for names in combinations(published, 2):
        seeds = sorted(set(counts[names[0]]) & set(counts[names[1]]))
        if not seeds:
            continue
        both = [np.stack([counts[name][seed] for seed in seeds]) for name in names]
        by_seed = [figure(part.sum(1)) for part in both]
        # the last digits of a mean depend on the order of the seeds
        gap = round(float(by_seed[0].mean() - by_seed[1].mean()), 9)
        sign = 1 if gap >= 0 else -1
        better, worse = names[::sign]
        ahead = int((sign * (by_seed[0] - by_seed[1]).round(9) > 0).sum())
        p = p_value(*both, column.figure, resamples=RESAMPLES)
        records.append((column.name, better, worse, abs(gap), len(seeds), ahead, p))
    header = ["column", "better", "worse", "difference", "seeds", "ahead", "p"]
    frame = pd.DataFrame(records, columns=header)
    frame["holm"] = holm(frame["p"])
    figures = pd.Series(published, dtype=float)
    gaps = frame["better"].map(figures) - frame["worse"].map(figures)
    frame["published_difference"] = gaps.round(9)
    by = {"by": ["p", "difference"], "ascending": [True, False], "kind": "stable"}
    return frame.sort_values(**by, ignore_index=True)


def ranking(means: pd.DataFrame) -> str:
    """How far the ranking of the rows agrees with the published one, in words.

    Args:
        means: the lines of one column of `means_of`.
    """
    both = means[["mean", "published"]].dropna().round(9)
    if len(both) < 2:
        return "fewer than two measured rows with a published figure: no ranking."
    figures = both.to_numpy()
    first, second = np.triu_indices(len(both), 1)
    ours, theirs = np.sign(figures[first] - figures[second]).T
    words = f"{(ours == theirs).sum()} of {len(ours)} pairs of rows stand in the "
    words += f"published order, {(ours * theirs < 0).sum()} in the opposite one. "
    if len(both) > 2 and (np.ptp(figures, axis=0) > 0).all():
        rho = number(spearmanr(*figures.T).statistic)
        words += f"Spearman's rho = {rho} over {len(both)} rows. "
    best = [" and ".join(both.index[both[k] == both[k].max()]) for k in both]
    return words + f"The best row is {best[0]}, the published one {best[1]}."


def draw(table: Table, runs: pd.DataFrame, path: Path) -> list[Path]:
    """Draw published and measured figures beside each other, with matplotlib.

    Bars are a standard deviation of the seeds to either side.

    Returns:
        The file; none without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    means = means_of(runs)
    rows = list(means.index.unique(0))
    size = (9, 0.6 + (0.7 + 0.23 * len(rows)) * len(table.columns))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(table.columns), 2, sharey=True, squeeze=False)
    for column, (left, right) in zip(table.columns, grid, strict=True):
        part = means.xs(column.name, level=1).reindex(rows)
        left.plot(part["published"], range(len(rows)), "o", color="#b2593a")
        style = {"fmt": "o", "color": "#1f5a8c", "capsize": 2.5}
        error = part["std"].fillna(0)
        right.errorbar(part["mean"], range(len(rows)), xerr=error, **style)
        for axes, kind in ((left, "published"), (right, "measured")):
            axes.set_title(f"{column.name}, {kind}", parse_math=False)
            axes.grid(axis="both", color="0.9", linewidth=0.7)
        # a name such as PRP$ is not a formula
        left.set_yticks(range(len(rows)), rows, parse_math=False)
        left.set_ylim(len(rows) - 0.5, -0.5)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=160)
    return [path]


# The page


def markdown(
    table: Table,
    info: Mapping,
    results: Sequence[Mapping],
    runs: pd.DataFrame,
    tested: Mapping[str, pd.DataFrame],
    folder: Path,
    is_drawn: bool,
) -> str:
    """The report as Markdown; `tested` has the output of `pairs` by column."""
    means = means_of(runs)
    rows = [row for row in table.rows if row.name in means.index.unique(0)]
    ours = [row.name for row in table.rows if row.architecture]
    absent = [name for name in ours if name not in {row.name for row in rows}]
    failures = sorted((folder / "failures").glob("[!.]*.txt"))
    failed = [path.read_text("utf-8").partition("\n")[0] for path in failures]
    infos = [{**info, **result} for result in ({}, *results)]
    machines = {f"{one['machine']}: {one['versions']}" for one in infos}
    parts = [
        f"# {plain(title(table))}",
        "Published and measured figures can be compared as far as corpus, splits and "
        "settings are the same. Settings are listed where they differ in some row.",
        grid(["", "Paper", "Here"], conditions(table, rows, info, results), left=3),
        f"Rows not measured: {plain('; '.join(absent))}." if absent else "",
        *(f"Failed: {plain(first)}" for first in failed),
        "## Figures",
        "In per cent: mean ± standard deviation of n seeds; for several tags a word, "
        "their number in brackets. In bold face the best measured mean.",
        _figures(table, means),
        plain(table.note or ""),
        "![Published and measured figures](report.png)" if is_drawn else "",
        "## Ranking",
        "\n".join(
            f"- {plain(name)}: {plain(ranking(part.droplevel(1)))}"
            for name, part in means.groupby(level=1, sort=False)
        ),
        "## Which rows differ",
        TEST.format(resamples=RESAMPLES).replace("\n", " "),
        *(_pairs(name, frame) for name, frame in tested.items() if len(frame)),
        "## The runs",
        "All runs are in report.csv, all pairs of rows in report.pairs.csv. The corpus "
        f"has the fingerprint {plain(info['fingerprint'])}. Machines and versions: "
        f"{plain('; '.join(sorted(machines)))}.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def settings_markdown(table: Settings) -> str:
    """Return published settings beside those of `build(..., recipe="paper")`."""
    ours = resolve_settings(table.architecture, "paper", {})
    lines = []
    for name, published, keyword, value in table.rows:
        same = "yes" if ours[keyword] == value else f"no: {value}"
        line = (name, published, keyword, ours[keyword], same)
        lines.append(list(map(plain, line)))
    header = ["Setting", "Published", "Keyword", "Paper recipe", "As we read the paper"]
    parts = [f"# {plain(title(table))}", grid(header, lines, len(header))]
    return "\n\n".join([*parts, plain(table.note or "")]).strip() + "\n"


def title(table: Table | Settings) -> str:
    """The heading of a report, with the authors and the year of the paper."""
    authors = papers.PAPERS[table.paper].authors
    return f"{authors}, Table {table.number}: {table.caption}"


def conditions(
    table: Table, rows: Sequence[Row], info: Mapping, results: Sequence[Mapping]
) -> list[list[str]]:
    """The conditions in the paper and here; settings only where they differ.

    Args:
        rows: the measured rows.
    """
    lines = [
        ("corpus", table.corpus, Path(str(info["corpus"])).name),
        ("sentences", None, info["sentences"]),
        ("recipe", "paper", info["recipe"]),
        ("given settings", None, info["settings"]),
        ("pretrained vectors", None, info["embeddings"]),
        ("share for development", table.held_out, info["dev_share"]),
    ]
    if is_of_parsers(table):
        lines.append(("punctuation", table.punctuation, info["punctuation"]))
    if classes := {result["classes"] for result in results} - {None}:
        lines.append(("word classes", None, _alternatives(classes)))
    paper = check_settings(rows, {"recipe": "paper", "settings": {}, "epochs": None})
    here = check_settings(rows, info)
    both = [(paper[row.name], here[row.name]) for row in rows]
    for name in sorted({name for settings, _ in both for name in settings} - UNLISTED):
        values = [(a[name], b[name]) for a, b in both if name in a]
        if changed := [(a, b) for a, b in values if a != b]:
            lines.append((name, *map(_alternatives, zip(*changed, strict=True))))
    return [[name, plain(a), plain(b)] for name, a, b in lines]


def _figures(table: Table, means: pd.DataFrame) -> str:
    """Published figures beside measured ones, a line for each row of the table."""
    means = means.round({"mean": 9})
    best = means["mean"].groupby(level=1).agg(["max", "count"])
    notes = list(dict.fromkeys(row.note for row in table.rows if row.note))
    lines = []
    for row in table.rows:
        name = plain(row.name)
        if row.citation:
            name += f" \\[{row.citation}\\]"
        if row.note:
            name += f"[^{notes.index(row.note) + 1}]"
        cells, n = [], 0
        for column, published in zip(table.columns, row.published, strict=True):
            cell = NONE
            if (row.name, column.name) in means.index:
                mean = means.loc[(row.name, column.name)]
                n = max(n, int(mean["count"]))
                cell = number(mean["mean"])
                if mean["count"] > 1:
                    cell += f" \N{PLUS-MINUS SIGN} {number(mean['std'])}"
                most, rows = best.loc[column.name]
                if rows > 1 and mean["mean"] == most:
                    cell = f"**{cell}**"
                if not pd.isna(mean["tags_a_word"]):
                    cell += f" ({number(mean['tags_a_word'])})"
            cells += [number(published), cell]
        lines.append([name, *cells, str(n or NONE)])
    header = ["System"]
    for column in table.columns:
        header += [plain(f"{column.name} {kind}") for kind in ("published", "measured")]
    footnotes = (f"[^{i}]: {plain(note)}" for i, note in enumerate(notes, 1))
    return "\n\n".join([grid([*header, "n"], lines), *footnotes])


def _pairs(name: str, pairs: pd.DataFrame) -> str:
    """The pairs of rows in one column: how many differ, and which."""
    sure = pairs[pairs["holm"] < LEVEL]
    always = (sure["ahead"] == sure["seeds"]).sum()
    gaps = sure["published_difference"]
    text = (
        f"{plain(name)}: {len(sure)} of {len(pairs)} pairs differ at the level of "
        f"{LEVEL} after the correction, {always} with the same row ahead in all seeds; "
        f"{(gaps > 0).sum()} in the published direction and {(gaps < 0).sum()} in the "
        f"opposite one. The {min(SHOWN, len(pairs))} with the smallest p:"
    )
    lines = []
    for pair in pairs.head(SHOWN).to_dict("records"):
        # the test cannot give a smaller one
        limit = "\N{LESS-THAN OR EQUAL TO} " * is_limit(pair["p"], RESAMPLES)
        gaps = (number(pair[k], "+.2f") for k in ("difference", "published_difference"))
        ps = (f"{limit}{pair[k]:.4f}" for k in ("p", "holm"))
        ahead = f"{pair['ahead']} of {pair['seeds']}"
        lines.append([plain(pair["better"]), plain(pair["worse"]), *gaps, ahead, *ps])
    header = ["Better", "Worse", "difference", "published", "seeds ahead", "p", "Holm"]
    return f"{text}\n\n{grid(header, lines, left=2)}"


def _alternatives(values: Iterable) -> str:
    """The different values in words, such as "100 or 300"."""
    return " or ".join(dict.fromkeys(sorted(map(str, values))))


def number(value, form: str = ".2f") -> str:
    """A figure in a cell, with a proper minus."""
    return NONE if pd.isna(value) else f"{value:{form}}".replace("-", "\N{MINUS SIGN}")


def plain(text) -> str:
    """Text that Markdown prints as it is, in a table too."""
    text = re.sub(r"[\\`*\[\]<>|~$]", r"\\\g<0>", " ".join(str(text).split()))
    # h_t stays: between letters it is not emphasis
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def grid(header: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table in Markdown; so many columns are aligned left, the others right."""
    marks = ["---" if i < left else "---:" for i in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, marks, *lines))
