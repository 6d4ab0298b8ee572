"""Folds due live sessions, longest due first (H, W): claims, caps, load and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from pkg_pipeline.memory.session.records import SessionEvent
from pkg_pipeline.memory.session.triggers import Load
from pkg_pipeline.stages.folds.call import COMPRESS_TASK, TASK
from pkg_pipeline.stages.folds.making import MadeFolds, work_on
from pkg_pipeline.stages.folds.rows import FoldDeps, FoldMaking
from pkg_pipeline.stages.folds.stores import ClaimedSession
from pkg_pipeline.stages.llm.ask import LlmAccess
from pkg_pipeline.stages.llm.leased_work import workers
from pkg_pipeline.stages.llm.reports import AskedReport
from pkg_pipeline.stages.ports import Billing, Lane
from pkg_pipeline.stages.sessions.records import SessionUnknown

ASSET = "session_summaries"

BUSY_SESSIONS = 100
"""H6: more due sessions are rising load."""

RISING_SHARE = 0.5
"""H6: share of the lane's cap from which costs are rising."""

MOST_COUNTED = 10_000
"""Limit of the count of waiting sessions."""

LIVE = Billing("live")


@dataclass(slots=True, kw_only=True)
class FoldReport(AskedReport):
    """The result of a run; numbers for metadata.

    ``failed`` attempts are retried; ``pending`` sessions are still due; ``busy``: another worker holds the requested
    session.
    """

    sessions: int = 0
    folds: int = 0
    refolds: int = 0
    messages: int = 0
    busy: int = 0
    warnings: list[str] = field(default_factory=list[str])

    def add(self, made: MadeFolds) -> None:
        self.add_effort(made)
        self.add_text(made)
        self.sessions += 1
        self.folds += made.folds
        self.refolds += made.refolds
        self.messages += made.messages
        self.failed += made.is_failed
        self.quarantined += made.is_failed
        self.deferred += made.is_deferred
        self.warnings += [warning for warning in made.warnings if warning not in self.warnings]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """``spent_usd``: a lane's spending today, open reservations included."""

    deps: FoldDeps
    access: LlmAccess
    spent_usd: Callable[[Lane], float]

    def due(self, *, limit: int) -> int:
        """Number of sessions that can be processed now, up to ``limit``; loads no model."""
        return self.deps.writes.due(self.deps.clock.now(), limit=limit)

    def unfolded(self, *, limit: int) -> int:
        """Number of sessions ``ask_all`` would request, up to ``limit``."""
        rules = self.deps.rules
        if not rules.summaries_enabled:
            return 0
        return self.deps.writes.unfolded(least_messages=rules.min_messages, limit=limit)

    def ask_all(self) -> int:
        """H7, ``scheduled``: make sessions with the minimum of unfolded messages due; returns how many."""
        rules = self.deps.rules
        if not rules.summaries_enabled:
            return 0
        return self.deps.writes.ask_all(self.deps.clock.now(), least_messages=rules.min_messages)

    def fold_due(
        self,
        billing: Billing = LIVE,
        *,
        limit: int | None = None,
        on_session: Callable[[MadeFolds], None] = lambda _: None,
    ) -> FoldReport:
        """Fold every due session, at most ``limit`` looks; ``on_session`` gets each result.

        A session is looked at again while that makes progress. A failed one fails no other. Raises
        ``LlmMisconfigured``; published folds stay.
        """
        report, idle = FoldReport(), list[UUID]()
        making, work, writes, clock = self._making(billing), self.access.work, self.deps.writes, self.deps.clock
        run = making.asking.run

        def claim() -> Sequence[ClaimedSession]:
            if run.is_stopped:
                return ()
            room = work.claimed_at_once if limit is None else min(limit - report.sessions, work.claimed_at_once)
            return writes.claim(
                now=clock.now(), limit=room, besides=idle, holder=work.holder, lease_seconds=work.lease_seconds
            )

        with workers(writes, work) as hands:
            for _, made in hands.all(claim, lambda one: work_on(one, making=making)):
                report.add(made)
                on_session(made)
                if not made.is_progress:
                    idle.append(made.session_id)
        if run.stop_reason is not None and run.rest_seconds > 0:
            # not repeated at every tick while refused
            writes.rest(clock.now(), seconds=run.rest_seconds, reason=run.stop_reason)
        report.pending = writes.due(clock.now(), limit=MOST_COUNTED)
        return report

    def fold_session(self, session_id: UUID, *, trigger: SessionEvent | None = "manual") -> FoldReport:
        """Fold one session now on the live lane (H7), due or not; without ``trigger`` by its policy. Raises
        ``SessionUnknown``, ``LlmMisconfigured``.

        Does not wait: if another worker holds it, ``busy`` is 1 with a reason, and that worker's end makes it due
        again.
        """
        deps, work = self.deps, self.access.work
        if deps.reads.view(session_id) is None:
            raise SessionUnknown(f"there is no session {session_id}")
        report, making = FoldReport(), self._making(LIVE)
        claimed = deps.writes.claim_one(
            session_id, event=trigger, now=deps.clock.now(), holder=work.holder, lease_seconds=work.lease_seconds
        )
        if claimed is None:
            report.busy = report.pending = 1
            report.add_reason("another worker is folding this session; it is looked at once more when that one is done")
            return report
        with workers(deps.writes, work) as hands:
            for made in hands.batch([claimed], lambda one: work_on(one, making=making)):
                report.add(made)
        report.pending = int(report.failed + report.deferred > 0)
        return report

    def _making(self, billing: Billing) -> FoldMaking:
        asking, shortening = (self.access.asking(task, billing) for task in (TASK, COMPRESS_TASK))
        return FoldMaking(self.deps, asking, shortening, self.load(billing.lane), self.access.work.backoff_seconds)

    def load(self, lane: Lane) -> Load:
        """H6: whether costs or number of due sessions are rising, and why."""
        cap = self.access.caps(TASK, lane).usd
        if self.access.llm().is_paid and cap > 0 and (spent := self.spent_usd(lane)) > RISING_SHARE * cap:
            return Load(is_rising=True, reason=f"{spent:.2f} USD of the {lane} lane's {cap:.2f} are spent today")
        if self.due(limit=BUSY_SESSIONS + 1) > BUSY_SESSIONS:
            return Load(is_rising=True, reason=f"more than {BUSY_SESSIONS} sessions are due")
        return Load()
