"""Builds the items stage."""

from __future__ import annotations

from pkg_pipeline.adapters.postgres.items.store import PostgresItemStore
from pkg_pipeline.stages.items.stage import Items
from pkg_pipeline.wiring.process import Process


def items_stage(process: Process) -> Items:
    settings = process.settings
    return Items(
        store=PostgresItemStore(process.connections, timezone=settings.timezone, fact_rules=settings.fact_rules),
        access=process.access,
        clock=process.clock,
        gap_seconds=settings.gap_hours * 3_600,
        window_messages=settings.window_messages,
        is_paid=process.provider.is_paid,
    )
