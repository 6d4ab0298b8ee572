"""Chunks of the few interactions that were just built, without a look at their days: what was said is found at once.

The marks of the days stay until all is done: what is left out here, or dies here, is made by the next run of the days.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from pkg_pipeline.stages.recall.chunks import ChunkDeps, DayReport, Work
from pkg_pipeline.stages.recall.records import NO_SPACE

if TYPE_CHECKING:
    from pkg_pipeline.stages.interactions.stage import InteractionsReport

LOOK_AFTER = timedelta(hours=12)
"""When a day is looked at whole, by which its partition is also shown as made."""


def make_at_once(built: InteractionsReport, *, deps: ChunkDeps) -> DayReport | None:
    """The chunks of what was touched; None where some of it is left to its day."""
    if not built.touched or not built.marks:
        return None
    space_id = deps.vectorising.space_id if deps.vectorising else NO_SPACE
    with deps.store.hold([one.id for one in built.touched]) as held:
        if len(held.ids) < len(built.touched):
            return None
        continued = [one for one in built.touched if one.continued_after is not None]
        taken = held.going_on(continued, space_id) if continued else []
        if len(taken) < len(continued):
            return None
        if others := [one.id for one in built.touched if one.continued_after is None]:
            taken += held.outdated(space_id, others)
        now = deps.clock.now()
        if not taken:
            deps.store.settle(built.marks, now=now, later=now + LOOK_AFTER)
            return None
        total = DayReport(taken[0].day)
        Work(deps, {one.day: total for one in taken}, space_id).make(held, taken)
    if total.refused or (deps.vectorising is not None and deps.vectorising.stop_reason is not None):
        return None
    deps.store.settle(built.marks, now=now, later=now + LOOK_AFTER)
    return total
