"""Records of items: what a reading answers (``Candidate…``), what passed the gate, and what becomes of it over time.

A *talk* is one completed conversation (``SummaryInput``). Talks are read in the order of ``(ended_at,
interaction_id)``; each reading is shown what was open and settled before. An item's history folds all readings of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.records import Language, Quarantined, SourceMessage, SummaryInput

ItemKind = Literal["action_item", "decision"]
ItemStatus = Literal["open", "perhaps_done", "done", "cancelled", "lapsed", "superseded"]
"""``open``: to be done, or (a decision) in force. ``lapsed`` follows from the time of reading and is never stored."""

ItemEvent = Literal[
    "opened", "renewed", "perhaps_done", "done", "cancelled", "superseded", "reopened", "edited", "closed"
]
"""``closed``, ``reopened`` and ``edited`` are a person's own; the others are said by messages."""

ItemOwner = Literal["self", "them", "both", "other"]
"""``other``: somebody named who takes no part (a foreman, a lawyer)."""

Importance = Literal["high", "medium", "low"]
ChangeTo = Literal["perhaps_done", "done", "cancelled", "renewed"]


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An earlier item as a reading is shown it; ``ref``: ``a1`` … for action items, ``d1`` … for decisions, ``s1`` …
    for silent ones (``TalkReading.silent``).

    ``said``: the words of the messages that it rests on; no prompt tells them.
    """

    ref: str
    id: UUID
    kind: ItemKind
    status: ItemStatus
    text: str
    owner: ItemOwner
    owner_name: str | None
    due_date: date | None
    said_at: datetime
    quote: str
    person_ids: tuple[UUID, ...] = ()
    owner_entity_id: UUID | None = None
    said: str = ""

    @property
    def is_silent(self) -> bool:
        return self.ref.startswith("s")


@dataclass(frozen=True, slots=True)
class ReadingInput:
    """Consecutive talks of the same people in time order; message numbers run on over all of them from 1.

    ``shown``: open action items, decisions in force, and what was settled lately. ``input_hash``: of all this.
    """

    talks: tuple[SummaryInput, ...]
    shown: tuple[ShownItem, ...]
    language: Language
    timezone: str
    input_hash: str

    @property
    def messages(self) -> tuple[SourceMessage, ...]:
        return tuple(message for talk in self.talks for message in talk.messages)


@dataclass(frozen=True, slots=True)
class CandidateEnd:
    """How a new item ended within the same talks, by message numbers."""

    state: Literal["perhaps_done", "done", "cancelled"]
    quote: str
    numbers: tuple[int, ...]
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class CandidateItem:
    """A new item as answered. Names as in the prompt.

    ``replaces``: ref of the decision that it supersedes, shown (``d1``) or a new one of the same answer (``n1``: the
    one whose ``ref`` it is). ``is_silent``: as of ``TalkReading.silent``. ``holds_until``: as of ``ReadItem``.
    """

    kind: ItemKind
    text: str
    owner: ItemOwner
    quote: str
    numbers: tuple[int, ...]
    owner_name: str | None = None
    due_date: str | None = None
    importance: Importance = "medium"
    proposed_by: str | None = None
    agreed_by: tuple[str, ...] = ()
    end: CandidateEnd | None = None
    replaces: str | None = None
    probability: float = 1.0
    ref: str | None = None
    is_silent: bool = False
    holds_until: date | None = None


@dataclass(frozen=True, slots=True)
class CandidateChange:
    """What these talks say of a shown item. ``due_date``, ``text``: only where they change."""

    ref: str
    to: ChangeTo
    quote: str
    numbers: tuple[int, ...]
    due_date: str | None = None
    text: str | None = None
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class CandidateReading:
    """A whole answer before the gate."""

    items: tuple[CandidateItem, ...] = ()
    changes: tuple[CandidateChange, ...] = ()
    facts: tuple[CandidateFact, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadItem:
    """A new item that passed the gate. ``message_ids``: external ids in its talk's chat; ``at``: of the quoted message.

    ``proposed_by``, ``agreed_by``: entities, only if the messages say so. ``replaces``: the decision it supersedes.
    ``holds_until``: the last day on which a decision is probably of use, by an estimate, not by its words.
    """

    id: UUID
    kind: ItemKind
    text: str
    owner: ItemOwner
    owner_entity_id: UUID | None
    owner_name: str | None
    due_date: date | None
    importance: Importance
    quote: str
    message_ids: tuple[str, ...]
    at: datetime
    proposed_by: UUID | None = None
    agreed_by: tuple[UUID, ...] = ()
    replaces: UUID | None = None
    probability: float = 1.0
    holds_until: date | None = None


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What a talk says of an item, shown or new in the same talks. ``due_date``, ``text``: None where unchanged."""

    item_id: UUID
    to: ChangeTo
    at: datetime
    quote: str
    message_ids: tuple[str, ...]
    due_date: date | None = None
    text: str | None = None
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact that passed the gate. ``about_name``: somebody named who takes no part; then ``entity_id`` is None.

    ``told_by``: who said it, or to whom alone the owner of the memory did; ``said_at``: when; ``is_ended``,
    ``replaces``: as of ``CandidateFact``.
    """

    id: UUID
    fact_type: str
    value: str
    confidence: float
    quote: str
    message_ids: tuple[str, ...]
    entity_id: UUID | None = None
    about_name: str | None = None
    told_by: UUID | None = None
    said_at: datetime | None = None
    is_ended: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class TalkReading:
    """What one talk says: stored as JSON beside its interaction, the only source of all item states.

    ``silent``: action items too unlikely to be shown, unless a later talk keeps them: then they were promises.
    """

    interaction_id: UUID
    items: tuple[ReadItem, ...] = ()
    changes: tuple[ItemChange, ...] = ()
    facts: tuple[ReadFact, ...] = ()
    silent: tuple[ReadItem, ...] = ()

    @property
    def item_ids(self) -> frozenset[UUID]:
        replaced = {item.replaces for item in self.items if item.replaces is not None}
        opened = {item.id for item in (*self.items, *self.silent)}
        return frozenset(opened | {change.item_id for change in self.changes} | replaced)


@dataclass(frozen=True, slots=True)
class GatedReading:
    """A reading for every talk, in order, and what was taken out, by its place and without words of the answer.

    ``hints``: the same with the offending words, for a second prompt only: never for logs or metadata. ``mendable``:
    those of what was lost and another answer might tell rightly.
    """

    readings: tuple[TalkReading, ...]
    dropped: tuple[Quarantined, ...] = ()
    hints: tuple[str, ...] = field(default=(), repr=False)
    mendable: tuple[str, ...] = field(default=(), repr=False)

    @property
    def size(self) -> int:
        """How much it tells."""
        return sum(len(one.items) + len(one.changes) + len(one.facts) for one in self.readings)


@dataclass(frozen=True, slots=True)
class PersonDecision:
    """What a person decided about an item; never overwritten by a run, and kept over a rebuild.

    None: left as it was. ``clear_due_date``: the due date is taken away.
    """

    item_id: UUID
    at: datetime
    action: Literal["close", "reopen", "edit"]
    status: Literal["done", "cancelled"] | None = None
    text: str | None = None
    owner: ItemOwner | None = None
    due_date: date | None = None
    clear_due_date: bool = False


@dataclass(frozen=True, slots=True)
class ItemState:
    """An item from ``at`` on, until the next state. ``interaction_id`` is None for a person's own."""

    event: ItemEvent
    at: datetime
    status: ItemStatus
    text: str
    owner: ItemOwner
    due_date: date | None
    quote: str
    message_ids: tuple[str, ...]
    interaction_id: UUID | None
    decided_by: Literal["memory", "person"] = "memory"
    probability: float = 1.0
    superseded_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item with its whole history, oldest state first; never empty. ``person_ids``: whom it concerns besides me."""

    id: UUID
    kind: ItemKind
    interaction_id: UUID
    person_ids: tuple[UUID, ...]
    owner_entity_id: UUID | None
    owner_name: str | None
    importance: Importance
    proposed_by: UUID | None
    agreed_by: tuple[UUID, ...]
    states: tuple[ItemState, ...]
    holds_until: date | None = None

    @property
    def now(self) -> ItemState:
        return self.states[-1]
