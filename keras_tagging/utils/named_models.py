"""Trained models by name: each is an installed distribution of its own.

The distribution has an entry point of the group `keras_tagging.models`: its name is
that of the model, its value a package. In the folder of the package are `model/`, the
saved model, and `card.json`, which tells its licence and its figures. There may be
`onnx/`, the same model for ONNX Runtime.
"""

import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from keras_tagging.utils import limits
from keras_tagging.utils.checks import nearest
from keras_tagging.utils.stored import read_object

GROUP = "keras_tagging.models"
REMEDY = "install it again"
#: what runs ONNX files
RUNTIME = ("onnxruntime", "onnxruntime_extensions")


@dataclass(frozen=True)
class NamedModel:
    """An installed model.

    Args:
        name: as :func:`keras_tagging.load` takes it.
        version: of its distribution.
        package: the folder of its package; else why there is none.
    """

    name: str
    version: str
    package: Path | str

    @property
    def folder(self) -> Path:
        """The saved model.

        Raises:
            ValueError: if the distribution has none.
        """
        return self.part("model")

    def part(self, name: str) -> Path:
        """A file or folder of its package.

        Raises:
            ValueError: if the distribution has none.
        """
        path = self._package / name
        if not path.exists():
            raise ValueError(f"the model {self.name!r} lacks {path}: {REMEDY}")
        return path

    @property
    def onnx(self) -> Path | None:
        """The same model for ONNX Runtime, if the distribution and this machine have
        both."""
        if not (self._package / "onnx").is_dir() or not all(map(find_spec, RUNTIME)):
            return None
        return self._package / "onnx"

    @property
    def _package(self) -> Path:
        if isinstance(self.package, str):
            raise ValueError(f"the model {self.name!r}: {self.package}")
        return self.package

    @cached_property
    def card(self) -> dict:
        """The model card: language, licence, corpus, figures.

        Raises:
            ValueError: if it is missing or damaged.
        """
        path = self._package / "card.json"
        try:
            return read_object(path, REMEDY, limits.CARD_BYTES)
        except OSError as error:
            raise ValueError(f"{path}: {error}: {REMEDY}") from None

    def entry(self, key: str) -> str:
        """An entry of the card as text, "-" if there is none."""
        return str(self.card.get(key, "-"))


def installed_models(group: str = GROUP) -> dict[str, NamedModel]:
    """The installed models by name. No code of their packages runs.

    Args:
        group: of the entry points; word vectors have another one.
    """
    entries: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=group):
        entries.setdefault(entry.name, []).append(entry)
    return {name: _model(name, entries[name]) for name in sorted(entries)}


def _model(name: str, entries: list[EntryPoint]) -> NamedModel:
    entry, *others = entries
    if others:
        dists = sorted(e.dist.name if e.dist else e.value for e in entries)
        clash = f"{' and '.join(dists)} offer the same name: uninstall all but one"
        return NamedModel(name, "-", clash)
    try:
        spec = None if "." in entry.value else find_spec(entry.value)
    except ValueError as error:  # of `find_spec` too, for __main__ and the like
        return NamedModel(name, "-", str(error))
    places = list(spec.submodule_search_locations or ()) if spec else []
    version = entry.dist.version if entry.dist else "-"
    gone = f"its package {entry.value} is gone: {REMEDY}"
    return NamedModel(name, version, Path(places[0]) if places else gone)


def offered_by(folder: Path) -> str | None:
    """The model of a distribution that is a folder, such as ./models/en, not installed.

    Returns:
        Its name; None for another folder, and where there is none.
    """
    try:
        with (folder / "pyproject.toml").open("rb") as stream:
            content = stream.read(limits.CARD_BYTES).decode()
        names = tomllib.loads(content)["project"]["entry-points"][GROUP]
        return next(iter(names))
    except (OSError, ValueError, LookupError, TypeError, StopIteration, RecursionError):
        return None


def find_model(model: str | Path, *, to_run: bool = False) -> Path:
    """The path of a saved model: a path as it is, or that of an installed model.

    A file or folder that exists goes before a model of the same name.

    Args:
        model: a path or a name.
        to_run: whether it will only be run: if the installed model also has ONNX files,
            and there is what runs them, these, as they need no TensorFlow.

    Raises:
        ValueError: if it is the name of a model that is not installed, or the folder of
            its distribution.
    """
    path = Path(model)
    is_package = offered_by(path) is not None
    if not is_package and (path.exists() or path.suffix or len(path.parts) != 1):
        return path
    models = installed_models()
    if (installed := models.get(str(model))) is not None:
        return (to_run and installed.onnx) or installed.folder
    clone = Path(__file__).parents[2]
    for folder in (path, Path("models", model), clone / "models" / model):
        if (offers := offered_by(folder)) is not None:
            shown = folder if folder.is_absolute() else f"./{folder}"
            remedy = f"pip install {shown}, then name {offers}"
            raise ValueError(f"{model}: a distribution: {remedy}")
    near = nearest(model, models)
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(
        f"{model}: no such model, saved or installed (installed: "
        f"{', '.join(models) or 'none'}){hint}; train writes model.keras in its --out"
    )
