"""The folder for downloads and cached vectors."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The cache: KERAS_TAGGING_CACHE, or the user's cache folder."""
    if folder := os.environ.get("KERAS_TAGGING_CACHE"):
        return Path(folder).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("keras-tagging", appauthor=False)
