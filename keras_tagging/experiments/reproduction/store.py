"""The folder of one reproduction.

It has `reproduction.json`, with the settings of the run, and for each job, named by row
and seed, `results/JOB.json` once it is done, `failures/JOB.txt` if it failed, and
`jobs/JOB/` with its training: `resume.npz` until the end, `training.csv`, `log.txt`,
`model.keras`. Each file is written at once, as a whole.
"""

import csv
import json
from contextlib import contextmanager
from pathlib import Path

from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.utils.atomic import remove_partial, replacing

INFO = "reproduction.json"
CONTENT = ("sentences", "training fingerprint", "fingerprint")  # of the corpus


class Store:
    """Reads and writes such a folder.

    Args:
        folder: need not exist yet.
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
        """Reads `reproduction.json`.

        Raises:
            ValueError: if there is no such file, or it cannot be read.
        """
        path = self.folder / INFO
        if not path.is_file():
            raise ValueError(
                f"{self.folder} holds no reproduction ({INFO}): give the --out of one"
            )
        return _read(path)

    def open(self, info: dict) -> bool:
        """Writes `reproduction.json`, or checks that it has the same content already.

        The name and the place of the corpus, the machine and the installed versions may
        differ; the fingerprint identifies the corpus. If the corpus has moved, the jobs
        read it at its new place from then on.

        Returns:
            Whether the file existed.

        Raises:
            ValueError: as `check` does.
        """
        if not self.check(info, whole=True):
            _write(self.folder / INFO, info)
            return False
        known = self.read_info()
        if known.get("reading") != info.get("reading"):
            moved = {key: info.get(key) for key in ("corpus", "reading")}
            _write(self.folder / INFO, known | moved)
        return True

    def check(self, info: dict, whole: bool = False) -> bool:
        """Compares `reproduction.json` with `info`.

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
        known = _read(path)
        info = json.loads(json.dumps(info))
        if whole:
            info = dict.fromkeys(known) | info
        for key, now in info.items():
            before = known.get(key)
            if key == "reading":
                before, now = _placeless(before), _placeless(now)
            if key in CONTENT and before != now:
                split = "training " if key.startswith("training") else ""
                counts = f" ({_difference(before, now)})" if key == CONTENT[0] else ""
                raise ValueError(
                    f"{self.folder} holds a reproduction on another corpus: its "
                    f"{split}sentences are not these{counts}; put them back, or give "
                    "another --out"
                )
            if key not in ("corpus", "versions", "machine") and before != now:
                raise ValueError(
                    f"{self.folder} holds a reproduction with other {key}: "
                    f"{_difference(before, now)}; give the same options as there, or "
                    "another --out"
                )
        return True

    @contextmanager
    def locked(self):
        """Keeps other processes from running jobs in this folder.

        Raises:
            ValueError: if one does.
        """
        from filelock import FileLock, Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.folder / ".lock", timeout=0):
                yield
        except Timeout:
            raise ValueError(
                f"another process runs the jobs of {self.folder}: wait for its end, "
                "or give another --out"
            ) from None

    # Results and failures

    def done(self, job: Job) -> bool:
        return self.result(job).exists()

    def read(self, job: Job) -> dict:
        return _read(self.result(job))

    def write(self, job: Job, result: dict) -> None:
        """Writes the result of a job, and removes the state of its training."""
        _write(self.result(job), result)
        self.failure(job).unlink(missing_ok=True)
        (self.training(job.name) / "resume.npz").unlink(missing_ok=True)
        remove_partial(self.training(job.name))

    def write_failure(self, job: Job, reason: str) -> None:
        """Writes why a job failed, with the end of its output."""
        with replacing(self.failure(job)) as partial:
            lines = [f"{job}: {reason}", "", *self.log_tail(job)]
            partial.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def log_tail(self, job: Job, lines: int = 60) -> list[str]:
        """The last lines of the output of the job's process."""
        path = self.log(job)
        if not path.exists():
            return []
        text = path.read_bytes()[-20_000:].decode("utf-8", "replace")
        return text.splitlines()[-lines:]

    def epochs(self, job: Job) -> int:
        """How many epochs of its training are finished."""
        return len(self.epoch_rows(job))

    def epoch_rows(self, job: Job) -> list[dict[str, str]]:
        """The figures of each finished epoch."""
        path = self.training(job.name) / "training.csv"
        if not path.exists():
            return []
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def read_results(folder: str | Path) -> tuple[dict, list[dict]]:
    """Reads the results that `keras-tagging reproduce` has written so far.

    Args:
        folder: its `--out`.

    Returns:
        The content of `reproduction.json`, and of each file of `results`, in the order
        of the names of the files. A result has `row`, `seed`, `settings`, `figures` (in
        per cent, by the name of the column), `evidence` (the output of
        `model.counts`, transposed, by the name of the column), `best_epoch`,
        `epochs`, `seconds`, `parameters`, `classes`, `versions`, `machine`.

    Raises:
        ValueError: if the folder holds no reproduction, or a file cannot be read.
    """
    store = Store(folder)
    info = store.read_info()
    files = sorted((store.folder / "results").glob("[!.]*.json"))
    return info, [_read(file) for file in files]


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{path}: not what reproduce has written ({error}): remove it, and the "
            "same command makes it again"
        ) from None


def _write(path: Path, content: dict) -> None:
    with replacing(path) as partial:
        text = json.dumps(content, ensure_ascii=False, default=str)
        partial.write_text(text + "\n", encoding="utf-8")


def _placeless(reading: dict | None) -> dict:
    """How a corpus is read, without its place."""
    places = ("path", "dev", "test")
    return {k: v for k, v in (reading or {}).items() if k not in places}


def _difference(before, now) -> str:
    """The entries in which two mappings differ; otherwise both values."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return f"{_short(before)} there, {_short(now)} here"
    return "; ".join(
        f"{key} is {_difference(before.get(key), now.get(key))}"
        for key in {**before, **now}
        if before.get(key) != now.get(key)
    )


def _short(value) -> str:
    text = "not given" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
