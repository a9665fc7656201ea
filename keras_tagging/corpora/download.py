"""Files from the web: fetched once, resumed after a broken connection, checked.

requests transfers the file, and filelock makes a second process wait. pooch would keep
a cache as well, but it discards partial downloads, lets two processes fetch the same
file, and spreads an error over several lines.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from keras_tagging.data.readers import CorpusError
from keras_tagging.utils.stored import sha256_of

BLOCK = 1 << 13  # bytes; a broken connection loses at most one block
TIMEOUT = (10, 60)  # seconds to connect, and between two blocks
RETRIES = 3  # in a row without a further byte
PAUSE = 1.0  # seconds before the first retry; doubled before every further one


def is_intact(path: Path, sha256: str) -> bool:
    """Whether the file is there and has this checksum."""
    return path.is_file() and sha256 == sha256_of(path)


def fetch(url: str, path: str | Path, sha256: str, size: int) -> Path:
    """Download `url` to `path`, unless the file is already there and intact.

    A download that breaks off leaves `path.part`; the next one continues at its end if
    the server can. `path` appears only when it is complete and its checksum is right.
    If several processes want the file, one downloads it and the others wait. A redirect
    to another scheme, such as from https to http, is not followed.

    Args:
        sha256: the expected SHA-256, in hexadecimal.
        size: the expected size in bytes; no more are read.

    Returns:
        `path`.

    Raises:
        CorpusError: if the file cannot be fetched or written, or is another one.
    """
    from filelock import FileLock

    path = Path(path)
    if is_intact(
        path, sha256
    ):  # before anything is written: the folder may be read-only
        return path
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.parent / ".lock"):
            if not is_intact(path, sha256):
                _fetch(url, path, sha256, size)
    return path


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"{folder}: cannot be written to: {error.strerror or error}"
        remedy = "make room, or set KERAS_TAGGING_CACHE to another folder"
        raise CorpusError(f"{what}; {remedy}") from None


def _fetch(url: str, path: Path, sha256: str, size: int) -> None:
    part = path.with_name(path.name + ".part")
    is_resumed = part.exists()
    _download(url, part, path, size)
    checksum = sha256_of(part)
    if checksum != sha256 and is_resumed:
        part.unlink()  # its beginning may come from another file
        _download(url, part, path, size)
        checksum = sha256_of(part)
    if checksum != sha256:
        part.unlink()
        actual = f"SHA-256 is {checksum[:16]}..."
        raise CorpusError(_other(url, actual, f"{sha256[:16]}..."))
    os.replace(part, path)


class _Broken(Exception):
    """The transfer ended too early."""


def _download(url: str, part: Path, path: Path, size: int) -> None:
    """Download the whole file to `part`, even if the connection breaks."""
    import requests

    failures, most = 0, _size(part)
    with _session(url) as session:
        while _size(part) != size:
            try:
                _transfer(session, url, part, path, size)
            except (_Broken, requests.RequestException) as error:
                failures = 0 if _size(part) > most else failures + 1
                most = max(most, _size(part))
                if failures > RETRIES or not _may_pass(error):
                    raise CorpusError(_failure(url, path, part, error)) from None
                time.sleep(PAUSE * 2 ** max(0, failures - 1))


def _session(url: str):
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    retry = Retry(
        total=RETRIES,
        connect=0,  # `_download` tries again, and says so
        read=False,
        redirect=10,
        status_forcelist=(429, 500, 502, 503, 504),
        backoff_factor=PAUSE,
        respect_retry_after_header=False,  # it may be an hour
        raise_on_status=False,
    )
    session = requests.Session()
    session.adapters.clear()  # so that no redirect leads to another scheme
    session.mount(f"{url.partition('://')[0]}://", HTTPAdapter(max_retries=retry))
    session.headers["User-Agent"] = f"keras-tagging/{version('keras-tagging')}"
    # Otherwise a range would count compressed bytes.
    session.headers["Accept-Encoding"] = "identity"
    return session


def _transfer(session, url: str, part: Path, path: Path, size: int) -> None:
    """Download the rest of `part`, or all of it if the server sends no ranges."""
    start = _size(part)
    if start > size:
        part.unlink()  # part of another file
        start = 0
    headers = {"Range": f"bytes={start}-"} if start else {}
    with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        code, answer = response.status_code, response.headers
        range_start = answer.get("Content-Range", "").partition("-")[0]
        if code == 416 or (code == 206 and range_start != f"bytes {start}"):
            part.unlink(missing_ok=True)
            raise _Broken
        if code not in (200, 206):
            raise CorpusError(_refusal(url, path, response))
        if answer.get("Content-Type", "").startswith("text/html"):
            what = f"{url}: a web page came instead of the file"
            raise CorpusError(f"{what}; log in to the network, and run this again")
        if code == 200:
            start = 0
        length = answer.get("Content-Length", "")
        if length.isdigit() and start + int(length) != size:
            actual = f"size is {start + int(length)} bytes"
            raise CorpusError(_other(url, actual, str(size)))
        with (
            open(part, "ab" if start else "wb") as file,
            _bar(path, start, size) as bar,
        ):
            for block in response.iter_content(BLOCK):
                block = block[: size - start]
                start += len(block)
                with writing_to(part.parent):
                    file.write(block)
                bar(len(block))
                if start == size:  # ignore anything further
                    break
    if start != size:
        raise _Broken


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _bar(path: Path, start: int, total: int) -> Iterator[Callable]:
    """A progress bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = ("{task.description}", BarColumn(), DownloadColumn())
    console = Console(stderr=True)
    with Progress(*columns, TransferSpeedColumn(), console=console) as progress:
        task = progress.add_task(path.name, total=total, completed=start)
        yield lambda count: progress.advance(task, count)


# Messages


def _by_hand(path: Path) -> str:
    return f"or save the file yourself as {path}"


def _other(url: str, actual: str, expected: str) -> str:
    remedy = "check that no proxy changes it, or update keras-tagging"
    return f"{url}: its {actual}, not {expected}; {remedy}"


def _refusal(url: str, path: Path, response) -> str:
    code = response.status_code
    what = f"{url}: the server answers {code} {response.reason or ''}".rstrip()
    if code in (404, 410):
        return f"{what}: it has no such file; update keras-tagging, {_by_hand(path)}"
    if code == 429 or code >= 500:
        return f"{what}; run this again later, {_by_hand(path)}"
    return f"{what}; check that nothing keeps you from this site, {_by_hand(path)}"


def _may_pass(error: Exception) -> bool:
    """Whether another attempt could succeed."""
    from requests import exceptions

    lasting = (exceptions.SSLError, exceptions.InvalidURL, exceptions.InvalidSchema)
    return not isinstance(error, (*lasting, exceptions.TooManyRedirects))


def _failure(url: str, path: Path, part: Path, error: Exception) -> str:
    from requests import exceptions

    if isinstance(error, exceptions.SSLError):
        what, remedy = "its certificate is not accepted", "check the clock and proxy"
    elif isinstance(error, exceptions.TooManyRedirects):
        what, remedy = "it redirects too many times", "check the proxy"
    elif isinstance(error, exceptions.InvalidSchema):
        what, remedy = "it redirects to another scheme", "check the proxy"
    elif _size(part):
        what = f"the connection broke after {_size(part)} bytes"
        return f"{url}: {what}; run this again: it continues from there"
    elif isinstance(error, exceptions.Timeout):
        what, remedy = "no answer came in time", "check the connection"
    else:
        what, remedy = "the server cannot be reached", "check the connection"
    return f"{url}: {what}; {remedy}, {_by_hand(path)}"
