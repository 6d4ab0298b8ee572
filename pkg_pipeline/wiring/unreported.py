"""Word of imports that no run of Dagster has done: the next run of the two assets shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore
from pkg_pipeline.stages.ingest.stage import ImportReport
from pkg_pipeline.stages.interactions.stage import InteractionsReport

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


def leave_unreported(memory: Memory, report: ImportReport, made: InteractionsReport) -> None:
    """The numbers of one import, under the names that the assets use."""
    work, counts = PostgresWorkStore(memory.connections), report.counts
    taken = {
        "files": report.files,
        "messages_new": counts.new,
        "messages_updated": counts.updated,
        "messages_unchanged": counts.unchanged,
        "messages_deleted": counts.deleted,
    }
    built = {
        "rows": made.interactions,
        "chats": made.chats,
        "completed": made.completed,
        "messages": made.messages,
    }
    work.leave_unreported("messages", taken)
    work.leave_unreported("interactions", built)
