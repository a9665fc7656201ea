"""Plots of the tables, as SVG inside a page; needs matplotlib."""

import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

COLOURS = ["#1b5e8c", "#c2571a", "#4a7c3a", "#7a4f9a"]
LINES = ["-", "--", ":"]
MATRIX_LABELS = 14
GROUPS = 14
LONGEST = 26  # characters of a label
STYLE = {
    "svg.fonttype": "none",  # text stays text, in the fonts of the page
    "svg.hashsalt": "keras-tagging",  # the same table gives the same file
    "text.parse_math": False,  # a label such as PRP$ is not a formula
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
}


def svg(section) -> str:
    """The plot of a `Section` as an element `<svg>`."""
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE), warnings.catch_warnings():
        # the browser draws letters that this font lacks, from another font
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=(5.6, 3.2), layout="constrained")
        section.plot(figure, section.table)
        file = io.StringIO()
        unknown = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=unknown, transparent=True)
    text = file.getvalue()
    # without the XML prolog; ids must be unique among all plots of a page
    text = text[text.index("<svg") :]
    prefix = f"{section.name}-"
    text = re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>{prefix}", text)
    # a style element would apply to the whole page
    text = re.sub("<style.*?</style>", "", text, flags=re.DOTALL)
    return text.replace("<svg", '<svg role="img" stroke-linejoin="round"', 1)


# Plots: functions of a figure and a table


def groups(figure, table, *, key: str, figures: Sequence[str], xlabel: str) -> None:
    """Shares of each group, the last of them with its interval."""
    if len(table) > GROUPS:
        xlabel = f"{xlabel} (the first {GROUPS} of {len(table)})"
        table = table.head(GROUPS)
    axes = figure.subplots()
    places = np.arange(len(table))
    for i, name in enumerate(figures):
        x = places + 0.16 * (i - (len(figures) - 1) / 2)
        y = 100 * table[name]
        axes.plot(x, y, "o", color=COLOURS[i], label=_words(name))
        if i == len(figures) - 1 and "low" in table:
            ends = 100 * table["low"], 100 * table["high"]
            axes.vlines(x, *ends, color=COLOURS[i], linewidth=1.5)
    counts = next((c for c in ("tokens", "words", "gold") if c in table), None)
    axes.set_xticks(
        places,
        [
            f"{_short(name)}\n{count:,}"
            for name, count in zip(table[key], table[counts], strict=True)
        ],
        fontsize=9 if len(table) < 9 else 7,
    )
    axes.set_xlim(-0.6, len(table) - 0.4)
    axes.set_xlabel(f"{xlabel}; below: {'arcs' if counts == 'gold' else 'tokens'}")
    axes.set_ylabel("%")
    axes.grid(axis="x", visible=False)
    if len(figures) > 1:  # above the plot, where no point is
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(figures))


def by_group(key: str, figures: Sequence[str], xlabel: str) -> Callable:
    """The plot `groups` of a table whose column `key` names the groups."""
    return partial(groups, key=key, figures=figures, xlabel=xlabel)


def reliability(figure, table) -> None:
    """Accuracy over confidence, and how many tokens have that confidence."""
    above, below = figure.subplots(
        2, 1, sharex=True, gridspec_kw={"height_ratios": [3, 1]}
    )
    figure.set_size_inches(4.6, 5)
    x, y = 100 * table["confidence"], 100 * table["accuracy"]
    above.plot([0, 100], [0, 100], "--", color="#999999", label="calibrated")
    above.vlines(
        x, 100 * table["low"], 100 * table["high"], color=COLOURS[0], linewidth=1.5
    )
    above.plot(x, y, "o-", color=COLOURS[0], label="model")
    above.set_ylabel("accuracy, %")
    above.set_ylim(-3, 103)
    above.legend(loc="upper left")
    width = 100 * (table["up_to"] - table["above"])
    below.bar(
        100 * table["above"],
        table["tokens"],
        width,
        align="edge",
        color=COLOURS[0],
        edgecolor="white",
    )
    # start at 1, to have a power of ten to label; few tokens need minor labels too
    below.set_yscale("log")
    most = table["tokens"].max()
    below.set_ylim(0.7, 1.5 * most)
    if most < 100:
        below.set_yticks([n for n in (1, 3, 10, 30) if n <= most])
    below.yaxis.set_major_formatter("{x:,.0f}")
    below.yaxis.set_minor_formatter("")
    below.set_xlim(-1, 101)
    below.set_xlabel("confidence, %")
    below.set_ylabel("tokens")


def matrix(figure, table) -> None:
    """The confusions of the most frequent labels."""
    labels = set()
    for pair in zip(table["gold"], table["predicted"], strict=True):
        if len(labels.union(pair)) <= MATRIX_LABELS:
            labels.update(pair)
    labels = sorted(labels)
    counts = table.pivot(index="gold", columns="predicted", values="count")
    values = counts.reindex(index=labels, columns=labels).to_numpy(float)
    figure.set_size_inches(8.4, 1.9 + 0.3 * len(labels))
    axes = figure.subplots()
    # cells, because imshow makes a bitmap; not too dark, because of the black numbers
    places = range(len(labels))
    masked, most = np.ma.masked_invalid(values), np.nanmax(values)
    axes.pcolormesh(places, places, masked, cmap="Blues", vmin=0, vmax=1.8 * most)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    for i, j in np.argwhere(values > 0):
        axes.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center", fontsize=8)
    names = [_short(label) for label in labels]
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(places, names, fontsize=8, **turned)
    axes.set_yticks(places, names, fontsize=8)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold")
    axes.grid(visible=False)


def curves(figure, table, monitor: str) -> None:
    """Losses, and the other figures beside them, over the epochs.

    Both plots have one colour for training and one for development.
    """
    figure.set_size_inches(8.4, 3.2)
    left, right = figure.subplots(1, 2)
    losses = [name for name in ("loss", "val_loss") if name in table]
    shares = [monitor] if monitor in table else []
    shares += [n for n in ("accuracy", "val_accuracy", "val_uas") if n in table]
    for axes, names, factor in ((left, losses, 1), (right, dict.fromkeys(shares), 100)):
        drawn = [0, 0]
        for name in names:
            split = int(name.startswith("val_"))
            axes.plot(
                table["epoch"],
                factor * table[name],
                LINES[drawn[split] % len(LINES)],
                marker="o" if len(table) < 30 else None,
                markersize=4,
                color=COLOURS[split],
                label=name,
            )
            drawn[split] += 1
        if monitor in table and table[monitor].notna().any():
            best = table.loc[table[monitor].idxmax(), "epoch"]
            axes.axvline(best, linestyle=":", color="#777777")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("epoch")
        if axes.lines:
            axes.legend()
    left.set_ylabel("loss")
    right.set_ylabel("%")


def _words(name: str) -> str:
    return name.upper() if name in ("uas", "las") else name.replace("_", " ")


def _short(label: str) -> str:
    label = str(label).encode("utf-8", "replace").decode()
    label = "".join(c if c.isprintable() else "\ufffd" for c in label)
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}\u2026"
