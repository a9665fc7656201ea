"""The readers of text, and independent counts of what a file of each format holds."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hostile import text_seeds as seeds
from hostile.harness import Target, Wrong
from hostile.mutations import ODD, mutate
from hostile.oracle import (
    NAME,
    Expected,
    Stream,
    check_reading,
    check_written,
    refused,
)

from keras_tagging.ccg.categories import (
    CategoryError,
    normalise,
    parse_category,
    write_category,
)
from keras_tagging.corpora import describe
from keras_tagging.corpora.problems import damage, suspicious
from keras_tagging.corpora.word_classes import WordClasses
from keras_tagging.data import Corpus, Sentence, read
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.formats.ccgbank import derivations
from keras_tagging.data.formats.paired import PAIRED
from keras_tagging.data.formats.penn import unescaped
from keras_tagging.data.lines import numbered_lines, raw_lines
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.readers import _sentences as sentences_of
from keras_tagging.data.records import Malformed
from keras_tagging.data.surfaces import document_of
from preparing.media import words_of
from preparing.preprocessing import kadari, wu

LARGE = 1 << 15  # bytes: beyond, only reading is timed
Count = Callable[[list[str]], Expected]


def lines_of(data: bytes) -> list[str] | None:
    """The lines without their ends; None if it is open what a line is.

    A file whose lines end in CR alone is read so, or refused.
    """
    text = data.decode("utf-8", "replace")
    if re.search("\r(?!\n)", text):
        if "\n" in text:
            return None
        text = text.replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    lines[:1] = [line.removeprefix("\ufeff") for line in lines[:1]]
    return [line.removesuffix("\r") for line in lines]


def is_blank(line: str) -> bool:
    return not line.strip(" \t")


def words(line: str) -> list[str]:
    return re.findall("[^ \t]+", line)


def exactly(tokens: list[list[str]]) -> Expected:
    return Expected(len(tokens), len(tokens), tokens)


def each_line(split: Callable[[str], list[str]], lines: list[str]) -> Expected:
    """A format with a sentence a line; what `split` fails at is left out."""
    tokens = []
    for line in lines:
        try:
            tokens.append([] if is_blank(line) else split(line))
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            tokens.append([])
    return exactly(tokens)


def items(lines: list[str]) -> Expected:
    """Of `word|pos|tag`, after the comment with which C&C's files begin."""
    others = 0
    if lines and lines[0].startswith("#") and words(lines[0])[0].count("|") < 2:
        ends = (i for i, line in enumerate(lines, 1) if is_blank(line))
        end = next(ends, len(lines))
        # a line of it that cannot be decoded is left out by itself
        others, lines = sum("\ufffd" in line for line in lines[:end]), lines[end:]
    found = each_line(lambda line: [i.rsplit("|", 2)[0] for i in words(line)], lines)
    return replace(found, most=found.most + others)


def blocks(lines: list[str]) -> list[list[str]]:
    text = "\n".join("" if is_blank(line) else line for line in lines)
    return [block.split("\n") for block in re.split("\n\n+", text.strip("\n")) if block]


def rows(lines: list[str]) -> Expected:
    return exactly([[row.split("\t")[0] for row in block] for block in blocks(lines)])


def _rows_and_comments(lines: list[str]) -> Expected:
    found = blocks(lines)
    sure = [[row for row in block if not row.startswith("#")] for block in found]
    least = sum(map(bool, sure))
    return Expected(least, len(found), None, sum(map(len, sure)), sum(map(len, found)))


def rows_and_comments(lines: list[str]) -> Expected:
    """What begins with # may be a row or not, and so may marks of documents."""
    without = [line for line in lines if not line.startswith("-DOCSTART-")]
    least, most = _rows_and_comments(without), _rows_and_comments(lines)
    return Expected(least.least, most.most, None, least.fewest, most.mostly)


def conllu(lines: list[str]) -> Expected:
    found = blocks(lines)
    no_word = re.compile(r"#|[0-9]+[-.][0-9]+\t")
    rows = [[row for row in block if not no_word.match(row)] for block in found]
    total = sum(map(len, rows))
    return Expected(sum(map(bool, rows)), len(found), None, total, total)


