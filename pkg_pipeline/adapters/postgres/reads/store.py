"""The read store: contexts, entities, timelines, summaries; one prepared statement per method, on a read-only pool."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query as statement
from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.memory.profile.relationship import MOST_CHARS, MOST_MESSAGES
from pkg_pipeline.stages.reads.stores import (
    ChatKey,
    ContextQuery,
    ListedChat,
    ListedEntity,
    Named,
    Position,
    StoredSummary,
    SummaryFilter,
    TimelineRow,
)

if TYPE_CHECKING:
    from pkg_pipeline.memory.context.records import ContextRows

SCAN_LIMIT = 200
"""Interactions looked at for one page of summaries."""

LAST = UUID(int=2**128 - 1)
FIRST_DAY, LAST_DAY = date(1, 1, 3), date(9999, 12, 28)
"""Bounds that every time zone can represent; days beyond them are clamped."""

END_OF_TIME = datetime(9999, 12, 30, tzinfo=UTC)


class _Candidate(NamedTuple):
    id: UUID
    started_at: datetime


class _ArchivedText(NamedTuple):
    id: int
    text: str
    is_cut: bool


class PostgresReadStore:
    """Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool, *, zone: ZoneInfo) -> None:
        self._reads = Reads(connections, "reads")
        self._contexts = Reads(connections, "context")
        self._items = Reads(connections, "listing")
        self._known = Reads(connections, "known")
        self._zone = zone

    def revision(self) -> str | None:
        try:
            return self._reads.value("revision")
        except psycopg.errors.UndefinedTable:
            return None

    # ── context ───────────────────────────────────────────────────────────────────────────────

    def read_context(self, query: ContextQuery) -> ContextRows | None:
        """One round trip, and one more for archived texts; None if there is no such entity."""
        given = context_parameters(query)
        if (
            query.known_as_of is not None or query.is_past
        ):  # items of words that were edited since are those of then (P9)
            names = ("versions",) if query.known_as_of is None else ("everywhere", "versions", "of_entity")
            relations = (statement("known", name) for name in names)
            found = orjson.loads(self._contexts.known("context", *relations, **given))
        else:
            found = orjson.loads(self._contexts.value("context", **given))
        if found["entity"] is not None and found["entity"]["merged_into"] is not None:  # an account: read its person
            return self.read_context(replace(query, entity_id=UUID(found["entity"]["merged_into"])))
        texts = found["texts"] or {}
        if archived := [int(key) for key, one in texts.items() if one["is_archived"]]:
            limits = {"ids": archived, "text_chars": query.text_chars}
            for kept in self._contexts.rows(_ArchivedText, "archived_texts", **limits):
                texts[str(kept.id)] |= {"text": kept.text, "is_cut": kept.is_cut}
        from pkg_pipeline.adapters.postgres.reads.context_rows import context_rows  # lists of names do not need it

        rows = context_rows(found)
        if rows is None or query.known_as_of is None:
            return rows
        from pkg_pipeline.adapters.postgres.reads.context_rows import lost_row

        lost = map(lost_row, self._known.named("not_kept", **given))
        return replace(rows, left_out=(*rows.left_out, *lost))

    # ── entities ──────────────────────────────────────────────────────────────────────────────

    def entity(self, entity_id: UUID) -> ListedEntity | None:
        return self._reads.first(ListedEntity, "entity", entity=entity_id)

    def person(self, entity_id: UUID) -> UUID:
        """Whose account it is (B20); an unknown id is returned as it is."""
        return self._reads.value("person", entity=entity_id)

    def entities_named(self, name: str, *, exact: bool, limit: int) -> list[ListedEntity]:
        """Case-insensitive; ``exact`` or as a substring."""
        if exact:
            return self._reads.rows(ListedEntity, "entities_named", name=name, limit=limit)
        return self.entities_page(query=name, after=None, limit=limit)

    def entities_page(self, *, query: str | None, after: tuple[str, UUID] | None, limit: int) -> list[ListedEntity]:
        name, key = after or ("", UUID(int=0))
        return self._reads.rows(
            ListedEntity, "entities_page", query=query or "", after_name=name, after_id=key, limit=limit
        )

    def is_empty(self) -> bool:
        return self._reads.value("is_empty")

    def entity_of_key(self, source: str, external_id: str) -> UUID | None:
        """The entity of an identity, or the other one in a direct chat."""
        return self._reads.value("entity_of_key", source=source, external_id=external_id)

    def chats_of_key(self, source: str, external_id: str) -> list[ChatKey]:
        """The chat of this key, else direct chats with the person of that identity."""
        return self._reads.rows(ChatKey, "chats_of_key", source=source, external_id=external_id)

    def chat_of_id(self, chat_id: UUID) -> ChatKey | None:
        return self._reads.first(ChatKey, "chat_of_id", id=chat_id)

    def chats_page(self, category: str | None, *, after: tuple[str, UUID] | None, limit: int) -> list[ListedChat]:
        """By source and id; None: of any category, or none."""
        source, key = after or ("", UUID(int=0))
        return self._reads.rows(
            ListedChat, "chats_page", category=category, after_source=source, after_id=key, limit=limit
        )

    def listed_chat(self, chat_id: UUID) -> ListedChat | None:
        return self._reads.first(ListedChat, "listed_chat", id=chat_id)

    def entity_names(self, *, limit: int) -> list[Named]:
        """Names for suggestions on a misspelt one."""
        return self._reads.rows(Named, "entity_names", limit=limit)

    # ── history ───────────────────────────────────────────────────────────────────────────────

    def timeline_page(self, entity_id: UUID, *, after: Position | None, limit: int) -> list[TimelineRow]:
        at, key = after or (END_OF_TIME, LAST)
        return self._reads.rows(TimelineRow, "timeline", entity=entity_id, after_at=at, after_id=key, limit=limit)

    def summaries_page(
        self, wanted: SummaryFilter, *, now: datetime, after: Position | None, limit: int
    ) -> tuple[list[StoredSummary], Position | None]:
        """Newest interaction first, and the next position (None at the end). A page may be short before the end: the
        interactions looked at are bounded.
        """
        candidates, end = self._candidates(wanted, after, scan=max(limit, SCAN_LIMIT))
        if not candidates:
            return [], end
        asked = {"interactions": [one.id for one in candidates], "statuses": list(wanted.statuses)}
        kept: list[StoredSummary] = []
        for summary in self._reads.rows(StoredSummary, "summaries", **asked):
            # versions of one interaction stay on one page
            if len(kept) >= limit and summary.interaction_id != kept[-1].interaction_id:
                return self._with_items(kept, now), (kept[-1].started_at, kept[-1].interaction_id)
            kept.append(summary)
        return self._with_items(kept, now), end

    def _with_items(self, found: list[StoredSummary], now: datetime) -> list[StoredSummary]:
        given = {"now": now, "today": now.astimezone(self._zone).date(), "timezone": self._zone.key}
        ids = list({one.interaction_id for one in found})
        said = {row.interaction_id: row for row in self._items.named("of_conversations", interactions=ids, **given)}
        names = ("decisions", "action_items", "extracted_facts")
        return [replace(one, **{name: getattr(said[one.interaction_id], name) for name in names}) for one in found]

    def _candidates(
        self, wanted: SummaryFilter, after: Position | None, *, scan: int
    ) -> tuple[list[_Candidate], Position | None]:
        """Interactions whose summaries may match, newest start first, and the next position."""
        name, parameters = self._enumeration(wanted, after)
        found = self._reads.rows(_Candidate, name, **parameters, scan=scan)
        end = (found[-1].started_at, found[-1].id) if len(found) == scan else None
        if wanted.entity_id is not None and wanted.chat is not None:
            inside = {"ids": [one.id for one in found], **_chat(wanted)}
            kept = set(self._reads.values("interactions_of_these", **inside))
            found = [one for one in found if one.id in kept]
        return found, end

    def _enumeration(self, wanted: SummaryFilter, after: Position | None) -> tuple[str, dict[str, Any]]:
        """The statement over the interactions in question, and its range."""
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


def context_parameters(query: ContextQuery) -> dict[str, Any]:
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
        "max_tokens": query.max_tokens,
        "text_chars": query.text_chars,
        "is_past": query.is_past,
        "known": END_OF_TIME if query.known_as_of is None else query.known_as_of,
        "served": END_OF_TIME if query.served_at is None else query.served_at,
        "heard_chars": MOST_CHARS,
        "heard_messages": MOST_MESSAGES,
    }


def _chat(wanted: SummaryFilter) -> dict[str, str]:
    source, external_id = wanted.chat or ("", "")
    return {"source": source, "external_id": external_id}
