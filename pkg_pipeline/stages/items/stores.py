"""Records between the items stage and its store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from pkg_pipeline.memory.items.records import TalkReading
from pkg_pipeline.memory.items.states import TalkKey
from pkg_pipeline.memory.records import ChatKind, Language, Quarantined

MEMORY = UUID(int=1)
"""Subject of the one lease of a pass: readings are made in time order over the whole memory."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The lease under which a pass reads; ``token`` is the fencing token."""

    token: int
    lease_id: UUID = MEMORY


@dataclass(frozen=True, slots=True)
class Due:
    """What a pass may read: talks silent for ``gap_seconds`` at ``now`` (the memory's clock).

    ``is_free``: an answer costs nothing, so a talk is read anew when what it is shown changed. ``stale``: also what
    another prompt, model or schema read, what was shown something else, and what was given up.
    """

    now: datetime
    gap_seconds: float
    prompt_version: str
    model: str
    schema_version: int
    is_free: bool
    attempt_limit: int = 3
    stale: bool = False


@dataclass(frozen=True, slots=True)
class DueTalk:
    """A completed conversation to read. ``shown_hash``: of what its standing reading was shown, if that only has to be
    compared. ``is_waiting``: put off; later talks with its people wait for it.
    """

    id: UUID
    chat_id: UUID
    source: str
    external_id: str
    kind: ChatKind
    day: date
    started_at: datetime
    ended_at: datetime
    message_count: int
    token_count: int
    language: Language
    input_hash: str
    attempts: int
    deferrals: int
    is_waiting: bool
    shown_hash: str | None
    people: tuple[UUID, ...]

    @property
    def key(self) -> TalkKey:
        return self.ended_at, self.id

    @property
    def circle(self) -> frozenset[UUID]:
        """Whom its items concern besides me; the chat where that is nobody."""
        return frozenset(self.people) or frozenset({self.chat_id})


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A reading to save. ``cost_usd``: its part of its call."""

    talk: DueTalk
    reading: TalkReading
    shown_hash: str
    dropped: tuple[Quarantined, ...] = ()
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Saved:
    """What saving did. ``unchecked``: later talks that may have been shown something else."""

    items_new: int = 0
    items_changed: int = 0
    unchecked: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class PendingItems:
    """Talks to read now with their messages and text tokens; of them ``put_off``; ``failed``: given up, not counted."""

    talks: int
    messages: int
    message_tokens: int
    put_off: int
    failed: int
