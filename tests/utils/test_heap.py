"""Large blocks have pages of their own, also after larger ones have been freed."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pathlib import Path

import numpy as np

from keras_tagging.utils.heap import return_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "set":
    assert return_large_blocks()
np.ones(30 << 20, "uint8")  # from now on glibc has blocks up to this size in the heap
before = resident()
blocks = [np.ones(2 << 20, "uint8") for _ in range(20)]
last = [bytes(3000) for _ in range(20)]  # what keeps the end of the heap
del blocks
print((resident() - before) >> 20)
"""


def kept(setting):
    """MB that stay of twenty blocks of 2 MB."""
    command = [sys.executable, "-c", PROGRAM, setting]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.one_backend
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_blocks_are_returned():
    assert kept("set") < 5
    assert kept("not set") > 20
