"""Draws what the pages of pipelines, models, serving and scale explain.

    python docs/draw_pages.py

Writes SVG files into docs/_static, in the colours of `draw.py`.
"""

from draw import FOLDER, SKIP, Drawing


def pipeline():
    drawing = Drawing("A pipeline: text in, annotated sentences out", 720, 190)
    y = 62
    stages = (
        (70, "“I don’t know.”", "note", "text", ""),
        (252, "segmenter", "forward", "tokens, words,", "sentences"),
        (442, "parser", "forward", "UPOS, XPOS, FEATS,", "lemmas, heads, relations"),
        (640, "sentence", "output", "CoNLL-U, JSON,", "Python"),
    )
    for x, text, kind, first, second in stages:
        width = 116 if kind == "note" else 96
        drawing.box(x, y, text, kind, width=width, height=38)
        drawing.text(x, y + 40, first)
        drawing.text(x, y + 58, second)
    for before, after in ((130, 202), (302, 392), (492, 590)):
        drawing.arrow((before, y), (after, y))
    drawing.text(360, 158, "either may be left out, and taggers or a CCG parser added;")
    drawing.text(360, 176, "each of them is a .keras or an ONNX file in the folder")
    return drawing


def models():
    drawing = Drawing("A trained model is a package that a name finds", 720, 250)
    drawing.box(120, 96, "keras-tagging-en", "note", width=180, height=34)
    for row, text in enumerate(("card.json", "LICENSE", "model/")):
        drawing.box(120, 136 + 32 * row, text, "input", width=140, height=26, size=13)
    drawing.text(120, 60, "a distribution, installed by pip")
    drawing.arrow((214, 96), (306, 96))
    drawing.text(260, 80, "entry point", size=12)
    drawing.box(350, 96, "“en”", "output", width=84, height=38, size=16)
    drawing.text(350, 60, "its name")
    uses = (
        (28, 'keras_tagging.load("en")'),
        (74, "keras-tagging annotate en"),
        (120, "keras-tagging export en served/"),
        (166, "keras-tagging serve en"),
        (212, "keras-tagging models en"),
    )
    for y, text in uses:
        drawing.arrow((394, 96), (432, y), (450, y))
        drawing.box(582, y, text, "forward", width=258, height=30, size=13)
    return drawing


def serve():
    drawing = Drawing("Three ways out: a SavedModel, an ONNX file, a service", 720, 290)
    drawing.box(70, 140, "model", "forward", width=100, height=40)
    drawing.text(70, 178, "tagger, parser")
    drawing.text(70, 196, "or pipeline")
    drawing.arrow((120, 140), (150, 50), (192, 50))
    drawing.arrow((120, 140), (192, 140))
    drawing.arrow((250, 157), (250, 221))
    ways = (
        (50, "SavedModel", "TensorFlow Serving", "any program with TensorFlow"),
        (140, "ONNX file", "keras_tagging.runtime", "Python, C#, Java, ..."),
        (240, "service", "a page in the browser", "HTTP: JSON, V2"),
    )
    for y, name, first, second in ways:
        kind = "output" if y == 240 else "note"
        drawing.box(250, y, name, kind, width=112, height=34)
        for offset, text in ((-18, first), (18, second)):
            drawing.arrow((306, y), (356, y + offset), (380, y + offset))
            drawing.box(500, y + offset, text, "input", width=236, height=28, size=13)
    drawing.text(126, 92, "export", size=12, anchor="end")
    drawing.text(268, 190, "keras-tagging serve", size=12, anchor="start")
    for y, text in ((50, "2,056 MB"), (140, "144 MB"), (240, "160 MB")):
        drawing.text(668, y, text, colour=SKIP)
    drawing.text(668, 12, "installed", size=12)
    return drawing


def scale():
    drawing = Drawing("Batches of the input, annotated side by side", 720, 250)
    rows = (60, 110, 160, 210)
    drawing.box(64, 135, "books/", "note", width=90, height=40)
    drawing.text(64, 174, "text, CoNLL-U,")
    drawing.text(64, 192, "JSON, Parquet")
    for title, x in (("batches", 200), ("workers", 370), ("files", 548)):
        drawing.text(x, 24, title)
    workers = (85, 185)
    for worker, y in enumerate(workers, 1):
        drawing.box(370, y, f"worker {worker}: the model", "forward", 160, 38, 13)
    for index, y in enumerate(rows):
        drawing.arrow((110, 135), (138, y), (150, y))
        drawing.box(200, y, f"batch {index}", "input", width=92, height=30, size=13)
        near = workers[index // 2]
        drawing.arrow((247, y), (278, near), (288, near))
        drawing.arrow((451, near), (472, y), (480, y))
        drawing.box(558, y, f"file {index}", "output", width=150, height=30, size=12)
    return drawing


DRAWINGS = {"pipeline": pipeline, "models": models, "serve": serve, "scale": scale}


def main():
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
