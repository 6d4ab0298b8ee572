"""From what confidence on a fact is confirmed without being asked about (B2): by its type, and by who says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

NEVER = 2.0
"""More than any confidence."""

_PART = re.compile(r"\s*([^=,/]+?)\s*(/\s*others)?\s*=\s*(never|[01](?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class ConfirmRules:
    """``confidence``: needed of what people say of themselves; ``of_others``: of what is said of somebody else, None:
    as much. ``by_type``: of these types instead; a key ``type/others`` is for what is said of somebody else.
    """

    confidence: float
    of_others: float | None = None
    by_type: Mapping[str, float] = field(default_factory=dict[str, float])

    def needed(self, fact_type: str, *, is_own: bool) -> float:
        """Of somebody else never less than a type needs of people themselves, unless its own rule says so."""
        name = _name(fact_type)
        own = self.by_type.get(name, self.confidence)
        if is_own:
            return own
        others = own if self.of_others is None else max(own, self.of_others)
        return self.by_type.get(f"{name}/others", others)


def rules_by_type(text: str) -> dict[str, float]:
    """``phone=0.8, family/others=never`` as numbers. Raises ValueError for anything else."""
    rules: dict[str, float] = {}
    for part in filter(str.strip, text.split(",")):
        found = _PART.fullmatch(part)
        if found is None or (found[3] != "never" and float(found[3]) > 1):
            raise ValueError(f"{part.strip()!r} is no rule, such as phone=0.8 or family/others=never")
        rules[_name(found[1]) + ("/others" if found[2] else "")] = NEVER if found[3] == "never" else float(found[3])
    return rules


def _name(fact_type: str) -> str:
    return " ".join(fact_type.casefold().split())
