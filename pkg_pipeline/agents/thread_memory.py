"""What the middleware reads and records about a thread; failures never stop a call (L10)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from langgraph.config import get_config

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.window.records import Window
from pkg_pipeline.stages.ingest.threads import SOURCE
from pkg_pipeline.stages.window.records import WindowQuery, WindowResult, served_of
from pkg_pipeline.stages.window.stage import SHOWN_TOPICS

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remembered:
    """Tier 1 of a thread. ``folded``: ids covered by the summary; ``hypothetical_tokens``: of all its messages.
    ``is_whole``: all folded messages are in the prompt itself.
    """

    running: str = ""
    summaries: tuple[str, ...] = ()
    fold_ids: tuple[UUID, ...] = ()
    topics: tuple[str, ...] = ()
    folded: frozenset[str] = frozenset()
    calibration: float | None = None
    hypothetical_tokens: int = 0
    is_whole: bool = True


NOTHING = Remembered()


class ThreadMemory:
    """Access to one thread's memory; empty without a thread or connection."""

    def __init__(self, memory: Memory | None) -> None:
        self._memory = memory
        self._ensured: set[str] = set()

    def remembered(self, thread_id: str | None, ids: Sequence[str], *, model: str | None) -> Remembered:
        """Tier 1; ``ids`` are the messages in the prompt."""
        if self._memory is None or thread_id is None:
            return NOTHING
        with _tolerated("the memory could not be read (%s): the prompt goes without a summary"):
            return self._read(self._memory, thread_id, ids, model)
        return NOTHING

    def _read(self, memory: Memory, thread_id: str, ids: Sequence[str], model: str | None) -> Remembered:
        chat_id = hashing.chat_id(SOURCE, thread_id)
        most = max(len(ids), 1)
        settings = memory.settings
        rows = memory.windows.parts.store.read_window(
            WindowQuery(
                session_id=chat_id,
                history_limit=most,
                recent_limit=most,
                fold_limit=settings.max_summaries_in_context,
                topic_limit=SHOWN_TOPICS,
                model=model,
            )
        )
        if rows is None:
            return NOTHING
        if rows.is_withheld:
            log.warning("the summary rests on a deleted message: it is not shown until it is made anew")
        known = frozenset(hashing.parse_message_key(one.key)[2] for one in rows.messages if not one.is_folded)
        covered = memory.threads.covered(chat_id, [one for one in ids if one not in known])
        return Remembered(
            running=rows.running,
            summaries=tuple(fold.text for fold in rows.folds),
            fold_ids=tuple(fold.id for fold in rows.folds),
            topics=rows.topics,
            folded=covered,
            calibration=rows.calibration,
            hypothetical_tokens=rows.token_count,
            is_whole=len(covered) >= rows.message_count - rows.messages_since_hwm,
        )

    def served(self, thread_id: str | None, window: Window, known: Remembered, *, full: int, model: str | None) -> None:
        """Record a prompt's tokens (T3); ``full``: of all given messages."""
        if self._memory is None or thread_id is None:
            return
        with _tolerated("what the prompt took could not be recorded: %s"):
            if thread_id not in self._ensured:
                self._memory.sessions.ensure(session_key(thread_id), policy="thread_size")
                self._ensured.add(thread_id)
            answer = WindowResult(
                receipt_id=uuid4(),
                session=session_key(thread_id),
                session_id=hashing.chat_id(SOURCE, thread_id),
                strategy="rolling",
                form="langchain",
                window=window,
                messages=[],
                hypothetical_tokens=max(full, known.hypothetical_tokens),
                left_out=window.left_out,
                summaries=known.fold_ids if window.has_summary else (),
            )
            self._memory.windows.records.put(served_of(answer, model))

    def told(self, thread_id: str | None, *, input_tokens: int, output_tokens: int, model: str | None) -> None:
        if self._memory is None or thread_id is None:
            return
        with _tolerated("what the model reported could not be recorded: %s"):
            self._memory.windows.record_usage(
                hashing.chat_id(SOURCE, thread_id), input_tokens=input_tokens, output_tokens=output_tokens, model=model
            )


@contextmanager
def _tolerated(words: str) -> Iterator[None]:
    """Logs errors instead of raising (L10)."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a prompt without memory is better than none
        log.warning(words, type(error).__name__)


def by_place(window: Window, ids: Sequence[str]) -> Window:
    """The window with message ids for indexes, as receipts need."""

    def named(key: str | None) -> str | None:
        return ids[int(key)] if key is not None and key.isdigit() and int(key) < len(ids) else key

    return replace(
        window,
        messages=(),
        tiers=tuple(replace(one, messages=tuple(named(key) or key for key in one.messages)) for one in window.tiers),
        left_out=tuple(replace(one, id=named(one.id)) if one.kind == "message" else one for one in window.left_out),
    )


def running_thread(config: Mapping[str, Any] | None = None) -> str | None:
    """The thread id of the run's configuration; None outside a run or without a saver."""
    if config is None:
        try:
            config = get_config()
        except RuntimeError:
            return None
    given = (config.get("configurable") or {}).get("thread_id")
    return None if given is None or str(given) == "" else str(given)


def session_key(thread_id: str) -> str:
    return hashing.chat_key(SOURCE, thread_id)
