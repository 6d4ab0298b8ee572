"""The reading side's store: contexts, entities, timelines, summaries. It holds a pool that cannot write.

Every method is one statement of ``reads/context.sql`` or ``reads/history.sql``, prepared once a connection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, LiteralString, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reading import read_rows
from pkg_pipeline.stages.reads.stores import (
    ContextQuery,
    ListedEntity,
    Position,
    StoredSummary,
    SummaryFilter,
    TimelineRow,
)

if TYPE_CHECKING:
    from pkg_pipeline.memory.context.records import ContextRows

SCAN_LIMIT = 200
"""Interactions that are looked at for one page of summaries."""

_PARAMETER = re.compile(r"%%|%\((\w+)\)s")
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)

LAST = UUID(int=2**128 - 1)
FIRST_DAY, LAST_DAY = date(1, 1, 3), date(9999, 12, 28)
"""Days that every time zone can name; what a caller asks beyond them is the same as these."""

END_OF_TIME = datetime(9999, 12, 30, tzinfo=UTC)
SUMMARY_COLUMNS = tuple(field.name for field in fields(StoredSummary))
"""The statement selects them in this order."""


class PostgresReadStore:
    """Implements ``ContextStore``, ``EntityStore`` and ``HistoryStore``. Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool, *, zone: ZoneInfo) -> None:
        self._connections = connections
        self._zone = zone

    def _rows(self, file: str, name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        text, names = numbered(file, name)
        return read_rows(self._connections, text, [parameters[name] for name in names])

    def revision(self) -> str | None:
        """The schema revision of the database that answers."""
        try:
            found = self._rows("history", "revision", {})
        except psycopg.errors.UndefinedTable:
            return None
        return found[0][0] if found else None

    # ── context ───────────────────────────────────────────────────────────────────────────────

    def read_context(self, query: ContextQuery) -> ContextRows | None:
        """One round trip, and one more where texts are in the archive; None where there is no such entity."""
        found = orjson.loads(self._rows("context", "context", context_parameters(query))[0][0])
        texts = found["texts"] or {}
        if archived := [int(key) for key, given in texts.items() if given["is_archived"]]:
            asked = {"ids": archived, "text_chars": query.text_chars}
            for key, text, is_cut in self._rows("context", "archived_texts", asked):
                texts[str(key)] |= {"text": text, "is_cut": is_cut}
        from pkg_pipeline.adapters.postgres.reads.context_rows import context_rows  # a list of names needs none of it

        return context_rows(found)

    # ── entities ──────────────────────────────────────────────────────────────────────────────

    def entity(self, entity_id: UUID) -> ListedEntity | None:
        """None where there is no such entity."""
        found = self._rows("history", "entity", {"entity": entity_id})
        return _entity(found[0]) if found else None

    def entities_named(self, name: str, *, exact: bool, limit: int) -> list[ListedEntity]:
        """By name, letter case ignored; ``exact`` or anywhere inside it."""
        if exact:
            return [_entity(row) for row in self._rows("history", "entities_named", {"name": name, "limit": limit})]
        return self.entities_page(query=name, after=None, limit=limit)

    def entities_page(self, *, query: str | None, after: tuple[str, UUID] | None, limit: int) -> list[ListedEntity]:
        """By name and id, behind ``after``."""
        after_name, after_id = after or ("", UUID(int=0))
        parameters = {"query": query or "", "after_name": after_name, "after_id": after_id, "limit": limit}
        return [_entity(row) for row in self._rows("history", "entities_page", parameters)]

    def is_empty(self) -> bool:
        """Whether nothing was ever taken in."""
        return self._rows("history", "is_empty", {})[0][0]

    def entity_of_key(self, source: str, external_id: str) -> UUID | None:
        """Whose identity this is, or with whom a direct chat is."""
        found = self._rows("history", "entity_of_key", {"source": source, "external_id": external_id})
        return found[0][0] if found else None

    def chats_of_key(self, source: str, external_id: str) -> list[tuple[str, str]]:
        """The chat of this key; else the direct chats with the person whose identity it is."""
        found = self._rows("history", "chat_of_key", {"source": source, "external_id": external_id})
        return [(row[0], row[1]) for row in found]

    def chat_of_id(self, chat_id: UUID) -> tuple[str, str] | None:
        """Source and external id."""
        found = self._rows("history", "chat_of_id", {"id": chat_id})
        return (found[0][0], found[0][1]) if found else None

    def entity_names(self, *, limit: int) -> list[tuple[UUID, str]]:
        """Names to compare a misspelt one with."""
        return [(row[0], row[1]) for row in self._rows("history", "entity_names", {"limit": limit})]

    # ── history ───────────────────────────────────────────────────────────────────────────────

    def timeline_page(self, entity_id: UUID, *, after: Position | None, limit: int) -> list[TimelineRow]:
        """Interactions of an entity, newest start first."""
        after_at, after_id = after or (END_OF_TIME, LAST)
        parameters = {"entity": entity_id, "after_at": after_at, "after_id": after_id, "limit": limit}
        return [TimelineRow(*row) for row in self._rows("history", "timeline", parameters)]

    def summaries_page(
        self, wanted: SummaryFilter, *, after: Position | None, limit: int
    ) -> tuple[list[StoredSummary], Position | None]:
        """Newest interaction first, a bounded number of interactions at a time; see the protocol."""
        candidates, end = self._candidates(wanted, after, scan=max(limit, SCAN_LIMIT))
        if not candidates:
            return [], end
        rows = self._rows(
            "history",
            "summaries",
            {"interactions": [found[0] for found in candidates], "statuses": list(wanted.statuses)},
        )
        starts = dict(candidates)
        kept: list[StoredSummary] = []
        for row in rows:
            summary = _summary(row)
            # versions of one interaction stay on one page, so that a page ends between interactions
            if len(kept) >= limit and summary.interaction_id != kept[-1].interaction_id:
                last = kept[-1].interaction_id
                return kept, (starts[last], last)
            kept.append(summary)
        return kept, end

    def _candidates(
        self, wanted: SummaryFilter, after: Position | None, *, scan: int
    ) -> tuple[list[tuple[UUID, datetime]], Position | None]:
        """Interactions whose summaries may be wanted, newest start first, and where the next look goes on."""
        name, parameters = self._enumeration(wanted, after)
        rows = self._rows("history", name, {**parameters, "scan": scan})
        found: list[tuple[UUID, datetime]] = [(row[0], row[1]) for row in rows]
        end = (found[-1][1], found[-1][0]) if len(found) == scan else None
        if wanted.entity_id is not None and wanted.chat is not None:
            inside = self._rows("history", "interactions_of_these", {"ids": [row[0] for row in found], **_chat(wanted)})
            kept = {row[0] for row in inside}
            found = [row for row in found if row[0] in kept]
        return found, end

    def _enumeration(self, wanted: SummaryFilter, after: Position | None) -> tuple[str, dict[str, Any]]:
        """The statement that runs through the interactions in question, and its range."""
        after_at, after_id = after or (END_OF_TIME, LAST)
        from_day = max(wanted.day_from or FIRST_DAY, FIRST_DAY)
        from_at = datetime.combine(from_day, time.min, self._zone).astimezone(UTC)
        if wanted.day_to is not None:
            next_day = min(wanted.day_to, LAST_DAY) + timedelta(days=1)
            end = datetime.combine(next_day, time.min, self._zone).astimezone(UTC)
            if end <= after_at:
                after_at, after_id = end, UUID(int=0)
        position = {"after_at": after_at, "after_id": after_id, "from_at": from_at}
        if wanted.entity_id is not None:
            return "interactions_of_entity", {**position, "entity": wanted.entity_id}
        if wanted.chat is not None:
            return "interactions_of_chat", {**position, **_chat(wanted)}
        days = {"from_day": from_day, "after_day": after_at.astimezone(self._zone).date()}
        return "interactions_of_all", {**position, **days}


@cache
def numbered(file: str, name: str) -> tuple[LiteralString, tuple[str, ...]]:
    """A statement with $1, $2 … for its named parameters, and their names in that order.

    Done once: psycopg would take a statement of this length apart again at every execution (0.5 ms).
    """
    return numbered_text(query(file, name))


def numbered_text(statement: str) -> tuple[LiteralString, tuple[str, ...]]:
    """The same for a statement that was put together from several."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    text = _COMMENT.sub("", statement)
    return cast(LiteralString, _PARAMETER.sub(number, text)), tuple(names)


def context_parameters(query: ContextQuery) -> dict[str, Any]:
    """What ``context.sql`` is asked with."""
    day = query.as_of.astimezone(UTC).date()
    return {
        "entity": query.entity_id,
        "as_of": query.as_of,
        "today": query.today,
        "hot_from": query.hot_from,
        "warm_from": query.warm_from,
        "as_of_day": day,
        "as_of_day_start": datetime.combine(day, time.min, UTC),
        "hot_limit": query.hot_limit,
        "summary_limit": query.summary_limit,
        "text_chars": query.text_chars,
    }


def _chat(wanted: SummaryFilter) -> dict[str, str]:
    source, external_id = wanted.chat or ("", "")
    return {"source": source, "external_id": external_id}


def _entity(row: Sequence[Any]) -> ListedEntity:
    identity, name, kind, is_self, identities, messages, first, last = row
    return ListedEntity(identity, name, kind, is_self, tuple(identities or ()), int(messages), first, last)


def _summary(row: Sequence[Any]) -> StoredSummary:
    given = dict(zip(SUMMARY_COLUMNS, row, strict=True))
    deleted, cost_usd = frozenset(given.pop("deleted_messages")), float(given.pop("cost_usd"))
    return StoredSummary(**given, deleted_messages=deleted, cost_usd=cost_usd)
