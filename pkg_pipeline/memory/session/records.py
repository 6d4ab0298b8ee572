"""Records of live sessions: state, messages, decisions to fold, folds. Times are aware; ``*_tokens`` are counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate.records import CandidateDecision, CandidateFact, Gated
from pkg_pipeline.memory.records import (
    DecisionItem,
    FactCandidate,
    Language,
    MessageKind,
    MessageRole,
    Person,
    SourceMessage,
    SummaryInput,
)

Policy = Literal["hysteresis", "sliding", "interval", "thread_size"]
Strategy = Literal["rolling", "retrieval", "hybrid"]
SessionEvent = Literal["manual", "scheduled", "handoff", "tool_done"]
FoldTrigger = Literal[
    "tokens",
    "turns",
    "time",
    "topic_shift",
    "manual",
    "scheduled",
    "handoff",
    "tool_done",
    "window",
    "hard_limit",
    "cooldown",
    "interval",
    "thread_size",
]
"""H9: why a fold was made."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """The counters of a session (H1, H16), of live messages.

    ``hwm_message_id``: last message covered by a fold, or 0. ``messages_since_fold``, ``messages_since_look``: since
    the last fold, or look at topic drift. ``folding_to_id``: end of a fold in several steps. ``is_pending``: messages
    came during a fold (W4).
    """

    id: UUID
    policy: Policy
    strategy: Strategy
    summary_interval: int | None = None
    hwm_message_id: int = 0
    last_message_id: int = 0
    message_count: int = 0
    token_count: int = 0
    messages_since_hwm: int = 0
    tokens_since_hwm: int = 0
    first_since_at: datetime | None = None
    last_message_at: datetime | None = None
    messages_since_fold: int = 0
    messages_since_look: int = 0
    last_fold_at: datetime | None = None
    event: SessionEvent | None = None
    folding_to_id: int | None = None
    folding_trigger: FoldTrigger | None = None
    is_pending: bool = False
    dirty_folds: int = 0
    label: str | None = None

    @property
    def last_consolidated(self) -> int:
        """W5: live messages covered by folds."""
        return self.message_count - self.messages_since_hwm


@dataclass(frozen=True, slots=True)
class FoldDecision:
    """A policy's decision with its reason.

    ``is_fold``: fold all but the newest ``keep_tail`` messages, up to a complete turn. ``needs_drift``: ask again with
    the topic drift. ``due_at``: when the answer may change without a new message; None: never.
    """

    is_fold: bool
    reason: str
    trigger: FoldTrigger | None = None
    keep_tail: int = 0
    needs_drift: bool = False
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message of a session, in order of ``id``.

    ``parts``: content blocks, None for plain ``text``. ``token_count``: of all parts. ``is_folded``: covered by a fold.
    """

    id: int
    external_id: str
    sent_at: datetime
    text: str
    role: MessageRole | None = None
    kind: MessageKind = "message"
    parts: tuple[dict[str, Any], ...] | None = None
    sender_entity_id: UUID | None = None
    sender_name: str = ""
    is_self: bool = False
    is_outgoing: bool = False
    content_hash: str = ""
    token_count: int = 0
    importance_score: float = 0.0
    importance_reason: str | None = None
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """T7: an unanswered question; ``quote`` is verbatim from one of ``message_ids`` (external ids)."""

    id: UUID
    text: str
    quote: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoldContent:
    """T7 after validation; ``topics`` are short names."""

    summary: str
    facts: tuple[FactCandidate, ...]
    decisions: tuple[DecisionItem, ...]
    open_questions: tuple[OpenQuestion, ...]
    topics: tuple[str, ...]


TOOL_PREFIX: Final = "tool: "
"""Prefix of a tool's name as speaker."""

MOST_TOOL_CHARS: Final = 2_000
"""Characters of a tool result shown to a fold."""


def tool_speaker(name: str) -> Person:
    """The speaker of the tool's results; the id is never stored."""
    return Person(hashing.item_id(UUID(int=0), "tool", name), f"{TOOL_PREFIX}{name}", is_self=False)


def is_tool(person: Person) -> bool:
    return person == tool_speaker(person.name.removeprefix(TOOL_PREFIX))


@dataclass(frozen=True, slots=True)
class FoldInput:
    """Everything one fold is made from (H13): at least one message, without noise.

    ``messages``: numbered from 1, tool results cut to ``MOST_TOOL_CHARS``. ``participants``: tools optional.
    ``earlier``: previous summaries, oldest first. ``input_hash``: of all of it (B8, H8). ``timezone``: IANA.
    ``assistant_ids``: entities in the role of assistant.
    """

    session_id: UUID
    chat_key: str
    language: Language
    timezone: str
    participants: tuple[Person, ...]
    messages: tuple[SourceMessage, ...]
    earlier: tuple[str, ...]
    input_hash: str
    assistant_ids: frozenset[UUID] = frozenset()

    @property
    def started_at(self) -> datetime:
        return min(message.sent_at for message in self.messages)

    @property
    def ended_at(self) -> datetime:
        return max(message.sent_at for message in self.messages)

    @property
    def conversation(self) -> SummaryInput:
        """As input of a summary; the session takes the interaction's place in ids."""
        return SummaryInput(
            interaction_id=self.session_id,
            chat_key=self.chat_key,
            started_at=self.started_at,
            ended_at=self.ended_at,
            participants=self.participants,
            messages=self.messages,
            language=self.language,
            timezone=self.timezone,
            input_hash=self.input_hash,
        )


@dataclass(frozen=True, slots=True)
class CandidateQuestion:
    text: str
    quote: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CandidateFold:
    """An answer (T7) before validation."""

    summary: str
    topics: tuple[str, ...]
    facts: tuple[CandidateFact, ...] = ()
    decisions: tuple[CandidateDecision, ...] = ()
    open_questions: tuple[CandidateQuestion, ...] = ()


FoldGateResult = Gated[FoldContent]


@dataclass(frozen=True, slots=True)
class CompressInput:
    """A running summary to compress (L3): ``text`` of ``source_tokens``, to about ``target_tokens``."""

    session_id: UUID
    language: Language
    text: str
    source_tokens: int
    target_tokens: int


CompressGateResult = Gated[str]
