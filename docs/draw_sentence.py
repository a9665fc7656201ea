"""Draws a sentence as the model `en` annotates it: python docs/draw_sentence.py

Writes docs/_static/sentence.svg, the tree that `keras_tagging.data.html` draws, in the
grey of `draw.py`.
"""

from draw import FOLDER, GREY

from keras_tagging.data.html import tree_of

TEXT = "We've read the three books that Ms. Smith sent us."


def main():
    import keras_tagging

    [sentence] = keras_tagging.load("en").annotate(TEXT)
    svg = tree_of(sentence).replace("<svg ", f'<svg color="{GREY}" fill="{GREY}" ', 1)
    (FOLDER / "sentence.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
