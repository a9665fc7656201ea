"""The plot of a report: published and measured figures, row by row."""

from pathlib import Path

import pandas as pd

from keras_tagging.experiments.papers.table import Column, Table
from keras_tagging.utils.atomic import replacing

STEM = "report-plot"  # report.pdf is what LaTeX makes of report.tex
CAPTION = (
    "Published and measured figures in per cent. Bars are a standard deviation of the "
    "seeds to either side. Where the two are far apart, each has a scale of its own."
)
_PUBLISHED, _MEASURED = "#b2593a", "#1f5a8c"
_NEAR = 2.5  # one scale for both, if it is not longer than this many of the wider one
_WIDTH = 9  # inches


def draw(table: Table, frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Draws `report-plot.png` and `report-plot.pdf`; needs matplotlib.

    Args:
        frame: `report_statistics.figures` of the table.
        folder: to write to.

    Returns:
        The two files; none if there is no matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    frame = frame[frame["published"].notna() | (frame["n"] > 0)]
    rows = list(dict.fromkeys(frame["row"]))
    panels = []  # name, figures, which of the two kinds
    for column in table.columns:
        part = frame[frame["column"] == column.name].set_index("row").reindex(rows)
        panels += _panels(column, part)
    names = max(map(len, rows)) / 13
    across = max(1, min(len(panels), int((_WIDTH - names) / 2)))
    if len(panels) > len(table.columns):  # those of a column beside each other
        across -= across % 2 if across > 1 else 0
    down = -(-len(panels) // across)
    width = min(_WIDTH, names + 3.2 * across)
    height = 0.4 + (0.6 + 0.23 * len(rows)) * down
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(hspace=0.05)
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes, (name, part, kinds) in zip(grid.flat, panels, strict=False):
        _draw(axes, name, part, kinds)
    for axes in grid[:, 0]:
        # a name such as PRP$ is no formula
        axes.set_yticks(range(len(rows)), rows, parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
    handles = {}
    for axes in figure.axes:
        handles.update(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(
        handles.values(), handles, loc="outside upper center", ncols=2, frameon=False
    )
    paths = [folder / f"{STEM}.png", folder / f"{STEM}.pdf"]
    for path in paths:
        with replacing(path) as partial:
            figure.savefig(partial, dpi=160)
    return paths


def _panels(column: Column, part: pd.DataFrame) -> list[tuple]:
    """One panel of a column, or two if the figures would be dots on one scale."""
    sides = {"published": part["published"].dropna(), "mean": part["mean"].dropna()}
    sides = {name: values for name, values in sides.items() if len(values)}
    both = pd.concat(list(sides.values()))
    widest = max(values.max() - values.min() for values in sides.values())
    if both.max() - both.min() <= max(_NEAR * widest, 1):
        return [(column.name, part, tuple(sides))]
    told = {"published": "published", "mean": "measured"}
    return [(f"{column.name}, {told[side]}", part, (side,)) for side in sides]


def _draw(axes, name: str, part: pd.DataFrame, kinds: tuple[str, ...]) -> None:
    places = range(len(part))
    if "published" in kinds:
        options = {"marker": "o", "facecolors": "white", "zorder": 2, "s": 26}
        axes.scatter(
            part["published"],
            places,
            edgecolors=_PUBLISHED,
            label="published",
            **options,
        )
    if "mean" in kinds:
        axes.errorbar(
            part["mean"],
            places,
            xerr=part["sd"].fillna(0),
            fmt="o",
            color=_MEASURED,
            markersize=4.5,
            capsize=2.5,
            label="measured",
            zorder=3,
        )
    axes.set_title(name, fontsize="medium", parse_math=False)
    axes.grid(axis="both", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    axes.margins(x=0.08)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
