"""Annotated sentences as HTML: marked entities, and trees.

The elements, classes and colours are those of displaCy, the viewer of spaCy, so that
style sheets and readers made for it fit.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from itertools import accumulate
from unicodedata import bidirectional

from keras_tagging.ccg.derivation import STYLE
from keras_tagging.data.annotation import shown_columns
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import spaced
from keras_tagging.utils.limits import DRAWN_WORDS

_STYLE = files(__package__).joinpath("sentences.css").read_text("utf-8") + STYLE
_PREFACE = """<!doctype html>
<html lang="{}">
<meta charset="utf-8">
<title>keras-tagging</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; }}
figure {{ margin: 0 0 2rem; padding: 0 1rem; }}
{}</style>
<body>
"""
_CODE = re.compile(r"[a-z]{2,3}")
_COLOURED = ("PER", "PERSON", "ORG", "LOC", "GPE")
_STEP = 30  # the height of an arc above the ones below it
_LETTER, _GAP = 9, 34  # the width of a letter, and what a word has beside its letters


def language_of(metadata: Mapping) -> str:
    """The language of the corpus that a model learnt from, such as "en".

    Args:
        metadata: of the model or the pipeline.

    Returns:
        A code of ISO 639, or "" where the corpus did not tell it.
    """
    corpus = metadata.get("corpus")
    corpus = corpus if isinstance(corpus, dict) else {}
    code = corpus.get("language")
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


def preface(language: str = "") -> str:
    """The text that stands before all sentences: <body> and <html> need no end.

    Args:
        language: of the sentences, see `language_of`.
    """
    return _PREFACE.format(language or "und", _STYLE)


def as_html(sentence: Sentence) -> str:
    """A sentence as a <figure>: its text with its spans marked, and its tree.

    The tree has the words in the direction of their script. There is none without the
    columns `head` and `deprel`, and "" without words. A derivation is drawn below. With
    more words than `limits.DRAWN_WORDS` a line says that nothing is drawn.
    """
    if not sentence.tokens:
        return ""
    drawn, parts = _is_drawn(sentence.derivation), []
    if sentence.spans or not drawn:  # its words are those of the drawing
        marked = _marked(sentence)
        parts.append(f'<div class="entities" dir="auto">{marked}</div>\n')
    has_tree = {"head", "deprel"} <= sentence.columns.keys()
    if len(sentence) > DRAWN_WORDS:
        if has_tree or sentence.derivation is not None:
            parts.append(f"<p>{len(sentence):,} words are too many to draw.</p>\n")
    elif has_tree:
        parts.append(f'<div class="tree" tabindex="0">\n{tree_of(sentence)}</div>\n')
    if drawn:
        parts.append(sentence.derivation.html(style=False))
    return "".join(["<figure>\n", *parts, "</figure>\n"])


def for_notebook(sentence: Sentence) -> str:
    """The same with a table of its columns, in which each word is a column.

    A derivation that is drawn shows the tags; without further columns than parts of
    speech there is then no table, which would have the words once more.
    """
    named = shown_columns(sentence)
    if _is_drawn(sentence.derivation):
        named.pop("tag", None)
        if named.keys() <= {"upos", "xpos"}:
            return f"<style>{_STYLE}</style>{as_html(sentence)}"
    tags_first = sorted(named, key=lambda name: name != "tag")
    rows = {"": sentence.tokens, **{name: named[name] for name in tags_first}}
    body = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(v)}</td>' for v in values)}"
        "</tr>"
        for name, values in rows.items()
    )
    table = f'<div class="tree"><table>{body}</table></div>'
    return f"<style>{_STYLE}</style>{as_html(sentence)}{table}"


def _is_drawn(derivation) -> bool:
    return derivation is not None and len(derivation) <= DRAWN_WORDS


def arcs_of(heads, labels) -> Iterator[tuple[int, int, bool, str]]:
    """The arcs between words: left word, right word, whether it points right, label.

    Args:
        heads: of each word the number of its head, as a string; others have no arc.
        labels: of the arcs, a word each.
    """
    for child, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if head.isdecimal() and 0 < int(head) <= len(heads):
            left, right = sorted((child, int(head) - 1))
            yield left, right, child == right, label


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction is of a script such as Hebrew."""
    directions = (bidirectional(character) for character in text)
    return next((way for way in directions if way in "L R AL".split()), "L") != "L"