def auto(lines: list[str]) -> Expected:
    # a comment or header that cannot be decoded is left out by itself
    others = sum("\ufffd" in line for line in lines)
    lines = [line for line in lines if not (is_blank(line) or line.startswith("#"))]
    is_header = [line.startswith("ID=") for line in lines]
    alone = [a and b for a, b in zip(is_header, [*is_header[1:], True], strict=False)]
    count = sum(alone) + is_header.count(False)
    return Expected(count, count + others)


def mrg(lines: list[str]) -> Expected:
    leaf = r"\(\s*([^() \t\n]+)\s+[^() \t\n]+\s*\)"
    tags = re.findall(leaf.replace(r"\s", "[ \t\n]"), "\n".join(lines))
    total = len(tags) - tags.count("-NONE-")
    return Expected(fewest=total, mostly=total)


def pos(lines: list[str]) -> Expected:
    kept = [line for line in lines if not re.match(r"\*x\*|={5,}[ \t]*$", line)]
    items = [item for line in kept for item in words(line) if item not in "[]"]
    return Expected(fewest=len(items), mostly=len(items))


def ctf(lines: list[str]) -> Expected:
    """BOS and EOS are left out."""
    count = sum(not is_blank(line) for line in lines)
    ends = sum("BOS" in line or "EOS" in line for line in lines)
    return Expected(fewest=count - ends, mostly=count)


def check_format(
    format: str | None, options: dict, count: Count | None, data: bytes
) -> str:
    """Reads a file in a format."""
    lines = lines_of(data)
    expected = count(lines) if count and lines is not None else None
    kind, found = check_reading(
        lambda **more: read(Stream(data), format, **options, **more),
        data.count(b"\n") + data.count(b"\r") + 1,
        expected,
        can_be_empty=format in ("jsonl", None),
    )
    if options.get("surface"):
        check_places(found)
        found = [replace(sentence, surface=None) for sentence in found]
    if len(data) < LARGE:
        check_written(found, conllu=format in ("conllu", "conllx") and not options)
    return kind


def check_places(found: list[Sentence]) -> None:
    """Raises `Wrong` unless the sentences stand where their surfaces say."""
    text, places = document_of(found)
    for sentence, place in zip(found, places, strict=True):
        first = found[0].surface.start
        if (sentence.surface.start - first, sentence.surface.text) != (
            place.start,
            text[place.start : place.start + len(place.text)],
        ):
            raise Wrong(f"{sentence.surface} does not stand in the text")


def reader(
    format: str, *sound: str, count: Count | None = None, nasty=(), **options
) -> Target:
    return Target(
        lambda: [text.encode() for text in sound],
        partial(check_format, format, options, count),
        nasty=[*seeds.NASTY, *nasty],
    )


def check_recognised(data: bytes) -> str:
    """Reads a file of unknown format; what is found in it is described."""
    kind = check_format(None, {}, None, data)
    if kind in ("read", "left out"):
        sentences = list(read(Stream(data), errors="skip", skipped=[]))
        str(describe(Corpus(sentences[:50])))
    return kind


def check_blocks(data: bytes) -> str:
    """Reads CoNLL-U with its lines, of which none may be lost."""
    try:
        found = list(read_blocks(Stream(data)))
    except Exception as error:
        return refused(error, data.count(b"\n") + 1)
    if b"\r" not in data.replace(b"\r\n", b""):
        if "".join(line for block in found for line in block.lines).encode() != data:
            raise Wrong("the lines of the blocks are not those of the file")
    # together, as `parse` writes them: a block alone may end its lines in another way
    written = "".join(
        block.with_trees(["0"] * len(block.words), ["x"] * len(block.words))
        for block in found
    )
    again = list(read_blocks(Stream(written.encode())))
    words = [
        [t for b in blocks for t in b.sentence.tokens] for blocks in (found, again)
    ]
    if words[0] != words[1]:
        raise Wrong("blocks with other trees have other words", written[:300])
    return "read"


