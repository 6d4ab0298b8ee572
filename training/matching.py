"""What is found matched with what is labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from training.talks import Label


def one_to_one(pairs: Iterable[tuple[float, int, int]]) -> dict[int, int]:
    """By place of the found that of its label. ``pairs``: likeness and places; the likest first, each place once."""
    found: dict[int, int] = {}
    for _, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if i not in found and j not in found.values():
            found[i] = j
    return found


def tally(found: int, of: Mapping[int, int], labels: Sequence[Label]) -> Counter[str]:
    """How many are ``labelled``, ``told`` and ``right``, by place of the found that of its label; what may be found or
    not counts neither way.
    """
    told = [i for i in range(found) if i not in of or not labels[of[i]].is_optional]
    wanted = sum(not one.is_optional for one in labels)
    return Counter(labelled=wanted, told=len(told), right=sum(i in of for i in told))
