"""Rows of each table in batches, in column order, over read-only connections."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.reads.frames import Narrowed, PostgresFrameReads
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.frames.columns import tables
from pkg_pipeline.memory.hashing import chat_key, message_key
from pkg_pipeline.stages.reads.history import list_summaries
from pkg_pipeline.stages.reads.paging import MOST_ROWS
from pkg_pipeline.stages.reads.stores import SummaryFilter
from pkg_pipeline.stages.recall.stage import RecallResult

Row = Sequence[Any]
Batches = Generator[list[Row]]
Given = Mapping[str, Any]


def narrowed(
    zone: ZoneInfo,
    *,
    entity_id: UUID | None = None,
    chat: tuple[str, str] | None = None,
    first_day: date | None = None,
    last_day: date | None = None,
) -> Narrowed:
    """The filter, with local days as moments."""
    ends = (first_day, None if last_day is None else last_day + timedelta(days=1))
    since, before = (None if day is None else datetime.combine(day, time.min, zone).astimezone(UTC) for day in ends)
    return Narrowed(entity_id, chat, first_day, last_day, since, before)


class FrameRows:
    """Row batches; local days are those of ``zone``. What lapsed is told by ``now``."""

    def __init__(self, connections: ConnectionPool, zone: ZoneInfo, *, now: datetime) -> None:
        self._reads, self._zone, self._now = PostgresFrameReads(connections), zone, now
        self._store = PostgresReadStore(connections, zone=zone)

    def of(self, table: str, wanted: Narrowed) -> Batches:
        """Every table but ``recall``."""
        reads = self._reads
        match table:
            case "summaries":
                found: Iterator[Iterable[Any]] = self._summaries(wanted)
            case "decisions" | "action_items":
                found = reads.items(table.removesuffix("s"), wanted, now=self._now, zone=self._zone)
            case "item_states":
                found = reads.states(wanted)
            case "profiles":
                found = reads.profiles(wanted)
            case "topics":
                found = _topics(reads.profiles(wanted))
            case "activity":
                found = self._activity(wanted)
            case "messages":
                found = reads.messages(wanted)
            case "costs":
                found = reads.calls(wanted)
            case _:
                raise KeyError(table)
        return ([row_of(table, one) for one in batch] for batch in found)

    def _activity(self, wanted: Narrowed) -> Iterator[Iterable[Any]]:
        from pkg_pipeline.stages.profiles import aggregation

        for person in self._reads.persons(wanted):
            talks = aggregation.framed(self._reads.talks(person.id), aggregation.TALKS)
            if talks.empty:  # all of it in chats that do not count
                continue
            spoken = aggregation.framed(self._reads.spoken(person.id), aggregation.SPOKEN)
            weeks = aggregation.weekly(talks, self._zone).join(aggregation.response_minutes(spoken, self._zone))
            found = weeks.reset_index().astype(object).where(lambda frame: frame.notna(), None)
            rows = ({"entity_id": person.id, "name": person.name, **row} for row in found.to_dict("records"))
            first, last = wanted.first_day or date.min, wanted.last_day or date.max
            yield [row for row in rows if first <= row["week"].date() <= last]

    def _summaries(self, wanted: Narrowed) -> Iterator[Iterable[Any]]:
        asked, cursor = SummaryFilter(wanted.entity_id, wanted.chat, wanted.first_day, wanted.last_day), None
        while True:
            page = list_summaries(self._store, asked, now=self._now, limit=MOST_ROWS, cursor=cursor)
            yield page.items
            if (cursor := page.next) is None:
                return


def row_of(table: str, found: Any) -> Row:
    """Values of a named row or mapping in column order."""
    given = found if isinstance(found, Mapping) else found._asdict()
    made = MADE.get(table, {})
    return [_value(given, made.get(one.name, one.name)) for one in tables()[table].columns]


def _value(given: Given, made: str | Callable[[Given], Any]) -> Any:
    return given[made] if isinstance(made, str) else made(given)


def recalled(answer: RecallResult) -> list[Row]:
    pieces = answer.to_json()["results"]
    return [row_of("recall", {**piece, "rank": rank}) for rank, piece in enumerate(pieces, 1)]


def _topics(batches: Iterable[Iterable[Any]]) -> Iterator[list[dict[str, Any]]]:
    """Topics of each profile, with the mentions new since the person's last profile with the topic."""
    before: dict[tuple[UUID, str], int] = {}
    for batch in batches:
        found: list[dict[str, Any]] = []
        for row in batch:
            for rank, topic in enumerate(row.top_topics or (), 1):
                key = (row.entity_id, topic["name"])
                known, before[key] = before.get(key), topic["mentions"]
                new = None if known is None else topic["mentions"] - known
                mine = {"entity_id": row.entity_id, "name": row.name, "week": row.week, "topic": topic["name"]}
                found.append({**topic, **mine, "rank": rank, "new_mentions": new})
        yield found


def _keys(given: Given) -> list[str]:
    return [message_key(given["source"], given["external_id"], one) for one in given["message_ids"]]


def _reply(given: Given) -> str | None:
    return given["reply_to"] and message_key(given["source"], given["chat"], given["reply_to"])


def _listed(column: str, entry: Callable[[Any], str]) -> Callable[[Given], list[str]]:
    return lambda given: [entry(one) for one in given[column] or ()]


_ITEMS: Final[dict[str, str | Callable[[Given], Any]]] = {
    "at": "first_at",
    "description": "text",
    "chat": lambda given: chat_key(given["source"], given["external_id"]),
    "message_ids": _keys,
}
MADE: Final[dict[str, dict[str, str | Callable[[Given], Any]]]] = {
    "summaries": {
        "decisions": lambda given: len(given["decisions"]),
        "action_items": lambda given: len(given["action_items"]),
        "important_messages": _listed("important_messages", lambda one: one["message_id"]),
        "model": "model_version",
    },
    "decisions": _ITEMS,
    "action_items": _ITEMS,
    "item_states": {**_ITEMS, "at": "at"},
    "profiles": {
        "model": "model_version",
        "topics": _listed("top_topics", lambda one: one["name"]),
        "milestones": _listed("milestones", lambda one: f"{one['day']}: {one['title']}"),
        "key_decisions": _listed("key_decisions", lambda one: one["id"]),
        "open_action_items": _listed("open_action_items", lambda one: one["id"]),
    },
    "activity": {"their_response_minutes": "them", "my_response_minutes": "me"},
    "messages": {
        "id": lambda given: message_key(given["source"], given["chat"], given["external_id"]),
        "chat": lambda given: chat_key(given["source"], given["chat"]),
        "sender": "name",
        "sender_id": "sender_entity_id",
        "text": "content",
        "tokens": "token_count",
        "importance": "importance_score",
        "reply_to": _reply,
    },
    "costs": {"at": "created_at", "is_estimated": "is_usage_estimated", "seconds": "duration_seconds"},
}
"""Columns computed from the row, or with another name there."""
