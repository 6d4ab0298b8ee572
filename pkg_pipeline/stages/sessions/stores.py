"""What sessions need from storage, as Protocols they own, and the records that pass between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pkg_pipeline.memory.records import ChatKind
from pkg_pipeline.memory.session.records import Policy, SessionMessage, SessionState, Strategy
from pkg_pipeline.stages.ingest.stores import EntityRow, IngestCounts, MessageRow

MessageTimes = Mapping[str, tuple[datetime, bool]]
"""By external id when a message was said, and whether that is a wall time whose zone was assumed."""

DueAt = Callable[[SessionState, str, datetime], datetime | None]
"""(state, source of its chat, now) → when the policy is asked next: now, later, or None for with the next message."""


class SessionUnknown(Exception):
    """There is no such chat, or what is given is no name of one; the message is one line."""


@dataclass(frozen=True, slots=True)
class SessionChat:
    """The chat that a session is."""

    id: UUID
    source: str
    external_id: str
    kind: ChatKind = "thread"


@dataclass(frozen=True, slots=True)
class SessionStart:
    """What a session is given when it is made; ``now`` is the memory's clock."""

    chat: SessionChat
    policy: Policy
    strategy: Strategy
    now: datetime


@dataclass(frozen=True, slots=True)
class Newcomers:
    """What has to be there before messages are: the chat, the session, senders that this process has not seen in it.

    ``names`` maps an entity to the latest message's time that carried its name, and the name.
    """

    start: SessionStart
    entities: Sequence[EntityRow]
    names: Mapping[UUID, tuple[datetime, str]]


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a batch, the session's state after it, and when its policy is asked next.

    ``version`` is that of the session's row; whoever changes it leaves another one. ``new_ids`` are those of the
    messages that were not there before, None: of all.
    """

    counts: IngestCounts
    state: SessionState
    next_due_at: datetime | None
    version: int
    new_ids: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class AppendBatch:
    """Messages of one chat in their order of arrival. ``newcomers`` None: chat, session and senders are known.

    ``last`` is what the last append of this process left: where nobody else was there since, it saves looking.
    ``untimed`` are the ids of messages that did not say when they were said: one that is there keeps its time.
    """

    chat: SessionChat
    rows: Sequence[MessageRow]
    now: datetime
    newcomers: Newcomers | None = None
    last: Appended | None = None
    untimed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SessionChange:
    """What ``set`` changes; None leaves it. An empty label takes it away, an interval of 0 is that of the settings."""

    policy: Policy | None = None
    strategy: Strategy | None = None
    summary_interval: int | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in a list: its state and what else is known of it."""

    state: SessionState
    source: str
    external_id: str
    title: str | None
    next_due_at: datetime | None
    folds: int
    running_token_count: int
    attempts: int
    retry_at: datetime | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class FoldSource:
    """T6: a message that a fold covers. ``is_archived``: its text comes from the archive."""

    message: SessionMessage
    is_archived: bool
    is_deleted: bool
