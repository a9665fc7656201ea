"""Suggestions for mistyped names."""

import difflib
from collections.abc import Iterable


def nearest(name, known: Iterable) -> str | None:
    """The known name that is most similar to this one, if any is."""
    names = [str(item) for item in known]
    near = difflib.get_close_matches(str(name)[:99], names, n=1, cutoff=0.5)
    return near[0] if near else None


def check_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise a ValueError that lists the known names, the nearest one first."""
    known = list(known)
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean {near!r}?" if near else "."
        raise ValueError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}")
