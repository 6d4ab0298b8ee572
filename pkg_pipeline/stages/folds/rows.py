"""Makes the row of a fold and the running summary with it (H13, H15, L3); asks the model, writes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import Language, Quarantined
from pkg_pipeline.memory.session import folding, running_summary
from pkg_pipeline.memory.session.records import FoldContent, FoldInput, FoldTrigger, SessionMessage
from pkg_pipeline.memory.session.triggers import FoldRules, Load
from pkg_pipeline.prompts import session_fold as prompt
from pkg_pipeline.stages.folds.call import Compress, compressor, make_fold
from pkg_pipeline.stages.folds.input import fold_input
from pkg_pipeline.stages.folds.stores import DirtyFold, FoldRow, Running, SessionView
from pkg_pipeline.stages.llm.ask import Asking
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.ports import Clock, Embedder

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.sessions.fold_reads import PostgresFoldReads
    from pkg_pipeline.adapters.postgres.sessions.folds import PostgresFoldStore

EARLIER_SUMMARIES = 3
"""H13: last summaries shown before the messages."""

RETOLD_FOLDS = 20
"""A rebuilt running summary asks the model about this many last folds; older ones are shortened by rule."""

UNMADE = "none"
"""Prompt and model of a fold of noise only."""

NOTHING = FoldContent("", (), (), (), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldDeps:
    """Ports, thresholds and sizes of steps and running summary (L3). ``embedder`` loads on call; None without one."""

    reads: PostgresFoldReads
    writes: PostgresFoldStore
    clock: Clock
    embedder: Callable[[], Embedder] | None
    rules: FoldRules
    step_messages: int
    step_tokens: int
    max_summary_tokens: int
    timezone: str


@dataclass(frozen=True, slots=True)
class FoldMaking:
    """What one run works with: model, account, load (H6)."""

    deps: FoldDeps
    asking: Asking
    shortening: Asking
    load: Load
    backoff_seconds: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one fold covers: ``messages`` of (``after_id``, ``to_id``]; ``parent`` is the fold it replaces."""

    messages: Sequence[SessionMessage]
    after_id: int
    to_id: int
    trigger: FoldTrigger
    parent: DirtyFold | None = None


class FoldMaker:
    def __init__(self, session_id: UUID, making: FoldMaking, effort: Effort) -> None:
        self._id, self._making, self._effort = session_id, making, effort
        self._deps, self._counter, self._llm = making.deps, making.asking.counter, making.asking.llm
        self.notes: list[str] = []

    def row(self, view: SessionView, stretch: Stretch) -> FoldRow:
        """The fold; no call for noise only or unchanged content (H8, H12). Raises one of ``NOTHING_PASSED``."""
        began, spent = time.perf_counter(), self._effort.cost_usd
        source = self._input(view, stretch)
        is_asked = bool(source.messages) and not self._is_known(stretch, source)
        content, dropped = self._content(source) if is_asked else (NOTHING, ())
        model = self._llm.model if is_asked else UNMADE
        parent, messages = stretch.parent, stretch.messages
        parent_id = None if parent is None else parent.id
        live = [message for message in messages if message.kind == "message"]
        shown = {message.external_id for message in source.messages} if is_asked else set[str]()
        return FoldRow(
            id=hashing.fold_id(self._id, stretch.to_id, source.input_hash, model=model, parent_id=parent_id),
            session_id=self._id,
            parent=parent,
            after_id=stretch.after_id,
            to_id=stretch.to_id,
            to_at=_said_at(live or messages, parent),
            trigger=stretch.trigger,
            input_hash=source.input_hash,
            prompt_version=prompt.VERSION if is_asked else UNMADE,
            model=model,
            language=source.language,
            content=content,
            names={person.entity_id: person.name for person in source.participants},
            messages=pairs(messages),
            noise_ids=tuple(message.id for message in messages if message.external_id not in shown),
            message_count=len(live),
            source_tokens=sum(message.token_count for message in live),
            summary_tokens=self._counter.count(content.summary),
            quarantined=dropped,
            cost_usd=self._effort.cost_usd - spent,
            seconds=time.perf_counter() - began,
        )

    def with_fold(self, running: Running, row: FoldRow) -> Running:
        """L3: the running summary with the new fold appended."""
        if not row.content.summary:
            return Running(running.text, running.tokens, row.id)
        told = running_summary.append(
            running.text,
            row.content.summary,
            limit_tokens=self._deps.max_summary_tokens,
            count=self._counter.count,
            compress=self._compressor(row.language),
        )
        return self._told(told, row.id)

    def rebuilt(self, view: SessionView, row: FoldRow | None) -> Running:
        """The running summary rebuilt from all folds, with ``row`` in place of its parent."""
        said = dict(self._deps.reads.summaries(self._id))
        if row is not None:
            said[row.to_id] = row.content.summary
        summaries = [text for _, text in sorted(said.items()) if text]
        limit, count = self._deps.max_summary_tokens, self._counter.count
        old = running_summary.rebuild(
            summaries[:-RETOLD_FOLDS], limit_tokens=limit, count=count, compress=lambda _text, _tokens: None
        )
        told = running_summary.rebuild(
            [old.text, *summaries[-RETOLD_FOLDS:]],
            limit_tokens=limit,
            count=count,
            compress=self._compressor("en" if row is None else row.language),
        )
        return self._told(told, view.running.fold_id)

    def _input(self, view: SessionView, stretch: Stretch) -> FoldInput:
        return fold_input(
            self._id,
            hashing.chat_key(view.chat_source, view.chat_external_id),
            stretch.messages,
            earlier=self._deps.reads.earlier(self._id, before_id=stretch.after_id + 1, limit=EARLIER_SUMMARIES),
            timezone=self._deps.timezone,
        )

    def _is_known(self, stretch: Stretch, source: FoldInput) -> bool:
        is_new = stretch.parent is None
        return is_new and self._deps.reads.is_folded(self._id, to_id=stretch.to_id, input_hash=source.input_hash)

    def _content(self, source: FoldInput) -> tuple[FoldContent, tuple[Quarantined, ...]]:
        return make_fold(source, asking=self._making.asking, tally=self._effort)

    def _compressor(self, language: Language) -> Compress:
        return compressor(self._id, language, asking=self._making.shortening, tally=self._effort)

    def _told(self, told: running_summary.RunningSummary, fold_id: UUID | None) -> Running:
        if told.reason is not None:
            self.notes.append(f"running summary: {told.reason}")
        return Running(told.text, self._counter.count(told.text), fold_id)


def pairs(messages: Sequence[SessionMessage]) -> tuple[tuple[int, str], ...]:
    """(id, content hash) as read."""
    return tuple((message.id, message.content_hash) for message in messages)


def is_unchanged(messages: Sequence[SessionMessage], fold: DirtyFold) -> bool:
    """Whether a dirty fold was made from exactly these messages (H8)."""
    return not fold.rests_on_deleted and folding.window_hash(messages) == fold.input_hash


def _said_at(messages: Sequence[SessionMessage], parent: DirtyFold | None) -> datetime:
    """Time of the last message; the parent's if none is left."""
    if messages:
        return messages[-1].sent_at
    assert parent is not None, "a step has a message"
    return parent.to_at
