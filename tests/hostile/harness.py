"""Limits for hostile inputs, and the rules that hold for every input (Linux only)."""

import io
import os
import re
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

from keras_tagging.data import read, write

#: how many times as many mutated inputs are tried: `make fuzz` gives a number
ROUNDS = int(os.environ.get("KERAS_TAGGING_FUZZ", 1))
NAME = "input"  # of every stream and file
ADDRESS_SPACE = 2 << 30  # bytes that one input may ask for, used or not
ran: list[str] = []  # by files, which must run nothing


def run_code(what):
    ran.append(what)


class Stream(io.BytesIO):
    name = NAME


class OutOfTime(BaseException):
    """No `except Exception` may swallow it."""


@contextmanager
def within(seconds=3.0, megabytes=256):
    """An error if the block takes more processor time, or more memory at its peak."""

    def stop(*_):
        raise OutOfTime

    before, handler = reset_peak(), signal.signal(signal.SIGPROF, stop)
    limit_memory(address_space() + ADDRESS_SPACE)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)  # again if it is lost
    try:
        yield
    except OutOfTime:
        raise AssertionError(f"takes more than {seconds} seconds") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        limit_memory(resource.RLIM_INFINITY)
    grown = peak() - before
    assert grown < megabytes, f"takes {grown:.0f} MB"
    assert not ran, ran.pop()


def peak():
    """The most megabytes that this process has held since the last reset."""
    status = Path("/proc/self/status").read_text()
    return int(re.search("VmHWM:\\s*([0-9]+) kB", status)[1]) / 1024


def reset_peak():
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def address_space():
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def limit_memory(size):
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))


def refused(error, name=NAME, lines=None):
    """Checks that an error is ours or an OSError, in one line that names the file.

    Args:
        error: that the package has raised.
        name: of the file; "" if the error is about none.
        lines: how many the input has, if a malformed sentence must name one of them.
    """
    ours = type(error) is ValueError or "keras_tagging" in type(error).__module__
    if not (ours and isinstance(error, ValueError) or isinstance(error, OSError)):
        raise error
    message, reason = str(error), error
    while reason := reason.__context__:
        assert not isinstance(reason, MemoryError), f"hides lack of memory: {message}"
    assert name in message and message.strip() and len(message) < 1500, message
    assert len(message.splitlines()) == 1, message
    if type(error).__name__ == "MalformedSentence" and lines is not None:
        place = re.match(re.escape(name) + r":([0-9]+): .+; .+", message)
        assert place and 1 <= int(place[1]) <= lines + 1, message
    return "refused"


def check_reading(start, lines=None, can_be_empty=False):
    """Reads until a malformed sentence, and with such sentences left out.

    Args:
        start: gives the sentences; it takes `errors` and `skipped`, as `read` does.
        lines: of the input, if a message must name one.
        can_be_empty: whether a token can.

    Returns:
        "read" or "refused", and the sentences.
    """
    strict, _, error = attempted(start, "raise")
    rest, skipped, fatal = attempted(start, "skip")
    for each in (error, fatal):
        if each is not None:
            refused(each, lines=lines)
    assert type(fatal).__name__ != "MalformedSentence", "errors='skip' raises it"
    if type(error).__name__ == "MalformedSentence":
        assert skipped[:1] == [str(error)], "errors='skip' hides the message"
    else:
        assert str(error) == str(fatal), "errors='skip' hides an error of the file"
        assert not skipped, "only errors='skip' finds something malformed"
    assert strict == rest[: len(strict)], "errors='skip' gives other sentences"
    for sentence in rest:
        values = [sentence.tokens, *sentence.columns.values(), sentence.tags]
        for column in filter(None, values):
            assert len(column) == len(sentence), sentence
            assert all(isinstance(value, str) for value in column), sentence
        assert can_be_empty or all(sentence.tokens), sentence
    return "refused" if error or fatal else "read", rest


def attempted(start, errors):
    sentences, skipped = [], []
    try:
        sentences.extend(start(errors=errors, skipped=skipped))
    except Exception as error:
        return sentences, skipped, error
    return sentences, skipped, None


def check_written(sentences, *formats):
    """JSON lines give back what was read; so do formats that can hold it."""
    for format in ("jsonl", *formats):
        stream = io.StringIO()
        try:
            write(sentences, stream, format)
        except ValueError as error:
            assert format != "jsonl" and "write 'jsonl' instead" in str(error)
            continue
        again = read(Stream(stream.getvalue().encode()), format)
        assert list(again) == list(sentences), f"{format} gives other sentences"
