"""Draws the plots of the results from figures in the repository.

    python docs/draw_results.py

Writes SVG files into docs/_static, in the colours of `draw.py`. `raw-text.svg`: the
card of the model `en`, and `benchmarks/results/raw-text-peers.csv`.
`label-networks.svg`: the single runs of Table 4 of Dinarelli & Tellier in
`benchmarks/results`, and the paper's figures.
"""

import csv
import json
import tarfile
from pathlib import Path
from statistics import mean

from draw import FOLDER, GREY, SKIP, Drawing

from keras_tagging import papers

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
CARD = ROOT / "models" / "en" / "keras_tagging_en" / "card.json"
BLUE, GREEN = "#4a8fe0", "#2f9e78"
LINE = 27  # between two rows


class Plot(Drawing):
    """Rows of figures along one axis, which begins at `left`."""

    left, right = 190, 640

    def __init__(self, title, rows, begin, end, ticks, unit):
        super().__init__(title, 720, 100 + LINE * rows)
        self.begin, self.end = begin, end
        bottom = 62 + LINE * (rows - 1) + 18
        for tick in ticks:
            x = self.place(tick)
            self.line((x, 46), (x, bottom), width=0.5)
            self.text(x, bottom + 12, f"{tick:g}", size=12)
        self.text((self.left + self.right) / 2, bottom + 30, unit, size=12)

    def place(self, value):
        share = (value - self.begin) / (self.end - self.begin)
        return round(self.left + share * (self.right - self.left), 1)

    def line(self, start, end, colour=GREY, width=1.5):
        self.parts.append(
            f'<path d="M{start[0]:g},{start[1]:g} L{end[0]:g},{end[1]:g}" '
            f'stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def dot(self, x, y, colour=BLUE, radius=5, opacity=1):
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" '
            f'fill-opacity="{opacity:g}"/>'
        )

    def square(self, x, y, colour=GREEN):
        self.parts.append(
            f'<rect x="{x - 4.5:g}" y="{y - 4.5:g}" width="9" height="9" '
            f'fill="{colour}"/>'
        )

    def diamond(self, x, y, colour=SKIP):
        self.parts.append(
            f'<path d="M{x - 6:g},{y:g} L{x:g},{y - 6:g} L{x + 6:g},{y:g} '
            f'L{x:g},{y + 6:g} Z" fill="none" stroke="{colour}" stroke-width="2"/>'
        )

    def circle(self, x, y):
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="none" stroke="{SKIP}" '
            'stroke-width="2"/>'
        )

    def key(self, *entries):
        """What the marks mean, in a line above the plot."""
        for x, mark, text in entries:
            mark(x, 22)
            self.text(x + 12, 22, text, anchor="start")


def raw_text() -> Drawing:
    figures = json.loads(CARD.read_text(encoding="utf-8"))["figures"]["test"]
    for name in [x for x in figures if x.startswith("entities")]:
        del figures[name]  # which the others lack
    with open(RESULTS / "raw-text-peers.csv", newline="", encoding="utf-8") as file:
        peers = list(csv.DictReader(file))
    title = "From raw text to trees: en beside UDPipe and Stanza"
    plot = Plot(title, len(figures), 78, 100, range(80, 101, 5), "F1 on test, per cent")
    plot.key(
        (40, plot.dot, "en"),
        (130, plot.square, "UDPipe 1"),
        (240, plot.diamond, "Stanza 1.5.1, UD 2.12"),
        (430, plot.circle, "UDPipe 2, a transformer, UD 2.17"),
    )
    for row, (name, figure) in enumerate(figures.items()):
        y = 62 + LINE * row
        value = float(figure.split()[0])
        long = name in ("tokens", "sentences", "words")
        plot.text(plot.left - 20, y, name if long else name.upper(), anchor="end")
        plot.line((plot.left, y), (plot.right, y), width=0.5)
        marks = {"UDPipe 1": plot.square, "Stanza 1.5.1": plot.diamond}
        marks["UDPipe 2"] = plot.circle
        for peer in peers:
            if peer["figure"] == name:
                marks[peer["system"]](plot.place(float(peer["f1"])), y)
        plot.dot(plot.place(value), y)
        plot.text(plot.right + 14, y, f"{value:.2f}", colour=BLUE, anchor="start")
    return plot


def single_runs(name: str) -> dict[tuple[str, int], float]:
    """F1 of each row and seed of an archive."""
    found = {}
    with tarfile.open(RESULTS / f"{name}.tar.xz") as archive:
        for member in archive:
            if "/results/" in member.name and member.isfile():
                run = json.load(archive.extractfile(member))
                found[run["row"], run["seed"]] = run["figures"]["F1"]
    return found


def label_networks() -> Drawing:
    runs = single_runs("dinarelli2016-table-4")
    rows = [
        row
        for row in papers.table("dinarelli2016", 4).rows
        if row.group == "Words" and any(name == row.name for name, _ in runs)
    ]
    title = "Twelve networks that read their labels, on ATIS"
    plot = Plot(title, len(rows), 92.5, 96, (93, 94, 95, 96), "slot F1 on test")
    plot.key(
        (200, plot.dot, "a seed"),
        (300, lambda x, y: plot.line((x, y - 9), (x, y + 9)), "the mean of five"),
        (450, plot.diamond, "published"),
    )
    for index, row in enumerate(rows):
        y = 62 + LINE * index
        values = [f1 for (name, _), f1 in sorted(runs.items()) if name == row.name]
        plot.text(plot.left - 10, y, row.name, anchor="end")
        plot.line((plot.left, y), (plot.right, y), width=0.5)
        plot.diamond(plot.place(row.published[0]), y)
        for value in values:
            plot.dot(plot.place(value), y, radius=4, opacity=0.7)
        x = plot.place(mean(values))
        plot.line((x, y - 9), (x, y + 9), width=2)
        plot.text(plot.right + 14, y, f"{mean(values):.2f}", anchor="start")
    return plot


DRAWINGS = {"raw-text": raw_text, "label-networks": label_networks}


def main():
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
