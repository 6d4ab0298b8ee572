"""What the profiles stage needs from storage, as Protocols it owns: who is due, what is known of them, what is kept.

Budgets, ledger and partitions are in ``stores``; the rules over these records are in ``memory.profile``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from pkg_pipeline.memory.profile.records import KeyDecision, OpenItem, ProfileAggregate, ProfileContent
from pkg_pipeline.memory.profile.rules import Week
from pkg_pipeline.memory.records import Language, Person, Quarantined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ProfilePrompt:
    """What the words are made with besides their input: another one of these makes other words (B5)."""

    version: str
    model: str
    schema_version: int


@dataclass(frozen=True, slots=True)
class ClaimedProfile:
    """One person of one week under a lease. ``token`` is the fencing token the result is saved with."""

    profile_id: UUID
    entity: Person
    token: int

    @property
    def lease_id(self) -> UUID:
        return self.profile_id


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there was up to a moment; of interactions that ended by then, whether summarised or not."""

    interactions: int
    messages: int
    first_started_at: datetime
    last_started_at: datetime
    last_ended_at: datetime
    last_meaningful_at: datetime | None


@dataclass(frozen=True, slots=True)
class MadeDecision:
    """A decision of any importance in a covered interaction, with its day."""

    id: UUID
    interaction_id: UUID
    decided_on: date
    is_high: bool
    description: str

    @property
    def key_decision(self) -> KeyDecision:
        return KeyDecision(self.id, self.interaction_id, self.decided_on, self.description)


@dataclass(frozen=True, slots=True)
class Material:
    """All that one profile is made from, in one snapshot. ``at_end`` reaches to the week's end, ``at_newest`` to the
    end of the newest covered interaction. ``covered`` has a row for each summary that goes in (``aggregation.TALKS``),
    newest first, as decisions are; open items are by due date.
    """

    self_person: Person | None
    at_end: Extent
    at_newest: Extent
    covered: pd.DataFrame
    decisions: tuple[MadeDecision, ...]
    open_items: tuple[OpenItem, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The worded part of a row with what it took. ``is_own`` False: they stand in the row of another week."""

    content: ProfileContent
    quarantined: tuple[Quarantined, ...]
    summary_tokens: int
    cost_usd: float
    seconds: float
    is_carried_over: bool
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """What was tried before with this very input, prompt and model (P19). ``is_due``: by the database's clock."""

    attempts: int
    deferrals: int
    is_failed: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One row as it is to stand. ``based_on`` and ``items`` are ids of the summaries and items it rests on."""

    profile_id: UUID
    entity_id: UUID
    week: Week
    aggregate: ProfileAggregate
    words: Words
    input_hash: str
    prompt: ProfilePrompt
    language: Language
    source_tokens: int
    is_dirty: bool
    based_on: tuple[UUID, ...]
    items: tuple[UUID, ...]


Saved = Literal["written", "unchanged", "lost"]
