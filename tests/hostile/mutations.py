"""What is done to sound inputs: the same generator gives the same bytes."""

import copy
import json
import re
from collections.abc import Sequence
from random import Random

MOST = 1 << 17  # bytes of an input
#: Characters that files trip over, and bytes that are none.
ODD = [
    *(c.encode() for c in "\0\r\v\f\x1c\x85\u2028\u2029\ufeff\u200b\u200d\u00a0\u202e"),
    *(c.encode() for c in "\u0301\u0344\u1100\u1161\u0345é\uac00\U0001f600\ufdfaİßſ"),
    *(c.encode() for c in "\ufffe\ue000\U0010ffff\u0663\u00b2\uff11\u0640"),
    *(b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xff\xfe", b"\x80"),
    *(b"\r\n", b"\n\n", b"\n \n", b"\n\t\n", b" ", b"  ", b"\t", b"\t\t", b"\n"),
]
#: What the formats are made of.
MARKS = [
    *(bytes([c]) for c in b"()[]{}<>|/\\\"'#_-.,:;=*&%$@+"),
    *(b"# ", b"ID=", b"(<L ", b"(<T ", b">)", b"( (", b"*x*", b"======", b"[ ", b" ]"),
    *(b"BOS", b"EOS", b"|S0 ", b"|S2 ", b"|# ", b"#|", b"-NONE-", b"-LRB-", b"\\/"),
    *(b"-DOCSTART-", b"null", b"true", b'"tokens"', b'"tags"', b'\\ud800"', b"NaN"),
    *(b"<!DOCTYPE a [", b'<!ENTITY b "cccc">', b"&b;", b"<![CDATA[", b"]]>", b"<w "),
    *(b"<!--", b"<?xml ", b"</w>", b"<SENT>", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x80"),
]
NUMBERS = [
    *(b"0", b"-1", b"1", b"2", b"1.5", b"1e999", b"nan", b"-inf", b"0x10", b"1_000"),
    *(str(2**n + d).encode() for n in (8, 15, 16, 31, 32, 63, 64) for d in (-1, 0)),
    *(b"9" * 13, b"9" * 5000, b"+1", b"\xd9\xa3", b"\xc2\xb2", b"00"),
]
_TOKEN = re.compile(rb"[^\s|/()<>\[\]{}\"]+")


def mutate(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds, or a piece of one and a piece of another, changed in one or a
    few places; now and then in a way that makes it large."""
    data = rng.choice(seeds)
    if rng.random() < 0.15:
        other = rng.choice(seeds)
        data = data[: _place(rng, data)] + other[_place(rng, other) :]
    for _ in range(1 + int(rng.expovariate(0.7))):
        data = rng.choice(MUTATORS)(rng, data)
    if rng.random() < 0.02:
        data = rng.choice(ENLARGERS)(rng, data)
    return data[:MOST]


def _place(rng: Random, data: bytes) -> int:
    """Any place, or one where a line or a token begins."""
    place = rng.randint(0, len(data))
    mark = rng.choice((None, b"\n", b" ", b"\t"))
    return place if mark is None else data.find(mark, place) + 1 or place


def _range(rng: Random, data: bytes) -> tuple[int, int]:
    start = _place(rng, data)
    return start, min(len(data), start + int(rng.expovariate(1 / 8)) + 1)


def _token(rng: Random, data: bytes) -> tuple[int, int]:
    """A word or the like; of data without one, any range."""
    start = rng.randint(0, len(data))
    found = _TOKEN.search(data, start, start + 200) or _TOKEN.search(data, 0, 200)
    return found.span() if found else _range(rng, data)


def _between(data: bytes, start: int, end: int, new: bytes) -> bytes:
    return data[:start] + new + data[end:]


def flip_bit(rng, data):
    if not data:
        return data
    place = rng.randrange(len(data))
    new = bytes([data[place] ^ 1 << rng.randrange(8)])
    return _between(data, place, place + 1, new)


def set_byte(rng, data):
    place = rng.randint(0, len(data))
    return _between(data, place, place + 1, rng.randbytes(1))


def insert_odd(rng, data):
    place = _place(rng, data)
    return _between(data, place, place, rng.choice(ODD) * rng.choice((1, 1, 1, 2, 40)))


def insert_mark(rng, data):
    place = _place(rng, data)
    return _between(data, place, place, rng.choice(MARKS))


def delete(rng, data):
    return _between(data, *_range(rng, data), b"")


def delete_mark(rng, data):
    """A bracket, a quote, a separator."""
    places = [m.start() for m in re.finditer(rb"[()\[\]{}<>|\"'/\t\n ]", data)]
    if not places:
        return data
    place = rng.choice(places)
    return _between(data, place, place + 1, b"")


def duplicate(rng, data):
    start, end = _range(rng, data)
    place = rng.choice((end, _place(rng, data)))
    return _between(data, place, place, data[start:end])


def replace_token(rng, data):
    start, end = _token(rng, data)
    other = slice(*_token(rng, data))
    return _between(
        data, start, end, rng.choice((data[other], b"", *rng.sample(MARKS + ODD, 3)))
    )


def replace_number(rng, data):
    found = list(re.finditer(rb"-?[0-9]+", data))
    if not found:
        return insert_mark(rng, data)
    return _between(data, *rng.choice(found).span(), rng.choice(NUMBERS))


def repeat_token(rng, data):
    start, end = _token(rng, data)
    return _between(data, end, end, data[start:end] * rng.choice((1, 2, 10)))


def change_lines(rng, data):
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            del lines[one]
        case 2:
            lines.insert(other, lines[one])
        case 3:
            lines.insert(one, b"")
        case 4:  # two lines become one
            between = rng.choice((b"", b" ", b"\t"))
            lines[one : one + 2] = [between.join(lines[one : one + 2])]
    return b"\n".join(lines)


def change_line_ends(rng, data):
    ends = (b"\r\n", b"\r", "\u2028".encode(), b"\0\n", b"\n\n", b"\x85", b" \n", b" ")
    return data.replace(b"\n", rng.choice(ends), rng.choice((1, 2, -1)))


def change_separators(rng, data):
    old, new = rng.sample((b"\t", b" ", b"|", b"/", b",", "\u00a0".encode()), 2)
    return data.replace(old, new, rng.choice((1, -1)))


def change_encoding(rng, data):
    text = data.decode("utf-8", "replace")
    encoding = rng.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "latin-1"))
    return text.encode(encoding, "replace")


def truncate(rng, data):
    return data[: _place(rng, data)]


def truncate_front(rng, data):
    return data[_place(rng, data) :]


MUTATORS = [
    *(flip_bit, set_byte, insert_odd, insert_mark, delete, delete_mark, duplicate),
    *(replace_token, replace_number, repeat_token, change_lines, change_line_ends),
    *(change_separators, truncate),
    *(flip_bit, set_byte, insert_odd, insert_mark, delete, delete_mark, duplicate),
    *(replace_token, replace_number, repeat_token, change_lines),
    *(change_encoding, truncate_front),
]


def repeat_much(rng, data):
    """One thing very often: what is quadratic takes minutes then."""
    start, end = _token(rng, data)
    what = rng.choice((data[start:end], *rng.choices(MARKS + ODD, k=4))) or b"("
    if rng.random() < 0.3:
        what += rng.choice(MARKS + ODD)
    count = min(rng.choice((300, 10_000, 80_000)), MOST // 2 // len(what))
    place = _place(rng, data)
    return _between(data, place, place, what * count)


def repeat_all(rng, data):
    return data * (MOST // 4 // (len(data) or 1))


def one_line(rng, data):
    return repeat_all(rng, data).replace(b"\n", rng.choice((b" ", b"", b"\t")))


ENLARGERS = [repeat_much, repeat_much, repeat_much, repeat_all, one_line]

VALUES = [
    *(None, True, False, 0, 1, -1, -5, 1.5, 1e308, 10**9, 2**63, -(10**30), "", "x"),
    *([], [[]], {}, {"a": 1}, ["x"], [None], "\0", "é" * 300, float("nan"), "../x"),
]


def mutate_value(rng: Random, value, values: Sequence = VALUES):
    """What JSON can hold, changed in one or a few places."""
    value = copy.deepcopy(value)

    def another():
        # not the same list twice: it could come to hold itself
        return copy.deepcopy(rng.choice(values))

    for _ in range(1 + int(rng.expovariate(1.2))):
        places = list(_places(value))
        if not places:
            return another()
        holder, key = rng.choice(places)
        match rng.randrange(6):
            case 0:
                del holder[key]
            case 1:
                other, name = rng.choice(places)
                holder[key] = copy.deepcopy(other[name])
            case 2 if isinstance(holder, list):
                holder.insert(key, another())
            case 2:
                holder[rng.choice(("", "x", key + "_"))] = holder[key]
            case _:
                holder[key] = another()
    return value


def _places(value):
    pairs = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value[:20])
    for key, inner in list(pairs):
        yield value, key
        yield from _places(inner)


def mutate_json(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """JSON with other values, or broken as text."""
    seed = rng.choice(seeds)
    try:
        value = json.loads(seed)
    except (ValueError, RecursionError):
        return mutate(rng, seeds)
    if rng.random() < 0.3:
        return mutate(rng, seeds)
    return json.dumps(mutate_value(rng, value)).encode()
