import time

import pytest

from keras_tagging.data import CorpusError
from preparing import limits
from preparing.archives import members
from preparing.markup import Element, elements


def member_of(path, content):
    path.write_bytes(content)
    return next(members(path, ".xml"))


TEXT = """<?xml version="1.0"?>
<c>
  <t n="1">a<b/>
    <b x="y">é&lt;</b>
    <t n="2">c</t>
  </t>
  <t n="3"></t>
</c>"""


def test_elements_have_their_lines_and_text(tmp_path):
    found = list(elements(member_of(tmp_path / "a.xml", TEXT.encode()), "t"))
    assert [(e.attributes, e.line) for e in found] == [({"n": "1"}, 3), ({"n": "3"}, 7)]
    assert found[0].text().split() == ["a", "é<", "c"]
    first, second, inner = found[0].elements("b", "t")
    assert (first.line, second.line, inner.line) == (3, 4, 5)
    assert second.attributes == {"x": "y"}
    assert found[1] == Element("t", {"n": "3"}, 7)
    # of elements inside of each other the outer one
    whole = next(elements(member_of(tmp_path / "a.xml", TEXT.encode()), "c"))
    assert [e.line for e in whole.elements("t")] == [3, 7]


@pytest.mark.parametrize(
    "declared, given, undeclared, encoding",
    [
        ("", None, "utf-8", "utf-8"),
        ("", None, "iso-8859-1", "iso-8859-1"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', None, "utf-8", "latin-1"),
        ('<?xml version="1.0" encoding="UTF-8"?>', None, "iso-8859-1", "utf-8"),
        ('<?xml version="1.0" encoding="UTF-8"?>', "latin-1", "utf-8", "latin-1"),
        ('<?xml version="1.0" encoding="cp1252"?>', None, "utf-8", "cp1252"),
        ("", None, "iso-8859-1", "utf-16"),
    ],
)
def test_encodings(tmp_path, declared, given, undeclared, encoding):
    content = f"{declared}<t>é</t>".encode(encoding)
    member = member_of(tmp_path / "a.xml", content)
    [found] = elements(member, "t", encoding=given, undeclared=undeclared)
    assert found.text() == "é"


def test_a_document_is_read_as_a_stream(tmp_path):
    rows = b"<t>word</t>\n" * 50_000
    member = member_of(tmp_path / "a.xml", b"<c>" + rows)  # without its end
    found = elements(member, "t")
    for _ in range(20_000):
        assert next(found).text() == "word"
    with pytest.raises(CorpusError, match="a.xml:50001: is not well-formed XML: no el"):
        list(found)


LOL = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE c [<!ENTITY l0 "lol">{LOL}]>',
        '<!DOCTYPE c [<!ENTITY l9 SYSTEM "secret.txt">]>',
        '<!DOCTYPE c [<!ENTITY % l SYSTEM "secret.txt"> %l; <!ENTITY l9 "x">]>',
    ],
)
def test_entities_are_not_expanded(tmp_path, monkeypatch, doctype):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text("secret")
    text = f"<?xml version='1.0'?>\n{doctype}\n<c><t>&l9;</t></c>"
    member = member_of(tmp_path / "a.xml", text.encode())
    start = time.perf_counter()
    with pytest.raises(CorpusError) as caught:
        list(elements(member, "t"))
    assert time.perf_counter() - start < 1
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'a.xml'}:2: defines or fetches entities (")
    assert "secret " not in told and "\n" not in told


def test_a_doctype_alone_fetches_nothing(tmp_path):
    text = '<!DOCTYPE c SYSTEM "http://localhost:1/c.dtd"><c><t>a</t></c>'
    [found] = elements(member_of(tmp_path / "a.xml", text.encode()), "t")
    assert found.text() == "a"


LONG = b"x" * (limits.XML_TOKEN_BYTES + (1 << 18))
MALFORMED = [
    (b"", 1, "is not well-formed XML: no element found; check that"),
    (b"<c>\n<t>a</c>", 2, "is not well-formed XML: mismatched tag;"),
    (b"<?xml version='1.0' encoding='klingon'?><c/>", 1, ""),
    (b"\n".join([b"<t>"] * 100_000), 201, "has more than 200 elements"),
]
# what grows with its size
MALFORMED += [
    (b'<!DOCTYPE c [<!ATTLIST t a CDATA "%s">]><c/>' % b"x", 1, "declares attributes"),
    (
        b"<!DOCTYPE c ["
        + b"".join(b"<!ATTLIST t a%d CDATA #IMPLIED>" % i for i in range(1001))
        + b"]><c/>",
        1,
        "declares attributes for all elements of a name; no corpus does; remove its",
    ),
    (b'<c><t a="%s"/></c>' % (b"x" * 1001), 1, "over 1000 characters in the"),
    (
        b"<c><t %s/></c>" % b" ".join(b'a%d="123456"' % i for i in range(200)),
        1,
        "over 1000 characters in the attributes of <t>",
    ),
    (b"<c><!--%s--></c>" % LONG, 1, "has a tag or comment of over 1048576 bytes"),
    (b"<c>%s</c>" % b"".join(b"<a%d/>" % i for i in range(20_000)), 1, "10000 names"),
    (b"<c><t>%s</t></c>" % (LONG * 2), 1, "has a <t> of over 2097152 bytes"),
]


@pytest.mark.parametrize("content, line, message", MALFORMED)
def test_malformed_documents_are_told(tmp_path, content, line, message):
    member = member_of(tmp_path / "a.xml", content)
    with pytest.raises(CorpusError) as caught:
        list(elements(member, "t"))
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'a.xml'}:{line}: ") and "\n" not in told
    assert message in told and "; " in told


def test_what_is_left_aside_may_be_large(tmp_path):
    text = b"<c>%s<t>a</t>%s</c>" % (LONG * 3, b"<b>c</b>" * 50_000)
    [found] = elements(member_of(tmp_path / "a.xml", text), "t")
    assert found.text() == "a"


def test_attributes_that_are_declared_without_a_value_are_read(tmp_path):
    text = b'<!DOCTYPE c [<!ATTLIST t a CDATA #IMPLIED>]><c><t a="1"/><t/></c>'
    found = elements(member_of(tmp_path / "a.xml", text), "t")
    assert [element.attributes for element in found] == [{"a": "1"}, {}]
