"""What a look at the stored tables means: passed, worth a warning, or wrong. Pure; counting is the adapter's business.

A verdict holds ids and numbers, never a word of a conversation: it goes into Dagster's tables and onto the screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

COVERAGE_WARN_BELOW = 0.95
"""P30, P32: below this share of what is due, a budget, a service or a fault holds too much back."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Interactions that are due (P11) and those of them with a live summary; ``outdated`` ones wait to be redone."""

    due: int
    summarized: int
    outdated: int


@dataclass(frozen=True, slots=True)
class Found:
    """What was looked at and how much of it is wrong, by kind. ``examples`` are a few ids; ``first_day`` and
    ``last_day`` are the local days of the wrong ones, where they have any.
    """

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
    """The outcome of one check. ``is_error`` tells a broken promise from a warning; ``numbers`` are flat."""

    name: str
    passed: bool
    is_error: bool
    reason: str
    numbers: Mapping[str, int | float]
    examples: tuple[str, ...] = ()
    days: tuple[date, date] | None = None


def coverage(found: Coverage) -> Verdict:
    """A warning below the threshold. Where nothing is due, nothing is missing."""
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
    """An error as soon as one thing is wrong; a warning where it mends itself at the next run."""
    passed = found.total == 0
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found.wrong.items() if count)
    reason = f"{found.checked} looked at" if passed else f"{kinds}, of {found.checked} looked at"
    days = (found.first_day, found.last_day) if found.first_day and found.last_day else None
    numbers = {"checked": found.checked, "wrong": found.total, **found.wrong}
    return Verdict(name, passed, is_error, reason, numbers, examples=found.examples, days=days)


def joined(one: Verdict, other: Verdict) -> Verdict:
    """One verdict on what two looked at: ``one`` unless only ``other`` failed; of two failures the days of both."""
    if other.passed:
        return one
    if one.passed:
        return other
    days = [day for verdict in (one, other) for day in verdict.days or ()]
    return replace(one, days=(min(days), max(days)) if days else None, examples=one.examples or other.examples)
