"""Records between the profiles stage and its store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from pkg_pipeline.memory.profile.records import (
    Frequency,
    KeyDecision,
    OpenItem,
    ProfileAggregate,
    ProfileContent,
    Utterance,
)
from pkg_pipeline.memory.profile.rules import Week
from pkg_pipeline.memory.records import Language, Person, Quarantined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ProfilePrompt:
    """Prompt and model of the text; others make it stale (B5)."""

    version: str
    model: str
    schema_version: int


@dataclass(frozen=True, slots=True)
class ClaimedProfile:
    """One person in one week under a lease; ``token`` is the fencing token."""

    profile_id: UUID
    entity: Person
    token: int

    @property
    def lease_id(self) -> UUID:
        return self.profile_id


@dataclass(frozen=True, slots=True)
class Extent:
    """Totals of interactions that ended up to a moment, summarised or not."""

    interactions: int
    messages: int
    first_started_at: datetime
    last_started_at: datetime
    last_ended_at: datetime
    last_meaningful_at: datetime | None
    frequency: Frequency


@dataclass(frozen=True, slots=True)
class MadeDecision:
    """A decision in force at the week's end, with its day."""

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
    """Input of one profile, in one snapshot. ``at_end``: up to the week's end; ``at_newest``: up to the newest covered
    interaction. ``covered``: a row per summary (``aggregation.TALKS``), newest first, as decisions; open items by due
    date. ``said``, ``groups``: what tells who they are to me.
    """

    self_person: Person | None
    at_end: Extent
    at_newest: Extent
    covered: pd.DataFrame
    decisions: tuple[MadeDecision, ...]
    open_items: tuple[OpenItem, ...]
    facts: tuple[str, ...]
    said: tuple[Utterance, ...]
    groups: tuple[str, ...]
    is_met_in_groups: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """The text of a row and its cost. ``is_own`` False: it is another week's."""

    content: ProfileContent
    quarantined: tuple[Quarantined, ...]
    summary_tokens: int
    cost_usd: float
    seconds: float
    is_carried_over: bool
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """Earlier tries with this input, prompt and model (P19); ``is_due`` by the database clock."""

    attempts: int
    deferrals: int
    is_failed: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A row to save; ``based_on`` and ``items`` are ids of the summaries and items it uses."""

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
