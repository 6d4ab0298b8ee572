"""Changed chats → interactions with participants, read in chunks around the change; marks the days to summarise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory.message.sessionise import stretches
from pkg_pipeline.stages.interactions.records import InteractionRow, Touched
from pkg_pipeline.stages.interactions.tally import (
    InteractionParams,
    Tally,
    interaction,
    longer,
    read,
)
from pkg_pipeline.stages.ports import Clock

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.interactions.store import PostgresChatBatch, PostgresInteractionStore

SAVED_AT_ONCE = 500
SAVED_MESSAGES = 50_000
"""Interactions, and messages in them, per statement."""

OTHERS_AT_MOST = 500
"""Other waiting chats that a run for given chats also builds (about half a second)."""

AT_ONCE = 20
AT_ONCE_MESSAGES = 2_000
"""Interactions of a batch, and messages read for them, that are reported as touched."""


@dataclass(frozen=True, slots=True)
class InteractionsReport:
    """Counts: ``chats`` read, ``interactions`` changed, ``completed`` by silence, ``messages`` read. ``touched`` are
    those that can be made searchable at once, and ``marks`` what then is done; none where there are too many.
    """

    chats: int
    interactions: int
    completed: int
    messages: int
    touched: tuple[Touched, ...] = ()
    marks: tuple[int, ...] = ()

    def __add__(self, other: InteractionsReport) -> InteractionsReport:
        return InteractionsReport(
            *(
                mine + another
                for mine, another in (
                    (self.chats, other.chats),
                    (self.interactions, other.interactions),
                    (self.completed, other.completed),
                    (self.messages, other.messages),
                )
            ),
            touched=(*self.touched, *other.touched),
            marks=(*self.marks, *other.marks),
        )


def build_interactions(
    store: PostgresInteractionStore,
    *,
    clock: Clock,
    params: InteractionParams,
    chats: Collection[UUID] | None = None,
    alone: bool = False,
) -> InteractionsReport:
    """Update the interactions of changed chats; one transaction per batch.

    With ``chats``: these, then, unless they are built ``alone``, up to OTHERS_AT_MOST waiting chats that no other run
    holds.
    """
    now = clock.now()
    made = _build(store, store.dirty_chats(chats), now=now, params=params, waits=True)
    if alone:
        store.refresh_totals(chats)
        return made
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
    at = 0
    total = InteractionsReport(0, 0, 0, 0)
    while at < len(chats):
        with store.open_batch(
            chats[at:],
            gap_seconds=params.gap_seconds,
            mass_senders=params.mass_senders,
            waits=waits,
        ) as batch:
            messages, touched = _build_batch(batch, now=now, params=params)
            made = InteractionsReport(batch.built, batch.finish(), 0, messages)
            if touched and not batch.has_vanished:
                made = replace(made, touched=tuple(touched), marks=tuple(batch.chunk_marks()))
        total += made
        at += batch.asked
    return total


def _build_batch(batch: PostgresChatBatch, *, now: datetime, params: InteractionParams) -> tuple[int, list[Touched]]:
    """Save the interactions of the chats in pieces; returns the number of messages, and the interactions if few."""
    rows: list[InteractionRow] = []
    touched: list[Touched] = []
    messages = unsaved = made = 0
    gap = timedelta(seconds=params.gap_seconds)

    for chat, chunks in batch.chats():
        if chat.continued is not None:
            made_longer = longer(chat, chat.continued, read(chat, chunks), now=now, params=params)
            if made_longer is None:
                continue
            row, new = made_longer
            before = chat.continued.message_count
            hashed = batch.extend(
                row, due_after_seconds=params.due_after_seconds, minimum_messages=params.minimum_messages
            )
            touched.append(Touched(row.id, row.message_count, chat.continued.ended_at, before, hashed))
            messages, made = messages + new, made + 1
            continue
        for stretch in stretches(read(chat, chunks), sent_at=lambda one: one[0].sent_at, gap=gap):
            tally = Tally(chat)
            rows.append(interaction(tally, stretch, now=now, params=params))
            made += 1
            if made <= AT_ONCE and not chat.is_mass:
                touched.append(Touched(rows[-1].id, rows[-1].message_count))
            messages += tally.seen
            unsaved += tally.seen
            if len(rows) == SAVED_AT_ONCE or unsaved >= SAVED_MESSAGES:
                batch.save(rows, due_after_seconds=params.due_after_seconds, minimum_messages=params.minimum_messages)
                rows, unsaved = [], 0
    batch.save(rows, due_after_seconds=params.due_after_seconds, minimum_messages=params.minimum_messages)
    return messages, touched if made <= AT_ONCE and messages <= AT_ONCE_MESSAGES else []
