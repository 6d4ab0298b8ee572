"""What is found matched with what is labelled."""

from __future__ import annotations

from collections.abc import Iterable


def one_to_one(pairs: Iterable[tuple[float, int, int]]) -> dict[int, int]:
    """By place of the found that of its label. ``pairs``: likeness and places; the likest first, each place once."""
    found: dict[int, int] = {}
    for _, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if i not in found and j not in found.values():
            found[i] = j
    return found
