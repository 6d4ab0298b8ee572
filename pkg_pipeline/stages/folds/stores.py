"""What folding live sessions needs from storage, as Protocols it owns, and the records that pass between them.

Everything here that writes does so in one transaction, under the lock of the chat, which appends and imports take too:
what a function of the state says there still holds when it is written. No transaction is open while a model answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pkg_pipeline.memory.records import Language, Quarantined
from pkg_pipeline.memory.session.records import FoldContent, FoldTrigger, SessionEvent, SessionState

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
