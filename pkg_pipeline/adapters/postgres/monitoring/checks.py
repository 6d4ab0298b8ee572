"""The asset checks' questions to the tables. Read-only; nothing is repaired and no text leaves this module."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.gate.normalise import fold
from pkg_pipeline.memory.verdicts import Coverage, Found
from pkg_pipeline.stages.monitoring.check_stores import Days

MOST_SUMMARIES = 20_000
"""Looked at by one check, newest first: a month of days of 600 interactions."""

MOST_MESSAGES = 100_000
"""Looked at by one check, newest first."""

MOST_WRONG = 500
"""Items looked at once more after the first glance."""

MOST_SESSIONS = 500
"""Looked at by one check, latest activity first."""

MOST_COUNTED = 5_000
"""Messages of a session up to which all of it is recounted; of a longer one what came after the HWM."""

MOST_EXAMPLES = 5
"""Ids in a verdict."""

MOST_PAGES = 500
"""Of a table's pages of 8 kB: all of a small memory, a random sample of a large one, at each run another."""


class PostgresCheckStore:
    """Implements ``stages.check_stores.CheckStore``; ``timezone`` tells which day a moment lies in."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def coverage(self, days: Days, *, now: datetime, due_after_seconds: float, minimum_messages: int) -> Coverage:
        limits = {"now": now, "due_after": due_after_seconds, "minimum": minimum_messages}
        (row,) = self._rows("coverage", {**_span(days), **limits})
        return Coverage(*row)

    def ungrounded(self, days: Days) -> Found:
        found = self._rows("grounding", {**_span(days), "most": MOST_SUMMARIES, "most_wrong": MOST_WRONG})
        rows = [row for row in found if row[0] is None]
        foreign = [row for row in rows if row[6]]
        # the gate compares folded texts: a quote that differs in white space or typographic marks alone stands
        unquoted = [row for row in rows if not row[6] and not any(fold(text).find(row[4]) for text in row[5] or ())]
        wrong = [*foreign, *unquoted]
        return Found(
            checked=sum(row[0] for row in found if row[0] is not None),
            wrong={"without_message": len(foreign), "without_quote": len(unquoted)},
            examples=tuple(sorted({str(row[2]) for row in wrong})[:MOST_EXAMPLES]),
            first_day=min((row[1] for row in wrong), default=None),
            last_day=max((row[1] for row in wrong), default=None),
        )

    def lost(self, days: Days) -> Found:
        (row,) = self._rows("lost_items", {**_span(days), "most": MOST_SUMMARIES})
        checked, lost, first, last, examples = row
        return Found(checked, {"lost": lost}, tuple(examples or ()), first, last)

    def summary_orphans(self) -> Found:
        return self._orphans(
            {
                "orphans_of_items": "summary_items",
                "orphans_of_facts": "entity_facts",
                "orphans_of_summaries": "interaction_summaries",
            }
        )

    def interaction_orphans(self) -> Found:
        return self._orphans({"orphans_of_messages": "messages", "orphans_of_belongings": "message_entities"})

    def misfiled_days(self) -> Found:
        percent = self._percent("interactions")
        (row,) = self._rows("misfiled_days", {"percent": percent, "timezone": self._timezone})
        checked, wrong, examples, first, last = row
        return Found(checked, {"on_another_day": wrong}, tuple(examples or ()), first, last)

    def miscounted(self, weeks: Days) -> Found:
        (row,) = self._rows("miscounted", {**_span(weeks), "most": MOST_SUMMARIES})
        checked, wrong, examples, first, last = row
        return Found(checked, {"miscounted": wrong}, tuple(examples or ()), first, last)

    def misfiled_months(self, months: Days) -> Found:
        (row,) = self._rows("misfiled_months", _span(months))
        checked, moved, gone, examples, first, last = row
        return Found(
            checked, {"in_another_month": moved, "without_interaction": gone}, tuple(examples or ()), first, last
        )

    def unindexed(self, days: Days) -> Found:
        (row,) = self._rows("unindexed", {**_span(days), "most": MOST_MESSAGES})
        checked, wrong, examples, first, last = row
        return Found(checked, {"without_chunk": wrong}, tuple(examples or ()), first, last)

    def chunk_orphans(self) -> Found:
        return self._orphans({"orphans_of_chunks": "memory_chunks", "orphans_of_codes": "chunk_codes"})

    def misfolded(self) -> Found:
        most = {"most": MOST_SESSIONS, "most_messages": MOST_COUNTED}
        (row,) = self._rows("misfolded", most)
        checked, overlapping, uncovered, ends, miscounted, examples = row
        wrong = {
            "overlapping": overlapping,
            "with_uncovered_messages": uncovered,
            "with_another_end": ends,
            "miscounted": miscounted,
        }
        return Found(checked, wrong, tuple(examples or ()))

    def _orphans(self, tables: Mapping[str, str]) -> Found:
        """``tables``: statement → the table it looks through."""
        checked, wrong, examples = 0, dict[str, int](), list[str]()
        for statement, table in tables.items():
            ((seen, orphans, some),) = self._rows(statement, {"percent": self._percent(table)})
            checked += seen
            wrong[statement.replace("orphans_of", "orphaned")] = orphans
            examples += some or ()
        return Found(checked, wrong, tuple(examples[:MOST_EXAMPLES]))

    def _percent(self, table: str) -> float:
        (row,) = self._rows("pages", {"table": table, "most_pages": MOST_PAGES})
        return row[0]

    def _rows(self, name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        given = {"most_examples": MOST_EXAMPLES, **parameters}
        with self._connections.connection() as connection:
            return connection.execute(query("checks", name), given).fetchall()


def _span(days: tuple[date, date]) -> dict[str, date]:
    return {"first_day": days[0], "last_day": days[1]}
