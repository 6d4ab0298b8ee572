"""Records of relationship profiles (P21). Weeks are named by their Sunday; moments are UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal, get_args
from uuid import UUID

from pkg_pipeline.memory.items.records import ItemOwner
from pkg_pipeline.memory.records import Language, Person

RelationshipType = Literal[
    "client",
    "partner",
    "colleague",
    "friend",
    "acquaintance",
    "vendor",
    "other",
    "family",
    "boss",
    "landlord",
    "tenant",
    "doctor",
    "teacher",
    "neighbour",
    "unknown",
]
TYPES: Final[tuple[RelationshipType, ...]] = get_args(RelationshipType)
Frequency = Literal["daily", "several_weekly", "weekly", "biweekly", "monthly", "quarterly", "rare", "ceased"]
"""``ceased``: they were in touch once, and are no more."""


@dataclass(frozen=True, slots=True)
class Utterance:
    text: str
    is_self: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells who somebody is to me. ``said``: the newest messages of both in dialogs, in any order, or those of
    everybody in groups if we only meet there (``is_self``: anybody else's); ``groups``: titles of groups in common;
    ``facts``: values of what is known of them; ``organizations``: theirs and mine.
    """

    name: str
    said: Sequence[Utterance] = ()
    groups: Sequence[str] = ()
    facts: Sequence[str] = ()
    organizations: tuple[str | None, str | None] = (None, None)
    is_met_in_groups: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic under its commonest spelling; ``mentions`` counts interactions."""

    name: str
    mentions: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class KeyDecision:
    """A HIGH decision in force and its interaction."""

    id: UUID
    interaction_id: UUID
    decided_on: date
    description: str


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An action item that is surely open; ``since``: the day it was said first."""

    id: UUID
    interaction_id: UUID
    since: date
    description: str
    owner: ItemOwner
    due_date: date | None


@dataclass(frozen=True, slots=True)
class ProfileAggregate:
    """The counted part of a profile; none of it comes from a model (P21, P22).

    ``mean_gap_days``: between starts of consecutive interactions; None for a single one.
    """

    first_interaction_at: datetime
    last_interaction_at: datetime
    last_meaningful_contact_at: datetime | None
    total_interactions: int
    total_messages: int
    summarized_interactions: int
    frequency: Frequency
    mean_gap_days: float | None
    top_topics: tuple[Topic, ...]
    key_decisions: tuple[KeyDecision, ...]
    open_action_items: tuple[OpenItem, ...]

    @property
    def coverage(self) -> float:
        """Share of interactions that are summarised, 0 to 1."""
        return self.summarized_interactions / self.total_interactions if self.total_interactions else 0.0


@dataclass(frozen=True, slots=True)
class DatedSummary:
    """One summary in the prompt; the model cites ``number``, from 1."""

    number: int
    interaction_id: UUID
    day: date
    text: str
    tone: str | None
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfileInput:
    """One person in one week. ``summaries``: oldest first, older ones shortened; ``omitted_summaries``: how many are
    not there. ``facts``: confirmed ones, "type: value". ``signals``: of who they are to me.
    """

    profile_id: UUID
    entity: Person
    self_person: Person | None
    week: date
    aggregate: ProfileAggregate
    summaries: tuple[DatedSummary, ...]
    omitted_summaries: int
    facts: tuple[str, ...]
    language: Language
    timezone: str
    input_hash: str
    signals: Signals | None = None

    @property
    def open_items(self) -> dict[str, OpenItem]:
        """By the short id in the prompt: a1 …, oldest first."""
        items = sorted(self.aggregate.open_action_items, key=lambda item: (item.since, str(item.id)))
        return {f"a{number}": item for number, item in enumerate(items, 1)}


@dataclass(frozen=True, slots=True)
class Milestone:
    day: date
    title: str
    importance: Literal["high", "medium"]
    interaction_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ProfileContent:
    """The worded part. ``doubted``: open items that by the conversations may be settled or stale; they stay open."""

    relationship_type: RelationshipType
    summary: str
    timeline: str
    milestones: tuple[Milestone, ...]
    doubted: tuple[UUID, ...] = ()
