"""Checks of `train` before it imports Keras, which takes seconds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from keras_tagging.architectures import architecture
from keras_tagging.utils.named_models import find_model
from keras_tagging.vectors.languages import (
    WITH_WORDS,
    LanguageWords,
    installed_for,
    language_of_words,
)

#: beside the keywords of an architecture: the language whose words it takes
LANGUAGE = "language"
#: keywords that are refused without vectors or word classes, which the language of a
#: corpus that has not been read may bring
NEED_WORDS = ("trainable_vectors", "class_prefixes")
#: keywords whose values are names or files
OF_FILES = ("embeddings", "vectors", "word_classes")


def check_there(run: Path | None) -> None:
    """Refuse a model that is neither a file or folder nor installed.

    Raises:
        ValueError: if there is no such model.
    """
    if run is not None and not find_model(run).exists():
        raise ValueError(f"{run}: no such model; train writes model.keras in its --out")


def check_names(arch: str, given: Mapping) -> None:
    """Refuse settings that an architecture does not have.

    Args:
        arch: its name.
        given: the settings.

    Raises:
        ValueError: for an unknown name, with the nearest one.
    """
    architecture(arch).check_keywords(given, others=[LANGUAGE])


def check_values(arch: str, recipe: str, language: str | None, given: Mapping) -> None:
    """Refuse values that settings cannot have, or that contradict each other.

    Args:
        arch, recipe: as in the command.
        language: that was given.
        given: the other settings.

    Raises:
        ValueError: naming the setting.
        OSError: if there is no such file of vectors or word classes.
    """
    check_files(given)
    entry, known = architecture(arch), known_words(recipe, language)
    if known is None:
        given, known = without_words(given), LanguageWords()
    entry.settings(recipe, known.settings(entry.keywords, given), **given)


def check_plan(plan, language: str | None) -> None:
    """The same for the parts of a pipeline.

    Args:
        plan: a `PipelinePlan`, whose words are not yet known.
        language: that was given.
    """
    known = known_words(plan.recipe, language)
    if known is None:
        own = {part: without_words(given) for part, given in plan.settings.items()}
        plan = replace(plan, settings=own)
    else:
        plan = replace(plan, words=known)
    for part in plan.parts:
        check_files(plan.settings.get(part, {}))
        plan.keywords(part)


def check_files(given: Mapping) -> None:
    """Refuse files of vectors and word classes that are not there; names may be any.

    Args:
        given: settings.

    Raises:
        OSError: naming the file.
    """
    for source in (given.get(name) for name in OF_FILES):
        path = Path(source) if isinstance(source, str) else Path()
        if (path.suffix or len(path.parts) > 1) and not path.exists():
            raise FileNotFoundError(f"{path}: there is no such file; check the path")


def known_words(recipe: str, language: str | None) -> LanguageWords | None:
    """The words that a recipe takes; None if the corpus tells of which language.

    Raises:
        ValueError: as in `vectors.languages`.
    """
    if language is None and recipe in WITH_WORDS:
        return None
    code = language_of_words(recipe, language, "")
    return installed_for(code, required=language is not None)


def without_words(given: Mapping) -> dict:
    """The settings that can be checked whatever words there will be."""
    return {name: value for name, value in given.items() if name not in NEED_WORDS}
