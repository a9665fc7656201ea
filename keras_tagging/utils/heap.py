"""Memory that large arrays took, given back when they are gone."""

import ctypes

#: bytes of a block that has pages of its own, and of free ones that may stay at the end
LARGE, KEPT = 1 << 20, 8 << 20
#: their numbers in `malloc.h` of glibc
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1


def return_large_blocks() -> bool:
    """Have the process return blocks of a MB or more to the system once they are free.

    With each that is freed, glibc puts larger ones among the small ones, up to 32 MB,
    and keeps what is free between those. This is for programs that run ONNX files: new
    pages take time, and TensorFlow asks for them in each step.

    Returns:
        Whether the C library has this setting.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGE) and mallopt(TRIM_THRESHOLD, KEPT))
