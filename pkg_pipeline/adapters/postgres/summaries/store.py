"""The summaries stage's store: claims under leases, publication in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import date
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import kwargs_row, tuple_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, server_cursor, transaction
from pkg_pipeline.adapters.postgres.json_rows import rows_of
from pkg_pipeline.adapters.postgres.llm.leases import Leasing
from pkg_pipeline.adapters.postgres.profiles.marks import mark_newest_week
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.adapters.postgres.summaries.sources import HASHES_AT_ONCE, LOADED_MESSAGES, SummarySources
from pkg_pipeline.memory import hashing
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.summaries.stores import Claimed, DayCounts, Eligibility, Joining, SummaryRow, Waiting

SQL = Statements("summaries")
ALWAYS = (date.min, date.max)
STORED_ANSWER_CHARACTERS = 20_000
"""Of a quarantined answer."""


class PostgresSummaryStore(SummarySources, Leasing):
    """Leases, sources and publication; saving releases the lease. ``timezone`` resolves words such as "tomorrow"."""

    _lease_kind = "summary"

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def claim(
        self,
        days: tuple[date, date],
        *,
        eligibility: Eligibility,
        limit: int,
        holder: str,
        lease_seconds: float,
        without: Sequence[UUID] = (),
    ) -> list[Claimed]:
        """Due interactions, leased, fewest attempts first, then oldest; none of ``without``."""
        parameters = {**eligible(eligibility, days), "limit": limit, "holder": holder, "lease": lease_seconds}
        with transaction(self._connections) as connection:
            tokens = dict(SQL.rows(connection, "claim", **parameters, without=list(without)))
            return self._claimed(connection, tokens, eligibility)

    def taken_over(self, tokens: Mapping[UUID, int], *, eligibility: Eligibility) -> list[Claimed]:
        """Interactions whose leases are held already; of what is not due any more they are given back."""
        with transaction(self._connections) as connection:
            return self._claimed(connection, tokens, eligibility)

    def _claimed(self, connection: Connection, tokens: Mapping[UUID, int], eligibility: Eligibility) -> list[Claimed]:
        if not tokens:
            return []
        given = {**eligible(eligibility, ALWAYS), "ids": list(tokens), "tokens": list(tokens.values())}
        rows = SQL.rows(connection, "claimed", **given)
        if gone := tokens.keys() - {row.id for row in rows}:
            self.give_back(connection, *((key, tokens[key]) for key in gone))
        return self._loaded(connection, rows) if rows else []

    def revive(self, *, prompt_version: str, model: str) -> int:
        """Interactions that failed under another prompt or model become due (P19); returns how many."""
        return SQL.value(self._connections, "revive", prompt_version=prompt_version, model=model)

    def publish(self, rows: Sequence[tuple[SummaryRow, int]]) -> list[bool]:
        """Save and link, each with its fencing token, in one transaction; False, nothing saved: another worker has the
        lease.
        """
        is_long = any(len(row.message_ids) > LOADED_MESSAGES for row, _ in rows)
        # pipelined; only COMMIT waits for the check: one round trip
        with (
            self._connections.connection() as connection,
            nullcontext() if is_long else connection.pipeline(),
            connection.transaction(),
        ):
            return [self._published(connection, row, token) for row, token in rows]

    def _published(self, connection: Connection, row: SummaryRow, token: int) -> bool:
        parameters = _columns(row)
        is_long = len(row.message_ids) > LOADED_MESSAGES
        with connection.transaction() as here:
            released = self.giving_back(connection, (row.source.interaction_id, token))
            texts = connection.execute(query("summaries", "texts"), parameters) if not is_long else None
            stale = _staleness(row, _said(connection, parameters)) if is_long else None
            connection.execute(query("summaries", "supersede_standing"), parameters)
            connection.execute(query("summaries", "insert_summary"), parameters)
            mark_newest_week(connection, [row.source.interaction_id], reason="summaries changed")
            if released.fetchone() is None:  # another worker's result counts
                raise psycopg.Rollback(here)
            if texts is not None:
                stale = _staleness(row, texts)
            if stale is not None:
                connection.execute(query("summaries", "mark_stale"), {**parameters, "reason": stale})
            return True
        return False

    def supersede_small(self, days: tuple[date, date], *, eligibility: Eligibility) -> int:
        """Supersedes summaries of removed messages where too few are left for another; returns how many."""
        minimum, gap = eligibility.minimum_messages, eligibility.gap_seconds
        with transaction(self._connections) as connection:
            given = {"first_day": days[0], "last_day": days[1], "minimum": minimum, "gap": gap}
            gone = SQL.values(connection, "supersede_small", **given)
            if gone:
                mark_newest_week(connection, gone, reason="summaries changed")
        return len(gone)

    def fail(self, claimed: Claimed, failure: Failure, *, eligibility: Eligibility) -> None:
        """Record an attempt (P19), or only postpone it if not ``counts``."""
        attempts = claimed.attempts + failure.counts
        source = claimed.source
        parameters = {
            "interaction": source.interaction_id,
            "input_hash": source.input_hash,
            "prompt_version": eligibility.prompt_version,
            "model": eligibility.model,
            "attempts": attempts,
            "deferrals": 0 if failure.counts else claimed.deferrals + 1,
            "state": "failed" if attempts >= eligibility.attempt_limit else "waiting",
            "retry_after": failure.retry_after_seconds,
            "error": failure.error[:1000],
        }
        with transaction(self._connections) as connection:
            if not self.give_back(connection, (source.interaction_id, claimed.token)):
                return
            if failure.counts or failure.retry_after_seconds > 0:
                connection.execute(query("summaries", "attempt"), parameters)
            if failure.quarantined is not None:
                answer, reason = failure.quarantined
                connection.execute(
                    query("summaries", "quarantine"),
                    {
                        **parameters,
                        "id": hashing.item_id(source.interaction_id, "quarantined", source.input_hash, str(attempts)),
                        "parent": claimed.parent_summary_id,
                        "language": source.language,
                        "answer": answer[:STORED_ANSWER_CHARACTERS],
                        "reasons": Jsonb([{"part": "answer", "reason": reason}]),
                        "message_ids": [message.external_id for message in source.messages],
                        "message_count": claimed.message_count,
                        "source_tokens": claimed.token_count,
                        "cost_usd": failure.cost_usd,
                    },
                )

    def day_counts(self, days: tuple[date, date], *, eligibility: Eligibility) -> Mapping[date, DayCounts]:
        def named(day: date, **left: Any) -> tuple[date, DayCounts]:
            return day, DayCounts(**left)

        with self._connections.connection() as connection, connection.cursor(row_factory=kwargs_row(named)) as cursor:
            return dict(cursor.execute(query("summaries", "counts"), eligible(eligibility, days)))

    def waiting(self, *, eligibility: Eligibility, joining: Joining) -> Waiting:
        """Due interactions of all days."""
        given = {
            "now": eligibility.now,
            "due_after": eligibility.due_after_seconds,
            "gap": eligibility.gap_seconds,
            "minimum": eligibility.minimum_messages,
            "prompt_version": eligibility.prompt_version,
            "model": eligibility.model,
            **joins(joining),
        }
        with self._connections.connection() as connection, connection.cursor(row_factory=kwargs_row(Waiting)) as cursor:
            found = cursor.execute(query("summaries", "waiting"), given).fetchone()
        assert found is not None, "an aggregate always gives a row"
        return found


def eligible(eligibility: Eligibility, days: tuple[date, date]) -> dict[str, Any]:
    """Parameters shared by ``claim`` and ``counts``."""
    return {
        "first_day": days[0],
        "last_day": days[1],
        "now": eligibility.now,
        "due_after": eligibility.due_after_seconds,
        "minimum": eligibility.minimum_messages,
        "prompt_version": eligibility.prompt_version,
        "model": eligibility.model,
        "retry_failed": eligibility.scope.retry_failed,
        "gap": eligibility.gap_seconds,
        "redo_stale": eligibility.scope.redo_stale,
        "current": list(eligibility.current_versions),
        "schema": eligibility.schema_version,
        "backfill": eligibility.scope.backfill_id,
    }


def joins(joining: Joining) -> dict[str, int]:
    """Parameters shared by ``waiting`` and ``choose``."""
    return {"window": joining.window_messages, "most": joining.most, "short": joining.short_tokens}


def _said(connection: Connection, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The current texts of a long interaction, in pages."""
    with server_cursor(connection, "said", tuple_row) as cursor:
        cursor.itersize = HASHES_AT_ONCE
        cursor.execute(query("summaries", "texts"), parameters)
        yield from cursor


