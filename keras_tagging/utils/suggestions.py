"""Suggestions for mistyped names."""

import difflib
from collections.abc import Iterable


def nearest(name, names: Iterable) -> str | None:
    """The one of some names that is most similar to this one, if any is."""
    near = difflib.get_close_matches(
        str(name)[:99], list(map(str, names)), n=1, cutoff=0.5
    )
    return near[0] if near else None


def check_known(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise a ValueError that lists the possible names, unless this is one of them."""
    names = list(names)
    if name not in names:
        near = nearest(name, names)
        hint = f"; did you mean {near!r}?" if near else "."
        raise ValueError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")
