"""Changed chats → interactions with participants, read in chunks around the change; marks the days to summarise."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.attribution import named_in, with_neighbours
from pkg_pipeline.memory.message.sessionise import is_completed, stretches
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline.stages.interactions.records import (
    Belongings,
    ChatInfo,
    InteractionRow,
    ParticipantRow,
    SegmentMessage,
)
from pkg_pipeline.stages.ports import Clock

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.interactions.store import PostgresChatBatch, PostgresInteractionStore

SAVED_AT_ONCE = 500
SAVED_MESSAGES = 50_000
"""Interactions, and messages in them, per statement."""

OTHERS_AT_MOST = 500
"""Other waiting chats that a run for given chats also builds (about half a second)."""

LANGUAGE_MESSAGES = 2_000
"""First messages of an interaction used for language detection."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NOBODY = UUID(int=0)

_Read = tuple[SegmentMessage, Sequence[UUID]]
"""A message and the members it names."""


@dataclass(frozen=True, slots=True)
class InteractionParams:
    """P11 and P34. ``due_after_seconds`` is the summary's minimum age, at least the gap."""

    gap_seconds: float
    due_after_seconds: float
    minimum_messages: int
    mass_senders: int
    timezone: str


@dataclass(frozen=True, slots=True)
class InteractionsReport:
    """Counts: ``chats`` read, ``interactions`` changed, ``completed`` by silence, ``messages`` read."""

    chats: int
    interactions: int
    completed: int
    messages: int

    def __add__(self, other: InteractionsReport) -> InteractionsReport:
        return InteractionsReport(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def build_interactions(
    store: PostgresInteractionStore, *, clock: Clock, params: InteractionParams, chats: Collection[UUID] | None = None
) -> InteractionsReport:
    """Update the interactions of changed chats; one transaction per batch.

    With ``chats``: these, then up to OTHERS_AT_MOST waiting chats that no other run holds.
    """
    now = clock.now()
    made = _build(store, store.dirty_chats(chats), now=now, params=params, waits=True)
    if chats is not None:
        others = store.dirty_chats(limit=OTHERS_AT_MOST)
        made += _build(store, others, now=now, params=params, waits=False)
        chats = {*chats, *others}
    store.refresh_totals(chats)
    if chats is not None:  # what a run that died left behind
        store.refresh_totals(limit=OTHERS_AT_MOST)
    silent = store.complete_silent(before=now - timedelta(seconds=params.gap_seconds))
    return made + InteractionsReport(0, 0, silent, 0)


def _build(
    store: PostgresInteractionStore, chats: Sequence[UUID], *, now: datetime, params: InteractionParams, waits: bool
) -> InteractionsReport:
    at = built = changed = messages = 0
    while at < len(chats):
        with store.open_batch(
            chats[at:], gap_seconds=params.gap_seconds, mass_senders=params.mass_senders, waits=waits
        ) as batch:
            messages += _build_batch(batch, now=now, params=params)
            changed += batch.finish()
        at += batch.asked
        built += batch.built
    return InteractionsReport(chats=built, interactions=changed, completed=0, messages=messages)


def _build_batch(batch: PostgresChatBatch, *, now: datetime, params: InteractionParams) -> int:
    """Save the interactions of the chats in pieces; returns the number of messages."""
    rows: list[InteractionRow] = []
    messages = unsaved = 0
    gap = timedelta(seconds=params.gap_seconds)

    def save() -> None:
        batch.save(rows, due_after_seconds=params.due_after_seconds, minimum_messages=params.minimum_messages)

    for chat, chunks in batch.chats():
        for stretch in stretches(_read(chat, chunks), sent_at=lambda read: read[0].sent_at, gap=gap):
            tally = _Tally(chat)
            rows.append(_interaction(tally, stretch, now=now, params=params))
            messages += tally.seen
            unsaved += tally.seen
            if len(rows) == SAVED_AT_ONCE or unsaved >= SAVED_MESSAGES:
                save()
                rows, unsaved = [], 0
    save()
    return messages


def _is_group(chat: ChatInfo) -> bool:
    """Whether P34 attributes each message by itself."""
    return chat.kind != "direct" and not chat.is_mass


def _read(chat: ChatInfo, chunks: Iterable[Sequence[SegmentMessage]]) -> Iterator[_Read]:
    """The messages with the members each names; a chunk is matched at once because preparing the names is expensive."""
    names = {entity: names for entity, (names, _) in chat.members.items()} if _is_group(chat) else {}
    for chunk in chunks:
        named: dict[int, list[UUID]] = {}
        if names:
            for entity, indexes in named_in([message.content for message in chunk], names).items():
                for index in indexes.tolist():
                    named.setdefault(index, []).append(entity)
        for index, message in enumerate(chunk):
            yield message, named.get(index, ())


class _Tally:
    """Running totals of one interaction; 20 bytes a message in groups, else none."""

    def __init__(self, chat: ChatInfo) -> None:
        self.chat = chat
        self.seen = self.live = self.tokens = self.important = 0
        self.first: SegmentMessage | None = None
        self.last: SegmentMessage | None = None
        self.wrote: Counter[UUID] = Counter()
        self.texts: list[str] = []
        self.ids, self.sent_at_us, self.token_counts = array("q"), array("q"), array("i")
        self.marks: dict[UUID, array[int]] = {entity: array("q") for entity in chat.members} if _is_group(chat) else {}
        self.answers: list[tuple[int, UUID, datetime]] = []

    def pairs(self, messages: Iterable[_Read]) -> Iterator[tuple[str, str]]:
        is_group = _is_group(self.chat)
        for message, named in messages:
            self.seen += 1
            if self.first is None:
                self.first = message
            self.last = message
            if message.is_deleted:
                continue
            self.live += 1
            self.tokens += message.token_count
            self.important += message.is_important
            if len(self.texts) < LANGUAGE_MESSAGES:
                self.texts.append(message.content)
            if message.sender_entity_id is not None:
                self.wrote[message.sender_entity_id] += 1
            if is_group:
                self._mark(message, named)
            yield message.external_id, message.content_hash

    def _mark(self, message: SegmentMessage, named: Iterable[UUID]) -> None:
        place = len(self.ids)
        self.ids.append(message.id)
        self.sent_at_us.append((message.sent_at - EPOCH) // MICROSECOND)
        self.token_counts.append(message.token_count)
        if (mine := self.marks.get(message.sender_entity_id or NOBODY)) is not None:
            mine.append(place)
        for entity in named:
            self.marks[entity].append(place)
        if message.answers is not None and message.answers in self.marks and message.answered_at is not None:
            self.answers.append((place, message.answers, message.answered_at))

    def owned(self) -> dict[UUID, NDArray[np.int64]]:
        """Member → places of the messages attributed to it (P34), neighbours included.

        Replies count only where the message replied to lies in this interaction.
        """
        assert self.first is not None, "there is no interaction without a message"
        assert self.last is not None, "there is no interaction without a message"
        for place, entity, answered_at in self.answers:
            if self.first.sent_at <= answered_at <= self.last.sent_at:
                self.marks[entity].append(place)
        return {entity: with_neighbours(places, len(self.ids)) for entity, places in self.marks.items()}


def _interaction(
    tally: _Tally, messages: Iterable[_Read], *, now: datetime, params: InteractionParams
) -> InteractionRow:
    input_hash = hashing.input_hash(tally.pairs(messages))
    chat, first, last = tally.chat, tally.first, tally.last
    assert first is not None, "there is no interaction without a message"
    assert last is not None, "there is no interaction without a message"
    is_silent = is_completed(last.sent_at, now, timedelta(seconds=params.gap_seconds))
    participants, belongings = _participants(tally)
    return InteractionRow(
        id=hashing.interaction_id(hashing.chat_key(chat.source, chat.external_id), first.external_id),
        chat_id=chat.id,
        day=first.sent_at.astimezone(ZoneInfo(params.timezone)).date(),
        started_at=first.sent_at,
        ended_at=last.sent_at,
        status="completed" if is_silent else "active",
        message_count=tally.live,
        token_count=tally.tokens,
        important_count=tally.important,
        language=detect(tally.texts),
        first_external_id=first.external_id,
        input_hash=input_hash,
        participants=participants,
        belongings=belongings,
    )


def _participants(tally: _Tally) -> tuple[tuple[ParticipantRow, ...], tuple[Belongings, ...]]:
    """In direct chats all messages count for both sides; in groups P34 decides per entity."""
    members = tally.chat.members
    roles: dict[UUID, Literal["self", "other"]] = {
        entity: "self" if is_self else "other" for entity, (_, is_self) in members.items()
    }
    if tally.chat.kind == "direct":
        return tuple(ParticipantRow(one, roles[one], tally.live, tally.tokens) for one in sorted(members)), ()
    if tally.chat.is_mass:
        # no context uses mass chats; the senders are kept for the record
        wrote = sorted(tally.wrote.items())
        return tuple(ParticipantRow(one, roles[one], count, 0) for one, count in wrote if one in members), ()
    ids, sent_at_us = np.array(tally.ids, np.int64), np.array(tally.sent_at_us, np.int64)
    tokens = np.array(tally.token_counts, np.int64)
    owned = {entity: places for entity, places in sorted(tally.owned().items()) if len(places)}
    return (
        tuple(ParticipantRow(one, roles[one], len(at), int(tokens[at].sum())) for one, at in owned.items()),
        tuple(Belongings(one, ids[at], sent_at_us[at]) for one, at in owned.items() if roles[one] == "other"),
    )