def _marked(sentence: Sentence) -> str:
    surface = sentence.surface or spaced(sentence.tokens)
    parts, place = [], 0
    for span in sorted(sentence.spans, key=lambda span: span.start):
        start, end = span.start - surface.start, span.end - surface.start
        if start < place:  # of another tagger, inside of the one before
            continue
        coloured = f" entity-{span.label}" if span.label in _COLOURED else ""
        parts += [
            escape(surface.text[place:start]),
            f'<mark class="entity{coloured}" title="{span.probability:.1%}">',
            f"{escape(surface.text[start:end])} ",
            f"<span>{escape(span.label)}</span></mark>",
        ]
        place = end
    return "".join([*parts, escape(surface.text[place:])])


def tree_of(sentence: Sentence) -> str:
    """The tree of a sentence as SVG."""
    tags = sentence.columns.get("pos") or [""] * len(sentence)
    rows = [*zip(sentence.tokens, tags, strict=True)]
    widths = [_LETTER * max(map(len, row)) + _GAP for row in rows]
    middles = [
        end - width // 2 for end, width in zip(accumulate(widths), widths, strict=True)
    ]
    if is_right_to_left("".join(sentence.tokens)):
        middles = [sum(widths) - middle for middle in middles]
    arcs = _arcs(sentence)
    top = _STEP * max((level for *_, level in arcs), default=0) + 20
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="displacy" role="img" '
        f'aria-label="{_words(sentence)}" width="{sum(widths)}" height="{top + 60}">\n'
    ]
    for (word, tag), x in zip(rows, middles, strict=True):
        parts.append(
            f'<text class="displacy-token" text-anchor="middle" y="{top + 22}">'
            f'<tspan class="displacy-word" x="{x}">{escape(word)}</tspan>'
            f'<tspan class="displacy-tag" font-size=".8em" dy="1.6em" x="{x}">'
            f"{escape(tag)}</tspan></text>\n"
        )
    for left, right, to_right, label, level in arcs:
        inward = 4 if middles[left] < middles[right] else -4
        start, end = middles[left] + inward, middles[right] - inward
        y, tip = top - level * _STEP, end if to_right else start
        parts.append(
            '<g class="displacy-arrow"><path class="displacy-arc" fill="none" '
            f'stroke="currentColor" d="M{start},{top} C{start},{y} {end},{y} '
            f'{end},{top}"/><path class="displacy-arrowhead" fill="currentColor" '
            f'd="M{tip},{top + 2} l-4,-7 8,0"/><text class="displacy-label" '
            f'font-size=".75em" text-anchor="middle" x="{(start + end) // 2}" '
            # the highest point of the curve
            f'y="{top - 3 * level * _STEP // 4 - 4}">{escape(label)}</text></g>\n'
        )
    return "".join([*parts, "</svg>\n"])


def _arcs(sentence: Sentence) -> list[tuple[int, int, bool, str, int]]:
    """The arcs: left word, right word, whether it points right, label and level.

    An arc is above those that it covers or crosses. That of the root is not drawn.
    """
    arcs = arcs_of(sentence.columns["head"], sentence.columns["deprel"])
    done = []
    for arc in sorted(arcs, key=lambda arc: arc[1] - arc[0]):
        below = (level for a, b, *_, level in done if a < arc[1] and arc[0] < b)
        done.append((*arc, 1 + max(below, default=0)))
    return done


def _words(sentence: Sentence) -> str:
    """The tree in words, for those who do not see it."""
    words = ["the root", *sentence.tokens]
    rows = zip(
        sentence.tokens, *map(sentence.columns.get, ("deprel", "head")), strict=True
    )
    relations = (
        f"{word}: {label} of {words[int(head)]}"
        for word, label, head in rows
        if head.isdecimal() and int(head) < len(words)
    )
    return escape("Tree. " + "; ".join(relations))
