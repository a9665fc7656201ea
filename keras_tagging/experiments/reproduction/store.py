"""The folder of one reproduction.

It has `reproduction.json`, with the settings of the run, and for each job, named by row
and seed, `results/JOB.json` once it is done, `failures/JOB.txt` if it failed, and
`jobs/JOB/` with its training: `resume.npz` until the end, `training.csv`, `log.txt`,
`model.keras`. Each file is replaced atomically.
"""

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from keras_tagging.utils.atomic import locked, remove_partial, write_text
from keras_tagging.utils.stored import read_object

INFO = "reproduction.json"
CHECKSUM = "embeddings checksum"
MAY_DIFFER = ("corpus", "versions", "machine")
# what a checksum is of
CONTENT = {CHECKSUM: "vectors in the file of --embeddings"}
CONTENT |= {"fingerprint": "sentences", "training fingerprint": "training sentences"}


@dataclass(frozen=True)
class Job:
    """One system with one seed.

    Attributes:
        row: the name of its row in the table.
        seed: the seed of all random numbers: weights, dropout, order.
        slug: the row's name in file names.
        needs: the slug of the row whose model, of the same seed, this job starts from,
            or None.
    """

    row: str
    seed: int
    slug: str
    needs: str | None = None

    def __str__(self) -> str:
        return f"{self.row}, seed {self.seed}"

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.slug}.{self.seed}"

    @property
    def needed(self) -> str | None:
        """The name of the job that must be finished first."""
        return self.needs and f"{self.needs}.{self.seed}"


class Store:
    """The folder of a reproduction, and its files.

    Args:
        folder: the folder, which need not exist yet.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    def training(self, name: str) -> Path:
        """The folder of a job's training; `name` is that of the job."""
        return self.folder / "jobs" / name

    def log(self, job: Job) -> Path:
        """The output of the job's process."""
        return self.training(job.name) / "log.txt"

    def model(self, name: str) -> Path:
        return self.training(name) / "model.keras"

    def result(self, job: Job) -> Path:
        return self.folder / "results" / f"{job.name}.json"

    def failure(self, job: Job) -> Path:
        return self.folder / "failures" / f"{job.name}.txt"

    # The settings of the run

    def read_info(self) -> dict:
        """Read `reproduction.json`.

        Raises:
            OSError: if there is no such file.
            ValueError: if it cannot be read.
        """
        return _read(self.folder / INFO)

    def open(self, info: dict) -> None:
        """Write `reproduction.json`, or check that it has the same content already.

        The name and the place of the corpus, the machine and the installed versions may
        differ; the fingerprint identifies the corpus. If the corpus has moved, the jobs
        read it at its new place from then on.

        Raises:
            ValueError: as `check` does.
        """
        if self.check(info, whole=True):
            moved = {key: info.get(key) for key in ("corpus", "reading")}
            info = self.read_info() | moved
        _write(self.folder / INFO, info)

    def check(self, info: dict, whole: bool = False) -> bool:
        """Compare `reproduction.json` with `info`.

        Args:
            info: the expected content, or a part of it.
            whole: whether the file may have nothing else.

        Returns:
            Whether the file exists.

        Raises:
            ValueError: if they differ; the message names the first difference.
        """
        path = self.folder / INFO
        if not path.exists():
            return False
        stored = _read(path)
        info = json.loads(json.dumps(info))
        if whole:
            info = dict.fromkeys(stored) | info
        for key, now in info.items():
            before = stored.get(key)
            if key == "reading":
                before, now = _placeless(before), _placeless(now)
            # version 0.4.0 did not write the checksum
            if key in MAY_DIFFER or (key == CHECKSUM and key not in stored):
                continue
            if before != now:
                raise ValueError(
                    f"{self.folder} holds a reproduction with other "
                    f"{CONTENT.get(key, key)}: {_difference(before, now)}; give the "
                    "same as there, or another --out"
                )
        return True

    def locked(self) -> AbstractContextManager:
        """Keep other processes from running jobs in this folder.

        Raises:
            ValueError: if one does.
        """
        return locked(
            self.folder,
            f"another process runs the jobs of {self.folder}: wait until it ends, or "
            "give another --out",
        )

    # Results and failures

    def done(self, job: Job) -> bool:
        return self.result(job).exists()

    def read(self, job: Job) -> dict:
        return _read(self.result(job))

    def write(self, job: Job, result: dict) -> None:
        """Write the result of a job, and remove the state of its training."""
        _write(self.result(job), result)
        self.tidy(job)

    def tidy(self, job: Job) -> None:
        """Remove the files that a finished job no longer needs."""
        self.failure(job).unlink(missing_ok=True)
        (self.training(job.name) / "resume.npz").unlink(missing_ok=True)
        remove_partial(self.training(job.name))

    def write_failure(self, job: Job, reason: str) -> None:
        """Write the reason for the failure of a job, with the end of its output."""
        lines = [f"{job}: {reason}", "", *self.log_tail(job)]
        write_text(self.failure(job), "\n".join(lines) + "\n")

    def log_tail(self, job: Job, lines: int = 60) -> list[str]:
        """The last lines of the output of the job's process."""
        path = self.log(job)
        if not path.exists():
            return []
        text = path.read_bytes()[-20_000:].decode("utf-8", "replace")
        return text.splitlines()[-lines:]

    def epochs(self, job: Job) -> int:
        """The number of finished epochs of a job."""
        path = self.training(job.name) / "training.csv"
        lines = path.read_bytes().count(b"\n") if path.exists() else 0
        return max(0, lines - 1)


def read_results(folder: str | Path) -> tuple[dict, list[dict]]:
    """Read the results that `keras-tagging reproduce` has written so far.

    Args:
        folder: the folder of its `--out`.

    Returns:
        The content of `reproduction.json`, and of each file of `results`, in the order
        of the names of the files. A result has `row`, `seed`, `settings`, `figures` (in
        per cent, by the name of the column), `evidence` (the output of
        `model.counts`, transposed, by the name of the column), `best_epoch`,
        `epochs`, `seconds`, `parameters`, `classes`, `versions`, `machine`.

    Raises:
        OSError: if the folder holds no reproduction.
        ValueError: if a file is damaged.
    """
    store = Store(folder)
    info = store.read_info()
    files = sorted((store.folder / "results").glob("[!.]*.json"))
    return info, [_read(file) for file in files]


def _read(path: Path) -> dict:
    return read_object(path, "remove it, and the same command creates it again")


def _write(path: Path, content: dict) -> None:
    text = json.dumps(content, ensure_ascii=False, default=str)
    write_text(path, text + "\n")


def _placeless(reading: dict | None) -> dict:
    """The description of how to read a corpus, without paths."""
    places = ("path", "dev", "test")
    return {k: v for k, v in (reading or {}).items() if k not in places}


def _difference(before, now) -> str:
    """The entries in which two mappings differ; otherwise both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = [k for k in {**before, **now} if before.get(k) != now.get(k)]
        before, now = ({k: part.get(k) for k in names} for part in (before, now))
    return f"{before!r:.60} there, {now!r:.60} here"
