"""A kind of models that another distribution brings."""

from pathlib import Path

import pytest

from keras_tagging.kinds import kind

# it is imported as an installed package, not as a part of the tests
collect_ignore = ["installed"]
INSTALLED = Path(__file__).parent / "installed"


@pytest.fixture(scope="module")
def installed():
    """The kind `counter` is installed for this process and for those that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(INSTALLED)
        patch.setenv("PYTHONPATH", str(INSTALLED), prepend=":")
        kind._register_installed.cache_clear()
        yield kind.find("counter")
    del kind._KINDS["counter"]
    kind._register_installed.cache_clear()
