"""XML, read as a stream, within limits and without expanding entities."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from xml.etree.ElementTree import ParseError

from keras_tagging.data import CorpusError
from keras_tagging.data.normalisation import LimitError
from keras_tagging.data.records import MalformedSentence
from preparing import limits
from preparing.archives import Member

try:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser
except ModuleNotFoundError:
    sys.exit("reading XML needs defusedxml: pip install 'keras-tagging[prep]'")

BLOCK = 1 << 16


@dataclass(slots=True)
class Element:
    """An XML element: the line it begins in, its text and its elements."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list = field(default_factory=list)

    def elements(self, *tags: str) -> Iterator["Element"]:
        """The outermost elements with these names inside it, at any depth, in order."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag in tags:
                    yield child
                else:
                    yield from child.elements(*tags)

    def text(self) -> str:
        """All text inside it, with blanks where elements begin and end."""
        parts = (c if isinstance(c, str) else f" {c.text()} " for c in self.children)
        return "".join(parts)


def elements(
    member: Member,
    *tags: str,
    encoding: str | None = None,
    undeclared: str = "utf-8",
) -> Iterator[Element]:
    """The outermost elements with these names, one in memory at a time.

    Args:
        member: an XML document.
        tags: the names of the elements.
        encoding: the encoding of the document; by default the one it declares.
        undeclared: the encoding of a document that declares none.

    Raises:
        CorpusError: if the document is not well-formed, defines entities or attributes,
            or exceeds the limits.
        ValueError: if the encoding is unknown.
    """
    with member.open() as stream:
        head = stream.peek(200)[:200]
        if encoding is None and not re.search(
            rb"<\?xml[^>]*encoding|^\xff|^\xfe", head
        ):
            encoding = undeclared
        builder = _Builder(tags, member.name)
        # A DOCTYPE is allowed, but it must not define or fetch an entity.
        parser = DefusedXMLParser(target=builder, encoding=encoding, forbid_dtd=False)
        builder.watch(parser.parser)
        try:
            while block := stream.read(BLOCK):
                parser.feed(block)
                builder.check(len(block))
                yield from builder.taken()
            parser.close()
        except ParseError as error:
            line = error.position[0]
            what = f"is not well-formed XML: {str(error).partition(': line')[0]}"
            remedy = "check that it is complete, and pass encoding= if it is another"
            raise CorpusError(f"{member.name}:{line}: {what}; {remedy}") from None
        except DefusedXmlException as error:
            what = f"defines or fetches entities ({type(error).__name__})"
            line = parser.parser.CurrentLineNumber
            remedy = "no corpus does; remove its DOCTYPE if you trust it"
            raise CorpusError(f"{member.name}:{line}: {what}; {remedy}") from None
        except CorpusError:
            raise
        except (LookupError, ValueError) as error:
            what = f"its encoding cannot be read: {str(error)[:200]}"
            raise CorpusError(f"{member.name}:1: {what}; pass another one") from None
        yield from builder.taken()


@contextmanager
def left_out(
    skipped: list[str] | None, member: Member, element: Element
) -> Iterator[None]:
    """Collect the message of a malformed element in the list; None: raise the error."""
    try:
        yield
    except (CorpusError, LimitError) as error:
        where = f"{member.name}:{element.line}: "
        message = f"{where if isinstance(error, LimitError) else ''}{error}"
        if skipped is None:
            raise MalformedSentence(message) from None
        skipped.append(message)


class _Builder:
    """Collector of the elements that the parser meets, within the limits."""

    def __init__(self, tags: tuple[str, ...], name: str):
        self.tags, self.name = tags, name
        self.stack: list[Element] = []
        self.done: list[Element] = []
        self.depth = self.fed = self.declared = 0
        self.began = 0  # the byte at which the outermost open element begins

    def watch(self, expat) -> None:
        self.expat = expat
        expat.AttlistDeclHandler = self.declare

    def taken(self) -> list[Element]:
        done, self.done = self.done, []
        return done

    def check(self, size: int) -> None:
        """Refuse the document if the parser keeps too much, after a block of `size`."""
        self.fed += size
        here = self.expat.CurrentByteIndex
        if self.fed - here > limits.XML_TOKEN_BYTES + size:
            self.refuse(f"has a tag or comment of over {limits.XML_TOKEN_BYTES} bytes")
        if self.stack and here - self.began > limits.XML_ELEMENT_BYTES:
            tag, most = self.stack[0].tag, limits.XML_ELEMENT_BYTES
            self.refuse(f"has a <{tag}> of over {most} bytes")
        if len(self.expat.intern) > limits.XML_NAMES:
            self.refuse(f"has over {limits.XML_NAMES} names of elements and attributes")

    def refuse(self, what: str, remedy: str = "this is not a corpus") -> None:
        line = self.expat.CurrentLineNumber
        raise CorpusError(f"{self.name}:{line}: {what}; {remedy}")

    def declare(self, element, attribute, kind, default, required) -> None:
        self.declared += 1
        if default is not None or self.declared > limits.XML_DECLARATIONS:
            what = "declares attributes for all elements of a name"
            self.refuse(what, "no corpus does; remove its DOCTYPE if you trust it")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > limits.XML_DEPTH:
            self.refuse(f"has more than {limits.XML_DEPTH} elements inside each other")
        if self.stack or tag in self.tags:
            if len("".join(attributes.values())) > limits.XML_ATTRIBUTES:
                most = limits.XML_ATTRIBUTES
                self.refuse(f"has over {most} characters in the attributes of <{tag}>")
            element = Element(tag, attributes, self.expat.CurrentLineNumber)
            if self.stack:
                self.stack[-1].children.append(element)
            else:
                self.began = self.expat.CurrentByteIndex
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