def _staleness(row: SummaryRow, said: Iterable[tuple[str, str]]) -> str | None:
    """What happened to the texts since the claim: deleted, edited, or None. Later messages change the input hash
    instead.
    """
    covered = frozenset(row.message_ids)
    left = 0

    def still_said() -> Iterator[tuple[str, str]]:
        nonlocal left
        for key, text_hash in said:
            if key in covered:
                left += 1
                yield key, text_hash

    if hashing.input_hash(still_said()) == row.source.input_hash:
        return None
    return "deleted" if left < len(covered) else "edited"


def _columns(row: SummaryRow) -> dict[str, Any]:
    content = row.content
    return {
        "id": row.id,
        "interaction": row.source.interaction_id,
        "parent": row.parent_summary_id,
        "input_hash": row.source.input_hash,
        "prompt_version": row.prompt_version,
        "model": row.model,
        "language": row.source.language,
        "summary": content.summary,
        "key_points": Jsonb(list(content.key_points)),
        "tone": content.tone,
        "important": Jsonb(rows_of(content.important_messages)),
        "quarantined": Jsonb([asdict(entry) for entry in row.quarantined]),
        "message_ids": list(row.message_ids),
        "message_count": len(row.message_ids),
        "source_tokens": row.source_token_count,
        "summary_tokens": row.summary_token_count,
        "cost_usd": row.cost_usd,
        "seconds": row.generation_seconds,
        "revision": row.revision_count,
        "method": row.method,
        "windows": row.window_count,
        "schema": row.schema_version,
        "is_paid": row.is_paid,
    }
