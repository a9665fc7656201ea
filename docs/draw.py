"""Draws the networks, and the picture of the home page: python docs/draw.py

Writes SVG files into docs/_static. Boxes bring their own light fill, and lines and
words beside them are of a middle grey, so that all is legible on white and on black.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent / "_static"
GREY, INK, SKIP = "#7b828c", "#1b1f24", "#d9730d"
FILLS = {
    "input": "#dfe3ea",
    "forward": "#a9c9f5",
    "backward": "#a8dcc8",
    "output": "#f7d794",
    "note": "#eac5e8",
}
FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
SUBSCRIPTS = "₁₂₃₄₅"
STEP = 130  # between two tokens
LEFT = 175  # the first token; row titles stand before it


class Drawing:
    """An SVG picture, in pixels; `top` is where it begins."""

    def __init__(self, title: str, width: int, height: int, top: int = 0):
        self.title, self.width, self.height = title, width, height - top
        self.top = top
        self.parts = []

    def box(self, x, y, text, kind, width=64, height=30, size=14):
        """A rounded box around a text, by its middle."""
        self.parts.append(
            f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" '
            f'height="{height:g}" rx="6" fill="{FILLS[kind]}" stroke="{GREY}"/>'
        )
        self.text(x, y, text, size=size, colour=INK)

    def text(self, x, y, text, size=13, colour=GREY, anchor="middle"):
        """A line of text, by the middle of its height."""
        self.parts.append(
            f'<text x="{x:g}" y="{y + size * 0.35:g}" font-size="{size}" '
            f'fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def row(self, y, title):
        """The title of a row."""
        self.text(LEFT - 68, y, title, anchor="end")

    def legend(self, y, text, colour=SKIP):
        """A line of text from the first token on."""
        self.text(LEFT - 42, y, text, colour=colour, anchor="start")

    def arrow(self, *points, colour=GREY, dashed=False):
        """An arrow along straight lines."""
        line = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._path(f"M{line}", colour, dashed)

    def curve(self, start, first, second, end, colour=SKIP, dashed=False):
        """An arrow along a Bézier curve."""
        points = " ".join(f"{x:g},{y:g}" for x, y in (first, second, end))
        self._path(f"M{start[0]:g},{start[1]:g} C{points}", colour, dashed)

    def _path(self, path, colour, dashed):
        head = "skip" if colour == SKIP else "line"
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"'
            f'{dashes} marker-end="url(#{head})"/>'
        )

    def svg(self) -> str:
        """The text of the file."""
        heads = "".join(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 Z" '
            f'fill="{colour}"/></marker>'
            for name, colour in (("line", GREY), ("skip", SKIP))
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
            f'height="{self.height}" viewBox="0 {self.top} {self.width} {self.height}" '
            f'role="img" font-family="{FONT}">',
            f"<title>{escape(self.title)}</title>",
            f"<defs>{heads}</defs>",
            *self.parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def columns(count):
    """The middles of the tokens."""
    return [LEFT + STEP * t for t in range(count)]


def inputs(drawing, xs, y, title, width=64):
    """A row of boxes, one a token."""
    drawing.row(y, title)
    for x, index in zip(xs, SUBSCRIPTS, strict=False):
        drawing.box(x, y, "x" + index, "input", width=width)


def both_directions(drawing, xs, y, title, cell):
    """A layer that reads in both directions; `y` is where its input ends.

    Returns:
        where its output ends.
    """
    forward, backward, both = y - 40, y - 84, y - 126
    drawing.row((forward + backward) / 2, title)
    drawing.row(both, "both directions")
    for x in xs:
        drawing.arrow((x - 22, y), (x - 22, forward + 16))
        drawing.arrow((x + 32, y), (x + 32, backward + 16))
        drawing.box(x - 16, forward, f"{cell} →", "forward", width=62)
        drawing.box(x + 16, backward, f"← {cell}", "backward", width=62)
        drawing.arrow((x - 32, forward - 16), (x - 32, both + 11))
        drawing.arrow((x + 22, backward - 16), (x + 22, both + 11))
        drawing.box(x, both, "[ h→ ; h← ]", "input", width=96, height=22, size=12)
    for x in xs[1:]:
        drawing.arrow((x - STEP + 15, forward), (x - 48, forward))
        drawing.arrow((x - 15, backward), (x - STEP + 48, backward))
    return both - 11


def outputs(drawing, xs, y, title, rise=50):
    """A row of predicted labels, `rise` above `y`.

    Returns:
        where the row is.
    """
    top = y - rise
    drawing.row(top, title)
    for x, index in zip(xs, SUBSCRIPTS, strict=False):
        drawing.arrow((x, y), (x, top + 16))
        drawing.box(x, top, "y" + index, "output")
    return top


def layered(title, cell, crf=False):
    """Layers of which each reads both directions of the one below."""
    drawing = Drawing(title, 650, 470, top=70)
    xs = columns(4)
    inputs(drawing, xs, 440, "features", width=96)
    y = both_directions(drawing, xs, 425, "layer 1", cell)
    y = both_directions(drawing, xs, y, "layer 2", cell)
    y = outputs(drawing, xs, y, "CRF" if crf else "softmax")
    if crf:
        for x in xs[1:]:
            drawing.arrow((x - STEP + 32, y), (x - 33, y), colour=SKIP)
            drawing.text(x - STEP / 2, y - 13, "A", colour=SKIP)
    return drawing


def stacked(title, cell, link: Callable, legend):
    """A stack of each direction, with a link between its layers.

    Args:
        link: draws it, given the drawing, `x`, the layer, and `rows`: where the layers
            are, from the input on.
    """
    drawing = Drawing(title, 850, 440)
    xs, rows = columns(3), [340 - 66 * n for n in range(4)]
    inputs(drawing, xs, 410, "features")
    drawing.row(rows[0], "input layer")
    mirror = xs[-1] + 200
    for n, y in enumerate(rows):
        text = "h⁰ = tanh" if n == 0 else f"{cell} →"
        if n:
            drawing.row(y, f"layer {n}")
        for i, x in enumerate(xs):
            drawing.arrow((x, y + 50), (x, y + 17))
            drawing.box(x, y, text, "forward" if n else "input", width=84)
            if i and n:
                drawing.arrow((x - STEP + 42, y), (x - 43, y))
            if n:
                link(drawing, x, n, rows)
        kind = "backward" if n else "input"
        drawing.box(mirror, y, f"← {cell}" if n else "h⁰ = tanh", kind, width=84)
        drawing.arrow((mirror, y + 50), (mirror, y + 17))
        if n:
            drawing.arrow((mirror + 85, y), (mirror + 43, y))
            link(drawing, mirror, n, rows)
    drawing.box(mirror, 410, "x₃", "input")
    drawing.text(mirror + 46, 410, "the same, right to left", anchor="start")
    top = rows[-1]
    outputs(drawing, xs, top - 16, "softmax")
    drawing.arrow((mirror, top - 16), (mirror, top - 66), (xs[-1] + 33, top - 66))
    drawing.legend(22, legend)
    return drawing


def skip_link(drawing, x, n, rows):
    """From the output of the layer two below to the output."""
    if n > 1:
        start, end = rows[n - 2] - 22, rows[n] - 22
        side = x + 84
        drawing.curve((x, start), (side, start), (side, end), (x + 3, end))


def shortcut_link(drawing, x, n, rows):
    """From the layer two below into the block, and to its output."""
    if n > 1:
        start, y = rows[n - 2] - 22, rows[n]
        side = x + 84
        drawing.curve((x, start), (side, start), (side, y - 22), (x + 3, y - 22))
        drawing.curve((x, start), (side, start), (side, y + 8), (x + 43, y + 8))


def memory_link(drawing, x, n, rows):
    """From the memory cell of the layer below to the memory cell."""
    if n > 1:
        start, end = rows[n - 1] - 8, rows[n] + 8
        drawing.curve((x + 42, start), (x + 66, start), (x + 66, end), (x + 43, end))


def recurrent_highway():
    title = "Recurrent highway network: three micro-steps for each token"
    drawing = Drawing(title, 680, 400)
    xs, rows = columns(3), [270, 214, 158]
    inputs(drawing, xs, 370, "features")
    drawing.row(325, "input layer")
    for n, y in enumerate(rows):
        drawing.row(y, f"micro-step {n + 1}")
    drawing.row(102, "output gate")
    for i, x in enumerate(xs):
        drawing.arrow((x, 355), (x, rows[0] + 17))
        drawing.box(x, 325, "tanh", "input", height=24)
        for n, y in enumerate(rows):
            drawing.box(x, y, "s" + SUBSCRIPTS[n], "forward")
            drawing.arrow((x, y - 16), (x, y - 40))
        drawing.box(x, 102, "o ⊙ tanh(s₃)", "forward", width=100)
        if i:
            turn, y = x - STEP / 2 - 4, rows[0]
            drawing.arrow((x - STEP + 51, 102), (turn, 102), (turn, y), (x - 33, y))
    outputs(drawing, xs, 86, "softmax")
    drawing.text(xs[-1] + 66, 214, "and the same", anchor="start")
    drawing.text(xs[-1] + 66, 232, "from right to left", anchor="start")
    return drawing


def label_networks():
    title = "Networks that read their own labels: those before a token are its input"
    drawing = Drawing(title, 650, 370)
    xs = columns(4)
    drawing.row(340, "words")
    drawing.row(270, "window Iₜ")
    drawing.row(180, "hidden hₜ")
    for t, (x, index) in enumerate(zip(xs, SUBSCRIPTS, strict=False)):
        drawing.box(x, 340, "w" + index, "input")
        for near in xs[max(t - 1, 0) : t + 2]:
            drawing.arrow((near, 324), (x + (near - x) * 0.2, 286))
        drawing.box(x, 270, "I" + index, "input", width=84)
        drawing.arrow((x, 254), (x, 197))
        drawing.box(x, 180, "h" + index, "forward", width=84)
        for back, end in ((1, 8), (2, -4)):
            if t >= back:
                before = xs[t - back]
                drawing.curve(
                    (before + 33, 90 - end),
                    (before + 70, 100),
                    (x - 75, 172),
                    (x - 43, 180 + end),
                )
        if t:
            drawing.arrow((x - STEP + 42, 192), (x - 43, 192), dashed=True)
    outputs(drawing, xs, 164, "labels", rise=74)
    drawing.legend(22, "solid: labels before the token (J-RNN, I-RNN, I+E-RNN)")
    drawing.legend(44, "dashed: hidden states before it (E-RNN, I+E-RNN)", GREY)
    return drawing


def parsers():
    drawing = Drawing("Dependency parser: a recurrent layer over its moves", 780, 400)
    xs = [200, 420, 640]
    states = (("ROOT", "She reads …"), ("ROOT She", "reads …"), ("ROOT She reads", "…"))
    moves = ("SHIFT", "SHIFT", "LEFT-ARC nsubj")
    for y, title in (
        (366, "stack | buffer"),
        (290, "18 nodes"),
        (200, "hidden layer"),
        (120, "legal moves"),
        (50, "best move"),
    ):
        drawing.text(100, y, title, anchor="end")
    for i, (x, (stack, buffer)) in enumerate(zip(xs, states, strict=True)):
        drawing.box(x - 34, 366, stack, "input", width=110, size=12)
        drawing.box(x + 64, 366, buffer, "note", width=80, size=12)
        drawing.arrow((x, 350), (x, 307))
        drawing.box(x, 290, "words, tags, labels", "input", width=150, size=13)
        drawing.arrow((x, 274), (x, 217))
        drawing.box(x, 200, "h" + SUBSCRIPTS[i], "forward", width=100, height=34)
        drawing.arrow((x, 182), (x, 137))
        drawing.box(x, 120, "softmax", "output", width=100)
        drawing.arrow((x, 104), (x, 67))
        drawing.box(x, 50, moves[i], "output", width=130, size=13)
        if i:
            before = xs[i - 1]
            drawing.arrow((before + 51, 200), (x - 51, 200), colour=SKIP)
            drawing.curve(
                (before + 66, 50),
                (before + 130, 60),
                (before + 106, 330),
                (x - 91, 358),
                colour=GREY,
                dashed=True,
            )
    drawing.legend(16, "recurrent parsers only: the hidden state of the move before")
    return drawing


def biaffine():
    drawing = Drawing("Biaffine parser: tags and trees of one network", 780, 380)
    xs = [250, 410, 570]
    rows = (
        (350, "words, features", "input"),
        (276, "first BiLSTM", "forward"),
        (166, "second BiLSTM", "backward"),
    )
    for y, title, kind in rows:
        drawing.text(150, y, title, anchor="end")
        for i, x in enumerate(xs):
            name = "x" if kind == "input" else "h¹" if kind == "forward" else "h"
            drawing.box(x, y, name + SUBSCRIPTS[i], kind, width=90, height=32)
    drawing.text(150, 222, "tags of the first layer", anchor="end")
    drawing.text(150, 100, "tags, heads, labels", anchor="end")
    for before, after in zip(xs, xs[1:], strict=False):
        for y in (276, 166):
            drawing.arrow((before + 46, y - 6), (after - 46, y - 6), colour=SKIP)
            drawing.arrow((after - 46, y + 6), (before + 46, y + 6), colour=SKIP)
    for x in xs:
        drawing.arrow((x, 334), (x, 293))
        drawing.arrow((x - 20, 259), (x - 20, 183))
        drawing.arrow((x + 20, 259), (x + 20, 235))
        drawing.box(x + 20, 222, "p", "note", width=40, height=24)
        drawing.arrow((x + 20, 209), (x + 20, 183))
        drawing.arrow((x, 149), (x, 117))
        drawing.box(x, 100, "y, d, g", "output", width=90, height=32)
        drawing.arrow((x, 83), (410, 47), colour=GREY)
    drawing.box(410, 30, "best tree with one root", "output", width=190, height=32)
    return drawing


def overview():
    words = ("They", "happily", "found", "us", ".")
    tags = ("NP", "(S\\NP)/(S\\NP)", "(S[dcl]\\NP)/NP", "NP", ".")
    arcs = ((2, 0, "nsubj"), (2, 1, "advmod"), (2, 3, "obj"), (2, 4, "punct"))
    title = "A sentence, its features, a network, and the tags and tree it predicts"
    drawing = Drawing(title, 775, 490, top=20)
    xs = columns(5)
    for y, title in (
        (470, "words"),
        (402, "features"),
        (300, "network"),
        (186, "tags"),
        (100, "tree"),
    ):
        drawing.row(y, title)
    for t, (x, word, tag) in enumerate(zip(xs, words, tags, strict=True)):
        drawing.text(x, 470, word, size=19)
        drawing.arrow((x, 454), (x, 420))
        for n, (kind, width) in enumerate(
            (("input", 44), ("note", 20), ("output", 20))
        ):
            drawing.box(x + (-22, 11, 32)[n], 402, "", kind, width=width, height=26)
        drawing.arrow((x - 22, 388), (x - 22, 342))
        drawing.arrow((x + 32, 388), (x + 32, 292))
        drawing.box(x - 16, 326, "h →", "forward", width=62)
        drawing.box(x + 16, 276, "← h", "backward", width=62)
        drawing.arrow((x - 32, 310), (x - 32, 206))
        drawing.arrow((x + 22, 260), (x + 22, 206))
        drawing.box(x, 188, tag, "output", width=116, size=13)
        if t:
            drawing.arrow((x - STEP + 15, 326), (x - 48, 326))
            drawing.arrow((x - 15, 276), (x - STEP + 48, 276))
    for head, child, relation in arcs:
        start, end = xs[head] + 10 * (1 if child > head else -1), xs[child]
        top = 168 - 62 * abs(head - child)
        drawing.curve((start, 172), (start, top), (end, top), (end, 171))
        drawing.text((start + end) / 2, 172 - 0.75 * (172 - top) - 11, relation)
    return drawing


DRAWINGS = {
    "overview": overview,
    "bigru": lambda: layered("Bi-GRU: two bidirectional layers and a softmax", "GRU"),
    "bilstm": lambda: layered("Bi-LSTM: two bidirectional layers, softmax", "LSTM"),
    "bilstm-crf": lambda: layered("Bi-LSTM with a CRF over the tags", "LSTM", crf=True),
    "skip-bilstm": lambda: stacked(
        "Skip Bi-LSTM: each layer also adds the output of the layer two below",
        "LSTM",
        skip_link,
        "the output of the layer two below, through the gate g",
    ),
    "shortcut-bilstm": lambda: stacked(
        "Shortcut Bi-LSTM: the layer two below enters each block and its output",
        "block",
        shortcut_link,
        "the layer two below, through the gate g, into the block and its output",
    ),
    "highway-bilstm": lambda: stacked(
        "Highway Bi-LSTM: each memory cell also reads the one a layer below",
        "LSTM",
        memory_link,
        "the memory of the layer below, through the gate d",
    ),
    "rhn": recurrent_highway,
    "label-rnns": label_networks,
    "parsers": parsers,
    "biaffine": biaffine,
}


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
