"""The second hop: touched chats → interactions with participants, and the marks of the days that need a summary.

Only the stretch around what changed is read, in chunks; where interactions begin is ``memory.sessionise``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.belonging import belonging
from pkg_pipeline.memory.language import detect
from pkg_pipeline.memory.sessionise import is_completed, split
from pkg_pipeline.stages.message_stores import (
    ChatInfo,
    ChatSegment,
    InteractionRow,
    InteractionStore,
    ParticipantRow,
    SegmentMessage,
)
from pkg_pipeline.stages.ports import Clock

SAVED_AT_ONCE = 500
"""Interactions a statement; a chat of a million messages is saved in bounded pieces."""


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
    """``chats`` looked at, ``interactions`` that changed, ``completed`` by silence, ``messages`` read."""

    chats: int
    interactions: int
    completed: int
    messages: int


def build_interactions(store: InteractionStore, *, clock: Clock, params: InteractionParams) -> InteractionsReport:
    """Bring the interactions of every touched chat up to date; one transaction a chat, so it may be killed anywhere."""
    now = clock.now()
    chats = changed = messages = 0
    for chat_id in store.dirty_chats():
        with store.open_chat(chat_id, gap_seconds=params.gap_seconds, mass_senders=params.mass_senders) as segment:
            messages += _build_chat(segment, now=now, params=params)
            changed += segment.finish()
        chats += 1
    completed = store.complete_silent(before=now - timedelta(seconds=params.gap_seconds))
    store.refresh_totals()
    return InteractionsReport(chats=chats, interactions=changed, completed=completed, messages=messages)


def _build_chat(segment: ChatSegment, *, now: datetime, params: InteractionParams) -> int:
    rows: list[InteractionRow] = []
    messages = 0
    zone = ZoneInfo(params.timezone)
    for stretch in _stretches(segment.chunks(), gap_seconds=params.gap_seconds):
        messages += len(stretch)
        rows.append(_interaction(stretch, segment.chat, now=now, gap_seconds=params.gap_seconds, zone=zone))
        if len(rows) == SAVED_AT_ONCE:
            segment.save(rows, due_after_seconds=params.due_after_seconds, minimum_messages=params.minimum_messages)
            rows = []
    segment.save(rows, due_after_seconds=params.due_after_seconds, minimum_messages=params.minimum_messages)
    return messages


def _stretches(chunks: Iterator[list[SegmentMessage]], *, gap_seconds: float) -> Iterator[list[SegmentMessage]]:
    """Messages of one interaction after the other; the last one of a chunk waits for what the next brings."""
    gap = round(gap_seconds * 1_000_000)
    open_stretch: list[SegmentMessage] = []
    for chunk in chunks:
        open_stretch += chunk
        times = np.array([message.sent_at.timestamp() for message in open_stretch])
        starts = split((times * 1_000_000).round().astype(np.int64), gap).tolist()
        for start, end in pairwise(starts):
            yield open_stretch[start:end]
        open_stretch = open_stretch[starts[-1] :] if starts else []
    if open_stretch:
        yield open_stretch


def _interaction(
    messages: Sequence[SegmentMessage], chat: ChatInfo, *, now: datetime, gap_seconds: float, zone: ZoneInfo
) -> InteractionRow:
    live = [message for message in messages if not message.is_deleted]
    first, last = messages[0], messages[-1]
    gap = timedelta(seconds=gap_seconds)
    status: Literal["active", "completed"] = "completed" if is_completed(last.sent_at, now, gap) else "active"
    participants, belongings = _participants(live, chat)
    return InteractionRow(
        id=hashing.interaction_id(hashing.chat_key(chat.source, chat.external_id), first.external_id),
        day=first.sent_at.astimezone(zone).date(),
        started_at=first.sent_at,
        ended_at=last.sent_at,
        status=status,
        message_count=len(live),
        token_count=sum(message.token_count for message in live),
        language=detect(message.content for message in live),
        first_external_id=first.external_id,
        input_hash=hashing.input_hash((message.external_id, message.content_hash) for message in live),
        participants=participants,
        belongings=belongings,
    )


def _participants(
    live: Sequence[SegmentMessage], chat: ChatInfo
) -> tuple[tuple[ParticipantRow, ...], tuple[tuple[UUID, int, datetime], ...]]:
    """Who took part. In a direct chat everything belongs to both; in a group P34 decides per entity."""
    if chat.kind == "direct":
        tokens = sum(message.token_count for message in live)
        rows = [
            ParticipantRow(entity, "self" if is_self else "other", len(live), tokens)
            for entity, (_, is_self) in sorted(chat.members.items())
        ]
        return tuple(rows), ()
    wrote = Counter(message.sender_entity_id for message in live if message.sender_entity_id is not None)
    if chat.category == "mass":
        # nobody's context draws on mass chats; who wrote is kept for the record
        rows = [
            ParticipantRow(entity, "self" if chat.members[entity][1] else "other", count, 0)
            for entity, count in sorted(wrote.items())
            if entity in chat.members
        ]
        return tuple(rows), ()
    places = {message.external_id: index for index, message in enumerate(live)}
    owned = belonging(
        senders=[message.sender_entity_id for message in live],
        reply_to=np.array(
            [places.get(message.reply_to, -1) if message.reply_to else -1 for message in live], dtype=np.int64
        ),
        texts=[message.content for message in live],
        names={entity: names for entity, (names, _) in chat.members.items()},
    )
    rows = []
    belongings: list[tuple[UUID, int, datetime]] = []
    for entity, indexes in sorted(owned.items()):
        mine = [live[index] for index in indexes.tolist()]
        if not mine:
            continue
        is_self = chat.members[entity][1]
        rows.append(
            ParticipantRow(
                entity, "self" if is_self else "other", len(mine), sum(message.token_count for message in mine)
            )
        )
        if not is_self:
            belongings += [(entity, message.id, message.sent_at) for message in mine]
    return tuple(rows), tuple(belongings)
