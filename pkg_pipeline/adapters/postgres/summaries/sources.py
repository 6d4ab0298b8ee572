"""Reads the inputs of summaries: messages, people, existing summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.json_rows import record_of
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message import attachments
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.increments import KnownSummary
from pkg_pipeline.stages.summaries.stores import NOBODY, Claimed

LOADED_MESSAGES = 2_000
LOADED_TOKENS = 400_000
"""Up to this size an interaction is loaded with its claim; longer ones are read page by page."""

PAGE_MESSAGES = 1_000
HASHES_AT_ONCE = 5_000

CLAIMED = (
    *("token", "attempts", "deferrals", "token_count", "day", "parent_summary_id", "parent_revision", "chat_id"),
    "message_count",
)
"""Columns of the statement ``claimed`` that are fields of ``ClaimedInteraction``."""

SQL, SUMMARIES = Statements("summary_sources"), Statements("summaries")
_UNKNOWN = Person(NOBODY, "?", is_self=False)


class SummarySources:
    """The reading part of ``PostgresSummaryStore``."""

    _connections: ConnectionPool
    _timezone: str

    def pages(self, claimed: Claimed) -> Iterator[list[SourceMessage]]:
        """All live messages in the order of the input hash, with archived texts, in pages; nothing stays open between
        two pages.
        """
        yield from pages_of(self._connections, claimed.source, claimed.chat_id)

    def texts(self, claimed: Claimed) -> Iterator[tuple[str, str]]:
        """(external id, content hash) of all live messages, in the order of the input hash."""
        for rows in self._pages(claimed, "hashes", HASHES_AT_ONCE):
            yield from ((row.external_id, row.content_hash) for row in rows)

    def messages_of(self, claimed: Claimed, external_ids: Sequence[str]) -> list[SourceMessage]:
        """Those of ``external_ids`` that are live in this interaction."""
        people = {person.entity_id: person for person in claimed.source.participants}
        rows = SQL.rows(self._connections, "cited", **_span(claimed), ids=list(external_ids))
        return [_message(number, row, people) for number, row in enumerate(rows, 1)]

    def _pages(self, claimed: Claimed, statement: str, limit: int) -> Iterator[list[Any]]:
        return _keyset(self._connections, statement, claimed.source, claimed.chat_id, limit)

    def _loaded(self, connection: Connection, rows: Sequence[Any]) -> list[Claimed]:
        """Claimed rows with messages, people and existing summaries."""
        ids = [row.id for row in rows]
        sources = inputs_of(connection, rows, timezone=self._timezone)
        known = _known(connection, ids)
        return [
            Claimed(
                source=sources[row.id],
                known=known.get(row.id),
                **{name: getattr(row, name) for name in CLAIMED},
            )
            for row in rows
        ]


def pages_of(connections: ConnectionPool, source: SummaryInput, chat_id: UUID) -> Iterator[list[SourceMessage]]:
    """All live messages of a conversation in the order of its input hash, with archived texts, in pages."""
    people = {person.entity_id: person for person in source.participants}
    number = 1
    for rows in _keyset(connections, "page", source, chat_id, PAGE_MESSAGES):
        yield [_message(at, row, people) for at, row in enumerate(rows, number)]
        number += len(rows)


def _keyset(
    connections: ConnectionPool, statement: str, source: SummaryInput, chat_id: UUID, limit: int
) -> Iterator[list[Any]]:
    """Nothing stays open between two pages."""
    after: dict[str, Any] = {"after_at": source.started_at, "after_length": -1, "after_id": ""}
    while True:
        given = {"chat": chat_id, "ended_at": source.ended_at, **after, "limit": limit}
        rows = SQL.rows(connections, statement, **given)
        if rows:
            yield rows
        if len(rows) < limit:
            return
        key = rows[-1].external_id
        after = {"after_at": rows[-1].sent_at, "after_length": len(key), "after_id": key}


def inputs_of(connection: Connection, rows: Sequence[Any], *, timezone: str) -> dict[UUID, SummaryInput]:
    """What these conversations say, with their people; long ones without messages.

    ``rows`` have the columns of ``interactions``, and ``source`` and ``external_id`` of the chat.
    """
    ids = [row.id for row in rows]
    messages: dict[UUID, list[Any]] = defaultdict(list)
    if short := [row for row in rows if not _is_long(row)]:
        spans = columns_of(short, "id", "chat_id", "started_at", "ended_at")
        for found in SUMMARIES.rows(connection, "messages", **spans):
            messages[found.interaction_id].append(found)
    senders = {(key, one.sender_entity_id) for key, several in messages.items() for one in several}
    for row in filter(_is_long, rows):
        span = {"chat": row.chat_id, "started_at": row.started_at, "ended_at": row.ended_at}
        senders |= {(row.id, sender) for sender in SQL.values(connection, "senders", **span)}
    wrote = [(key, sender) for key, sender in senders if sender is not None]
    people: dict[UUID, dict[UUID, Person]] = defaultdict(dict)
    given = {"ids": ids, "wrote_in": [key for key, _ in wrote], "senders": [sender for _, sender in wrote]}
    for interaction, person in SUMMARIES.rows(connection, "people", _participant, **given):
        people[interaction][person.entity_id] = person
    return {
        row.id: SummaryInput(
            interaction_id=row.id,
            chat_key=hashing.chat_key(row.source, row.external_id),
            participants=tuple(sorted(people[row.id].values(), key=lambda one: (not one.is_self, one.name))),
            messages=tuple(_message(at, one, people[row.id]) for at, one in enumerate(messages[row.id], 1)),
            timezone=timezone,
            **{name: getattr(row, name) for name in ("started_at", "ended_at", "language", "input_hash")},
        )
        for row in rows
    }


def _is_long(row: Any) -> bool:
    return row.message_count > LOADED_MESSAGES or row.token_count > LOADED_TOKENS


def _participant(*, interaction_id: UUID, **columns: Any) -> tuple[UUID, Person]:
    return interaction_id, Person(**columns)


def with_content(**columns: Any) -> tuple[Any, SummaryContent]:
    """The content columns of a summary as one record."""
    columns["tone"] = columns["tone"] or "neutral"
    content = record_of(SummaryContent, columns)
    return SimpleNamespace(**{name: one for name, one in columns.items() if not hasattr(content, name)}), content


def _known(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, KnownSummary]:
    """The live summary of each interaction that has one."""
    standing: dict[UUID, KnownSummary] = {}
    for row, content in SQL.rows(connection, "known", with_content, ids=ids):
        columns = vars(row)
        interaction = columns.pop("interaction_id")
        standing[interaction] = KnownSummary(content=content, **columns)
    return standing


def _message(number: int, row: Any, people: Mapping[UUID, Person]) -> SourceMessage:
    sender = people.get(row.sender_entity_id, _UNKNOWN)
    return SourceMessage(
        number,
        row.external_id,
        sender,
        row.sent_at,
        row.content,
        row.importance_score,
        row.importance_reason,
        attachments.from_json(row.attachments),
    )


def _span(claimed: Claimed) -> dict[str, Any]:
    source = claimed.source
    return {"chat": claimed.chat_id, "started_at": source.started_at, "ended_at": source.ended_at}
