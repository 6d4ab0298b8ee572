"""Agent threads: import (L1), and pruning of the thread's state once its oldest messages are in the memory (L2).

Pruning imports, builds interactions, folds, makes chunks, verifies, and changes the state last; it can be repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message import turns
from pkg_pipeline.memory.records import ExportItem, ParsedChat, ParsedMessage, Rejected
from pkg_pipeline.stages.ingest.records import ExportSource

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.ingest.threads import PostgresThreadMemory

SOURCE = "langgraph"
LOOKED_AT = 50
"""Threads whose state one look reads; the next goes on."""
MOST_TRIES = 3
"""Attempts at a thread that is written to concurrently."""


class ThreadUnreadable(Exception):
    """One thread cannot be read; the message is the reason, without content."""


class ThreadUnknown(Exception):
    """No thread has this id."""


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """One row of the list (L8)."""

    thread_id: str
    checkpoints: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class ThreadState:
    """The newest checkpoint. ``refusal``: why nothing may be removed from it (L2), or None."""

    thread_id: str
    checkpoint_id: str
    at: datetime
    messages: tuple[ParsedMessage, ...]
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadHistory:
    """All messages of the thread's checkpoints, in order of arrival, including those removed from the state.

    ``sent_at`` is the time of the first checkpoint with the message, ``edited_at`` that of a later version. ``notes``
    say what of the history cannot be read; ``rejected`` are (message, reason).
    """

    state: ThreadState
    messages: tuple[ParsedMessage, ...]
    notes: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()


class Threads(Protocol):
    """The agent framework's database; reading never writes to it."""

    def list(self) -> list[ThreadSummary]:
        """Latest activity first, without runs of subgraphs."""
        ...

    def state(self, thread_id: str) -> ThreadState: ...

    def history(self, thread_id: str, *, since: str | None) -> ThreadHistory:
        """From the checkpoint ``since`` on, by default all. Raises ThreadUnknown, ThreadUnreadable."""
        ...

    def remove(self, state: ThreadState, message_ids: Sequence[str]) -> bool:
        """Write a new checkpoint directly after ``state`` without these messages (L2); False if the thread moved on."""
        ...

    def delete(self, thread_id: str) -> bool:
        """Delete all data of the thread; whether there was any."""
        ...


@dataclass(frozen=True, slots=True)
class KnownThread:
    times: Mapping[str, datetime]
    checkpoint_id: str | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """``missing``: in no fold; ``unsearchable``: in no chunk; ``days``: first and last on which their interactions
    began.
    """

    missing: frozenset[str]
    unsearchable: frozenset[str]
    days: tuple[date, date] | None


@dataclass(frozen=True, slots=True)
class ThreadLabel:
    label: str | None
    messages: int
    folds: int


@dataclass(frozen=True, slots=True)
class PruneRules:
    """L2: a state of more than ``most_messages`` is cut to ``most_messages - buffer``."""

    most_messages: int = 200
    buffer: int = 20