def check_pair(format: str, data: bytes) -> str:
    """Reads a format of two files, of which each may be damaged."""
    files = data.partition(seeds.CUT.encode())[::2]
    lines = [raw_lines if format == "brat" else numbered_lines, numbered_lines]

    def start(errors, skipped=None):
        opened = (f(Stream(d), NAME, None) for f, d in zip(lines, files, strict=True))
        found = PAIRED[format](*opened, NAME)
        return sentences_of([], found, NAME, "jsonl", errors, skipped, "", {})

    kind, found = check_reading(start, data.count(b"\n") + data.count(b"\r") + 1)
    if len(data) < LARGE:
        check_written(found)
    return kind


ENCODINGS = ["utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8-sig"]
ENCODINGS += ["utf-7", "shift_jis", "gb18030", "iso2022_jp", "cp037", "ascii", "idna"]
ENCODINGS += ["punycode", "rot13", "undefined", "hex", "zip", "unicode_escape", "x"]


def check_encoding(data: bytes) -> str:
    """Reads a file whose first line names its encoding."""
    name, _, data = data.partition(b"\n")
    encoding = name.decode("latin-1")[:60]

    def start(**more):
        return read(Stream(data), "tokens", encoding=encoding, **more)

    try:
        list(start(errors="skip", skipped=[]))
    except ValueError as error:
        if "encoding=" in str(error) and type(error) is ValueError:
            return refused(error, name="encoding=")
    kind, found = check_reading(start)
    check_written(found)
    return kind


def encoded() -> list[bytes]:
    found = []
    for name in ENCODINGS[:13]:
        text = seeds.TOKENS if name.startswith("utf") else "a\nb\n\nc\n"
        found.append(f"{name}\n".encode() + text.encode(name, "replace"))
    return found


def mutate_encoded(rng, known) -> bytes:
    data = mutate(rng, known)
    if rng.random() < 0.5:
        rest = data.partition(b"\n")[2]
        data = rng.choice(ENCODINGS).encode() + b"\n" + rest
    return data


def check_category(data: bytes) -> str:
    """Parses a category, and what is written of it."""
    text = data.decode("utf-8", "replace")
    try:
        category = parse_category(text)
    except CategoryError as error:
        return refused(ValueError(str(error)), name="category")
    for notation in ("ccgbank", "pmb"):
        written = write_category(category, notation)
        if parse_category(written) != category:
            raise Wrong("a category is not what is written of it", written)
        if normalise(normalise(text, notation), notation) != normalise(text, notation):
            raise Wrong("a normal form has another normal form", text)
    return "read"


def check_words(data: bytes) -> str:
    """What is done to any word, or any text of a word's place."""
    text = data.decode("utf-8", "replace")
    classes = WordClasses({})
    for function in (kadari, wu, unescaped, classes.class_of, str.lower):
        function(text)
    for spoken in (False, True):
        if not all(words_of(text, spoken=spoken)):
            raise Wrong("an empty word", text[:300])
    list(damage(text))
    list(suspicious(Sentence([text], [text])))
    try:
        to_nfc(text)
    except ValueError as error:  # a limit
        return refused(error, name="")
    return "read"


def check_derivations(data: bytes) -> str:
    """Reads derivations, and walks them."""
    lines = data.decode("utf-8", "replace").split("\n")
    count = 0
    for found in derivations(enumerate(lines, 1), categories="ccgbank"):
        if isinstance(found, Malformed):
            continue
        count += 1
        heads = found.heads()
        if heads.count(0) != 1 or len(heads) != len(found.leaves):
            raise Wrong("a derivation has not one head", found.name)
        if sum(1 for _ in found.nodes()) > len(lines) + data.count(b"(<T"):
            raise Wrong("more nodes than the file has", found.name)
    return "read" if count else "left out"


