"""Results of checks on the stored tables. Verdicts hold ids and numbers, never content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

COVERAGE_WARN_BELOW = 0.95
"""P30, P32: threshold of the coverage warning."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Interactions that are due (P11), summarised, and ``outdated``."""

    due: int
    summarized: int
    outdated: int


@dataclass(frozen=True, slots=True)
class Found:
    """How much was checked and is wrong, by kind; ``examples`` are ids, ``first_day`` and ``last_day`` local days."""

    checked: int
    wrong: Mapping[str, int] = field(default_factory=dict[str, int])
    examples: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None

    @property
    def total(self) -> int:
        return sum(self.wrong.values())


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one check; ``is_error`` or a warning; ``numbers`` are flat."""

    name: str
    passed: bool
    is_error: bool
    reason: str
    numbers: Mapping[str, int | float]
    examples: tuple[str, ...] = ()
    days: tuple[date, date] | None = None


def coverage(found: Coverage) -> Verdict:
    """A warning below the threshold; passes if nothing is due."""
    share = 1.0 if found.due == 0 else found.summarized / found.due
    passed = share >= COVERAGE_WARN_BELOW
    reason = f"{found.summarized} of {found.due} due interactions are summarised ({share:.1%})"
    numbers = {
        "due": found.due,
        "summarized": found.summarized,
        "outdated": found.outdated,
        "coverage": round(share, 4),
        "warns_below": COVERAGE_WARN_BELOW,
    }
    return Verdict("coverage", passed, is_error=False, reason=reason, numbers=numbers)


def nothing_wrong(name: str, found: Found, *, is_error: bool = True) -> Verdict:
    """Fails if anything is wrong; ``is_error`` False: a warning."""
    passed = found.total == 0
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found.wrong.items() if count)
    reason = f"{found.checked} looked at" if passed else f"{kinds}, of {found.checked} looked at"
    days = (found.first_day, found.last_day) if found.first_day and found.last_day else None
    numbers = {"checked": found.checked, "wrong": found.total, **found.wrong}
    return Verdict(name, passed, is_error, reason, numbers, examples=found.examples, days=days)


def joined(one: Verdict, other: Verdict) -> Verdict:
    """``one`` unless only ``other`` failed; if both did, with the days of both."""
    if other.passed:
        return one
    if one.passed:
        return other
    days = [day for verdict in (one, other) for day in verdict.days or ()]
    return replace(one, days=(min(days), max(days)) if days else None, examples=one.examples or other.examples)
