"""Records of a context: what is read and what is served. ``message_ids`` are ``hashing.message_key``; times are UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Literal, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.items.records import Importance, ItemOwner, ItemStatus
from pkg_pipeline.memory.items.states import SURE_FROM
from pkg_pipeline.memory.profile.records import Frequency, RelationshipType, Signals
from pkg_pipeline.memory.recall.records import Ranked
from pkg_pipeline.memory.records import ContextChat, EntityType, Language, Person, Tier
from pkg_pipeline.memory.text.language_data import in_any

TIERS: tuple[Tier, ...] = ("permanent", "hot", "warm", "cold", "relevant")
"""The fixed order of sections and of precedence."""

ItemKind = Literal["fact", "decision", "action_item", "message", "summary", "profile", "milestone"]
Reason = Literal["budget", "limit", "withheld", "shortened", "more", "not_kept", "over"]
Mark = Literal["unsummarised", "stale", "shortened", "overdue", "perhaps", "doubted", "perhaps_done", "lapsed"]


@dataclass(frozen=True, slots=True)
class ContextEntity:
    """The person a context is about, with the figures of the relationship at that moment.

    ``hypothetical_tokens``: the size of all their messages until then (P8, T3). ``contact_days``: the newest days on
    which talks began; ``languages`` of the newest talks, the commonest first. ``is_mass``: a channel, a bot.
    """

    id: UUID
    name: str
    type: EntityType
    is_self: bool
    organization: str | None
    sources: tuple[str, ...]
    language: Language | None
    messages: int
    hypothetical_tokens: int
    first_contact: datetime | None
    last_contact: datetime | None
    contact_days: tuple[date, ...] = ()
    languages: tuple[Language, ...] = ()
    is_mass: bool = False


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """One message with its text at that moment; ``is_cut``: only a part of the text was read."""

    id: str
    chat: ContextChat
    speaker: str | None
    is_self: bool
    sent_at: datetime
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A confirmed fact in force (P4, B2). ``about``: of somebody known by this name only. ``is_stale``: a
    message behind it was edited since it was read (P29). ``is_decided``: a person confirmed or wrote it.
    """

    id: UUID
    fact_type: str
    value: str
    at: datetime
    message_ids: tuple[str, ...]
    about: str | None = None
    is_stale: bool = False
    is_decided: bool = False

    @property
    def is_bare(self) -> bool:
        """A relative whom everybody has, without a name or anything told of them."""
        bare = in_any("memory", "facts", "bare_kin")
        return self.fact_type == "family" and not self.is_decided and bare.fullmatch(self.value.strip()) is not None


class Former(NamedTuple):
    """The decision that a later one superseded, and when it was made."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A decision in force or an action item that is not settled, as it stood then (B16, B17).

    ``first_at``: when it was said first; ``at``: when it was last spoken of, ``quote`` the words then. ``status``:
    never settled ones; a decision that has probably run its course is ``lapsed``. ``due_date``: of a decision, the
    last day that it speaks of. ``is_withheld``: rests on a deleted
    message; ``is_stale``: on one edited since (P29). ``found_with``: how probably it was one at all when it was found.
    ``is_decided``: its status is a person's own. ``is_doubted``: perhaps no longer open, by the profile.
    """

    id: UUID
    kind: Literal["decision", "action_item"]
    status: ItemStatus
    interaction_id: UUID
    first_at: datetime
    at: datetime
    text: str
    quote: str
    message_ids: tuple[str, ...]
    importance: Importance
    owner: ItemOwner = "them"
    owner_name: str | None = None
    due_date: date | None = None
    former: Former | None = None
    is_withheld: bool = False
    is_stale: bool = False
    is_decided: bool = False
    is_doubted: bool = False
    found_with: float = 1.0

    @property
    def is_sure(self) -> bool:
        """Whether it surely was one, or a person said so."""
        return self.is_decided or self.found_with >= SURE_FROM


@dataclass(frozen=True, slots=True)
class PastSummary:
    """The live summary of one interaction. ``is_stale``: a message was edited since (P29), or a name."""

    id: UUID
    interaction_id: UUID
    chat: ContextChat
    started_at: datetime
    ended_at: datetime
    text: str
    is_stale: bool
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unsummarised:
    """An interaction older than the hot days without a summary that may be served (P33)."""

    interaction_id: UUID
    chat: ContextChat
    started_at: datetime
    ended_at: datetime
    messages: tuple[HeardMessage, ...]