@dataclass(frozen=True, slots=True)
class PruneParts:
    """Dependencies. ``fold`` (chat, by hand) and ``make_chunks`` (days) return why they did not finish, or None."""

    threads: Threads
    memory: PostgresThreadMemory
    take_in: Callable[[str], None]
    build: Callable[[str], None]
    fold: Callable[[UUID, bool], str | None]
    make_chunks: Callable[[tuple[date, date]], str | None]
    rules: PruneRules


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The result for one thread. ``reason``: why nothing, or less, was removed; ``is_refused``: it cannot be pruned."""

    thread: str
    messages: int
    removed: int = 0
    would_remove: int = 0
    is_refused: bool = False
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LookedThrough:
    """``until``: the latest activity looked at; ``long``: ids of the threads that a run could prune."""

    until: datetime | None = None
    long: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"until": None if self.until is None else self.until.isoformat(), "long": list(self.long)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> LookedThrough:
        until = given["until"]
        return cls(None if until is None else datetime.fromisoformat(until), tuple(given["long"]))


class ThreadExport:
    """``ExportSource`` over one thread."""

    format = SOURCE
    bytes_read = 0

    def __init__(self, history: ThreadHistory, known: KnownThread) -> None:
        state = history.state
        self.name, self.exported_at = f"{SOURCE}:{state.thread_id}", state.at
        self.bytes_total = len(history.messages)
        self.sha256 = hashlib.sha256(state.checkpoint_id.encode()).hexdigest()
        self._history, self._known = history, known

    def items(self) -> Iterator[ExportItem]:
        """The chat, rejected messages, then the messages; a known message keeps its earlier time."""
        state = self._history.state
        yield ParsedChat(SOURCE, state.thread_id, "thread", metadata={"checkpoint_id": state.checkpoint_id})
        for where, reason in self._history.rejected:
            yield Rejected(where, reason)
        for number, message in enumerate(self._history.messages, 1):
            self.bytes_read = number
            known_at = self._known.times.get(message.external_id, message.sent_at)
            yield replace(message, sent_at=min(message.sent_at, known_at), where=f"message {number}")


def export_of(threads: Threads, memory: PostgresThreadMemory, thread_id: str) -> tuple[ExportSource, tuple[str, ...]]:
    """The thread as an export, and notes on what is missing of it. Raises ThreadUnknown, ThreadUnreadable."""
    known = memory.known(chat_of(thread_id))
    history = threads.history(thread_id, since=known.checkpoint_id)
    return ThreadExport(history, known), history.notes


def chat_of(thread_id: str) -> UUID:
    return hashing.chat_id(SOURCE, thread_id)


# ── pruning ──────────────────────────────────────────────────────────────────────────────────


def prune(parts: PruneParts, thread_id: str, *, dry_run: bool = False) -> PruneResult:
    """Prune one thread. Never raises for one that cannot be pruned: the result has the reason."""
    result = PruneResult(thread_id, 0)
    for _ in range(MOST_TRIES):
        try:
            state = parts.threads.state(thread_id)
        except (ThreadUnreadable, ThreadUnknown) as error:
            return PruneResult(thread_id, 0, is_refused=True, reason=str(error))
        result = _looked_at(state, parts.rules)
        if result.is_refused or not result.would_remove or dry_run:
            return result
        oldest = [message.external_id for message in state.messages[: result.would_remove]]
        reason = _save(parts, thread_id, oldest)
        if reason is not None:
            return replace(result, is_refused=True, reason=reason)
        if parts.threads.remove(state, oldest):
            return replace(result, removed=len(oldest))
    return replace(result, is_refused=True, reason="somebody writes to it all the time; try again later")


def long_threads(parts: PruneParts, before: LookedThrough, *, most: int = LOOKED_AT) -> LookedThrough:
    """Which threads a run could prune: of those found last time and those active since, at most ``most`` new ones and
    oldest activity first. A refused one is looked at again when it is active again.
    """
    known = {one.thread_id: one.last_at for one in parts.threads.list()}
    active = sorted((at, name) for name, at in known.items() if at is not None and _is_after(at, before.until))
    ends_at = active[min(most, len(active)) - 1][0] if active else before.until
    names = [name for at, name in active if not _is_after(at, ends_at)]  # those of one moment together
    looked = [prune(parts, name, dry_run=True) for name in dict.fromkeys((*before.long, *names)) if name in known]
    return LookedThrough(ends_at, tuple(one.thread for one in looked if one.would_remove and not one.is_refused))


def _is_after(at: datetime, until: datetime | None) -> bool:
    return until is None or at > until


def _looked_at(state: ThreadState, rules: PruneRules) -> PruneResult:
    count = len(state.messages)
    result = PruneResult(state.thread_id, count)
    if count <= rules.most_messages:
        return replace(result, reason=f"{count} messages, at most {rules.most_messages}")
    if state.refusal is not None:
        return replace(result, is_refused=True, reason=state.refusal)
    cut = safe_cut(state.messages, count - rules.most_messages + rules.buffer)
    if cut == 0:
        return replace(result, is_refused=True, reason="it cannot be cut: its oldest messages wait for results")
    return replace(result, would_remove=cut)


def safe_cut(messages: Sequence[ParsedMessage], wanted: int) -> int:
    """Number of oldest messages to remove: at most ``wanted`` or the first group; never splits a tool call or the live
    turn.
    """
    most = turns.live_turn(messages)
    ends = [end for _, end in turns.groups(messages) if end <= most and end < len(messages)]
    return max((end for end in ends if end <= wanted), default=min(ends, default=0))


def _save(parts: PruneParts, thread_id: str, oldest: Sequence[str]) -> str | None:
    """Store all that must be in the memory before removal; why it is not, or None."""
    chat_id = chat_of(thread_id)
    try:
        parts.take_in(thread_id)
    except (ThreadUnreadable, ThreadUnknown) as error:
        return str(error)
    parts.build(thread_id)
    reason = None
    for by_hand in (False, True):
        if not parts.memory.coverage(chat_id, oldest).missing:
            break
        reason = parts.fold(chat_id, by_hand)
    if missing := parts.memory.coverage(chat_id, oldest).missing:
        return f"{len(missing)} of them are in no summary yet: {reason or 'try again later'}"
    days = parts.memory.coverage(chat_id, oldest).days
    reason = "they are in no interaction" if days is None else parts.make_chunks(days)
    unsearchable = parts.memory.coverage(chat_id, oldest).unsearchable
    if unsearchable or reason is not None:
        return f"{len(unsearchable or oldest)} of them cannot be searched yet: {reason or 'try again later'}"
    return None
