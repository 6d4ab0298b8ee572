"""What a summary is made from, read for the summaries' store: messages, people, what was known. Nothing is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.summaries.rows import content_of
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.increments import KnownSummary, joined
from pkg_pipeline.memory.summary.reconciliation import cited_message_ids
from pkg_pipeline.stages.summaries.stores import NOBODY, Claimed, Eligibility, TooSmall

LOADED_MESSAGES = 2_000
LOADED_TOKENS = 400_000
"""An interaction up to this size comes with its claim; a longer one is read page by page."""

PAGE_MESSAGES = 1_000
HASHES_AT_ONCE = 5_000

_Row = tuple[Any, ...]
_UNKNOWN = Person(NOBODY, "?", is_self=False)


class SummarySources:
    """The part of ``PostgresSummaryStore`` that reads, and loads what ``claim`` took."""

    _connections: ConnectionPool
    _timezone: str

    def pages(self, claimed: Claimed) -> Iterator[list[SourceMessage]]:
        """All live messages in the order of the input hash, archived ones with their texts; some thousands at a time,
        and nothing stays open between two pages.
        """
        people = {person.entity_id: person for person in claimed.source.participants}
        number = 1
        for rows in self._pages(claimed, "page", PAGE_MESSAGES):
            yield [_message(at, row, people) for at, row in enumerate(rows, number)]
            number += len(rows)

    def texts(self, claimed: Claimed) -> Iterator[tuple[str, str]]:
        """(external id, content hash) of all live messages, in that order."""
        for rows in self._pages(claimed, "hashes", HASHES_AT_ONCE):
            yield from ((key, text_hash) for key, _, text_hash in rows)

    def messages_of(self, claimed: Claimed, external_ids: Sequence[str]) -> list[SourceMessage]:
        """Those of ``external_ids`` that are live in this interaction."""
        people = {person.entity_id: person for person in claimed.source.participants}
        parameters = {**_span(claimed), "ids": list(external_ids)}
        with self._connections.connection() as connection:
            rows = connection.execute(query("summary_sources", "cited"), parameters).fetchall()
        return [_message(number, row, people) for number, row in enumerate(rows, 1)]

    def too_small(self, days: tuple[date, date], *, eligibility: Eligibility) -> list[TooSmall]:
        """What is to be superseded without a successor in the closed range of days."""
        parameters = {
            "first_day": days[0],
            "last_day": days[1],
            "minimum": eligibility.minimum_messages,
            "gap": eligibility.gap_seconds,
        }
        found: list[TooSmall] = []
        with self._connections.connection() as connection:
            for row in connection.execute(query("summary_sources", "too_small"), parameters).fetchall():
                summary, interaction, chat, started_at, ended_at = row[:5]
                _, adopted = _known(connection, [interaction])
                content = joined(content_of(row[5:]), adopted.get(interaction, []))
                span = {
                    "chat": chat,
                    "started_at": started_at,
                    "ended_at": ended_at,
                    "ids": list(cited_message_ids(content)),
                }
                said = connection.execute(query("summary_sources", "cited"), span).fetchall()
                found.append(TooSmall(summary, interaction, content, {key: text for key, _, _, text, *_ in said}))
        return found

    def _pages(self, claimed: Claimed, statement: str, limit: int) -> Iterator[list[_Row]]:
        """Each page is a statement of its own, begun after the last message of the one before."""
        parameters = {**_span(claimed), "after_at": claimed.source.started_at, "after_length": -1, "after_id": ""}
        while True:
            with self._connections.connection() as connection:
                rows = connection.execute(
                    query("summary_sources", statement), {**parameters, "limit": limit}
                ).fetchall()
            if rows:
                yield rows
            if len(rows) < limit:
                return
            key, sent_at = rows[-1][0], _sent_at(rows[-1])
            parameters |= {"after_at": sent_at, "after_length": len(key), "after_id": key}

    def _loaded(self, connection: Connection, rows: Sequence[_Row]) -> list[Claimed]:
        ids = [row[0] for row in rows]
        messages = _messages(connection, [row for row in rows if not _is_long(row)])
        senders = {(key, found[2]) for key, several in messages.items() for found in several if found[2]}
        for row in filter(_is_long, rows):
            span = {"chat": row[1], "started_at": row[3], "ended_at": row[4]}
            found = connection.execute(query("summary_sources", "senders"), span)
            senders |= {(row[0], sender) for (sender,) in found}
        people: dict[UUID, dict[UUID, Person]] = defaultdict(dict)
        parameters = {
            "ids": ids,
            "wrote_in": [key for key, _ in senders],
            "senders": [sender for _, sender in senders],
        }
        for interaction, entity, name, is_self, kind, organization in connection.execute(
            query("summaries", "people"), parameters
        ):
            people[interaction][entity] = Person(entity, name, is_self, kind, organization)
        known, adopted = _known(connection, ids)
        return [
            self._claimed(row, messages[row[0]], people[row[0]], known.get(row[0]), adopted.get(row[0], []))
            for row in rows
        ]

    def _claimed(
        self,
        row: _Row,
        messages: Sequence[_Row],
        people: Mapping[UUID, Person],
        known: KnownSummary | None,
        adopted: Sequence[SummaryContent],
    ) -> Claimed:
        key, chat_id, day, started_at, ended_at, tokens, language, input_hash = row[:8]
        attempts, deferrals, token, source, chat, parent, revision, message_count = row[8:]
        return Claimed(
            source=SummaryInput(
                interaction_id=key,
                chat_key=hashing.chat_key(source, chat),
                started_at=started_at,
                ended_at=ended_at,
                participants=tuple(sorted(people.values(), key=lambda person: (not person.is_self, person.name))),
                messages=tuple(_message(number, found[1:], people) for number, found in enumerate(messages, 1)),
                language=language,
                timezone=self._timezone,
                input_hash=input_hash,
            ),
            token=token,
            attempts=attempts,
            token_count=tokens,
            day=day,
            parent_summary_id=parent,
            parent_revision=revision,
            deferrals=deferrals,
            chat_id=chat_id,
            message_count=message_count,
            known=known,
            adopted=tuple(adopted),
        )


def _is_long(row: _Row) -> bool:
    return row[-1] > LOADED_MESSAGES or row[5] > LOADED_TOKENS


def _messages(connection: Connection, rows: Sequence[_Row]) -> dict[UUID, list[_Row]]:
    parameters = {
        "ids": [row[0] for row in rows],
        "chats": [row[1] for row in rows],
        "started": [row[3] for row in rows],
        "ended": [row[4] for row in rows],
    }
    messages: dict[UUID, list[_Row]] = defaultdict(list)
    for found in connection.execute(query("summaries", "messages"), parameters) if rows else ():
        messages[found[0]].append(found)
    return messages


def _known(
    connection: Connection, ids: Sequence[UUID]
) -> tuple[dict[UUID, KnownSummary], dict[UUID, list[SummaryContent]]]:
    standing: dict[UUID, KnownSummary] = {}
    for row in connection.execute(query("summary_sources", "known"), {"ids": ids}):
        interaction, key, message_ids, input_hash, prompt_version, model, schema_version, is_dirty = row[:8]
        standing[interaction] = KnownSummary(
            id=key,
            content=content_of(row[8:]),
            message_ids=tuple(message_ids),
            input_hash=input_hash,
            prompt_version=prompt_version,
            model=model,
            schema_version=schema_version,
            is_dirty=is_dirty,
        )
    adopted: dict[UUID, list[SummaryContent]] = defaultdict(list)
    for row in connection.execute(query("summary_sources", "adopted"), {"ids": ids}):
        adopted[row[0]].append(content_of(row[1:]))
    return standing, adopted


def _message(number: int, row: Sequence[Any], people: Mapping[UUID, Person]) -> SourceMessage:
    external_id, sender, sent_at, text, score, reason = row
    return SourceMessage(number, external_id, people.get(sender, _UNKNOWN), sent_at, text, score, reason)


def _span(claimed: Claimed) -> dict[str, Any]:
    source = claimed.source
    return {"chat": claimed.chat_id, "started_at": source.started_at, "ended_at": source.ended_at}


def _sent_at(row: _Row) -> datetime:
    return next(value for value in row if isinstance(value, datetime))
