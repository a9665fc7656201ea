"""The plot of a report: published and measured figures, row by row."""

from pathlib import Path

import pandas as pd

from keras_tagging.experiments.papers.table import Column, Table
from keras_tagging.utils.atomic import replacing

STEM = "report-plot"  # LaTeX writes report.pdf when it reads report.tex
_PUBLISHED, _MEASURED = "#b2593a", "#1f5a8c"
_NEAR = 2.5  # a shared scale is at most so many times as long as the longer one alone
_WIDTH = 9  # inches


def draw(table: Table, frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw `report-plot.png` and `report-plot.pdf` with matplotlib.

    Args:
        frame: `report_statistics.figures` of the table.
        folder: where the files go.

    Returns:
        The two files; none without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    frame = frame[frame["published"].notna() | (frame["n"] > 0)]
    rows = list(dict.fromkeys(frame["row"]))
    panels = []
    for column in table.columns:
        part = frame[frame["column"] == column.name].set_index("row").reindex(rows)
        panels += _panels(column, part)
    names = max(map(len, rows)) / 13
    across = max(1, min(len(panels), int((_WIDTH - names) / 2)))
    if len(panels) > len(table.columns) and across > 1:
        across -= across % 2  # the two panels of a column are neighbours
    down = -(-len(panels) // across)
    size = min(_WIDTH, names + 3.2 * across), 0.4 + (0.6 + 0.23 * len(rows)) * down
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(hspace=0.05)
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes, (name, part, kinds) in zip(grid.flat, panels, strict=False):
        _draw(axes, name, part, kinds)
    for axes in grid[:, 0]:
        # a name such as PRP$ is not a formula
        axes.set_yticks(range(len(rows)), rows, parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
    handles = {}
    for axes in figure.axes:
        handles.update(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    where = {"loc": "outside upper center", "ncols": 2, "frameon": False}
    figure.legend(handles.values(), handles, **where)
    paths = [folder / f"{STEM}.png", folder / f"{STEM}.pdf"]
    for path in paths:
        with replacing(path) as partial:
            figure.savefig(partial, dpi=160)
    return paths


def _panels(column: Column, part: pd.DataFrame) -> list[tuple]:
    """Name, figures and kinds of each panel: one for a column, or one for each kind.

    Two if the kinds are so far apart that figures would be dots on a shared scale.
    """
    kinds = {"published": part["published"].dropna(), "mean": part["mean"].dropna()}
    kinds = {kind: values for kind, values in kinds.items() if len(values)}
    both = pd.concat(list(kinds.values()))
    longer = max(values.max() - values.min() for values in kinds.values())
    if both.max() - both.min() <= max(_NEAR * longer, 1):
        return [(column.name, part, tuple(kinds))]
    labels = {"published": "published", "mean": "measured"}
    return [(f"{column.name}, {labels[kind]}", part, (kind,)) for kind in kinds]


def _draw(axes, name: str, part: pd.DataFrame, kinds: tuple[str, ...]) -> None:
    heights = range(len(part))
    if "published" in kinds:
        style = {"facecolors": "white", "edgecolors": _PUBLISHED, "zorder": 2, "s": 26}
        axes.scatter(part["published"], heights, label="published", **style)
    if "mean" in kinds:
        style = {"fmt": "o", "color": _MEASURED, "markersize": 4.5, "capsize": 2.5}
        style |= {"xerr": part["sd"].fillna(0), "zorder": 3}
        axes.errorbar(part["mean"], heights, label="measured", **style)
    axes.set_title(name, fontsize="medium", parse_math=False)
    axes.grid(axis="both", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    axes.margins(x=0.08)
    axes.spines[["top", "right", "left"]].set_visible(False)
