"""Archives, folders, XML and files of integers."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import runpy
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from xml.etree import ElementTree

from hostile import text_seeds
from hostile.harness import Target, Wrong, run_code
from hostile.mutations import mutate, mutate_json
from hostile.oracle import Expected, check_reading, check_written, refused

from keras_tagging.corpora import load_corpus
from keras_tagging.data import Sentence, read
from preparing.archives import Member, members
from preparing.atis import read_atis
from preparing.ftb import read_ftb
from preparing.media import (
    dialogues,
    full_and_relaxed,
    read_media,
    read_relaxed,
    read_test2,
)

FILES = {
    "wsj/00/a.txt": text_seeds.TEXT.encode() * 20,
    "wsj/00/b.txt.gz": gzip.compress(text_seeds.TOKENS.encode(), mtime=0),
    "wsj/01/c.TXT": b"",
    "wsj/readme": b"no corpus",
}
DAMAGED = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error)
LARGE = 300 << 20  # bytes that a small file expands to
SMALL = 1 << 24


class Gadget:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return run_code, ("a pickle",)


def tar(files=FILES) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def checksummed(header: bytes) -> bytes:
    """A block of a tar with the right checksum."""
    blank = header[:148] + b" " * 8 + header[156:]
    return header[:148] + b"%06o\0 " % sum(blank) + header[156:]


def sparse_tar() -> bytes:
    """A kilobyte that says to be a large file of zeros."""
    info = tarfile.TarInfo("a.txt")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = b"S"
    header[386:410] = b"%011o\0%011o\0" % (LARGE, 0)
    header[483:495] = b"%011o\0" % LARGE
    return checksummed(bytes(header)) + b"\0" * 1024


def zipped(files=FILES) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, (name, content) in enumerate(files.items()):
            method = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


COMPRESSED = {
    "gz": (partial(gzip.compress, mtime=0), gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
}


def contents(path: str) -> dict[str, bytes]:
    found = {}
    for member in members(path, (".txt",)):
        with member.open() as stream:
            found[member.inside] = stream.read(SMALL)
    return found


def written(name: str, data: bytes) -> str:
    Path(name).write_bytes(data)
    return name


def check_tar(kind: str, data: bytes) -> str:
    """Reads a compressed archive, of which every byte counts: it is what the whole of
    it expands to, or damaged."""
    try:
        plain = COMPRESSED[kind][1](data) if len(data) < 1 << 17 else None
    except DAMAGED:
        plain = b""
    try:
        found = contents(written(f"input.tar.{kind}", data))
    except Exception as error:
        return refused(error)
    if plain == b"":
        raise Wrong("a damaged archive is read", {k: len(v) for k, v in found.items()})
    if plain is not None and found != contents(written("input.tar", plain)):
        raise Wrong("an archive gives something else than its parts")
    return "read"


def check_plain(name: str, data: bytes) -> str:
    """Reads a `.tar`, which has no checksum of its contents, or a `.zip`, which has."""
    try:
        found = contents(written(name, data))
    except Exception as error:
        return refused(error)
    if name.endswith(".zip"):
        known = [*FILES.values(), text_seeds.TOKENS.encode()]
        if other := {k for k, v in found.items() if v not in known}:
            raise Wrong("a damaged archive is read", other)
    return "read"


def mutate_tar(rng, known) -> bytes:
    """Other headers, whose checksums are right."""
    data = bytearray(mutate(rng, known)) if rng.random() < 0.3 else bytearray(tar())
    for _ in range(rng.randint(1, 3)):
        start = rng.choice([0, *range(0, len(data), 512)])
        place = start + rng.choice((0, 124, 135, 156, 157, 257, 345, 386, 483, 482))
        data[place : place + 1] = rng.choice((b"\xff", b"\x80", b"7", b"x", b"S", b"L"))
        data[start : start + 512] = checksummed(bytes(data[start : start + 512]))
    return bytes(data)


def check_gz(data: bytes) -> str:
    """Reads a compressed file: to its end, where its checksum is."""
    path = written("input.txt.gz", data)
    try:
        whole = gzip.decompress(data) if len(data) < 1 << 17 else None
    except DAMAGED:
        whole = b""
    kind, found = check_reading(lambda **more: read(path, "text", **more))
    if whole == b"" and kind in ("read", "left out"):
        raise Wrong("a damaged file is read", found[:3])
    if whole is not None and kind == "read":
        if found != list(read(written("input.txt", whole), "text")):
            raise Wrong("a compressed file gives something else")
    return kind


# Folders

HEAD = b"%%%% %s\n"


def folder(files: dict[str, str]) -> bytes:
    """The files of a folder as one input."""
    parts = (HEAD % name.encode() + text.encode() for name, text in files.items())
    return b"".join(parts)


def unfolded(data: bytes) -> Path:
    path = Path("input.folder")
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for part in re.split(rb"(?m)^%% ", data)[1:]:
        name, _, content = part.partition(b"\n")
        name = re.sub(rb"[^A-Za-z0-9._ -]", b"_", name).decode()[:100]
        if name.strip(". "):
            (path / name).write_bytes(content)
    return path


def check_folder(load: Callable, data: bytes) -> str:
    try:
        corpus = load(unfolded(data))
    except Exception as error:
        return refused(error)
    for _, sentences in corpus.splits():
        check_written(sentences)
    return "read"


ROWS = "BOS\tO\nfly\tO\nboston\tB-city\nEOS\tatis_flight\n\nto\tO\nnew\tB-city\n"
ATIS = [
    {"atis.train.iob": text_seeds.ATIS, "atis.test.iob": text_seeds.ATIS},
    {
        "train.seq.in": "fly to boston\nnew york\n",
        "train.seq.out": "O O B-city\nB-city I-city\n",
        "test.seq.in": "to boston\n",
        "test.seq.out": "O B-city\n",
    },
    {"atis.train.ctf": text_seeds.CTF, "atis.test.ctf": text_seeds.CTF},
    {
        "ATIS.train.cntk.sparse": text_seeds.CTF_INDICES,
        "ATIS.test.cntk.sparse": text_seeds.CTF_INDICES,
        "query.wl": "fly\nboston\nnew\n",
        "slots.wl": "O\nB-city\nI-city\n",
    },
    {"train.conll": ROWS, "dev.conll": ROWS, "test.conll": ROWS},
]
CORPORA = [
    {"train.conll": text_seeds.CONLL, "dev.conll": text_seeds.CONLL, "x.md": "no"},
    {"a-ud-train.conllu": text_seeds.CONLLU, "a-ud-test.conllu": text_seeds.CONLLU},
    {"train.jsonl": text_seeds.JSONL, "testa.jsonl": text_seeds.JSONL, "readme": "no"},
]

# Integers

INTEGERS = [
    [
        [[[0, 1], [2]], [[0, 0], [1]], [[0, 1], [1]]],
        [[[1]], [[0]], [[1]]],
        {"words2idx": {"fly": 0, "to": 1, "é": 2}, "labels2idx": {"O": 0, "B-x": 1}},
    ],
    [
        {"query": [[0, 1]], "slot_labels": [[1, 0]], "intent_labels": [[0]]},
        {"token_ids": {"fly": 0, "to": 1}, "slot_ids": {"O": 0, "B-x": 1}},
    ],
]
HOSTILE_PICKLES = [
    pickle.dumps(Gadget()),
    pickle.dumps([[[0]], [[0]], Gadget()]),
    b"\x80\x02" + b"]" * 80_000 + b"a" * 79_999 + b".",
    b"\x80\x03cbuiltins\nbytes\nJ\x00\xc2\xeb\x0b\x85R.",
    b"\x80\x02]q\x00h\x00a.",
]


def member(data: bytes) -> Member:
    return Member("input", "input", lambda: io.BytesIO(data))


@cache
def integers_script() -> dict:
    script = Path(__file__).parents[2] / "data_prep" / "atis_integers.py"
    return runpy.run_path(str(script))


def integers() -> list[bytes]:
    integers_script()  # takes time, which is not counted
    return [json.dumps(value).encode() for value in INTEGERS]


def pickles() -> list[bytes]:
    integers_script()
    return [pickle.dumps(value, n) for value in INTEGERS for n in (0, 2, 4)]


def check_integers(data: bytes) -> str:
    try:
        found = integers_script()["read_integers"](member(data))
    except Exception as error:
        return refused(error)
    for sentences in found.values():
        check_written(sentences)
    return "read"


# XML

FTB = """<text>
<SENT nb="1">
  <NP fct="SUJ">
    <w cat="D" ee="D-def-ms" mph="ms" lemma="le" subcat="def">Le</w>
    <w cat="N" ee="N-C-ms" mph="ms" lemma="chat" subcat="C">Chat &amp; chien</w>
  </NP>
  <VN><w cat="V" ee="V--P3s" lemma="dormir" mph="P3s"> dort
  </w></VN>
  <w cat="ADV" ee="ADV" lemma="tout de suite" compound="yes">
    <w catint="ADV" lemma="tout">tout</w> <NP><w catint="N">suite</w></NP>
  </w>
