"""XML, read as a stream and without the expansion of entities."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from keras_tagging.corpora.archives import Member
from keras_tagging.data.records import CorpusError, MalformedSentence

BLOCK = 1 << 16
DEEPEST = 200  # elements; a document that nests deeper is no corpus


@dataclass(slots=True)
class Element:
    """An element: the line it begins in, and what it holds, text and elements."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list = field(default_factory=list)

    def elements(self, *tags: str) -> Iterator["Element"]:
        """Those of these names inside of it, at any depth, in their order; but none
        inside of another one of them."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag in tags:
                    yield child
                else:
                    yield from child.elements(*tags)

    def text(self) -> str:
        """All text inside of it, with blanks where elements begin and end."""
        parts = (c if isinstance(c, str) else f" {c.text()} " for c in self.children)
        return "".join(parts)


def elements(
    member: Member,
    *tags: str,
    encoding: str | None = None,
    undeclared: str = "utf-8",
) -> Iterator[Element]:
    """The elements of these names, none inside of another; one is kept at a time.

    Args:
        member: an XML document.
        tags: their names.
        encoding: of the document, whatever it declares.
        undeclared: encoding of a document that declares none.

    Raises:
        CorpusError: if it is not well-formed, or defines entities.
        ValueError: if the encoding is unknown.
    """
    with member.open() as stream:
        head = stream.peek(200)[:200]
        if encoding is None and not re.search(
            rb"<\?xml[^>]*encoding|^\xff|^\xfe", head
        ):
            encoding = undeclared
        builder = _Builder(tags, member.name)
        # A DOCTYPE may stand there; but no entity may be defined or fetched.
        parser = DefusedXMLParser(target=builder, encoding=encoding, forbid_dtd=False)
        builder.expat = parser.parser
        try:
            while block := stream.read(BLOCK):
                parser.feed(block)
                yield from builder.taken()
            parser.close()
        except ParseError as error:
            line = error.position[0]
            what = f"is not well-formed XML: {str(error).partition(': line')[0]}"
            remedy = "check that it is complete, and pass its encoding if it is another"
            raise CorpusError(f"{member.name}:{line}: {what}; {remedy}") from None
        except DefusedXmlException as error:
            what = f"defines or fetches entities ({type(error).__name__})"
            line = parser.parser.CurrentLineNumber
            remedy = "no corpus does; remove its DOCTYPE if you trust it"
            raise CorpusError(f"{member.name}:{line}: {what}; {remedy}") from None
        except (LookupError, ValueError) as error:
            if isinstance(error, CorpusError):
                raise
            what = f"its encoding cannot be read: {error}"
            raise CorpusError(f"{member.name}:1: {what}; pass another one") from None
        yield from builder.taken()


@contextmanager
def left_out(skipped: list[str] | None) -> Iterator[None]:
    """What is malformed inside of it goes to the list; None: is an error."""
    try:
        yield
    except CorpusError as error:
        if skipped is None:
            raise MalformedSentence(str(error)) from None
        skipped.append(str(error))


class _Builder:
    """Collects elements as the parser meets them."""

    def __init__(self, tags: tuple[str, ...], name: str):
        self.tags, self.name, self.expat = tags, name, None
        self.stack: list[Element] = []
        self.done: list[Element] = []
        self.depth = 0

    def taken(self) -> list[Element]:
        done, self.done = self.done, []
        return done

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.expat.CurrentLineNumber
        self.depth += 1
        if self.depth > DEEPEST:
            what = f"has more than {DEEPEST} elements inside each other"
            raise CorpusError(f"{self.name}:{line}: {what}; this is no corpus")
        if self.stack or tag in self.tags:
            element = Element(tag, attributes, line)
            if self.stack:
                self.stack[-1].children.append(element)
            self.stack.append(element)

    def end(self, tag: str) -> None:
        self.depth -= 1
        if self.stack:
            element = self.stack.pop()
            if not self.stack:
                self.done.append(element)

    def data(self, text: str) -> None:
        if self.stack:
            self.stack[-1].children.append(text)

    def close(self) -> None:
        pass
