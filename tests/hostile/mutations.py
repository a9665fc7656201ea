"""Changes of sound inputs: the same generator gives the same bytes."""

import copy
import json
import re

MOST = 1 << 17  # bytes of an input
#: characters that files trip over, bytes that are none, and numbers beyond all limits
ODD = [c.encode() for c in "\0\r\v\f\x1c\x85\u2028\ufeff\u200b\u00a0\u0301é\U0001f600"]
ODD += [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x80", b"\r\n", b"\n\n", b"\t", b" "]
ODD += [b"\n", b"0", b"-1", b"1.5", b"1e999", b"nan", b"9" * 13, b"9" * 5000]
ODD += [str(2**n + d).encode() for n in (15, 31, 63) for d in (-1, 0)]
#: of which the formats are made
MARKS = [bytes([c]) for c in b"()[]{}<>|/\\\"'#_-.,:;=*&%"]
MARKS += [b"# ", b"ID=", b"(<L ", b"(<T ", b">)", b"( (", b"*x*", b"======", b"|S0 "]
MARKS += [b"BOS", b"EOS", b"|# ", b"-NONE-", b"-DOCSTART-", b"null", b'"tokens"']
MARKS += [b'\\ud800"', b"NaN", b"<!DOCTYPE a [", b'<!ENTITY b "c">', b"&b;", b"<!--"]
MARKS += [b"\x1f\x8b\x08", b"PK\x03\x04"]
#: that JSON can hold
VALUES = [None, True, 0, -5, 1.5, 1e308, 10**9, 2**63, "", "x", [], [[]], {}, {"a": 1}]
VALUES += [["x"], [None], "\0", "é" * 300, float("nan"), "../x"]


def place_in(rng, data):
    """Any place, or one where a line or a token begins."""
    place = rng.randint(0, len(data))
    mark = rng.choice((None, b"\n", b" ", b"\t"))
    return place if mark is None else data.find(mark, place) + 1 or place


def flip(rng, data, place, end):
    bit = bytes([data[place] ^ 1 << rng.randrange(8)]) if place < len(data) else b""
    return data[:place] + bit + data[place + 1 :]


def insert(rng, data, place, end):
    new = rng.choice(ODD + MARKS) * rng.choice((1, 1, 1, 2, 40))
    return data[:place] + new + data[place:]


def replace(rng, data, place, end):
    return data[:place] + rng.choice(ODD + MARKS) + data[end:]


def delete(rng, data, place, end):
    return data[:place] + data[end:]


def duplicate(rng, data, place, end):
    return data[:end] + data[place:end] * rng.choice((1, 2, 10)) + data[end:]


def change_number(rng, data, place, end):
    numbers = list(re.finditer(rb"-?[0-9]+", data)) or [re.match(b"", data)]
    start, end = rng.choice(numbers).span()
    return data[:start] + rng.choice(ODD[-14:]) + data[end:]


def change_lines(rng, data, place, end):
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    changes = [], [b""], [lines[one]] * 2, [lines[one] + b" "]
    lines[one : one + 1] = rng.choice(changes)
    return b"\n".join(lines)


def change_everywhere(rng, data, place, end):
    """Ends of lines, separators."""
    old, *_ = new = rng.sample((b"\n", b"\t", b" ", b"|", b"/", b","), 2)
    other = rng.choice((new[1], b"\r\n", b"\r", b"\x85"))
    return data.replace(old, other, rng.choice((1, -1)))


def truncate(rng, data, place, end):
    return data[:place]


def repeat(rng, data, place, end):
    """One thing very often: what is quadratic takes minutes then."""
    unit = rng.choice((data[place:end], rng.choice(MARKS), rng.choice(ODD))) or b"("
    return data[:place] + unit * (MOST // 2 // len(unit)) + data[place:]


EVERY = [flip, insert, replace, delete, duplicate, change_number, change_lines] * 4
EVERY += [change_everywhere, truncate, repeat]


def mutate(rng, seeds):
    """One of the seeds, changed in one or a few places."""
    data = rng.choice(seeds)
    for _ in range(1 + int(rng.expovariate(0.7))):
        place = place_in(rng, data)
        end = min(len(data), place + int(rng.expovariate(1 / 8)) + 1)
        data = rng.choice(EVERY)(rng, data, place, end)[:MOST]
    return data


def mutate_value(rng, value, values=VALUES):
    """Another value that JSON can hold, changed in one or a few places."""
    value = copy.deepcopy(value)
    for _ in range(1 + int(rng.expovariate(1.2))):
        places = list(places_of(value))
        if not places:
            return copy.deepcopy(rng.choice(values))
        holder, key = rng.choice(places)
        if rng.random() < 0.2:
            del holder[key]
        else:  # not the same list twice: it could come to hold itself
            other, name = rng.choice(places)
            new = rng.choice((other[name], *rng.choices(values, k=4)))
            holder[key] = copy.deepcopy(new)
    return value


def places_of(value):
    pairs = enumerate(value[:20]) if isinstance(value, list) else ()
    pairs = value.items() if isinstance(value, dict) else pairs
    for key, inner in list(pairs):
        yield value, key
        yield from places_of(inner)


def mutate_json(rng, seeds):
    """JSON with other values, or broken as text."""
    try:
        value = json.loads(rng.choice(seeds))
    except (ValueError, RecursionError):
        return mutate(rng, seeds)
    if rng.random() < 0.3:
        return mutate(rng, seeds)
    return json.dumps(mutate_value(rng, value)).encode()
