"""Folding live sessions (H, W): due ones are claimed, the longest due first, and worked off one by one.

Here: claims, leases, caps, load and reports. What is done in one session is ``making``; when a session becomes due is
decided where messages are appended, by the same rules (``memory.session.triggers``).
"""

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
"""H6: more due sessions than this are a rising load."""

RISING_SHARE = 0.5
"""H6: from this share of the lane's cap on, its costs are rising."""

MOST_COUNTED = 10_000
"""Sessions that still wait are counted up to this many."""

LIVE = Billing("live")


@dataclass(slots=True, kw_only=True)
class FoldReport(AskedReport):
    """What a run over sessions did; numbers only, so that it can become metadata.

    ``sessions`` were looked at, which made ``folds`` and ``refolds`` over ``messages``. ``failed`` attempts of this run
    are tried again; ``pending`` sessions are due still. ``busy``: another worker has the session that was asked for.
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
    """``spent_usd`` tells what a lane has spent today, open reservations included."""

    deps: FoldDeps
    access: LlmAccess
    spent_usd: Callable[[Lane], float]

    def due(self, *, limit: int) -> int:
        """How many sessions could be worked on now, counted up to ``limit``; no model is loaded for it."""
        return self.deps.writes.due(self.deps.clock.now(), limit=limit)

    def unfolded(self, *, limit: int) -> int:
        """How many sessions ``ask_all`` would ask for, counted up to ``limit``."""
        rules = self.deps.rules
        if not rules.summaries_enabled:
            return 0
        return self.deps.writes.unfolded(least_messages=rules.min_messages, limit=limit)

    def ask_all(self) -> int:
        """H7, ``scheduled``: sessions with as many unfolded messages as the minimum are due now; how many."""
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
        """Every due session, at most ``limit`` looks; ``on_session`` hears of each when done.

        A session is looked at again as long as that makes progress, so that what came meanwhile is seen and a clock
        that stands makes no circle. One session failing fails nobody else. Raises ``LlmMisconfigured`` when every
        further call would fail alike; what was published by then stays.
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
            # what would be refused alike is not asked for at every tick
            writes.rest(clock.now(), seconds=run.rest_seconds, reason=run.stop_reason)
        report.pending = writes.due(clock.now(), limit=MOST_COUNTED)
        return report

    def fold_session(self, session_id: UUID, *, trigger: SessionEvent | None = "manual") -> FoldReport:
        """One session at once (H7), due or not, on the live lane; without ``trigger`` as its policy says.

        Waits for nobody: while another worker has it, ``busy`` is 1, the reason says so, and it is looked at once more
        when that one is done. Raises ``SessionUnknown``, ``LlmMisconfigured``.
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
        """H6: whether the lane's costs of today or the number of due sessions are rising, and what says so."""
        cap = self.access.caps(TASK, lane).usd
        if self.access.llm().is_paid and cap > 0 and (spent := self.spent_usd(lane)) > RISING_SHARE * cap:
            return Load(is_rising=True, reason=f"{spent:.2f} USD of the {lane} lane's {cap:.2f} are spent today")
        if self.due(limit=BUSY_SESSIONS + 1) > BUSY_SESSIONS:
            return Load(is_rising=True, reason=f"more than {BUSY_SESSIONS} sessions are due")
        return Load()
