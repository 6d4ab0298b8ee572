"""Wiring of interactions."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.adapters.postgres.interactions.store import PostgresInteractionStore
from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore
from pkg_pipeline.stages.interactions import stage as interactions
from pkg_pipeline.stages.interactions.tally import InteractionParams
from pkg_pipeline.wiring.models import due_after_seconds

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


def build_interactions(
    memory: Memory, chats: Collection[UUID] | None, *, alone: bool
) -> interactions.InteractionsReport:
    settings = memory.settings
    report = interactions.build_interactions(
        PostgresInteractionStore(memory.connections),
        clock=memory.clock,
        params=InteractionParams(
            gap_seconds=settings.gap_hours * 3600,
            due_after_seconds=due_after_seconds(settings),
            minimum_messages=settings.summary_min_messages,
            mass_senders=settings.mass_senders,
            timezone=settings.timezone,
        ),
        chats=chats,
        alone=alone,
    )
    PostgresWorkStore(memory.connections).keep_first_month()
    if not alone:
        memory.monitoring.recount()
    return report
