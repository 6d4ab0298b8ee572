"""Whether a new task repeats an open one."""

from __future__ import annotations

from collections.abc import Sequence

from pkg_pipeline.offline.actions import FoundAction
from pkg_pipeline.offline.matters import Open, Weights

SAME_TASK = 0.5
SAME_TASK_AND_DEED = 0.32


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
    if not may_be_same(old, new):
        return 0.0
    alike = max(
        scale.alike(old.matter.roots, new.matter.roots),
        min(scale.covered(new.matter.roots, old.matter.roots), 1.0) * 0.8 if len(old.matter.roots) > 1 else 0.0,
    )
    shared_deed = bool(old.matter.deeds & new.matter.deeds)
    least = SAME_TASK_AND_DEED if shared_deed else SAME_TASK
    return alike if alike >= least else 0.0


def may_be_same(old: Open, new: Open) -> bool:
    """Whether a new task is an open one: it names no other thing and no other sum."""
    if old.matter.sums and new.matter.sums and not old.matter.sums & new.matter.sums:
        return False
    return not new.matter.things or bool(new.matter.things & (old.matter.roots | old.around))
