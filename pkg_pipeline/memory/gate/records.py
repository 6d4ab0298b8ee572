"""What goes into the gate and what comes out of it (B9). Data only.

``Candidate…`` are an answer's words, not believed yet: messages are cited by number, dates are strings. A prompt's
file turns its answer model into them; the gate turns them into the published records of ``records.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pkg_pipeline.memory.records import Owner, Quarantined, SummaryContent

Importance = Literal["high", "medium", "low"]
Tone = Literal["positive", "neutral", "negative", "formal", "informal"]
ItemStatus = Literal["open", "closed"]
KnownState = Literal["kept", "changed", "closed"]


@dataclass(frozen=True, slots=True)
class CandidateDecision:
    """A decision as answered. ``date`` should be an ISO date; ``numbers`` are those of the prompt."""

    description: str
    date: str
    importance: Importance
    quote: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CandidateActionItem:
    """An action item as answered."""

    description: str
    owner: Owner
    status: ItemStatus
    quote: str
    numbers: tuple[int, ...]
    owner_name: str | None = None
    due_date: str | None = None
    closed_at: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """A fact as answered. ``about`` should be a participant's name."""

    fact_type: str
    value: str
    confidence: float
    quote: str
    numbers: tuple[int, ...]
    about: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateSummary:
    """A whole answer (P13) before the gate."""

    summary: str
    key_points: tuple[str, ...]
    tone: Tone
    decisions: tuple[CandidateDecision, ...] = ()
    action_items: tuple[CandidateActionItem, ...] = ()
    facts: tuple[CandidateFact, ...] = ()
    important_numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateKnown:
    """What an update's answer says of one known item, by its short id. Empty fields change nothing."""

    ref: str
    state: KnownState
    description: str | None = None
    importance: Importance | None = None
    due_date: str | None = None
    closed_at: str | None = None
    quote: str = ""
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateUpdate:
    """A whole answer to an update (P27): the known items one by one, and ``summary`` with what is new in it."""

    known: tuple[CandidateKnown, ...]
    summary: CandidateSummary


Content = TypeVar("Content")


@dataclass(frozen=True)  # with slots a generic record cannot be made by its alias
class Gated(Generic[Content]):
    """Either ``content`` may be published, or ``quarantine_reason`` says why nothing may.

    ``dropped`` names what was taken out or corrected on the way, by its place in the answer. Reasons hold none of the
    answer's words, so that they may go into logs, metadata and the next prompt.
    """

    content: Content | None
    dropped: tuple[Quarantined, ...]
    quarantine_reason: str | None


GateResult = Gated[SummaryContent]
