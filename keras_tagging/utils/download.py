"""Files from the web, fetched once by pooch and checked.

pooch (Fatiando a Terra; SciPy uses it too) gives a file its name only when it is whole
and has the right checksum.
"""

import hashlib
import os
import sys
from pathlib import Path

RETRIES = 2
TIMEOUT = (10, 60)  # seconds to connect, and between two blocks


def cache_folder() -> Path:
    """For downloads and vectors: KERAS_TAGGING_CACHE, or the user's cache folder."""
    if folder := os.environ.get("KERAS_TAGGING_CACHE"):
        return Path(folder).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("keras-tagging", appauthor=False)


def is_intact(path: Path, checksum: str) -> bool:
    """Whether the file is there and has this checksum."""
    if not path.is_file():
        return False
    algorithm, _, digest = checksum.rpartition(":")
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm or "sha256").hexdigest() == digest


def fetch(url: str, path: Path, checksum: str, size: int) -> Path:
    """Download `url` to `path`, unless the file is already there and intact.

    If several processes want the file, one downloads it and the others wait.

    Args:
        checksum: the SHA-256 in hexadecimal, or another one as `md5:...`.
        size: the expected size in bytes; no more are written.

    Returns:
        `path`.

    Raises:
        OSError: if the file cannot be fetched or written, or is another one; in one
            line, with a remedy.
    """
    import pooch
    from filelock import FileLock

    if is_intact(path, checksum):  # without a lock: the folder may be read-only
        return path
    pooch.get_logger().setLevel("WARNING")
    files = {"registry": {path.name: checksum}, "urls": {path.name: url}}
    source = pooch.create(path.parent, "", **files, retry_if_failed=RETRIES)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.parent / ".lock"):
            source.fetch(path.name, downloader=_Download(size))
    except ValueError:
        raise OSError(
            f"{url}: another file came, whose checksum is not {checksum[:16]}...; log "
            "in to the network, check that no proxy changes it, or update keras-tagging"
        ) from None
    except OSError as error:
        if error.errno is not None:  # of the system, not of the network
            raise OSError(
                f"{path.parent}: cannot be written to: {error.strerror}; make room, or "
                "set KERAS_TAGGING_CACHE to another folder"
            ) from None
        what = f"the connection failed ({type(error).__name__})"
        if (answer := getattr(error, "response", None)) is not None:
            what = f"the server answers {answer.status_code} {answer.reason}"
        raise OSError(
            f"{url}: {what}; check the connection and proxy, run this again later, or "
            f"save the file yourself as {path}"
        ) from None
    return path


class _Download:
    """Downloads a file for pooch, which takes this for its progress bar too.

    Args:
        size: in bytes; more are refused.
    """

    def __init__(self, size: int):
        self.size, self.total = size, 0

    def __call__(self, url: str, file: str, registry) -> None:
        from pooch import HTTPDownloader
        from rich.console import Console
        from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

        self.file = file
        columns = ("{task.description}", DownloadColumn(), TransferSpeedColumn())
        console = Console(stderr=True)
        with Progress(
            *columns, console=console, disable=not sys.stderr.isatty()
        ) as self.bar:
            self.task = self.bar.add_task(url.rpartition("/")[2], total=self.size)
            HTTPDownloader(self, 1 << 16, timeout=TIMEOUT)(url, file, registry)

    def update(self, _) -> None:
        """Take notice of further bytes."""
        written = os.path.getsize(self.file)
        if written > self.size:
            raise ValueError(f"more than {self.size} bytes")
        self.bar.update(self.task, completed=written, total=self.total or self.size)

    def reset(self) -> None:
        """Does nothing: bytes are counted in the file."""

    close = reset