LISTS = {"words": ["a", "naïve", "c"], "labels": ["O", "B-x", "I-x"]}
EVERY = [
    *(seeds.CONLL, seeds.CONLL_BLANKS, seeds.TOKENS, seeds.TEXT, seeds.PIPE),
    *(seeds.AUTO, seeds.MRG, seeds.POS, seeds.ATIS, seeds.CTF, seeds.JSONL),
    *(seeds.CSV, seeds.CONLLU),
]
TARGETS = {
    "conll": reader(
        "conll", seeds.CONLL, seeds.CONLL_BLANKS, count=rows_and_comments, columns={}
    ),
    "conll-rows": reader(
        "conll",
        seeds.CONLL.replace("# newdoc\n", "").replace("# a comment\n", ""),
        count=rows,
        separator="\t",
        comments=False,
        columns={"pos": 1},
    ),
    "conll-ccg": reader(
        "conll", seeds.CONLL_CCG, categories="pmb", count=rows_and_comments
    ),
    "tokens": reader(
        "tokens", seeds.TOKENS, count=rows_and_comments, nasty=[seeds.MARKS]
    ),
    "text": reader("text", seeds.TEXT, count=partial(each_line, words)),
    "pipe": reader("pipe", seeds.PIPE, count=items),
    "pipe-ccg": reader("pipe", seeds.PIPE, categories="ccgbank"),
    "auto": reader(
        "auto", seeds.AUTO, count=auto, nasty=[seeds.BRACKETS[0], seeds.DIGITS[0]]
    ),
    "auto-ccg": reader("auto", seeds.AUTO, count=auto, categories="ccgbank"),
    "derivations": Target(
        lambda: [seeds.AUTO.encode()], check_derivations, nasty=seeds.DIGITS
    ),
    "mrg": reader("mrg", seeds.MRG, count=mrg, nasty=seeds.BRACKETS),
    "pos": reader(
        "pos",
        seeds.POS,
        count=pos,
        all_tags=True,
        unescape=False,
        nasty=[seeds.SLASHES],
    ),
    "atis": reader(
        "atis",
        seeds.ATIS,
        count=partial(each_line, lambda line: words(line.split("\t")[0])[1:-1]),
    ),
    "ctf": reader("ctf", seeds.CTF, count=ctf, nasty=[seeds.FIELDS]),
    "ctf-indices": reader(
        "ctf", seeds.CTF_INDICES, count=ctf, nasty=[seeds.DIGITS[1]], **LISTS
    ),
    "jsonl": reader(
        "jsonl",
        seeds.JSONL,
        count=partial(
            each_line, lambda line: [str(word) for word in json.loads(line)["tokens"]]
        ),
        nasty=[seeds.SURROGATE, seeds.NESTED],
    ),
    "jsonl-objects": reader("jsonl", seeds.JSON_OBJECTS, nasty=[seeds.SURROGATE]),
    "csv": reader("csv", seeds.CSV),
    "csv-plain": reader("csv", seeds.TSV, quotes=False),
    "seq": Target(
        lambda: [seeds.SEQ.encode()], partial(check_pair, "seq"), nasty=seeds.NASTY
    ),
    "brat": Target(
        lambda: [seeds.BRAT.encode()], partial(check_pair, "brat"), nasty=seeds.NASTY
    ),
    "conllu": reader("conllu", seeds.CONLLU, count=conllu),
    "conllu-trees": reader("conllu", seeds.CONLLU, count=conllu, trees=True),
    "conllu-surface": reader("conllu", seeds.CONLLU, count=conllu, surface=True),
    "conllx": reader("conllx", seeds.CONLLX, count=conllu),
    "blocks": Target(lambda: [seeds.CONLLU.encode()], check_blocks, nasty=seeds.NASTY),
    "recognised": Target(
        lambda: [text.encode() for text in EVERY],
        check_recognised,
        nasty=[*seeds.NASTY, *seeds.BRACKETS, seeds.SLASHES, seeds.MARKS],
    ),
    "encodings": Target(encoded, check_encoding, mutate=mutate_encoded, share=50),
    "categories": Target(
        lambda: [text.encode() for text in seeds.CATEGORIES],
        check_category,
        nasty=[b"(" * 400 + b"N" + b")" * 400, b"N/" * 249 + b"N"],
    ),
    "words": Target(
        lambda: [b"word", "caf\u00e9".encode(), b"1,989", rb"Wife\/Mother", b"l' h(x)"],
        check_words,
        nasty=[b"(" * 80_000, seeds.MARKS, *(odd * 300 for odd in ODD)],
    ),
}
