"""Archives and compressed files that are damaged, or made to do harm."""

import bz2
import gzip
import io
import lzma
import random
import re
import struct
import tarfile
import zipfile

import pytest
from hostile.harness import ROUNDS, within
from vectors.examples import write

from keras_tagging.data import CorpusError
from preparing import limits
from preparing.archives import members


def text_of(seed, rows=100):
    """Rows of a corpus, always the same."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(50)]
    return "".join(f"{rng.choice(words)}\tN\n" for _ in range(rows)).encode()


FILES = {f"corpus/{i}.conll": text_of(i) for i in range(4)}
FILES["corpus/packed.conll.gz"] = gzip.compress(text_of(5))
FILES["corpus/README"] = b"not wanted"


def tar_of(path, files=FILES):
    mode = "w" + {"tgz": ":gz", "tar": ""}.get(path.suffix[1:], f":{path.suffix[1:]}")
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zip_of(path, files=FILES):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100644 << 16  # as Info-ZIP writes it
            archive.writestr(info, content)
    return path


def opened(found):
    """The contents of members by their names."""
    result = {}
    for member in found:
        with member.open() as stream:
            result[member.inside] = stream.read()
    return result


def contents(source):
    return opened(members(source, ".conll"))


#: who makes them, and how many bits are flipped
KINDS = {
    "corpus.tar.gz": (tar_of, 60),
    "corpus.tar.bz2": (tar_of, 30),
    "corpus.tar.xz": (tar_of, 30),
    "corpus.zip": (zip_of, 60),
    "corpus.conll.gz": (lambda path: write(path, gzip.compress(text_of(0))), 40),
}


def outcome(source, changed, expected):
    """Whether the changed file is an error of one line; if not, it must be read as
    if nothing were."""
    source.write_bytes(changed)
    try:
        found = contents(source)
    except CorpusError as error:
        told = str(error)
        assert told.startswith(str(source)) and "\n" not in told and "; " in told
        return True
    assert found == expected
    return False


@pytest.mark.parametrize("name", KINDS)
def test_a_flipped_bit_is_an_error_or_changes_nothing(tmp_path, name):
    make, count = KINDS[name]
    source = make(tmp_path / name)
    expected, content = contents(source), source.read_bytes()
    rng = random.Random(17)
    # No checksum covers the directory of a .zip, which is at its end.
    start = content.find(b"PK\1\2") if name == "corpus.zip" else 0
    errors = 0
    for number in range(ROUNDS * count):
        changed = bytearray(content)
        place = rng.randrange(start if number % 2 else 0, len(content))
        changed[place] ^= 1 << rng.randrange(8)
        errors += outcome(source, changed, expected)
    assert errors > 0.5 * ROUNDS * count


@pytest.mark.parametrize("name", KINDS)
def test_every_truncation_is_an_error(tmp_path, name):
    source = KINDS[name][0](tmp_path / name)
    expected, content = contents(source), source.read_bytes()
    for size in {*range(0, len(content), 397), *range(len(content) - 12, len(content))}:
        assert outcome(source, content[:size], expected)


@pytest.mark.parametrize(
    ("name", "compress"),
    [("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)],
)
def test_streams_one_after_the_other_are_one_file(tmp_path, name, compress):
    content = tar_of(tmp_path / "plain.tar").read_bytes()
    parts = [content[i : i + 1000] for i in range(0, len(content), 1000)]
    source = tmp_path / name.replace("a.", "a.tar.")
    source.write_bytes(b"".join(map(compress, parts)))
    assert contents(source) == contents(tmp_path / "plain.tar")
    packed = source.read_bytes()
    second = packed.index(packed[:3], 1)
    changed = packed[:second] + b"\1" + packed[second + 1 :]
    assert outcome(source, changed, None)


def test_a_header_of_zeros_hides_no_members(tmp_path):
    """Of a `.tar` alone, which has no checksum of its contents."""
    source = tar_of(tmp_path / "a.tar")
    content = bytearray(source.read_bytes())
    second = content.index(b"corpus/1.conll")
    content[second : second + 512] = bytes(512)
    assert outcome(source, content, None)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_a_file_that_stands_twice_is_not_read_twice(tmp_path, name):
    if name == "a.zip":
        zip_of(tmp_path / name)
        with zipfile.ZipFile(tmp_path / name, "a") as archive:
            archive.writestr("corpus/1.conll", text_of(9))
    else:
        tar_of(tmp_path / name)
        with tarfile.open(tmp_path / name, "a") as archive:
            archive.addfile(tarfile.TarInfo("corpus/1.conll"))
    with pytest.raises(CorpusError, match="corpus/1.conll: is in the archive twice"):
        contents(tmp_path / name)


def test_links_and_other_methods_in_a_zip_are_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        info = zipfile.ZipInfo("a.conll")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(CorpusError, match="a.conll: is a link to another file; unpack"):
        contents(tmp_path / "link.zip")
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
            archive.writestr("a.conll", text_of(1))
        with pytest.raises(CorpusError, match="a method other than deflate; unpack"):
            contents(tmp_path / "a.zip")


def test_the_numbers_of_members_and_bytes_are_limited(tmp_path, monkeypatch):
    sources = [tar_of(tmp_path / "a.tar.gz"), zip_of(tmp_path / "a.zip")]
    monkeypatch.setattr(limits, "ARCHIVE_MEMBERS", 5)
    for source in sources:
        with pytest.raises(CorpusError, match="has more than 5 members; unpack"):
            contents(source)
    monkeypatch.undo()
    monkeypatch.setattr(limits, "ARCHIVE_BYTES", 3000)
    for source in sources:
        with pytest.raises(CorpusError, match="a.* has more than 0 GiB when unpacked;"):
            contents(source)


# Bombs, which are read with little memory


def header(name, kind, size, more=b""):
    """Of a member of a `.tar`, with any size."""
    info = tarfile.TarInfo(name)
    info.type = kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"\xff" * 4 + struct.pack(">q", size)  # in two's complement
    if size >= 0:
        block[124:136] = b"%011o\0" % size
    block[386 : 386 + len(more)] = more
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def pax(**records):
    rows = b""
    for key, value in records.items():
        row = f" {key}={value}\n".encode()
        size = len(row) + 2
        rows += b"%d" % (size + (size > 99)) + row
    return header("x", tarfile.XHDTYPE, len(rows)) + rows.ljust(512, b"\0")


MEGABYTE = bytes(1 << 20)
END = bytes(1024)


def zeros(compress, first=b""):
    """160 MiB in several streams."""
    return compress(first) + compress(MEGABYTE * 4) * 40


def sparse_tar():
    """1.5 kB that stand for a file of 700 MB."""
    size = b"%011o\0" % 700_000_000
    more = size + b"%011o\0" % 0 + bytes(72) + b"\0" + size  # one segment, of no bytes
    return header("a.conll", tarfile.GNUTYPE_SPARSE, 0, more) + END


def zip_that_lies():
    """Says that 80 MiB of zeros are 10 bytes."""
    content = zip_with("a.conll", MEGABYTE * 80, zipfile.ZIP_DEFLATED)
    return content.replace(struct.pack("<L", 80 << 20), struct.pack("<L", 10))


def zip_with(name, content, method=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


EXPANDS = "expands to more than 250 times its size"
FIRST = header("a.conll", tarfile.REGTYPE, 1 << 30)
BOMBS = {
    "sparse.tar": (sparse_tar, "a.conll: is a sparse file"),
    "pax.tar": (
        lambda: (
            pax(**{"GNU.sparse.size": 700_000_000, "GNU.sparse.map": "0,1"})
            + header("a.conll", tarfile.REGTYPE, 1)
            + bytes(512)
            + END
        ),
        "a.conll: is a sparse file",
    ),
    "zeros.conll.gz": (lambda: zeros(gzip.compress), EXPANDS),
    "zeros.tar.gz": (lambda: zeros(gzip.compress, FIRST), EXPANDS),
    "zeros.tar.bz2": (lambda: zeros(bz2.compress, FIRST), EXPANDS),
    "zeros.tar.xz": (lambda: zeros(lzma.compress, FIRST), EXPANDS),
    "zeros.zip": (
        lambda: zip_with("a.conll", MEGABYTE * 80, zipfile.ZIP_DEFLATED),
        f"a.conll: {EXPANDS}",
    ),
    "lies.zip": (zip_that_lies, "a.conll: cannot be read: Bad CRC-32"),
    "nested.zip": (lambda: zip_with("a.conll.gz", zeros(gzip.compress)), EXPANDS),
    "name.tar": (
        lambda: header("x", tarfile.GNUTYPE_LONGNAME, 2 << 30) + MEGABYTE,
        f"a header of {2 << 30} bytes",
    ),
    "names.tar": (
        lambda: (header("x", tarfile.GNUTYPE_LONGNAME, 1) + bytes(512)) * 5000 + END,
        "cannot be read: maximum recursion depth",
    ),
    "back.tar": (
        lambda: header("b.conll", tarfile.REGTYPE, -512) + END,
        "a header of -512 bytes",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_do_not_fill_the_memory(tmp_path, name):
    make, message = BOMBS[name]
    source = tmp_path / name
    source.write_bytes(make())
    with within(10, 200), pytest.raises(CorpusError, match=re.escape(message)) as told:
        for member in members(source, ".conll"):
            with member.open() as stream:
                while stream.read(1 << 16):
                    pass
    assert str(told.value).startswith(str(source)) and "\n" not in str(told.value)
