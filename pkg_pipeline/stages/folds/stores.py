"""What folding live sessions needs from storage, as Protocols it owns, and the records that pass between them.

Everything here that writes does so in one transaction, under the lock of the chat, which appends and imports take too:
what a function of the state says there still holds when it is written. No transaction is open while a model answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pkg_pipeline.memory.records import Language, Quarantined
from pkg_pipeline.memory.session.records import FoldContent, FoldTrigger, SessionEvent, SessionMessage, SessionState
from pkg_pipeline.stages.llm.stores import Failure

Due = Callable[[SessionState], datetime | None]
"""When the policy is to be asked next, by the memory's clock; None: not before something comes."""


@dataclass(frozen=True, slots=True)
class ClaimedSession:
    """One session under a lease. ``token`` is the fencing token that everything is written with."""

    session_id: UUID
    token: int

    @property
    def lease_id(self) -> UUID:
        return self.session_id


@dataclass(frozen=True, slots=True)
class Running:
    """L3: what all folds say together; ``fold_id`` is the last one in it."""

    text: str
    tokens: int
    fold_id: UUID | None


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as a worker finds it. ``attempts`` failed in a row; ``running`` is as it was written last."""

    state: SessionState
    chat_source: str
    chat_external_id: str
    attempts: int
    running: Running


@dataclass(frozen=True, slots=True)
class DirtyFold:
    """A fold over messages that were edited or deleted since (H15). It covers what came after ``after_id``.

    ``rests_on_deleted``: over a deleted one, or made with words of one in view.
    """

    id: UUID
    after_id: int
    to_id: int
    to_at: datetime
    trigger: FoldTrigger
    input_hash: str
    rests_on_deleted: bool = False


@dataclass(frozen=True, slots=True)
class FoldRow:
    """One row of ``session_summaries`` as it is to stand, over (``after_id``, ``to_id``].

    ``messages`` is all that it covers with the content hashes that were read; ``noise_ids`` no model was shown.
    ``to_at`` is event time. ``names`` are those of the entities that facts are about.
    """

    id: UUID
    session_id: UUID
    parent: DirtyFold | None
    after_id: int
    to_id: int
    to_at: datetime
    trigger: FoldTrigger
    input_hash: str
    prompt_version: str
    model: str
    language: Language
    content: FoldContent
    names: Mapping[UUID, str]
    messages: tuple[tuple[int, str], ...]
    noise_ids: tuple[int, ...]
    message_count: int
    source_tokens: int
    summary_tokens: int
    quarantined: tuple[Quarantined, ...]
    cost_usd: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session is left: ``due`` says when the policy is asked next, unless something came meanwhile: then now."""

    now: datetime
    due: Due


@dataclass(frozen=True, slots=True)
class Look:
    """What a look that ended without a fold has answered. ``event`` is the one that was looked at and is over."""

    event: SessionEvent | None = None
    is_of_drift: bool = False


class FoldReads(Protocol):
    """What goes into folds."""

    def view(self, session_id: UUID) -> SessionView | None: ...

    def page(self, session_id: UUID, *, after_id: int, to_id: int, limit: int) -> list[SessionMessage]:
        """What is there of (``after_id``, ``to_id``], service entries among it, deleted messages not; in order."""
        ...

    def tail(self, session_id: UUID, *, after_id: int, limit: int) -> list[SessionMessage]:
        """The last ``limit`` of what came after ``after_id``, in order."""
        ...

    def earlier(self, session_id: UUID, *, before_id: int, limit: int) -> list[str]:
        """The last summaries of folds that end before ``before_id``, oldest first; none that rests on a deleted
        message.
        """
        ...

    def summaries(self, session_id: UUID) -> list[tuple[int, str]]:
        """(id of the last message, summary) of every live fold, oldest first; none that rests on a deleted message."""
        ...

    def next_dirty(self, session_id: UUID) -> DirtyFold | None:
        """The oldest fold that is to be made anew."""
        ...

    def is_folded(self, session_id: UUID, *, to_id: int, input_hash: str) -> bool:
        """Whether a live fold stands for exactly this (H8)."""
        ...


class FoldWrites(Protocol):
    """Leases, folds, and what a session's row says of them. ``False``: another worker has it, nothing was written."""

    def due(self, now: datetime, *, limit: int) -> int:
        """How many sessions could be claimed now, at most ``limit``."""
        ...

    def unfolded(self, *, least_messages: int, limit: int) -> int:
        """How many sessions have so many messages since their HWM, due or not; counted up to ``limit``."""
        ...

    def ask_all(self, now: datetime, *, least_messages: int) -> int:
        """H7, ``scheduled``: asks for a fold of every session with so many messages since its HWM; how many."""
        ...

    def claim(
        self, *, now: datetime, limit: int, besides: Sequence[UUID], holder: str, lease_seconds: float
    ) -> list[ClaimedSession]:
        """Due sessions that nobody works on, the longest due first, none of ``besides``."""
        ...

    def claim_one(
        self, session_id: UUID, *, event: SessionEvent | None, now: datetime, holder: str, lease_seconds: float
    ) -> ClaimedSession | None:
        """Asks for a fold of this session and takes it, due or not; None while another worker has it."""
        ...

    def renew(self, claimed: Sequence[ClaimedSession], *, lease_seconds: float) -> None: ...

    def release(self, claimed: Sequence[ClaimedSession]) -> None:
        """Gives back what is still ours; leases that are no longer ours stay with their new holder."""
        ...

    def begin(self, claimed: ClaimedSession, *, to_id: int, trigger: FoldTrigger, event: SessionEvent | None) -> bool:
        """Writes down that it is folded up to ``to_id``, so that the work goes on whoever is killed. ``event``, which
        was looked at, is over; one that came meanwhile stays.
        """
        ...

    def publish(
        self, row: FoldRow, *, claimed: ClaimedSession, running: Running, now: datetime, ending: Ending | None
    ) -> bool:
        """H10: the fold, topics and the HWM at once. ``ending`` None keeps the lease for the next step.

        What was edited or deleted since it was read makes the fold dirty from the beginning. A live fold of the same
        window is not doubled: the HWM moves alone (H8).
        """
        ...

    def replace(self, row: FoldRow, *, claimed: ClaimedSession, running: Running | None) -> bool:
        """H15: the fold in place of ``row.parent``, which is superseded. HWM and counters stay, and so does the lease.
        ``running`` None: it is made anew with another fold.
        """
        ...

    def confirm(
        self, fold: DirtyFold, *, messages: Sequence[tuple[int, str]], claimed: ClaimedSession, running: Running | None
    ) -> bool:
        """What the fold covers is again what it was made from: unless ``messages``, as read, changed since, it is not
        dirty any more.
        """
        ...

    def leave(self, claimed: ClaimedSession, look: Look, *, ending: Ending) -> bool:
        """Nothing (more) is to be folded: the lease goes back."""
        ...

    def fail(self, claimed: ClaimedSession, failure: Failure) -> None:
        """Nothing moves: the attempt is counted or put off, with its reason, and the lease goes back."""
        ...

    def rest(self, now: datetime, *, seconds: float, reason: str) -> int:
        """All that is due waits so long, by the database's clock: a cap or the service would refuse it all alike."""
        ...
