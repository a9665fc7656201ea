"""The files that tell the state of a pipeline's training. No Keras here.

`training.json` says what is trained. While that is to replace a finished pipeline, it
names that one by its checksum: the pipeline stays until the new one is saved, and the
same command continues a killed training.
"""

import json
import shutil
from pathlib import Path

from keras_tagging.pipelines.files import saving
from keras_tagging.runtime.folder import PIPELINE
from keras_tagging.runtime.pipeline import CCG_PARSERS, ENTITIES, PARTS
from keras_tagging.utils.atomic import remove_partial, replacing
from keras_tagging.utils.stored import read_object, sha256_of

OPTIONS = "training.json"
REMEDY = "choose another folder, or remove it"
#: the key of `training.json` with the checksum of the pipeline that is to be replaced
REPLACES = "replaces"
#: the taggers of folds, as earlier versions kept them
FOLDS = "jackknife"
#: the columns that taggers of folds have predicted, in the folder of the parser
COLUMNS = "columns"


def is_finished(out: Path) -> bool:
    """Whether a folder has a pipeline that no training is to replace.

    Raises:
        ValueError: if `training.json` is damaged.
    """
    path = out / PIPELINE
    if not path.exists():
        return False
    if not (out / OPTIONS).exists():
        return True
    return read_object(out / OPTIONS, REMEDY).get(REPLACES) != sha256_of(path)


def start_run(out: Path, about: dict, again: bool = False) -> None:
    """Write what is trained into a folder; refuse a folder with anything else.

    Args:
        out: the folder, which this process has locked.
        about: what identifies the training, for JSON.
        again: whether to begin again. The training in the folder is removed, and its
            pipeline stays until the new one replaces it.

    Raises:
        ValueError: if the folder has another training, or a damaged file.
    """
    path, about = out / OPTIONS, json.loads(json.dumps(about, default=str))
    if again:
        if (out / PIPELINE).exists():
            about[REPLACES] = sha256_of(out / PIPELINE)
        for name in (*PARTS, *CCG_PARSERS, ENTITIES, FOLDS):
            shutil.rmtree(out / name, ignore_errors=True)
        _write(path, about)  # last: no part of another training is taken for its own
    elif not path.exists():
        _write(path, about)
    else:
        before = read_object(path, REMEDY)
        for name, value in about.items():
            if before.get(name) != value:
                raise ValueError(
                    f"{out} has the training of another pipeline, with another {name}: "
                    "choose another folder, or repeat what began it"
                )


def end_run(out: Path) -> None:
    """Remove what a finished training no longer needs, in a folder that had one."""
    if not (out / OPTIONS).exists():
        return
    about = read_object(out / OPTIONS, REMEDY)
    if about.pop(REPLACES, None):
        _write(out / OPTIONS, about)
    for path in (out / FOLDS, out / "parser" / COLUMNS):
        shutil.rmtree(path, ignore_errors=True)
    with saving(out):  # which removes what is left of a save
        remove_partial(out)


def _write(path: Path, about: dict) -> None:
    with replacing(path) as partial:
        partial.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
