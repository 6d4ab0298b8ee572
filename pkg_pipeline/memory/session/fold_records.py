"""What a fold is asked with, what is answered before the gate believes it, and what the gate says. Data only: no rule.

``Candidate…`` are an answer's words: messages are cited by number, dates are strings. What passes is a ``FoldContent``
of ``session_records``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate.records import CandidateDecision, CandidateFact
from pkg_pipeline.memory.records import Language, Person, Quarantined, SourceMessage, SummaryInput
from pkg_pipeline.memory.session.records import FoldContent

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


@dataclass(frozen=True, slots=True)
class FoldGateResult:
    """Either ``content`` may be published, or ``quarantine_reason`` says why nothing may.

    ``dropped`` names what was taken out or corrected, by its place in the answer. Reasons hold none of its words.
    """

    content: FoldContent | None
    dropped: tuple[Quarantined, ...]
    quarantine_reason: str | None


@dataclass(frozen=True, slots=True)
class CompressInput:
    """A running summary to be told shorter (L3): ``text`` of ``source_tokens``, in about ``target_tokens``."""

    session_id: UUID
    language: Language
    text: str
    source_tokens: int
    target_tokens: int


@dataclass(frozen=True, slots=True)
class CompressGateResult:
    """Either ``content``, the shorter text, may stand for the long one, or ``quarantine_reason`` says why not."""

    content: str | None
    dropped: tuple[Quarantined, ...]
    quarantine_reason: str | None
