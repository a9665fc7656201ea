"""Entities in brat's standoff format: `T1`, a label, offsets and the text."""

import re
from collections.abc import Iterable
from dataclasses import replace

from keras_tagging.data.outgoing import entities
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.data.spans import chunks_of, spaced, spans_of

_LINE = re.compile(r"[^\r\n]+")
_END = re.compile(r"[\r\n]")


class BratWriter:
    """The entities of the sentences of one text, numbered from T1.

    An entity that goes on in another line has a fragment in each, as brat demands.
    """

    def __init__(self):
        self._count = 0

    def write(self, sentence: Sentence) -> str:
        """The rows of the next sentence.

        Raises:
            ValueError: for a label with white space, which brat cannot have.
        """
        rows = []
        for span in sentence.spans:
            if span.label.split() != [span.label]:
                raise ValueError(
                    f"the label {span.label[:40]!r} has white space, which brat cannot "
                    "have: use jsonl or spans"
                )
            self._count += 1
            parts = [m.span() for m in _LINE.finditer(span.text)]
            places = ";".join(f"{span.start + a} {span.start + b}" for a, b in parts)
            text = " ".join(span.text[a:b] for a, b in parts).replace("\t", " ")
            rows.append(f"T{self._count}\t{span.label} {places}\t{text}\n")
        return "".join(rows)


def to_brat(sentences: Iterable) -> tuple[str, str]:
    r"""A text with a sentence a line, and its entities: brat's `.txt` and `.ann`.

    Args:
        sentences: whose entities are their spans, or tags in IOB2. Where the text is
            not known, there is a blank between words.

    Raises:
        ValueError: for a label with white space.

    Example:
        >>> from keras_tagging import Sentence
        >>> from keras_tagging.data import to_brat
        >>> to_brat([Sentence(["New", "York", "!"], ["B-LOC", "I-LOC", "O"])])
        ('New York !\n', 'T1\tLOC 0 8\tNew York\n')
    """
    lines, rows, offset, writer = [], [], 0, BratWriter()
    for sentence in as_sentences(sentences):
        surface = sentence.surface or spaced(sentence.tokens)
        line = _END.sub(" ", surface.text)
        surface = replace(surface, text=line, start=offset)
        chunks = chunks_of(entities(sentence) or [])
        spans = spans_of(chunks, [1.0] * len(sentence), surface)
        rows.append(writer.write(replace(sentence, surface=surface, spans=spans)))
        lines.append(f"{line}\n")
        offset += len(line) + 1
    return "".join(lines), "".join(rows)
