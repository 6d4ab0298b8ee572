"""A memory to archive: the real import and interactions, summaries written by SQL as their stage leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pkg_pipeline.adapters.clock import PinnedClock
from pkg_pipeline.adapters.postgres.archive.store import PostgresArchiveStore
from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.stages.archive import stage as archive
from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline.stages.archive.stage import ArchiveDeps, ArchiveParams, ArchiveStatus, MonthReport, RestoreReport
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START, Line, Rig

AFTER_DAYS = 180.0
JANUARY = date(2026, 1, 1)
OLD_ENOUGH = START + timedelta(days=AFTER_DAYS + 20)
"""When what was said within three weeks of START is of age."""

LOGICAL = {
    "messages": """
        SELECT chat_id, external_id, content, content_hash, parts::text, is_archived, archived_month,
               interaction_of(kind, chat_id, sent_at)
        FROM messages""",
    "revisions": """
        SELECT m.chat_id, m.external_id, r.content_hash, r.edited_at, r.is_deleted, r.content
        FROM message_revisions r JOIN messages m ON m.id = r.message_id""",
    "archive": """
        SELECT month, chat_id, interaction_id, external_id, sent_at, content, content_hash, parts::text
        FROM archived_messages""",
    "months": "SELECT month, state, message_count, content_bytes FROM archive_months",
    "holds": "SELECT interaction_id, held_until FROM archive_holds",
    "states": "SELECT partition_key, pending, due_at FROM partition_states WHERE asset = 'archived_messages'",
}
"""What an archive is, without ids in order of arrival, clocks and the number of attempts."""


class ArchiveRig(Rig):
    """One database; ``now`` is the memory's clock for the archive."""

    def __init__(self, url: str, *, now: datetime = OLD_ENOUGH) -> None:
        super().__init__(url)
        self.now = now
        self.archive_store = PostgresArchiveStore(self.pool)

    def deps(self, store: PostgresArchiveStore | None = None, partitions: Any = None) -> ArchiveDeps:
        used = store or self.archive_store
        return ArchiveDeps(
            store=used,
            partitions=partitions or PostgresPartitionStore(self.pool),
            clock=PinnedClock(self.now),
        )

    def archive_params(self, **changes: Any) -> ArchiveParams:
        given: dict[str, Any] = {
            "after_days": AFTER_DAYS,
            "keep_months": None,
            "minimum_messages": 1,
            "zone": ZoneInfo("Europe/Berlin"),
        }
        return ArchiveParams(**{**given, **changes})

    def load(self, lines: Sequence[Line | str], *, exported_at: datetime = NOW) -> None:
        self.take(lines, exported_at=exported_at)
        self.build()

    def summarise(self, *important: str) -> None:
        """Every interaction gets a current summary that lists these external ids as important messages."""
        self.run("UPDATE interactions SET status = 'completed'")
        self.run(
            "UPDATE interaction_summaries s SET status = 'superseded' FROM interactions i"
            " WHERE i.id = s.interaction_id AND s.status IN ('completed', 'dirty')"
            " AND (s.status = 'dirty' OR s.input_hash <> i.input_hash)"
        )
        self.run(
            "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version,"
            " language, summary, message_ids, message_count, source_token_count, summary_token_count,"
            " compression_ratio, cost_usd, generation_seconds, important_messages)"
            " SELECT gen_random_uuid(), i.id, 'completed', i.input_hash, 'p', 'm', 'en', 's', '{}', 1, 1, 1, 1, 0, 0,"
            " (SELECT coalesce(jsonb_agg(jsonb_build_object('message_id', k, 'content', '')), '[]')"
            "  FROM unnest(%s::text[]) k)"
            " FROM interactions i WHERE NOT EXISTS (SELECT FROM interaction_summaries s"
            "  WHERE s.interaction_id = i.id AND s.status IN ('completed', 'dirty'))",
            list(important),
        )

    def archive(self, *months: date, **params: Any) -> list[MonthReport]:
        """The months given, or all that are due."""
        deps, given = self.deps(), self.archive_params(**params)
        return archive.archive_months(months or archive.due_months(deps, given), deps=deps, params=given)

    def due(self, **params: Any) -> list[date]:
        return archive.due_months(self.deps(), self.archive_params(**params))

    def status(self, **params: Any) -> ArchiveStatus:
        return archive.status(self.deps(), self.archive_params(**params))

    def restore(self, scope: RestoreScope | None = None, *, store: PostgresArchiveStore | None = None) -> RestoreReport:
        """The scope, or every chat of source jsonl named c1."""
        wanted = scope or RestoreScope(chat=("jsonl", "c1"))
        clock = PinnedClock(self.now)
        return archive.restore(wanted, store=store or self.archive_store, clock=clock, after_days=AFTER_DAYS)

    def restore_all(self) -> None:
        for source, chat in self.rows("SELECT source, external_id FROM chats ORDER BY 1, 2"):
            self.restore(RestoreScope(chat=(source, chat)))

    def run(self, statement: str, *parameters: Any) -> None:
        with self.connection() as connection:
            connection.execute(statement, parameters)  # type: ignore[arg-type]

    def logical(self) -> dict[str, list[tuple[Any, ...]]]:
        return {name: sorted(self.rows(sql), key=repr) for name, sql in LOGICAL.items()}

    def live(self) -> dict[str, str]:
        """External id → what stands in the row itself."""
        return dict(self.rows("SELECT external_id, content FROM messages"))  # type: ignore[arg-type]

    def texts(self) -> list[tuple[Any, ...]]:
        """What every reader sees: live and archive together, with parts and earlier versions."""
        return sorted(
            [
                *self.rows("SELECT chat_id, external_id, content, content_hash, parts::text FROM message_texts"),
                *self.rows(LOGICAL["revisions"]),
            ],
            key=repr,
        )
