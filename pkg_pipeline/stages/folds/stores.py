"""Records of folding and its store; each write is one transaction under the chat's lock, as appends and imports are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pkg_pipeline.memory.records import Language, Quarantined
from pkg_pipeline.memory.session.records import FoldContent, FoldTrigger, SessionEvent, SessionState

Due = Callable[[SessionState], datetime | None]
"""State → when to ask the policy next (memory's clock); None: after the next message."""


@dataclass(frozen=True, slots=True)
class ClaimedSession:
    """One session under a lease; ``token`` is the fencing token."""

    session_id: UUID
    token: int

    @property
    def lease_id(self) -> UUID:
        return self.session_id


@dataclass(frozen=True, slots=True)
class Running:
    """L3: the running summary; ``fold_id`` is the last fold in it."""

    text: str
    tokens: int
    fold_id: UUID | None


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as read; ``attempts`` failed in a row."""

    state: SessionState
    chat_source: str
    chat_external_id: str
    attempts: int
    running: Running


@dataclass(frozen=True, slots=True)
class DirtyFold:
    """A fold with edited or deleted messages after ``after_id`` (H15). ``rests_on_deleted``: covers or was shown a
    deleted one.
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
    """A row of ``session_summaries`` over (``after_id``, ``to_id``]. ``messages``: all covered, with content hashes;
    ``noise_ids`` were not in the prompt. ``to_at``: event time. ``names``: of entities with facts.
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
    """How a session is left: ``due`` says when to ask the policy next; now if messages came meanwhile."""

    now: datetime
    due: Due


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a look without a fold; ``event`` was answered by it."""

    event: SessionEvent | None = None
    is_of_drift: bool = False
