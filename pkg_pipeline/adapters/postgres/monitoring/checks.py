"""Queries of the asset checks. Read-only; no text of messages leaves this module."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.text.normalise import normalised
from pkg_pipeline.memory.verdicts import Coverage, Found
from pkg_pipeline.stages.monitoring.verification import Days, Question

MOST_SUMMARIES = 20_000
"""Per check, newest first: a month with 600 interactions a day."""

MOST_STATES = 20_000
"""Of items, per check, newest first."""

MOST_MESSAGES = 100_000
"""Per check, newest first."""

MOST_WRONG = 500
"""Suspicious items that are checked again."""

MOST_SESSIONS = 500
"""Per check, latest activity first."""

MOST_COUNTED = 5_000
"""Messages of a session that are recounted in full; of longer ones those after the HWM."""

MOST_EXAMPLES = 5

MOST_PAGES = 500
"""8 kB pages of a table: all of a small memory, else a random sample, new at each run."""


MOST: Mapping[str, Mapping[str, int]] = {
    "grounding": {"most": MOST_SUMMARIES, "most_wrong": MOST_WRONG},
    "item_grounding": {"most": MOST_STATES, "most_wrong": MOST_WRONG},
    "deleted_items": {"most": MOST_STATES},
    "miscounted": {"most": MOST_SUMMARIES},
    "misfiled_months": {},
    "unindexed": {"most": MOST_MESSAGES},
    "misfolded": {"most": MOST_SESSIONS, "most_messages": MOST_COUNTED},
}
"""Statement → how many rows it looks at."""

QUOTING: Mapping[str, str] = {"ungrounded": "grounding", "unquoted_items": "item_grounding"}
"""Question → its statement, whose quotes are looked at more closely."""

SAMPLED: Mapping[str, Mapping[str, str]] = {
    "summary_orphans": {
        "orphans_of_items": "items",
        "orphans_of_facts": "entity_facts",
        "orphans_of_summaries": "interaction_summaries",
    },
    "interaction_orphans": {"orphans_of_messages": "messages", "orphans_of_belongings": "message_entities"},
    "chunk_orphans": {"orphans_of_chunks": "memory_chunks", "orphans_of_codes": "chunk_codes"},
    "misfiled_days": {"misfiled_days": "interactions"},
}
"""Question → its statements, each with the table it samples."""


class PostgresCheckStore:
    """Every question is bounded by days, rows or pages. ``timezone`` assigns moments to days."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def coverage(self, days: Days, *, now: datetime, due_after_seconds: float, minimum_messages: int) -> Coverage:
        limits = {"now": now, "due_after": due_after_seconds, "minimum": minimum_messages}
        (row,) = self._rows("coverage", {**_span(days), **limits})
        return Coverage(**row)

    def found(self, question: Question, days: Days) -> Found:
        if question in QUOTING:
            return self._ungrounded(QUOTING[question], days)
        if question in SAMPLED:
            return _together([self._sample(*one) for one in SAMPLED[question].items()])
        (row,) = self._rows(question, {**_span(days), **MOST.get(question, {})})
        return _found(row)

    def _ungrounded(self, statement: str, days: Days) -> Found:
        rows = self._rows(statement, {**_span(days), **MOST[statement]})
        checked = sum(row["checked"] or 0 for row in rows)
        foreign = [row for row in rows if row["is_foreign"]]
        # quotes may differ in white space and typographic marks, as in the gate
        unquoted = [
            row
            for row in rows
            if row["checked"] is None
            and not row["is_foreign"]
            and not any(normalised(text).find(row["quote"]) for text in row["texts"] or ())
        ]
        wrong = [*foreign, *unquoted]
        return Found(
            checked=checked,
            wrong={"without_message": len(foreign), "without_quote": len(unquoted)},
            examples=tuple(sorted({str(row["interaction_id"]) for row in wrong})[:MOST_EXAMPLES]),
            first_day=min((row["day"] for row in wrong), default=None),
            last_day=max((row["day"] for row in wrong), default=None),
        )

    def _sample(self, statement: str, table: str) -> Found:
        (size,) = self._rows("pages", {"table": table, "most_pages": MOST_PAGES})
        (row,) = self._rows(statement, {**size, "timezone": self._timezone})
        return _found(row)

    def _rows(self, name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        given = {"most_examples": MOST_EXAMPLES, **parameters}
        with self._connections.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query("checks", name), given).fetchall()


def _found(row: dict[str, Any]) -> Found:
    """Columns not about what was looked at count errors."""
    checked, examples, first, last = (row.pop(name, None) for name in ("checked", "examples", "first_day", "last_day"))
    return Found(checked or 0, row, tuple(examples or ()), first, last)


def _together(parts: list[Found]) -> Found:
    """Several results as one; days only of a single one."""
    if len(parts) == 1:
        return parts[0]
    wrong = {kind: number for part in parts for kind, number in part.wrong.items()}
    examples = [key for part in parts for key in part.examples]
    return Found(sum(part.checked for part in parts), wrong, tuple(examples[:MOST_EXAMPLES]))


def _span(days: tuple[date, date]) -> dict[str, date]:
    return {"first_day": days[0], "last_day": days[1]}
