"""Input and result of answer validation (B9). ``Candidate…``: an unvalidated answer, messages cited by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from pkg_pipeline.memory.records import Quarantined, SummaryContent

Importance = Literal["high", "medium", "low"]
Tone = Literal["positive", "neutral", "negative", "formal", "informal"]


@dataclass(frozen=True, slots=True)
class CandidateDecision:
    """A decision as answered; ``date`` should be ISO, ``numbers`` are the prompt's message numbers."""

    description: str
    date: str
    importance: Importance
    quote: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """A fact as answered; ``about`` should be a participant's name.

    ``is_ended``: it holds no longer; ``replaces``: it takes the place of the earlier ones of its type.
    """

    fact_type: str
    value: str
    confidence: float
    quote: str
    numbers: tuple[int, ...]
    about: str | None = None
    is_ended: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CandidateSummary:
    """A whole answer (P13) before the gate."""

    summary: str
    key_points: tuple[str, ...]
    tone: Tone
    important_numbers: tuple[int, ...] = ()


Content = TypeVar("Content")


@dataclass(frozen=True)  # a generic record with slots cannot be made by its alias
class Gated(Generic[Content]):
    """``content`` to publish, or ``quarantine_reason``.

    ``dropped`` names removals and corrections by their place. Reasons hold no words of the answer: safe for logs.
    ``hints``: the same with the offending words, for a second prompt only.
    """

    content: Content | None
    dropped: tuple[Quarantined, ...]
    quarantine_reason: str | None
    hints: tuple[str, ...] = field(default=(), repr=False)


GateResult = Gated[SummaryContent]