</SENT>
<SENT nb="2"/>
<SENT nb="3"><w cat="P" lemma="\u00e0">\u00e0</w><w catint="N">vent</w></SENT>
</text>"""
MEDIA = """<?xml version="1.0" encoding="ISO-8859-1"?>
<MEDIA><dialogue id="70R" nameSpk="speaker#1">
 <turn speaker="wiz"><semAnnotation withContext="false">
   <sem concept="null" specif="null"><transcription>bonjour</transcription></sem>
 </semAnnotation></turn>
 <turn speaker="spk">
  <semAnnotation withContext="false">
   <sem concept="ville" specif="-hotel"><transcription>Aix<Sync time="2"/>
     sur mer</transcription></sem>
   <sem concept="null" specif="null"><transcription>l'autre</transcription></sem>
  </semAnnotation>
 </turn>
 <turn speaker="spk"><semAnnotation withContext="false"/></turn>
</dialogue></MEDIA>"""
TEST2 = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE Trans SYSTEM "trans-14.dtd">
<Trans><Speakers><Speaker id="a" name="compere"/><Speaker id="b" name="spk"/></Speakers>
<Turn speaker="a">bonjour</Turn>
<Turn speaker="b"><Sync time="1"/>euh
<SemDebut concept="ville-hotel"/>(Nice) vingt-deux<SemFin/> et
<SemDebut concept="date"/><SemFin/></Turn>
<Turn speaker="a b">ensemble</Turn></Trans>"""
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
XML_NASTY = [
    f'<!DOCTYPE a [<!ENTITY a0 "lol">{LAUGHS}]><text><SENT>&a8;</SENT></text>'.encode(),
    b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><text><SENT>&b;</SENT></text>',
    # every word gets a copy of the attribute
    b'<!DOCTYPE a [<!ATTLIST w lemma CDATA "%s">]><text><SENT>%s</SENT></text>'
    % (b"x " * 30_000, b'<w cat="N">a</w>' * 6000),
    b"<text>" + b"<SENT>" * 10_000,
    b"<text><SENT><w cat='N'>" + b"<b/>" * 20_000 + b"a</w></SENT></text>",
    b"<text><SENT><w cat='" + b"N " * 40_000 + b"'>a</w></SENT></text>",
    b"<MEDIA><dialogue id='a'><turn speaker='spk'><semAnnotation withContext='false'>"
    b"<sem concept='a'><transcription>"
    + b"(" * 80_000
    + b"</transcription></sem></semAnnotation></turn></dialogue></MEDIA>",
]


