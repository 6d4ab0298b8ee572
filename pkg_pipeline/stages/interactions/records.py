"""Records between the interactions stage and its store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.records import ChatCategory, ChatKind, Language

LANGUAGE_MESSAGES = 2_000
"""First messages of an interaction used for language detection."""


class SegmentMessage(NamedTuple):
    """One message of the affected part of a chat; ``place`` is the chat's index in the batch.

    ``answers`` and ``answered_at`` are sender and time of the live message replied to (groups only). ``content`` is
    whole in groups, elsewhere the beginning, for language detection.
    """

    place: int
    id: int
    external_id: str
    sent_at: datetime
    sender_entity_id: UUID | None
    is_deleted: bool
    content_hash: str
    token_count: int
    is_important: bool
    content: str
    answers: UUID | None
    answered_at: datetime | None


@dataclass(frozen=True, slots=True)
class ParticipantRow:
    entity_id: UUID
    role: Literal["self", "other"]
    message_count: int
    token_count: int


@dataclass(frozen=True, slots=True)
class Belongings:
    """The messages of an interaction attributed to an entity (P34): ids and microseconds, both int64 (n,)."""

    entity_id: UUID
    message_ids: NDArray[np.int64]
    sent_at_us: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class InteractionRow:
    """``belongings`` are given for groups (P34); in direct chats all messages belong to the other side."""

    id: UUID
    chat_id: UUID
    day: date
    started_at: datetime
    ended_at: datetime
    status: Literal["active", "completed"]
    message_count: int
    token_count: int
    important_count: int
    language: Language
    language_shares: tuple[int, ...] | None
    first_external_id: str
    input_hash: str
    participants: tuple[ParticipantRow, ...]
    belongings: tuple[Belongings, ...] = ()


@dataclass(frozen=True, slots=True)
class Continued:
    """An interaction as it was built before what is new behind it; ``input_hash`` is of all its messages now, ``texts``
    are of all before, where they count for its language and no shares were kept. ``participants``: messages and tokens.
    """

    id: UUID
    day: date
    started_at: datetime
    ended_at: datetime
    message_count: int
    token_count: int
    important_count: int
    language: Language
    first_external_id: str
    input_hash: str
    language_shares: tuple[int, ...] | None
    texts: tuple[str, ...]
    participants: Mapping[UUID, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Touched:
    """An interaction as it was just built. ``continued_after``: where it ended before, if only what is new behind it
    changed it, and ``messages_before`` how many it had; ``belongings`` is the hash of the new ones. None: any change.
    """

    id: UUID
    messages: int
    continued_after: datetime | None = None
    messages_before: int = 0
    belongings: int = 0


@dataclass(frozen=True, slots=True)
class ChatInfo:
    """A chat to rebuild. ``members``: entity → (names, is_self); ``category`` None means an ordinary chat.
    ``continued``: the interaction that goes on, where nothing else is touched.
    """

    id: UUID
    source: str
    external_id: str
    kind: ChatKind
    category: ChatCategory | None
    members: Mapping[UUID, tuple[tuple[str, ...], bool]]
    continued: Continued | None = None

    @property
    def is_mass(self) -> bool:
        """P34; same rule as the view ``eligible_chats``."""
        return self.category == "mass" or (self.category is None and self.kind == "channel")
