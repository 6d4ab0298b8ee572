"""What travels of a live session: its state, its messages, a decision to fold, what a fold says. Data only: no rule.

All times are timezone-aware. ``*_tokens`` are counts by the configured tokenizer.
"""

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
    """The counters of a session (H1, H16): one row, whatever is stored. Numbers count live messages.

    ``hwm_message_id`` is the last message that a fold covers, 0 for none. ``messages_since_fold`` arrived after the
    last fold was made, ``messages_since_look`` after the last look at the drift of topics. ``folding_to_id`` is up to
    where a decided fold goes on that takes several steps. ``is_pending``: something came during a fold (W4).
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
        """W5: how many live messages folds cover."""
        return self.message_count - self.messages_since_hwm


@dataclass(frozen=True, slots=True)
class FoldDecision:
    """What a policy says of a state, always with its reason.

    ``is_fold``: fold now, with ``trigger``, all but the newest ``keep_tail`` messages, as far as turns are complete.
    ``needs_drift``: ask again with the drift of topics. ``due_at``: without a new message the answer can become another
    at that moment, ``None`` never.
    """

    is_fold: bool
    reason: str
    trigger: FoldTrigger | None = None
    keep_tail: int = 0
    needs_drift: bool = False
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message of a session, in order of ``id``, which is that of arrival.

    ``parts`` are content blocks in the form of ``message.blocks``, None where the message is plain ``text``.
    ``token_count`` is that of all its parts. ``is_folded``: a fold covers it.
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
    """T7: something asked that nobody answered. ``quote`` is verbatim from one of ``message_ids`` (external ids)."""

    id: UUID
    text: str
    quote: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoldContent:
    """T7 after the gate: what stands for a stretch of messages. ``topics`` are short names of what it is about."""

    summary: str
    facts: tuple[FactCandidate, ...]
    decisions: tuple[DecisionItem, ...]
    open_questions: tuple[OpenQuestion, ...]
    topics: tuple[str, ...]


TOOL_PREFIX: Final = "tool: "
"""What the speaker of a tool's result is called in front of the tool's name."""

MOST_TOOL_CHARS: Final = 2_000
"""So much of a tool's result a fold is shown."""


def tool_speaker(name: str) -> Person:
    """Who "says" the results of the tool ``name``. Its id is that of no entity and never gets stored."""
    return Person(hashing.item_id(UUID(int=0), "tool", name), f"{TOOL_PREFIX}{name}", is_self=False)


def is_tool(person: Person) -> bool:
    """Whether a speaker is a tool rather than somebody."""
    return person == tool_speaker(person.name.removeprefix(TOOL_PREFIX))


@dataclass(frozen=True, slots=True)
class FoldInput:
    """Everything one fold is made from (H13): a stretch of a session, noise left out, at least one message.

    ``messages`` are numbered from 1, results of tools being those of ``tool_speaker`` and at most ``MOST_TOOL_CHARS``
    long. ``participants`` need not name the tools. ``earlier`` are the last summaries before the stretch, oldest first.
    ``input_hash`` identifies all of it (B8, H8). ``timezone`` is an IANA name. ``assistant_ids`` are the entity ids of
    those who speak in the role of an assistant: they answer at length, and what they offer is no question.
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
        """The stretch as any conversation is read and checked; the session takes the interaction's place in ids."""
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
    """An open question as answered."""

    text: str
    quote: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CandidateFold:
    """A whole answer (T7) before the gate."""

    summary: str
    topics: tuple[str, ...]
    facts: tuple[CandidateFact, ...] = ()
    decisions: tuple[CandidateDecision, ...] = ()
    open_questions: tuple[CandidateQuestion, ...] = ()


FoldGateResult = Gated[FoldContent]


@dataclass(frozen=True, slots=True)
class CompressInput:
    """A running summary to be told shorter (L3): ``text`` of ``source_tokens``, in about ``target_tokens``."""

    session_id: UUID
    language: Language
    text: str
    source_tokens: int
    target_tokens: int


CompressGateResult = Gated[str]
"""Its content is the shorter text."""
