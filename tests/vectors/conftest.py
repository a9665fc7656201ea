import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """The folder in which vectors are kept: a new one for every test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(folder))
    return folder / "vectors"