def outermost(tree, tag: str) -> Iterator[ElementTree.Element]:
    for child in tree:
        if child.tag == tag:
            yield child
        else:
            yield from outermost(child, tag)


def count_ftb(tree) -> Expected:
    found = list(outermost([tree], "SENT"))
    tokens = sum(len(list(outermost(sentence, "w"))) for sentence in found)
    return Expected(len(found), len(found), None, tokens, tokens)


def count_media(tree) -> Expected:
    turns = [t for d in outermost([tree], "dialogue") for t in outermost(d, "turn")]
    count = sum(turn.get("speaker") == "spk" for turn in turns)
    return Expected(count, count)


def check_xml(
    reader: Callable[..., Iterator], count: Callable | None, data: bytes
) -> str:
    def start(errors, skipped):
        collected = skipped if errors == "skip" else None
        for found in reader(member(data), skipped=collected):
            yield found if isinstance(found, Sentence) else found.sentence

    expected = None
    if count and not re.search(b"<!(ENTITY|ATTLIST)", data):  # which can fill memory
        try:
            expected = count(ElementTree.fromstring(data))
        except (ElementTree.ParseError, ValueError, LookupError, RecursionError):
            pass
    kind, found = check_reading(start, data.count(b"\n") + data.count(b"\r"), expected)
    check_written(found)
    return kind


