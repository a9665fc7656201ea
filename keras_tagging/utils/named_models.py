"""Trained models by name: each is an installed distribution of its own.

The distribution has an entry point of the group `keras_tagging.models`: its name is
that of the model, its value a package. In the folder of the package are `model/`, the
saved model, and `card.json`, which tells its licence and its figures. There may be
`onnx/`, the same model for ONNX Runtime.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from keras_tagging.utils import limits
from keras_tagging.utils.checks import nearest
from keras_tagging.utils.stored import read_object

#: the models in the folder `models`, which are pipelines
Shipped = Literal["en", "en-ccg", "fr"]
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
        package: the name of its package.
    """

    name: str
    version: str
    package: str

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

    @cached_property
    def _package(self) -> Path:
        # that of a package inside of another one would run code of the latter
        spec = None if "." in self.package else find_spec(self.package)
        places = list(spec.submodule_search_locations or ()) if spec else []
        if not places:
            gone = f"its package {self.package} is gone: {REMEDY}"
            raise ValueError(f"the model {self.name!r}: {gone}")
        return Path(places[0])

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
    models = {}
    for entry in entry_points(group=group):
        version = entry.dist.version if entry.dist else "-"
        models[entry.name] = NamedModel(entry.name, version, entry.value)
    return dict(sorted(models.items()))


def is_distribution(folder: Path) -> bool:
    """Whether a folder is that of a model's distribution, such as ./models/en."""
    try:
        return f'"{GROUP}"' in (folder / "pyproject.toml").read_text("utf-8")
    except (OSError, ValueError):
        return False


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
    is_package = is_distribution(path)
    if not is_package and (path.exists() or path.suffix or len(path.parts) != 1):
        return path
    models = installed_models()
    if (installed := models.get(str(model))) is not None:
        return (to_run and installed.onnx) or installed.folder
    clone = Path(__file__).parents[2]
    for folder in (path, Path("models", model), clone / "models" / model):
        if is_distribution(folder):
            shown = folder if folder.is_absolute() else f"./{folder}"
            remedy = f"pip install {shown}, then name {folder.resolve().name}"
            raise ValueError(f"{model}: a distribution: {remedy}")
    near = nearest(model, models)
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(
        f"{model}: no such model, saved or installed (installed: "
        f"{', '.join(models) or 'none'}){hint}; train writes model.keras in its --out"
    )
