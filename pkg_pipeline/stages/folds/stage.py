"""Folding live sessions (H, W): due ones are claimed, the longest due first, and worked off one by one.

Here: claims, leases, caps, load and reports. What is done in one session is ``fold_making``; when a session becomes due
is decided where messages are appended, by the same rules (``memory.triggers``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from pkg_pipeline.memory.session.records import SessionEvent
from pkg_pipeline.memory.session.triggers import Load
from pkg_pipeline.stages.folds.call import COMPRESS_TASK, TASK
from pkg_pipeline.stages.folds.making import MadeFolds, work_on
from pkg_pipeline.stages.folds.rows import FoldDeps, FoldMaking, FoldParams
from pkg_pipeline.stages.folds.stores import Spending
from pkg_pipeline.stages.llm.leased_work import claimed_at_once, workers
from pkg_pipeline.stages.llm.reports import AskedReport
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.llm.stores import BudgetStore
from pkg_pipeline.stages.sessions.stores import SessionUnknown
from pkg_pipeline.stages.summaries.stores import Lane

ASSET = "session_summaries"

BUSY_SESSIONS = 100
"""H6: more due sessions than this are a rising load."""

RISING_SHARE = 0.5
"""H6: from this share of the lane's cap on, its costs are rising."""

MOST_COUNTED = 10_000
"""Sessions that still wait are counted up to this many."""


@dataclass(frozen=True, slots=True)
class Account:
    """On whose account a run is: the lane, its budget, and what it has spent today."""

    budgets: BudgetStore
    lane: Lane
    spent_usd: Spending
    holder: str
    run_id: str | None = None


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


def fold_due(
    *,
    deps: FoldDeps,
    params: FoldParams,
    account: Account,
    limit: int | None = None,
    on_session: Callable[[MadeFolds], None] = lambda _: None,
) -> FoldReport:
    """Every due session, at most ``limit`` looks; ``on_session`` hears of each when done.

    A session is looked at again as long as that makes progress, so that what came meanwhile is seen and a clock that
    stands makes no circle. One session failing fails nobody else. Raises ``LlmMisconfigured`` when every further call
    would fail alike; what was published by then stays.
    """
    report = FoldReport()
    making = _making(deps, params, account)
    idle: list[UUID] = []
    with workers(deps.writes, lease_seconds=params.lease_seconds, concurrency=params.concurrency) as hands:
        while not making.run.is_stopped:
            room = claimed_at_once(params.concurrency) if limit is None else limit - report.sessions
            claimed = deps.writes.claim(
                now=deps.clock.now(),
                limit=min(room, claimed_at_once(params.concurrency)),
                besides=idle,
                holder=account.holder,
                lease_seconds=params.lease_seconds,
            )
            if not claimed:
                break
            for made in hands.work_off(claimed, lambda one: work_on(one, making=making), keeps_lease=lambda _: True):
                report.add(made)
                on_session(made)
                if not made.is_progress:
                    idle.append(made.session_id)
    _rest(deps, making.run)
    report.pending = deps.writes.due(deps.clock.now(), limit=MOST_COUNTED)
    return report


def fold_session(
    session_id: UUID, *, deps: FoldDeps, params: FoldParams, account: Account, trigger: SessionEvent | None = "manual"
) -> FoldReport:
    """One session at once (H7), due or not; without ``trigger`` as its policy says.

    Waits for nobody: while another worker has it, ``busy`` is 1, the reason says so, and it is looked at once more when
    that one is done.

    Raises ``SessionUnknown``, ``LlmMisconfigured``.
    """
    if deps.reads.view(session_id) is None:
        raise SessionUnknown(f"there is no session {session_id}")
    report = FoldReport()
    making = _making(deps, params, account)
    claimed = deps.writes.claim_one(
        session_id, event=trigger, now=deps.clock.now(), holder=account.holder, lease_seconds=params.lease_seconds
    )
    if claimed is None:
        report.busy = report.pending = 1
        report.add_reason("another worker is folding this session; it is looked at once more when that one is done")
        return report
    with workers(deps.writes, lease_seconds=params.lease_seconds, concurrency=1) as hands:
        for made in hands.work_off([claimed], lambda one: work_on(one, making=making), keeps_lease=lambda _: True):
            report.add(made)
    report.pending = int(report.failed + report.deferred > 0)
    return report


def _making(deps: FoldDeps, params: FoldParams, account: Account) -> FoldMaking:
    def run(task: str) -> Run:
        return Run(
            account.budgets,
            lane=account.lane,
            calls_cap=params.calls_cap,
            usd_cap=params.usd_cap,
            task=task,
            run_id=account.run_id,
            lease_seconds=params.lease_seconds,
        )

    return FoldMaking(deps, params, run(TASK), run(COMPRESS_TASK), load_of(deps, params, account))


def load_of(deps: FoldDeps, params: FoldParams, account: Account) -> Load:
    """H6: whether the lane's costs of today or the number of due sessions are rising, and what says so."""
    if deps.llm.is_paid and params.usd_cap > 0:
        spent = account.spent_usd()
        if spent > RISING_SHARE * params.usd_cap:
            return _rising(f"{spent:.2f} USD of the {account.lane} lane's {params.usd_cap:.2f} are spent today")
    due = deps.writes.due(deps.clock.now(), limit=BUSY_SESSIONS + 1)
    return _rising(f"more than {BUSY_SESSIONS} sessions are due") if due > BUSY_SESSIONS else Load()


def _rising(reason: str) -> Load:
    return Load(is_rising=True, reason=reason)


def _rest(deps: FoldDeps, run: Run) -> None:
    """What would be refused alike is not asked for at every tick."""
    if run.stop_reason is not None and run.rest_seconds > 0:
        deps.writes.rest(deps.clock.now(), seconds=run.rest_seconds, reason=run.stop_reason)
