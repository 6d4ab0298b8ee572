"""What the stage of threads needs: the threads of an agent framework, and what the memory says of them. Protocols.

A thread is the running state of an agent; the framework's own database holds it, not the memory's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from pkg_pipeline.memory.records import ParsedMessage


class ThreadUnreadable(Exception):
    """One thread cannot be read; the message is the reason, without a word of it. The others go in."""


class ThreadUnknown(Exception):
    """There is no thread of that name."""


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """One line of the list (L8)."""

    thread_id: str
    checkpoints: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class ThreadState:
    """The newest checkpoint. ``refusal``: why nothing may be removed from it (L2), None where it may."""

    thread_id: str
    checkpoint_id: str
    at: datetime
    messages: tuple[ParsedMessage, ...]
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadHistory:
    """All that the thread's checkpoints hold, in order of arrival, also what was removed from the state since.

    A message is sent at the time of the first checkpoint that contains it, and edited at that of a later version.
    ``notes`` say what could not be read of the history, ``rejected`` (message, reason) what was passed over.
    """

    state: ThreadState
    messages: tuple[ParsedMessage, ...]
    notes: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()


class Threads(Protocol):
    """The framework's database. Reading never writes to it."""

    def list(self) -> list[ThreadSummary]:
        """Latest activity first; runs of subgraphs are no threads."""
        ...

    def state(self, thread_id: str) -> ThreadState:
        """Raises ThreadUnknown, ThreadUnreadable."""
        ...

    def history(self, thread_id: str, *, since: str | None) -> ThreadHistory:
        """From the checkpoint ``since`` on, by default all. Raises ThreadUnknown, ThreadUnreadable."""
        ...

    def remove(self, state: ThreadState, message_ids: Sequence[str]) -> bool:
        """Takes messages out of the state (L2): a new checkpoint directly after ``state``; False if it moved on.

        Whatever a run writes meanwhile comes after it and stands.
        """
        ...

    def delete(self, thread_id: str) -> bool:
        """All that the framework keeps of it; whether there was anything."""
        ...


@dataclass(frozen=True, slots=True)
class KnownThread:
    """What the memory has of a thread: times by message id, and the checkpoint it was read up to."""

    times: Mapping[str, datetime]
    checkpoint_id: str | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of given messages is safe in the memory: ``missing`` no fold covers, ``unsearchable`` have no chunks yet.

    ``days`` are the first and the last on which interactions with some of them began.
    """

    missing: frozenset[str]
    unsearchable: frozenset[str]
    days: tuple[date, date] | None


@dataclass(frozen=True, slots=True)
class ThreadLabel:
    label: str | None
    messages: int
    folds: int
