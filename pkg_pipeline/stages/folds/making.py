"""One claimed session: refolds what is dirty, asks the policy, folds in steps (H, W).

Each step is read, made, and published with the HWM in one transaction; none is open during a model call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from pkg_pipeline.memory.message import turns
from pkg_pipeline.memory.session import folding, triggers
from pkg_pipeline.memory.session.policies import drift
from pkg_pipeline.memory.session.records import FoldDecision, FoldTrigger, SessionMessage, SessionState
from pkg_pipeline.stages.folds.rows import FoldMaker, FoldMaking, Stretch, is_unchanged, pairs
from pkg_pipeline.stages.folds.stores import ClaimedSession, DirtyFold, Due, Ending, FoldRow, Look, SessionView
from pkg_pipeline.stages.llm.answer_validation import attempt
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.ports import EmbedderError

DRIFT_MESSAGES = 64
"""Newest messages since the HWM compared for drift."""

TAIL_MESSAGES = 200
"""Read from the end to find the last complete turn; more if needed."""

MOST_DOUBLINGS = 16
MOST_REST_SECONDS = 3_600.0
"""Limit of the pause after repeated failures."""

KEPT_EVENTS = ("handoff", "tool_done")
"""They wait for the end of the turn; manual and scheduled ones fold what is complete."""


class Lost(Exception):
    """The lease was lost to another worker."""


@dataclass(slots=True, kw_only=True)
class MadeFolds(Effort):
    """The result for one session. ``is_failed`` counts as an attempt. ``warnings`` hold no conversation text."""

    session_id: UUID
    folds: int = 0
    refolds: int = 0
    messages: int = 0
    is_deferred: bool = False
    is_failed: bool = False
    warnings: list[str] = field(default_factory=list[str])

    @property
    def is_progress(self) -> bool:
        """Something was published: look again."""
        return self.folds + self.refolds > 0


def work_on(claimed: ClaimedSession, *, making: FoldMaking) -> MadeFolds:
    """All work on one session; writes release its lease, else the caller does. Raises only ``LlmMisconfigured``."""
    made = MadeFolds(session_id=claimed.session_id)
    session = _Session(claimed, making, made)

    def make() -> None:
        try:
            session.work_off()
        except Lost:
            made.reason = "another worker had taken it over"

    def fail(failure: Failure) -> None:
        made.is_failed, made.is_deferred = failure.counts, not failure.counts
        wait = failure.retry_after_seconds
        rest = min(wait, MOST_REST_SECONDS) if failure.counts else wait
        making.deps.writes.fail(claimed, Failure(failure.error, rest, failure.counts))

    run, backoff_seconds = making.asking.run, making.backoff_seconds
    attempt(make, run=run, effort=made, past=session, backoff_seconds=backoff_seconds, fail=fail)
    made.warnings += session.maker.notes
    return made


class _Session:
    def __init__(self, claimed: ClaimedSession, making: FoldMaking, made: MadeFolds) -> None:
        self._claimed, self._making, self._made = claimed, making, made
        self._reads, self._writes = making.deps.reads, making.deps.writes
        self._rules = making.deps.rules
        self._has_embedder = making.deps.embedder is not None
        self._id = claimed.session_id
        self.maker = FoldMaker(claimed.session_id, making, made)

    @property
    def attempts(self) -> int:
        """Failed attempts in a row, as stored now."""
        view = self._reads.view(self._id)
        return min(view.attempts, MOST_DOUBLINGS) if view else 0

    @property
    def deferrals(self) -> int:
        return 0

    def work_off(self) -> None:
        """Raises ``Lost``, or one of ``NOTHING_PASSED``."""
        view = self._reads.view(self._id)
        if view is None:
            return
        if self._rules.summaries_enabled:
            while (dirty := self._reads.next_dirty(self._id)) is not None:
                self._fold_anew(view, dirty)
                view = self._reads.view(self._id) or view
        state = view.state
        if state.folding_to_id is not None and state.folding_trigger is not None and self._rules.summaries_enabled:
            self._fold(view, state.folding_to_id, state.folding_trigger)
        else:
            self._ask(view)

    def _ask(self, view: SessionView) -> None:
        state = view.state
        decision, is_of_drift = self._decide(view)
        self._made.reason = decision.reason
        if not decision.is_fold or decision.trigger is None:
            due = _unless_new(state, decision.due_at, self._due(view))
            self._leave(view, due, is_of_drift=is_of_drift, keeps_event=False)
            return
        to_id = self._last_foldable(state, decision)
        if to_id is None:
            self._made.reason += "; but no turn is complete yet"
            due = _unless_new(state, None, self._due(view))
            self._leave(view, due, is_of_drift=is_of_drift, keeps_event=True)
            return
        self._check(self._writes.begin(self._claimed, to_id=to_id, trigger=decision.trigger, event=state.event))
        self._fold(view, to_id, decision.trigger)

    # ── whether, and up to where ──────────────────────────────────────────────────────────────────

    def _decide(self, view: SessionView) -> tuple[FoldDecision, bool]:
        """(the policy's decision, whether topic drift was computed)."""

        def asked(distance: float | None) -> FoldDecision:
            return triggers.decide(
                view.state,
                self._rules,
                now=self._now,
                drift=distance,
                has_embedder=self._has_embedder,
                load=self._making.load,
                source=view.chat_source,
            )

        decision = asked(None)
        return (asked(self._drift(view.state)), True) if decision.needs_drift else (decision, False)

    def _drift(self, state: SessionState) -> float:
        """H4; an embedder failure is a warning, not a fold (L10)."""
        messages = self._reads.tail(self._id, after_id=state.hwm_message_id, limit=DRIFT_MESSAGES)
        texts = [message.text for message in messages if message.text and not folding.is_noise(message)]
        try:
            make = self._making.deps.embedder
            return 0.0 if make is None or not texts else drift(make().embed(texts))
        except EmbedderError as error:
            self._made.warnings.append(f"no drift of topics, it is taken as 0: {error}")
            return 0.0

    def _last_foldable(self, state: SessionState, decision: FoldDecision) -> int | None:
        """The last message that may be folded; None if none."""
        limit = decision.keep_tail + TAIL_MESSAGES
        while True:
            tail = self._reads.tail(self._id, after_id=state.hwm_message_id, limit=limit)
            end = turns.cutoff(tail, keep_tail=decision.keep_tail)
            if end > 0:
                return tail[end - 1].id
            if len(tail) < limit:
                return None
            limit *= 4

    # ── step by step ──────────────────────────────────────────────────────────────────────────────

    def _fold(self, view: SessionView, to_id: int, trigger: FoldTrigger) -> None:
        """Fold from the HWM to ``to_id`` in independent steps."""
        hwm, running = view.state.hwm_message_id, view.running
        is_last = False
        while not is_last:
            messages, is_last = self._step(hwm, to_id)
            if not messages:
                self._leave(view, self._due(view), is_of_drift=False, keeps_event=True)
                return
            row = self.maker.row(view, Stretch(messages, hwm, messages[-1].id, trigger))
            running = self.maker.with_fold(running, row)
            ending = Ending(self._now, self._due(view)) if is_last else None
            published = self._writes.publish(row, claimed=self._claimed, running=running, now=self._now, ending=ending)
            self._check(published)
            self._count(row)
            self._made.folds += 1
            hwm = row.to_id

    def _step(self, hwm: int, to_id: int) -> tuple[list[SessionMessage], bool]:
        """(messages of the next step, whether nothing is left); pages grow until a step ends in them."""
        params = self._making.deps
        limit = 2 * params.step_messages
        while True:
            page = self._reads.page(self._id, after_id=hwm, to_id=to_id, limit=limit)
            ends = folding.steps(page, most_messages=params.step_messages, most_tokens=params.step_tokens)
            is_whole = len(page) < limit
            if len(ends) > 1 or is_whole:
                return page[: ends[0]] if ends else [], len(ends) <= 1
            limit *= 2

    # ── what is dirty ─────────────────────────────────────────────────────────────────────────────

    def _fold_anew(self, view: SessionView, dirty: DirtyFold) -> None:
        """H15: refold the same range from its current messages, maybe none; the last of several rebuilds the running
        summary.
        """
        messages = self._whole_range(dirty)
        is_last = view.state.dirty_folds <= 1
        if is_unchanged(messages, dirty):
            running = self.maker.rebuilt(view, None) if is_last else None
            kept = self._writes.confirm(dirty, messages=pairs(messages), claimed=self._claimed, running=running)
            self._check(kept)
        else:
            row = self.maker.row(view, Stretch(messages, dirty.after_id, dirty.to_id, dirty.trigger, dirty))
            running = self.maker.rebuilt(view, row) if is_last else None
            self._check(self._writes.replace(row, claimed=self._claimed, running=running))
            self._count(row)
        self._made.refolds += 1

    def _whole_range(self, fold: DirtyFold) -> list[SessionMessage]:
        limit, after_id = 4 * self._making.deps.step_messages, fold.after_id
        found: list[SessionMessage] = []
        while True:
            page = self._reads.page(self._id, after_id=after_id, to_id=fold.to_id, limit=limit)
            found += page
            if len(page) < limit:
                return found
            after_id = page[-1].id

    # ── endings ───────────────────────────────────────────────────────────────────────────────────

    @property
    def _now(self) -> datetime:
        return self._making.deps.clock.now()

    def _due(self, view: SessionView) -> Due:
        """When to look again, from the state to be stored; now if something is dirty."""
        rules, now, has_embedder = self._rules, self._now, self._has_embedder

        def due(state: SessionState) -> datetime | None:
            if state.dirty_folds > 0 and rules.summaries_enabled:
                return now
            return triggers.due_at(state, rules, now=now, has_embedder=has_embedder, source=view.chat_source)

        return due

    def _leave(self, view: SessionView, due: Due, *, is_of_drift: bool, keeps_event: bool) -> None:
        event = view.state.event
        answered = None if keeps_event and event in KEPT_EVENTS else event
        look = Look(event=answered, is_of_drift=is_of_drift)
        self._check(self._writes.leave(self._claimed, look, ending=Ending(self._now, due)))

    def _check(self, is_ours: bool) -> None:
        if not is_ours:
            raise Lost

    def _count(self, row: FoldRow) -> None:
        self._made.messages += len(row.messages)
        self._made.source_tokens += row.source_tokens
        self._made.summary_tokens += row.summary_tokens


def _unless_new(seen: SessionState, due_at: datetime | None, due: Due) -> Due:
    """``due_at`` if the state is still ``seen``, else what the policy says."""

    def at(state: SessionState) -> datetime | None:
        is_same = (
            state.last_message_id == seen.last_message_id
            and state.messages_since_hwm == seen.messages_since_hwm
            and state.tokens_since_hwm == seen.tokens_since_hwm
            and state.event in (None, seen.event)
            and state.dirty_folds == 0
        )
        return due_at if is_same else due(state)

    return at
