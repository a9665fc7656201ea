"""Entry points by which installed distributions offer models, kinds and systems."""

from importlib.metadata import EntryPoint, entry_points


def offered(group: str) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by name: one each, if no two distributions clash."""
    entries: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=group):
        entries.setdefault(entry.name, []).append(entry)
    return entries


def only(entries: list[EntryPoint]) -> EntryPoint:
    """The one entry point of a name.

    Raises:
        ValueError: if there are several; it names their distributions.
    """
    if len(entries) == 1:
        return entries[0]
    dists = " and ".join(sorted(e.dist.name if e.dist else e.value for e in entries))
    raise ValueError(f"{dists} offer the same name: uninstall all but one")
