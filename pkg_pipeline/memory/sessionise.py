"""From messages to interactions: where a silence ends one, and what a late message changes (P11, P29, B10).

Here: the order of messages inside a chat, the cut, the plan for the neighbourhood of new messages. Not here: loading
that neighbourhood, writing the plan, deciding what is summarised.

Times are int64 microseconds since the epoch (UTC), gaps are microseconds. A silence exactly as long as the gap does
not split, one microsecond more does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.hashing import interaction_id


@dataclass(frozen=True, slots=True)
class ExistingInteraction:
    """What is stored of an interaction. ``external_id`` is that of its earliest message when it was written."""

    id: UUID
    external_id: str
    started_at_us: int
    ended_at_us: int
    message_count: int


@dataclass(frozen=True, slots=True)
class PlannedInteraction:
    """An interaction as it has to be. ``messages`` are indexes into the arrays given, in the order of the chat."""

    id: UUID
    external_id: str
    started_at_us: int
    ended_at_us: int
    messages: tuple[int, ...]

    @property
    def message_count(self) -> int:
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class Plan:
    """The interactions of a neighbourhood after a change, in order, and what that changes.

    ``created`` and ``changed`` are ids among ``interactions`` that were not there, or whose messages are not the ones
    they had; the rest are unchanged. ``retired`` maps every id that is no more to the interactions which hold its
    messages now, earliest first; none if its messages are all gone.
    """

    interactions: tuple[PlannedInteraction, ...]
    created: frozenset[UUID]
    changed: frozenset[UUID]
    retired: Mapping[UUID, tuple[UUID, ...]]


def message_order(sent_at_us: NDArray[np.int64], external_ids: Sequence[str]) -> NDArray[np.int64]:
    """The order inside a chat: by time, then length of the external id, then the external id (B10).

    The length comes before the text so that message 10 follows message 9. Raises ``ValueError`` on unequal lengths.
    """
    if len(sent_at_us) != len(external_ids):
        raise ValueError(f"{len(sent_at_us)} times for {len(external_ids)} external ids")
    order = np.argsort(sent_at_us, kind="stable")
    times = sent_at_us[order]
    ties = np.flatnonzero(times[1:] == times[:-1])
    if not len(ties):
        return order
    # Only runs of equal times need the slower comparison: runs of consecutive ties are one run.
    begins = ties[np.concatenate(([True], np.diff(ties) > 1))]
    ends = ties[np.concatenate((np.diff(ties) > 1, [True]))] + 2
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        run: list[int] = order[begin:end].tolist()
        order[begin:end] = sorted(run, key=lambda index: (len(external_ids[index]), external_ids[index]))
    return order


def split(sent_at_us: NDArray[np.int64], gap_us: int) -> NDArray[np.int64]:
    """Indexes at which an interaction begins, in times sorted ascending; empty for no messages.

    Raises ``ValueError`` for a negative gap or times that are not sorted.
    """
    if gap_us < 0:
        raise ValueError(f"a gap cannot be negative: {gap_us}")
    if not len(sent_at_us):
        return np.empty(0, np.int64)
    silences = np.diff(sent_at_us)
    if len(silences) and silences.min() < 0:
        raise ValueError("times must be sorted")
    return np.concatenate((np.zeros(1, np.int64), np.flatnonzero(silences > gap_us) + 1))


def is_completed(ended_at: datetime, now: datetime, gap: timedelta) -> bool:
    """Whether the silence since the last message is longer than the gap, so that no message of now could join."""
    return now - ended_at > gap


def neighbourhood(
    new_at_us: NDArray[np.int64], started_at_us: NDArray[np.int64], ended_at_us: NDArray[np.int64], gap_us: int
) -> NDArray[np.bool_]:
    """Which existing interactions a plan has to be given: those no farther than the gap from a new message.

    ``new_at_us`` (n,) in any order; ``started_at_us`` and ``ended_at_us`` (m,) of the chat's interactions. No other
    can change: a new message reaches only what is within the gap of it. For deletions and edits of time, add the
    interaction that the message was in.
    """
    times = np.sort(new_at_us)
    first = np.searchsorted(times, started_at_us - gap_us, side="left")
    last = np.searchsorted(times, ended_at_us + gap_us, side="right")
    return first < last


def plan(
    chat_key: str,
    sent_at_us: NDArray[np.int64],
    external_ids: Sequence[str],
    *,
    current: Sequence[UUID | None],
    existing: Sequence[ExistingInteraction],
    gap_us: int,
) -> Plan:
    """The interactions of a neighbourhood: its live messages, old and new, in any order (B10).

    ``current`` is the interaction each message is in now, None for a new one; ``existing`` are the interactions of
    the neighbourhood. An id is derived from the earliest message, so what no message joined keeps its id, and the
    result does not depend on the order of arrival. Raises ``ValueError`` on unequal lengths.
    """
    if len(current) != len(external_ids):
        raise ValueError(f"{len(current)} assignments for {len(external_ids)} messages")
    order = message_order(sent_at_us, external_ids)
    times = sent_at_us[order]
    starts = split(times, gap_us)
    ends = np.append(starts, len(order))[1:]
    interactions: list[PlannedInteraction] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        first = external_ids[int(order[start])]
        interactions.append(
            PlannedInteraction(
                id=interaction_id(chat_key, first),
                external_id=first,
                started_at_us=int(times[start]),
                ended_at_us=int(times[end - 1]),
                messages=tuple(order[start:end].tolist()),
            )
        )
    return _compared(tuple(interactions), current, existing)


def _compared(
    interactions: tuple[PlannedInteraction, ...],
    current: Sequence[UUID | None],
    existing: Sequence[ExistingInteraction],
) -> Plan:
    known = {interaction.id: interaction for interaction in existing}
    planned = {interaction.id for interaction in interactions}
    changed = frozenset(
        interaction.id
        for interaction in interactions
        if interaction.id in known and not _is_as_before(interaction, known[interaction.id], current)
    )
    retired: dict[UUID, dict[UUID, None]] = {old: {} for old in known if old not in planned}
    for interaction in interactions:
        for index in interaction.messages:
            old = current[index]
            if old is not None and old in retired:
                retired[old].setdefault(interaction.id)
    return Plan(
        interactions=interactions,
        created=frozenset(planned - known.keys()),
        changed=changed,
        retired={old: tuple(successors) for old, successors in retired.items()},
    )


def _is_as_before(interaction: PlannedInteraction, before: ExistingInteraction, current: Sequence[UUID | None]) -> bool:
    return (
        interaction.message_count == before.message_count
        and interaction.started_at_us == before.started_at_us
        and interaction.ended_at_us == before.ended_at_us
        and all(current[index] == interaction.id for index in interaction.messages)
    )
