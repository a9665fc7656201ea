"""Draws a sentence as the model `en` annotates it: python docs/draw_sentence.py

Writes docs/_static/sentence.svg: words, lemmas, parts of speech, and the arcs of the
tree. The colours are those of `draw.py`.
"""

from draw import FOLDER, GREY, SKIP, Drawing

TEXT = "We've read the three books that Ms. Smith sent us."
SIZE = 8  # of a character, in pixels
GAP, LEVEL = 22, 30  # between two words, and between two arcs
ROWS = (("lemma", GREY), ("pos", SKIP), ("xpos", GREY))


def levels(heads: list[int]) -> dict[int, int]:
    """The height of the arc to each word that has a head: above all arcs inside it."""
    arcs = {word: sorted((word, head)) for word, head in enumerate(heads, 1) if head}
    found: dict[int, int] = {}
    for word in sorted(arcs, key=lambda w: arcs[w][1] - arcs[w][0]):
        begin, end = arcs[word]
        inside = (
            found[other]
            for other in found
            if begin <= arcs[other][0] and arcs[other][1] <= end
        )
        found[word] = 1 + max(inside, default=0)
    return found


def draw(sentence) -> Drawing:
    """The drawing of a sentence with its columns."""
    columns = sentence.columns
    heads = list(map(int, columns["head"]))
    shown = [columns[name] for name, _ in ROWS]
    texts = zip(sentence.tokens, *shown, columns["deprel"], strict=True)
    middles, right = [], GAP
    for cells in texts:
        width = SIZE * max(map(len, cells))
        middles.append(right + width / 2)
        right += width + GAP
    height = levels(heads)
    top = LEVEL * (1 + max(height.values(), default=0))
    drawing = Drawing("An annotated sentence", int(right), top + 110)
    for word, (x, token) in enumerate(zip(middles, sentence.tokens, strict=True), 1):
        head = heads[word - 1]
        if head:
            y = top - LEVEL * height[word]
            # an arc begins beside the one that ends at its head
            from_x = middles[head - 1] + (6 if word > head else -6)
            drawing.arrow((from_x, top), (from_x, y), (x, y), (x, top - 4))
            middle = (from_x + x) / 2
            drawing.text(middle, y - 8, columns["deprel"][word - 1], size=11)
        else:
            drawing.arrow((x, 6), (x, top - 4), colour=SKIP)
            drawing.text(x + 6, 12, "root", size=11, colour=SKIP, anchor="start")
        drawing.box(x, top + 16, token, "input", SIZE * len(token) + 14, 26, 14)
        for row, (name, colour) in enumerate(ROWS):
            text = columns[name][word - 1]
            drawing.text(x, top + 44 + 20 * row, text, size=12, colour=colour)
    return drawing


def main():
    import keras_tagging

    [sentence] = keras_tagging.load("en").annotate(TEXT)
    (FOLDER / "sentence.svg").write_text(draw(sentence).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