def check_names(data: bytes) -> str:
    """Reads what of MEDIA is read beside the turns."""
    try:
        list(dialogues(member(data)))
        full_and_relaxed([member(data)])
    except Exception as error:
        return refused(error)
    return "read"


def check_relaxed(data: bytes) -> str:
    try:
        read_relaxed(written("input", data))
    except Exception as error:
        return refused(error)
    return "read"


def xml(sound: str, encoding: str, reader: Callable, count=None, **options) -> Target:
    return Target(
        lambda: [sound.encode(encoding)],
        partial(check_xml, partial(reader, **options), count),
        nasty=XML_NASTY,
    )


TARGETS = {
    **{
        f"tar.{kind}": Target(
            lambda pack=pack: [pack(tar())],
            partial(check_tar, kind),
            nasty=[pack(sparse_tar()), pack(tar())[:-1], b""],
        )
        for kind, (pack, _) in COMPRESSED.items()
    },
    "tar": Target(
        lambda: [tar()],
        partial(check_plain, "input.tar"),
        nasty=[sparse_tar()],
        mutate=mutate_tar,
    ),
    "zip": Target(lambda: [zipped()], partial(check_plain, "input.zip")),
    "gz": Target(
        lambda: [gzip.compress(text_seeds.TEXT.encode(), mtime=0)],
        check_gz,
        # not before it is asked for: that takes seconds, and all tests import this
        nasty=lambda: [b"", gzip.compress(b"a" * LARGE, 1, mtime=0)],
        seconds=10,
    ),
    "atis-folder": Target(
        lambda: list(map(folder, ATIS)), partial(check_folder, read_atis)
    ),
    "folder": Target(
        lambda: list(map(folder, CORPORA)), partial(check_folder, load_corpus)
    ),
    "integers": Target(
        integers,
        check_integers,
        nasty=[b"[]", b"{}", b"[" * 50_000, b"[" + b"9" * 5000 + b"]"],
        mutate=mutate_json,
    ),
    # each in a process of its own
    "pickles": Target(
        pickles, check_integers, nasty=HOSTILE_PICKLES, share=10, quick=4, seconds=5
    ),
    "ftb": xml(FTB, "utf-8", read_ftb, count_ftb),
    "ftb-split": xml(FTB, "utf-8", read_ftb, compounds="split", tagset="ee"),
    "media": xml(MEDIA, "latin-1", read_media, count_media),
    "media-spoken": xml(MEDIA, "latin-1", read_media, spoken=True, relax=True),
    "test2": xml(TEST2, "latin-1", read_test2, spoken=True),
    "media-names": Target(
        lambda: [MEDIA.encode("latin-1")], check_names, nasty=XML_NASTY
    ),
    "relaxed": Target(lambda: [b"ville-hotel,ville\nx-*,x\n"], check_relaxed),
}
