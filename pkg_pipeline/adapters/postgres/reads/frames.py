"""Rows for ``pkg_pipeline.frames``: items, profiles, talks, messages, LLM calls. One statement and one snapshot each,
streamed; rows that rest on a deleted message are left out (P29).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, LiteralString, NamedTuple, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg.rows import namedtuple_row
from psycopg_pool import ConnectionPool
from sqlalchemy import ColumnElement, Date, Select, and_, column, false, func, null, or_, select, table
from sqlalchemy import case as either
from sqlalchemy import cast as cast_to
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.dialects.postgresql.psycopg import dialect

from pkg_pipeline.adapters.postgres.engine import server_cursor, transaction
from pkg_pipeline.adapters.postgres.schema.conversations import (
    CHAT_MEMBERS,
    CHATS,
    ENTITIES,
    INTERACTION_PARTICIPANTS,
    INTERACTIONS,
    MESSAGE_ENTITIES,
    MESSAGE_TEXTS,
    MESSAGES,
)
from pkg_pipeline.adapters.postgres.schema.items import ITEM_PEOPLE, ITEM_STATES, ITEMS
from pkg_pipeline.adapters.postgres.schema.parts import SCHEMA
from pkg_pipeline.adapters.postgres.schema.summaries import ENTITY_RELATIONSHIP_PROFILES, LIVE_SUMMARIES
from pkg_pipeline.adapters.postgres.schema.work import LLM_CALLS

BATCH_ROWS = 5_000
PSYCOPG = dialect(paramstyle="pyformat")
TEXT_COLUMNS = (
    "id chat_id external_id sender_entity_id interaction_id sent_at edited_at deleted_at token_count kind role"
    " importance_score importance_reason is_outgoing reply_to is_archived content"
)
TEXTS = table(
    "message_texts", *(column(name, MESSAGE_TEXTS.c[name].type) for name in TEXT_COLUMNS.split()), schema=SCHEMA
)

ELIGIBLE = table("eligible_chats", column("id", CHATS.c.id.type), column("kind", CHATS.c.kind.type), schema=SCHEMA)


class Narrowed(NamedTuple):
    """Filters. Days are local and inclusive; ``since`` and ``before`` are their moments."""

    entity_id: UUID | None = None
    chat: tuple[str, str] | None = None
    first_day: date | None = None
    last_day: date | None = None
    since: datetime | None = None
    before: datetime | None = None

    def days(self, day: ColumnElement[Any]) -> list[ColumnElement[bool]]:
        first = [] if self.first_day is None else [day >= self.first_day]
        return first if self.last_day is None else [*first, day <= self.last_day]

    def moments(self, at: ColumnElement[Any]) -> list[ColumnElement[bool]]:
        since = [] if self.since is None else [at >= self.since]
        return since if self.before is None else [*since, at < self.before]

    def chats(self) -> list[ColumnElement[bool]]:
        if self.chat is None:
            return []
        return [CHATS.c.source == self.chat[0], CHATS.c.external_id == self.chat[1]]


class PostgresFrameReads:
    """Batches of at most ``BATCH_ROWS`` rows, in a fixed order."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def items(self, kind: str, wanted: Narrowed, *, now: datetime, zone: ZoneInfo) -> Iterator[list[Any]]:
        """``decision`` or ``action_item`` with all persons it concerns, newest first; the status at ``now``."""
        today = now.astimezone(zone).date()
        item, live = ITEMS.c, LIVE_SUMMARIES.alias("s")
        status = func.item_status_until(
            item.kind, item.status, item.due_date, item.holds_until, item.last_at, now, today
        )
        owner = func.coalesce(ENTITIES.c.name, item.owner_name)
        columns = [
            one for one in item if one.name not in ("kind", "status", "owner_name", "holds_until", "is_withheld")
        ]
        days = {"decided_on": item.first_at, "closed_at": item.settled_at}
        found = (
            select(*columns, status.label("status"), owner.label("owner_name"), _people().label("people"))
            .add_columns(live.c.id.label("summary_id"), CHATS.c.source, CHATS.c.external_id)
            .add_columns(*(cast_to(func.timezone(zone.key, at), Date).label(name) for name, at in days.items()))
            .join(INTERACTIONS, INTERACTIONS.c.id == item.interaction_id)
            .join(CHATS, CHATS.c.id == item.chat_id)
            .join(ENTITIES, ENTITIES.c.id == item.owner_entity_id, isouter=True)
            .join(live, live.c.interaction_id == item.interaction_id, isouter=True)
            .where(item.kind == kind, ~item.is_withheld, *wanted.chats(), *wanted.days(INTERACTIONS.c.day))
            .where(*_concerning(wanted))
            .order_by(item.first_at.desc(), item.id)
        )
        return self._stream(found)

    def states(self, wanted: Narrowed) -> Iterator[list[Any]]:
        """Histories of items, the newest item first; days are those of the states."""
        state, item = ITEM_STATES.c, ITEMS.c
        columns = [one for one in state if one.name != "is_withheld"]
        found = (
            select(*columns, item.kind, CHATS.c.source, CHATS.c.external_id)
            .join(ITEMS, item.id == state.item_id)
            .join(CHATS, CHATS.c.id == func.coalesce(state.chat_id, item.chat_id))
            .where(~state.is_withheld, ~item.is_withheld, *wanted.chats(), *wanted.moments(state.at))
            .where(*_concerning(wanted))
            .order_by(item.first_at.desc(), state.item_id, state.place)
        )
        return self._stream(found)

    def profiles(self, wanted: Narrowed) -> Iterator[list[Any]]:
        row, person = ENTITY_RELATIONSHIP_PROFILES.c, ENTITIES.c
        is_withheld = func.coalesce(row.dirty_reason == "deleted", false())
        worded = {"summary", "timeline", "top_topics", "milestones", "key_decisions", "open_action_items"}
        shown = [either((is_withheld, null()), else_=one).label(one.name) if one.name in worded else one for one in row]
        found = (
            select(*shown, is_withheld.label("withheld"), person.name)
            .join(ENTITIES, person.id == row.entity_id)
            .where(*_of(row.entity_id, wanted), *wanted.days(row.week))
            .order_by(func.lower(person.name), row.entity_id, row.week)
        )
        return self._stream(found)

    def persons(self, wanted: Narrowed) -> list[Any]:
        person, took_part = ENTITIES.c, INTERACTION_PARTICIPANTS.c
        has_talks = select(took_part.entity_id).where(took_part.entity_id == person.id, took_part.role == "other")
        found = select(person.id, person.name).where(person.type == "person", ~person.is_self, has_talks.exists())
        found = found.where(*_of(person.id, wanted)).order_by(func.lower(person.name), person.id)
        return [row for batch in self._stream(found) for row in batch]

    def talks(self, person: UUID) -> list[Any]:
        """Rows for a person's profile: the columns of ``stages.profiles.aggregation.TALKS``."""
        row, took_part, nothing = INTERACTIONS.c, INTERACTION_PARTICIPANTS.c, null()
        found = (
            select(row.id, row.day, took_part.started_at, took_part.ended_at, took_part.message_count, row.language)
            .add_columns(*(nothing.label(f"none_{place}") for place in range(4)))
            .join(INTERACTION_PARTICIPANTS, took_part.interaction_id == row.id)
            .join(ELIGIBLE, ELIGIBLE.c.id == row.chat_id)
            .where(took_part.entity_id == person, took_part.role == "other")
            .order_by(took_part.ended_at.desc(), row.id)
        )
        return [one for batch in self._stream(found) for one in batch]

    def spoken(self, person: UUID) -> list[Any]:
        """Messages of the dialogs with a person: the columns of ``aggregation.SPOKEN``."""
        row, talk, took_part = MESSAGES.c, INTERACTIONS.c, INTERACTION_PARTICIPANTS.c
        found = (
            select(talk.id, row.sent_at, func.coalesce(ENTITIES.c.is_self, row.is_outgoing).label("is_self"))
            .join(INTERACTIONS, and_(talk.chat_id == row.chat_id, row.sent_at.between(talk.started_at, talk.ended_at)))
            .join(INTERACTION_PARTICIPANTS, took_part.interaction_id == talk.id)
            .join(ELIGIBLE, ELIGIBLE.c.id == row.chat_id)
            .join(ENTITIES, ENTITIES.c.id == row.sender_entity_id, isouter=True)
            .where(took_part.entity_id == person, took_part.role == "other", ELIGIBLE.c.kind == "direct")
            .where(row.kind == "message", row.deleted_at.is_(None))
            .order_by(took_part.started_at, talk.id, row.sent_at, row.id)
        )
        return [one for batch in self._stream(found) for one in batch]

    def messages(self, wanted: Narrowed) -> Iterator[list[Any]]:
        """Live messages by time; of a person their dialogs and the group messages attributed to them (P34)."""
        row, chat = TEXTS.c, CHATS.c
        found = (
            select(TEXTS, chat.source, chat.external_id.label("chat"), chat.kind.label("chat_kind"), ENTITIES.c.name)
            .add_columns(func.coalesce(ENTITIES.c.is_self, row.is_outgoing).label("is_self"))
            .join(CHATS, chat.id == row.chat_id)
            .join(ENTITIES, ENTITIES.c.id == row.sender_entity_id, isouter=True)
            .where(row.deleted_at.is_(None), row.kind == "message", *wanted.chats(), *wanted.moments(row.sent_at))
            .order_by(row.sent_at, row.id)
        )
        if wanted.entity_id is not None:
            took_part, belongs, member = INTERACTION_PARTICIPANTS.c, MESSAGE_ENTITIES.c, CHAT_MEMBERS.c
            dialogs = select(member.chat_id).where(member.entity_id == wanted.entity_id).union(
                select(INTERACTIONS.c.chat_id)
                .join(INTERACTION_PARTICIPANTS, took_part.interaction_id == INTERACTIONS.c.id)
                .where(took_part.entity_id == wanted.entity_id)
            )  # fmt: skip
            own = select(belongs.message_id).where(belongs.entity_id == wanted.entity_id)
            found = found.where(or_(and_(chat.kind == "direct", row.chat_id.in_(dialogs)), row.id.in_(own)))
        return self._stream(found)

    def calls(self, wanted: Narrowed) -> Iterator[list[Any]]:
        """The ledger by time, without prompts and answers."""
        row = LLM_CALLS.c
        numbers = [one for one in row if one.name not in ("reply", "error", "request_hash")]
        found = select(*numbers).where(*wanted.moments(row.created_at)).order_by(row.created_at, row.id)
        return self._stream(found)

    def _stream(self, statement: Select[*tuple[Any, ...]]) -> Iterator[list[Any]]:
        compiled = statement.compile(dialect=PSYCOPG)
        with (
            transaction(self._connections) as connection,
            server_cursor(connection, "frames", namedtuple_row) as cursor,
        ):
            # a custom plan: it depends on which parameters are given
            connection.execute("SET LOCAL plan_cache_mode = force_custom_plan")
            cursor.execute(cast(LiteralString, str(compiled)), compiled.params)
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield rows


def _people() -> Any:
    """Names of whom an item concerns."""
    person = ENTITIES.alias("p")
    names = select(func.array_agg(aggregate_order_by(person.c.name, person.c.name)))
    return (
        names.join(ITEM_PEOPLE, ITEM_PEOPLE.c.entity_id == person.c.id)
        .where(ITEM_PEOPLE.c.item_id == ITEMS.c.id)
        .scalar_subquery()
    )


def _concerning(wanted: Narrowed) -> list[ColumnElement[bool]]:
    if wanted.entity_id is None:
        return []
    return [ITEMS.c.id.in_(select(ITEM_PEOPLE.c.item_id).where(ITEM_PEOPLE.c.entity_id == wanted.entity_id))]


def _of(entity: ColumnElement[Any], wanted: Narrowed) -> list[ColumnElement[bool]]:
    return [] if wanted.entity_id is None else [entity == wanted.entity_id]
