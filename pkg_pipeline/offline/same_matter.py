"""Whether a new task repeats an open one, and which standing decision a new decision repeats or supersedes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.actions import FoundAction
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.decisions import FoundDecision
from pkg_pipeline.offline.matters import Matter, Open, Weights, matter_of, shown_matter
from pkg_pipeline.offline.reading import Reading, language_of

SAME_TASK = 0.5
SAME_TASK_AND_DEED = 0.32
SAME_DECISION = 0.75
SAME_SUBJECT = 0.7
ALIKE = 0.4
ALIKE_IN_SUM = 0.55
LEAST_AMOUNT = 100
CHANGED_SUBJECT = 0.45
"""Where only the day changes, one telling word is enough."""
LEAST_TERMS = 2
FEW_ROOTS = 3
Difference = Literal["day", "sum"]


def same_tasks(shown: Sequence[Open], found: Sequence[Open], actions: Sequence[FoundAction]) -> dict[int, int]:
    """By index of a found task the index of the shown one that it only repeats."""
    scale = Weights(item.matter for item in shown)
    same: dict[int, int] = {}
    for new, item in enumerate(found):
        scores = [(_same_task(old, item, scale), at) for at, old in enumerate(shown)]
        score, best = max(scores, default=(0.0, -1), key=lambda one: (one[0], -one[1]))
        if best >= 0 and score > 0 and not actions[new].closed_at:
            same[new] = best
    return same


def _same_task(old: Open, new: Open, scale: Weights) -> float:
    if old.owner is not None and new.owner is not None and old.owner != new.owner:
        return 0.0
    if old.matter.sums and new.matter.sums and not old.matter.sums & new.matter.sums:
        return 0.0
    alike = max(
        scale.alike(old.matter.roots, new.matter.roots),
        min(scale.covered(new.matter.roots, old.matter.roots), 1.0) * 0.8 if len(old.matter.roots) > 1 else 0.0,
    )
    shared_deed = bool(old.matter.deeds & new.matter.deeds)
    least = SAME_TASK_AND_DEED if shared_deed else SAME_TASK
    return alike if alike >= least else 0.0


def may_be_same(old: Open, new: Open, scale: Weights) -> bool:
    """Whether a task in the words that put off an open one is that one: it names no other thing and no other sum."""
    if old.matter.sums and new.matter.sums and not old.matter.sums & new.matter.sums:
        return False
    mine = old.matter.roots | old.around
    return len(new.matter.roots) <= FEW_ROOTS or scale.shared(new.matter.roots, mine) > 0


def replaced(
    reading: Reading, shown: Sequence[ShownItem], decided: Sequence[FoundDecision], names: frozenset[str]
) -> tuple[dict[int, str], frozenset[int]]:
    """By index of a new decision the ref that it supersedes; and indices of those that only repeat one."""
    standing = [(item, shown_matter(item, names)) for item in shown if item.status == "open"]
    new = [_decided_matter(reading, one, names) for one in decided]
    scale = Weights(matter for _, matter in standing)
    replaces: dict[int, str] = {}
    again: set[int] = set()
    for index, matter in enumerate(new):
        scored = [(scale.alike(matter.roots, old.roots), n) for n, (_, old) in enumerate(standing)]
        score, best = max(scored, default=(0.0, -1), key=lambda one: (one[0], one[1]))
        if best < 0:
            continue
        item, old = standing[best]
        differs = _differs(item, old, decided[index], matter)
        shares = scale.shared(matter.roots, old.roots)
        if score >= SAME_DECISION and shares >= SAME_SUBJECT and not differs:
            again.add(index)
        elif differs and item.ref not in replaces.values():
            said = "\n".join(reading.lines[line].message.text for line in decided[index].lines)
            is_changed = in_any("offline", "closing", "changed").search(said) is not None
            by_sum = differs == "sum" and (is_changed or score >= ALIKE_IN_SUM) and shares >= SAME_SUBJECT
            by_day = differs == "day" and (is_changed or score >= ALIKE) and shares >= CHANGED_SUBJECT
            if by_sum or by_day:
                replaces[index] = item.ref
    return replaces, frozenset(again)


def _decided_matter(reading: Reading, one: FoundDecision, names: frozenset[str]) -> Matter:
    """What a decision is about, with the line that it answers where it is short."""
    lines = sorted({one.sentence.line, *one.lines[:2]})
    text = "\n".join(reading.lines[line].message.text[:600] for line in lines)
    return matter_of(one.sentence.text if len(one.sentence.terms) > LEAST_TERMS else text, names=names)


def _differs(item: ShownItem, old: Matter, one: FoundDecision, new: Matter) -> Difference | None:
    """How the terms differ: another day, or other sums; None if they do not."""
    language = language_of(item.quote, "en")
    before = {d.day for d in find_dates(item.quote, language, item.said_at.date())}
    after = {d.day for d in find_dates(one.sentence.text, one.sentence.language, one.day)}
    amounts, later = _amounts(old), _amounts(new)
    if amounts and later:
        return None if amounts & later else "sum"
    return "day" if before and after and not before & after else None


def _amounts(matter: Matter) -> frozenset[int]:
    """Sums without days and years."""
    return frozenset(one for one in matter.sums if one >= LEAST_AMOUNT and not 1990 <= one <= 2100)
