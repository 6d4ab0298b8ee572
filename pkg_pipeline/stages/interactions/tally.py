"""One interaction counted: its messages, its language, and to whom they belong; from nothing, or going on from what was
built before.
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.attribution import NEIGHBOURS, named_in, with_neighbours
from pkg_pipeline.memory.message.sessionise import is_completed
from pkg_pipeline.memory.text.language import most_of, shares_of
from pkg_pipeline.stages.interactions.records import (
    LANGUAGE_MESSAGES,
    Belongings,
    ChatInfo,
    Continued,
    InteractionRow,
    ParticipantRow,
    SegmentMessage,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NOBODY = UUID(int=0)
NOTHING: Mapping[UUID, tuple[int, int]] = {}

Read = tuple[SegmentMessage, Sequence[UUID]]
"""A message and the members it names."""


@dataclass(frozen=True, slots=True)
class InteractionParams:
    """P11 and P34. ``due_after_seconds`` is the summary's minimum age, at least the gap."""

    gap_seconds: float
    due_after_seconds: float
    minimum_messages: int
    mass_senders: int
    timezone: str


def _is_group(chat: ChatInfo) -> bool:
    """Whether P34 attributes each message by itself."""
    return chat.kind != "direct" and not chat.is_mass


def read(chat: ChatInfo, chunks: Iterable[Sequence[SegmentMessage]]) -> Iterator[Read]:
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


class Tally:
    """Running totals of one interaction; 20 bytes a message in groups, else none."""

    def __init__(self, chat: ChatInfo) -> None:
        self.chat, self.is_group = chat, _is_group(chat)
        self.seen = self.live = self.tokens = self.important = 0
        self.first: SegmentMessage | None = None
        self.last: SegmentMessage | None = None
        self.wrote: Counter[UUID] = Counter()
        self.texts: list[str] = []
        self.ids, self.sent_at_us, self.token_counts = array("q"), array("q"), array("i")
        self.marks: dict[UUID, array[int]] = {entity: array("q") for entity in chat.members} if self.is_group else {}
        self.answers: list[tuple[int, UUID, datetime]] = []

    def pairs(self, messages: Iterable[Read]) -> Iterator[tuple[str, str]]:
        for message, named in messages:
            if self.take(message, named):
                yield message.external_id, message.content_hash

    def take(self, message: SegmentMessage, named: Iterable[UUID]) -> bool:
        """Whether it counts: is not deleted."""
        self.seen += 1
        if self.first is None:
            self.first = message
        self.last = message
        if message.is_deleted:
            return False
        self.live += 1
        self.tokens += message.token_count
        self.important += message.is_important
        if len(self.texts) < LANGUAGE_MESSAGES:
            self.texts.append(message.content)
        if message.sender_entity_id is not None:
            self.wrote[message.sender_entity_id] += 1
        if self.is_group:
            self.mark(message, named)
        return True

    def mark(self, message: SegmentMessage, named: Iterable[UUID]) -> None:
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

    def owned(self, started_at: datetime) -> dict[UUID, NDArray[np.int64]]:
        """Member → places of the messages attributed to it (P34), neighbours included.

        Replies count only where the message replied to lies in this interaction.
        """
        assert self.last is not None, "there is no interaction without a message"
        for place, entity, answered_at in self.answers:
            if started_at <= answered_at <= self.last.sent_at:
                self.marks[entity].append(place)
        return {entity: with_neighbours(places, len(self.ids)) for entity, places in self.marks.items()}

    def newly_owned(self, started_at: datetime, known: int) -> dict[UUID, NDArray[np.int64]]:
        """Of ``owned`` what is not so by the first ``known`` alone, which stand before what is new and decided already
        about all but the nearest of them.
        """
        owned = self.owned(started_at)
        first = NEIGHBOURS if known == 2 * NEIGHBOURS else 0
        new: dict[UUID, NDArray[np.int64]] = {}
        for entity, places in owned.items():
            before = with_neighbours([place for place in self.marks[entity] if place < known], known)
            new[entity] = np.setdiff1d(places[places >= first], before, assume_unique=True)
        return new


def interaction(tally: Tally, messages: Iterable[Read], *, now: datetime, params: InteractionParams) -> InteractionRow:
    input_hash = hashing.input_hash(tally.pairs(messages))
    chat, first, last = tally.chat, tally.first, tally.last
    assert first is not None, "there is no interaction without a message"
    assert last is not None, "there is no interaction without a message"
    is_silent = is_completed(last.sent_at, now, timedelta(seconds=params.gap_seconds))
    shares = shares_of(tally.texts)
    participants, belongings = _participants(tally, tally.owned(first.sent_at) if tally.is_group else {})
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
        language=most_of(shares),
        language_shares=tuple(shares),
        first_external_id=first.external_id,
        input_hash=input_hash,
        participants=participants,
        belongings=belongings,
    )


def _participants(
    tally: Tally, owned: Mapping[UUID, NDArray[np.int64]], before: Mapping[UUID, tuple[int, int]] = NOTHING
) -> tuple[tuple[ParticipantRow, ...], tuple[Belongings, ...]]:
    """In direct chats all messages count for both sides; in groups P34 decides per entity: ``owned``, and what was
    counted ``before``.
    """
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
    owned = {entity: places for entity, places in sorted(owned.items()) if len(places) or entity in before}
    return (
        tuple(
            ParticipantRow(one, roles[one], counted + len(at), weighed + int(tokens[at].sum()))
            for one, at in owned.items()
            for counted, weighed in (before.get(one, (0, 0)),)
        ),
        tuple(
            Belongings(one, ids[at], sent_at_us[at]) for one, at in owned.items() if roles[one] == "other" and len(at)
        ),
    )


def longer(
    chat: ChatInfo, before: Continued, messages: Iterable[Read], *, now: datetime, params: InteractionParams
) -> tuple[InteractionRow, int] | None:
    """The interaction that goes on, and how many messages were new; None where nothing was said. Of ``belongings`` only
    the new ones.
    """
    tally, context = Tally(chat), deque[Read](maxlen=2 * NEIGHBOURS)
    is_new = False
    for message, named in messages:
        if message.sent_at <= before.ended_at:
            if not message.is_deleted:
                context.append((message, named))
            continue
        if not is_new and tally.is_group:
            for one in context:
                tally.mark(*one)
        is_new = True
        tally.take(message, named)
    if tally.last is None:
        return None
    last, live = tally.last, before.message_count + tally.live
    shares = before.language_shares
    if before.message_count < LANGUAGE_MESSAGES:
        added = shares_of(tally.texts[: LANGUAGE_MESSAGES - before.message_count])
        shares = tuple(map(sum, zip(shares or shares_of(before.texts), added, strict=True)))
    tally.live, tally.tokens = live, before.token_count + tally.tokens
    owned = tally.newly_owned(before.started_at, len(context)) if tally.is_group else {}
    participants, belongings = _participants(tally, owned, before.participants)
    row = InteractionRow(
        id=before.id,
        chat_id=chat.id,
        day=before.started_at.astimezone(ZoneInfo(params.timezone)).date(),
        started_at=before.started_at,
        ended_at=last.sent_at,
        status="completed" if is_completed(last.sent_at, now, timedelta(seconds=params.gap_seconds)) else "active",
        message_count=live,
        token_count=tally.tokens,
        important_count=before.important_count + tally.important,
        language=before.language if shares is None else most_of(shares),
        language_shares=shares,
        first_external_id=before.first_external_id,
        input_hash=before.input_hash,
        participants=participants,
        belongings=belongings,
    )
    return row, tally.seen
