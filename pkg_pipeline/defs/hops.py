"""The hops in their order, one declaration each: assets, jobs, code versions, what is due and what ``run`` works off
follow from it. Bodies are in ``assets/``; who requests partitioned runs is in ``partitioned.py``. Does not import
Dagster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from pkg_pipeline.defs.keys import DAY, MONTH, WEEK, Grain
from pkg_pipeline.defs.pipeline_memory import PipelineMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """``has_work``: whether a run would find work other than due partitions. ``due``: first days of weeks or months
    that need work; days have marks. ``version``: names whose change makes rows stale (B5).
    """

    asset: str
    job: str
    description: str
    grain: Grain | None = None
    has_work: Callable[[PipelineMemory], bool] = lambda _: False
    due: Callable[[PipelineMemory], list[date]] | None = None
    version: Callable[[], str] | None = None


def _has_touched_chats(memory: PipelineMemory) -> bool:
    touched = memory.partitions.due("interactions", now=memory.clock.now(), limit=1)
    return bool(touched) or memory.silent_interactions() > 0 or bool(memory.unreported("interactions"))


def _has_open_backfill(memory: PipelineMemory) -> bool:
    """Without those that rest because of a cap or the service."""
    return any(resume_at is None for _, resume_at in memory.backfills.open())


def _summaries_version() -> str:
    from pkg_pipeline.offline import MODEL
    from pkg_pipeline.prompts.versions import CURRENT_VERSIONS

    return "+".join((*sorted(CURRENT_VERSIONS), MODEL))


def _chunks_version() -> str:
    """The embedding model is not part of it: vectors are kept per space (B4)."""
    from pkg_pipeline.memory.recall.records import CHUNKS_VERSION

    return CHUNKS_VERSION


def _items_version() -> str:
    from pkg_pipeline.offline import MODEL
    from pkg_pipeline.prompts import conversation_reading

    return f"{conversation_reading.VERSION}+{MODEL}"


def _folds_version() -> str:
    from pkg_pipeline.offline import MODEL
    from pkg_pipeline.prompts import session_compress, session_fold

    return "+".join((session_compress.VERSION, session_fold.VERSION, MODEL))


def _profiles_version() -> str:
    from pkg_pipeline.offline import MODEL
    from pkg_pipeline.prompts import relationship_profile

    return f"{relationship_profile.VERSION}+{MODEL}"


MESSAGES = Hop(
    asset="messages",
    job="import_inbox",
    description="Import what lies in the inbox.",
    has_work=lambda memory: bool(memory.inbox.ready()) or bool(memory.unreported("messages")),
)
INTERACTIONS = Hop(
    asset="interactions",
    job="build_interactions",
    description="Cut touched chats into interactions and complete the silent ones.",
    has_work=_has_touched_chats,
)
ITEMS = Hop(
    asset="items",
    job="read_items",
    description="Read completed conversations for tasks and decisions, in time order.",
    has_work=lambda memory: memory.has_unread_talks(),
    version=_items_version,
)
FOLDS = Hop(
    asset="session_summaries",
    job="fold_sessions",
    description="Fold the live sessions that are due.",
    has_work=lambda memory: memory.due_sessions(limit=1) > 0,
    version=_folds_version,
)
SUMMARIES = Hop(
    asset="interaction_summaries",
    job="summarize_days",
    description="Summarise days; a run holds a range of them.",
    grain=DAY,
    has_work=_has_open_backfill,
    version=_summaries_version,
)
CHUNKS = Hop(
    asset="memory_chunks",
    job="chunk_days",
    description="Make days searchable; a run holds a range of them.",
    grain=DAY,
    version=_chunks_version,
)
PROFILES = Hop(
    asset="entity_relationship_profiles",
    job="profile_weeks",
    description="Build the profiles of weeks; a run holds a few of them.",
    grain=WEEK,
    due=lambda memory: memory.due_weeks(),
    version=_profiles_version,
)
ARCHIVE = Hop(
    asset="archived_messages",
    job="archive_months",
    description="Move the texts of old months aside; a run holds a range of them.",
    grain=MONTH,
    due=lambda memory: memory.due_months(),
)
MARTS = Hop(
    asset="marts",
    job="build_marts",
    description="Bring the marts up to date.",
    has_work=lambda memory: memory.settings.marts and memory.marts.are_outdated(),
)

HOPS = (MESSAGES, INTERACTIONS, ITEMS, FOLDS, SUMMARIES, CHUNKS, PROFILES, ARCHIVE, MARTS)
HOP = {hop.asset: hop for hop in HOPS}
ASSETS = tuple(HOP)
GRAIN_OF = {hop.asset: hop.grain for hop in HOPS if hop.grain is not None}
