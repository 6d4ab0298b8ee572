"""Whether there is work and in which partitions, by a few index lookups. Does not import Dagster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from uuid import UUID

from pkg_pipeline.defs.hops import GRAIN_OF, HOP
from pkg_pipeline.defs.keys import existing
from pkg_pipeline.defs.lanes import scope_of, wants_only_due
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.stages.partitions import DuePartition


def has_work(memory: PipelineMemory, asset: str) -> bool:
    """Whether a run of ``asset`` would find work now."""
    hop = HOP[asset]
    return hop.has_work(memory) or (hop.grain is not None and bool(due_partitions(memory, asset, limit=1)))


def due_partitions(memory: PipelineMemory, asset: str, *, limit: int | None = None) -> list[DuePartition]:
    """Partitions of ``asset`` that need work now, ascending; weeks and months only once they are over."""
    due = HOP[asset].due
    if due is None:
        return memory.partitions.due(asset, now=memory.clock.now(), limit=limit)
    return [DuePartition(asset, key, 0, 0) for key in _existing(memory, asset, due(memory))][:limit]


def there(due: Sequence[DuePartition], start: date) -> list[DuePartition]:
    """Those at or after ``start``; older ones exist once the definitions are reloaded."""
    return [one for one in due if one.key >= GRAIN_OF[one.asset].begin(start).isoformat()]


def wanted(memory: PipelineMemory, asset: str, keys: Sequence[str], tags: Mapping[str, str]) -> list[str]:
    """The keys a run works off: all of them, or by its tags only those that are due or left by its backfill."""
    if (backfill_id := scope_of(tags).backfill_id) is not None:
        memory.backfills.settle(backfill_id)
        return [key for key in memory.backfills.ready_days(backfill_id) if keys[0] <= key <= keys[-1]]
    if not wants_only_due(tags):
        return list(keys)
    return [one.key for one in due_partitions(memory, asset) if keys[0] <= one.key <= keys[-1]]


def _existing(memory: PipelineMemory, asset: str, keys: list[date]) -> list[str]:
    settings = memory.settings
    today = datetime.now(settings.zone).date()  # which partitions exist follows the real time, as in Dagster
    return existing(keys, GRAIN_OF[asset], start=memory.partitions_start, today=today)


def open_backfills(memory: PipelineMemory) -> list[UUID]:
    """Ids of backfills with work left, oldest first, without those that rest because of a cap or the service."""
    return [found for found, resume_at in memory.backfills.open() if resume_at is None]


def is_resting(memory: PipelineMemory, backfill_id: UUID) -> bool:
    """Whether a cap or the service has stopped it for now."""
    return any(found == backfill_id and resume_at is not None for found, resume_at in memory.backfills.open())