@dataclass(frozen=True, slots=True)
class WholeTalk:
    """An interaction older than the hot days with all its messages, oldest first: served if there is room (P6)."""

    interaction_id: UUID
    chat: ContextChat
    started_at: datetime
    ended_at: datetime
    messages: tuple[HeardMessage, ...]


@dataclass(frozen=True, slots=True)
class KnownMilestone:
    """A milestone of a profile; ``message_ids`` are some of its evidence."""

    id: str
    day: date
    title: str
    importance: Literal["high", "medium"]
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownProfile:
    """The newest profile whose week had ended by then (P3, P9); ``as_of`` is that week's end.

    ``is_stale``: something under it changed since (P29, B20). ``message_ids``: of its key decisions, at most 60.
    """

    id: UUID
    as_of: datetime
    relationship_type: RelationshipType
    summary: str
    milestones: tuple[KnownMilestone, ...]
    is_stale: bool
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextRows:
    """The rows of one read, newest first; ``open_items`` by due date, undated last.

    ``summaries``: also beyond the warm tier, as ``whole``, by interaction, as far as the budget may hold them.
    ``relevant``: recalled for a task hint, best first (P5). ``left_out``: rows withheld or beyond a limit.
    ``signals``: of who they are to me; ``card`` is made of them (B19). ``me``: whose memory it is, if known.
    """

    entity: ContextEntity
    hot: tuple[HeardMessage, ...] = ()
    summaries: tuple[PastSummary, ...] = ()
    unsummarised: tuple[Unsummarised, ...] = ()
    whole: Mapping[UUID, WholeTalk] = field(default_factory=dict[UUID, WholeTalk])
    facts: tuple[KnownFact, ...] = ()
    decisions: tuple[KnownItem, ...] = ()
    open_items: tuple[KnownItem, ...] = ()
    profile: KnownProfile | None = None
    relevant: tuple[Ranked, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    signals: Signals | None = None
    card: Card | None = None
    me: Person | None = None

    @property
    def told_facts(self) -> list[KnownFact]:
        """Those that a context tells: all but the bare ones."""
        return [fact for fact in self.facts if not fact.is_bare]


@dataclass(frozen=True, slots=True)
class Card:
    """Who somebody is (B19). ``frequency`` None: too few days of contact; ``languages`` of the newest talks, the
    commonest first.
    """

    relationship: RelationshipType
    frequency: Frequency | None
    organization: str | None
    languages: tuple[Language, ...]
    facts: tuple[KnownFact, ...]
    messages: int
    first_contact: datetime | None
    last_contact: datetime | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something known and not printed in full. ``id`` None: the entry that counts the rest."""

    kind: str
    id: str | None
    reason: Reason
    count: int = 1


@dataclass(frozen=True, slots=True)
class BlockItem:
    """One printed item; ``text`` occurs in the block."""

    kind: ItemKind
    id: str
    text: str
    at: datetime
    message_ids: tuple[str, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockTier:
    """One printed tier. ``tokens`` include its headings, in ``permanent`` also the block's head."""

    tier: Tier
    tokens: int
    items: tuple[BlockItem, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The finished text; ``tokens`` is the sum of the tiers and the count of ``text``."""

    text: str
    tokens: int
    tiers: tuple[BlockTier, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class BlockRules:
    """The settings of an assembly (P1–P4, P6), its moment and its task in words (P5)."""

    as_of: datetime
    zone: ZoneInfo
    max_tokens: int
    shares: Mapping[Tier, int]
    hot_days: float
    hot_limit: int
    summary_limit: int
    hot_from: datetime
    warm_from: datetime
    hint: str = ""
    left_out_limit: int = 200

    @property
    def today(self) -> date:
        return _day(self.as_of, self.zone)


@lru_cache(maxsize=16)
def _day(moment: datetime, zone: ZoneInfo) -> date:
    """Asked for with every line."""
    return moment.astimezone(zone).date()
