"""A plot of the labels and sentence lengths of a corpus; needs matplotlib."""

from pathlib import Path

from keras_tagging.utils.atomic import replacing

MAX_LABELS = 40


def figure_class():
    """matplotlib's `Figure`.

    Raises:
        ValueError: if matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError(
            'plots need matplotlib: pip install "keras-tagging[plots]", or from a '
            'clone pip install ".[plots]"'
        ) from None
    return Figure


def plot_description(description, path: str | Path) -> Path:
    """Draw the shares of the most frequent labels, by split, and the sentence lengths.

    Args:
        description: the output of `describe`.
        path: the file to write; its ending tells the format: .png, .pdf, .svg.

    Raises:
        ValueError: if matplotlib is not installed or cannot write this format.
    """
    Figure = figure_class()
    counts = {split: c for split, c in description.labels.items() if c}
    figure = Figure(figsize=(10, 9 if counts else 4), layout="constrained")
    rows = 2 if counts else 1
    if counts:
        _draw_labels(figure.add_subplot(rows, 1, 1), counts)
    _draw_lengths(figure.add_subplot(rows, 1, rows), description.lengths)
    figure.suptitle(description.name, parse_math=False)
    path = Path(path)
    with replacing(path) as partial:
        figure.savefig(partial)
    return path


def _draw_labels(axes, counts) -> None:
    total = sum(counts.values(), type(next(iter(counts.values())))())
    names = [name for name, _ in total.most_common(MAX_LABELS)]
    width = 0.8 / len(counts)
    for index, (split, count) in enumerate(counts.items()):
        shares = [100 * count[name] / count.total() for name in names]
        positions = [i - 0.4 + (index + 0.5) * width for i in range(len(names))]
        axes.bar(positions, shares, width, label=split)
    # a label such as PRP$ is not a formula
    axes.set_xticks(range(len(names)), names, rotation=90, parse_math=False)
    axes.set_yscale("log")
    axes.set_ylabel("% of the tokens")
    shown = f"the {len(names)} most frequent of {len(total)} labels"
    axes.set_title(shown if len(names) < len(total) else f"{len(total)} labels")
    axes.legend()


def _draw_lengths(axes, lengths) -> None:
    for row in lengths:
        percentiles = {int(k.split()[0]): v for k, v in row.items() if k != "split"}
        axes.plot(percentiles.values(), percentiles.keys(), "o-", label=row["split"])
    axes.set_xlabel("tokens in a sentence")
    axes.set_ylabel("% of sentences not longer")
    axes.legend()
