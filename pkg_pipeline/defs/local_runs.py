"""Runs in this process, by the jobs and the instance that the UI shows: what is due now, or a range of partitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast
from uuid import UUID, uuid4

import dagster as dg

from pkg_pipeline.adapters.interruption import INTERRUPTION
from pkg_pipeline.defs.automation import orphans
from pkg_pipeline.defs.automation.due import due_partitions, has_work, is_resting, open_backfills
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.hops import GRAIN_OF, HOP, MARTS
from pkg_pipeline.defs.keys import batches
from pkg_pipeline.defs.lanes import LANE_TAG, STALE_TAG, range_tags, wants_only_due
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.defs.resources import RESOURCE
from pkg_pipeline.defs.run_origin import say_origin
from pkg_pipeline.stages.ports import Lane

DONE, FAILED, BLOCKED = "done", "failed", "blocked"
"""Outcome of a row: attempted; stopped by an error; attempted, but a check then blocks publication."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One attempted partition, or one run of an asset without partitions; the shape of ``run --json``."""

    asset: str
    partition: str | None
    status: str
    rows: int
    seconds: float
    run_id: str
    pending: int = 0
    failed: int = 0
    cost_usd: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A failing asset check; ``severity`` is WARN or ERROR. Reason and numbers hold ids, days and counts only."""

    asset: str
    check: str
    severity: str
    is_blocking: bool
    reason: str
    numbers: dict[str, int | float | str]
    run_id: str


class LocalRuns:
    """Executes jobs one after the other over one opened memory."""

    def __init__(
        self,
        memory: PipelineMemory,
        instance: dg.DagsterInstance,
        *,
        log_level: str = "CRITICAL",
        on_part: Callable[[str, int, int], object] = lambda *_: None,
        lane: Lane = "backfill",
    ) -> None:
        """``on_part`` gets the asset, how many of its partitions are done, and how many there are. ``lane``: whose
        budget they use (P12); a backfill always its own.
        """
        self._memory = memory
        self._instance = instance
        self._log_level = log_level
        self._on_part = on_part
        self._lane: Lane = lane
        self._part: tuple[str, int, int] = "", 0, 0
        self._made: tuple[date, dg.Definitions] | None = None
        self._checks: dict[tuple[str, str], CheckRow | None] = {}
        say_origin(instance)
        orphans.settle(instance, code_server_is_gone=False)

    def _definitions(self) -> dg.Definitions:
        """Built again when an import of these runs brought earlier days."""
        start = self._memory.partitions_start
        if self._made is None or start < self._made[0]:
            held = {RESOURCE: dg.ResourceDefinition.hardcoded_resource(self._memory)}
            settings = self._memory.settings
            self._made = start, build_definitions(start=start, settings=settings, resource_overrides=held, marts=False)
        return self._made[1]

    def begin(self, asset: str, total: int) -> None:
        """Announces ``total`` partitions of ``asset`` to ``on_part``."""
        self._tell(asset, 0, total)

    def _tell(self, asset: str, done: int, total: int) -> None:
        self._part = asset, done, total
        self._on_part(asset, done, total)

    def asset(self, name: str, *, stale: bool = False, more: Mapping[str, str] | None = None) -> list[RunRow]:
        """``stale``: also what another prompt, model or schema made. ``more``: further tags."""
        self.begin(name, 1)
        tags = {LANE_TAG: self._lane, **({STALE_TAG: "true"} if stale else {}), **(more or {})}
        return self._execute(name, tags, expected=[None])

    def partitions(
        self, name: str, keys: Sequence[str], *, only_due: bool, backfill_id: UUID | None = None
    ) -> list[RunRow]:
        """One run over the range from first to last key."""
        lane = self._lane if backfill_id is None else "backfill"
        tags = range_tags(keys[0], keys[-1], lane=lane, only_due=only_due, backfill_id=backfill_id)
        return self._execute(name, tags, expected=list(keys))

    @property
    def failing_checks(self) -> list[CheckRow]:
        """Checks whose newest result in these runs failed."""
        return [row for row in self._checks.values() if row is not None]

    def _execute(self, asset: str, tags: dict[str, str], *, expected: Sequence[str | None]) -> list[RunRow]:
        job = self._definitions().resolve_job_def(HOP[asset].job)
        run_id, before = str(uuid4()), self._part[1]
        self._instance.add_event_listener(run_id, self._heard)
        started = time.perf_counter()
        result = job.execute_in_process(
            run_id=run_id,
            instance=self._instance,
            raise_on_error=False,
            tags={**tags, orphans.PROCESS_TAG: orphans.process_tag()},
            run_config={"loggers": {"console": {"config": {"log_level": self._log_level}}}},
        )
        INTERRUPTION.check()
        seconds = time.perf_counter() - started
        self._tell(asset, max(self._part[1], before + len(expected)), self._part[2])
        rows = list(self._rows(asset, result.run_id))
        if asset == MARTS.asset and result.success:  # one build of all models emits their materialisations
            rows = [RunRow(MARTS.asset, None, DONE, sum(1 for _ in self._made_in(run_id)), round(seconds, 3), run_id)]
        stopped = self._note_checks(result.run_id)
        if (result.success or stopped is not None) and not wants_only_due(tags):
            # a requested partition without work keeps its mark and its last numbers
            done = {row.partition for row in rows}
            rows += [RunRow(asset, key, DONE, 0, 0.0, run_id) for key in expected if key not in done]
            rows.sort(key=lambda row: row.partition or "")
        if stopped is not None:
            rows.append(RunRow(asset, None, BLOCKED, 0, 0.0, result.run_id, error=stopped))
        elif not result.success:
            done = {row.partition for row in rows}
            left = [key for key in expected if key not in done]
            rows.append(
                RunRow(
                    asset, _span(left), FAILED, 0, round(seconds, 3), result.run_id, error=self._error(result.run_id)
                )
            )
        return rows

    def _heard(self, entry: dg.EventLogEntry) -> None:
        asset, done, total = self._part
        event = entry.dagster_event
        if event is not None and event.is_step_materialization and event.asset_key == dg.AssetKey(asset):
            self._tell(asset, done + 1, total)

    def _made_in(self, run_id: str) -> Iterator[dg.DagsterEvent]:
        for entry in self._instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
            if entry.dagster_event is not None:
                yield entry.dagster_event

    def _rows(self, asset: str, run_id: str) -> Iterator[RunRow]:
        for event in self._made_in(run_id):
            if event.asset_key != dg.AssetKey(asset):
                continue
            given = event.step_materialization_data.materialization.metadata
            numbers = {key: cast(Any, value.value) for key, value in given.items()}
            yield RunRow(
                asset,
                event.partition,
                DONE,
                _integer(numbers.get("rows")),
                round(float(numbers.get("seconds") or 0), 3),
                run_id,
                pending=_integer(numbers.get("pending")),
                failed=_integer(numbers.get("failed")),
                cost_usd=float(numbers.get("cost_usd") or 0),
            )

    def _note_checks(self, run_id: str) -> str | None:
        """Keeps the run's newest check results; returns what blocks publication, if anything."""
        stopped: str | None = None
        for entry in self._instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
            assert entry.dagster_event is not None
            found = entry.dagster_event.asset_check_evaluation_data
            row = None if found.passed else _check_row(found, run_id)
            self._checks[found.asset_key.to_user_string(), found.check_name] = row
            if row is not None and row.is_blocking and row.severity == "ERROR":
                stopped = f"the check {row.check} fails: {row.reason}; nothing is made out of it until it passes"
        return stopped

    def _error(self, run_id: str) -> str:
        """The innermost message of the failure, in one line."""
        kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
        for entry in self._instance.all_logs(run_id, of_type=kinds):
            event = entry.dagster_event
            error = getattr(event.event_specific_data, "error", None) if event is not None else None
            failure = getattr(event.event_specific_data, "user_failure_data", None) if event is not None else None
            if failure is not None and failure.description:
                return str(failure.description)
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return " ".join(str(error.message).split())
        return "the run failed"


OnRow = Callable[[RunRow], None]


def run_due(
    runs: LocalRuns,
    memory: PipelineMemory,
    assets: Iterable[str],
    on_row: OnRow,
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Works off what is due in the order of ``assets``, including what earlier ones make due. ``is_over``: whether
    nothing more is begun.
    """
    changed = 0

    def heard(row: RunRow) -> None:
        nonlocal changed
        changed += row.rows
        on_row(row)

    for asset in assets:
        if is_over():
            return
        # interactions too young for a summary are in the marts too
        if not has_work(memory, asset) and not (asset == MARTS.asset and changed and memory.settings.marts):
            continue
        if asset not in GRAIN_OF:
            _tell(heard, runs.asset(asset))
            continue
        keys = [one.key for one in due_partitions(memory, asset)]
        runs.begin(asset, len(keys))
        for batch in batches(keys, key=str, grain=GRAIN_OF[asset]):
            if is_over() or not _tell(heard, runs.partitions(asset, batch, only_due=True)):
                return  # what stopped one run would stop the next
        if asset == "interaction_summaries":
            run_backfills(runs, memory, heard)


def run_partitions(runs: LocalRuns, asset: str, keys: Sequence[str], on_row: OnRow) -> None:
    """Every partition of ``keys``, due or not."""
    runs.begin(asset, len(keys))
    for batch in batches(keys, key=str, grain=GRAIN_OF[asset]):
        if not _tell(on_row, runs.partitions(asset, batch, only_due=False)):
            return


def run_backfill(runs: LocalRuns, memory: PipelineMemory, backfill_id: UUID, on_row: OnRow) -> None:
    """What batches brought, then what a backfill has left and can do now (P31), until a cap or the service stops it."""
    memory.collect_batches(None)
    memory.backfills.settle(backfill_id)
    days = memory.backfills.ready_days(backfill_id)
    runs.begin("interaction_summaries", len(days))
    for batch in batches(days, key=str):
        rows = runs.partitions("interaction_summaries", batch, only_due=False, backfill_id=backfill_id)
        if not _tell(on_row, rows) or is_resting(memory, backfill_id):
            return
    memory.backfills.settle(backfill_id)


def run_backfills(runs: LocalRuns, memory: PipelineMemory, on_row: OnRow) -> None:
    """Every open backfill that does not rest, oldest request first."""
    for backfill_id in open_backfills(memory):
        run_backfill(runs, memory, backfill_id, on_row)


def _tell(on_row: OnRow, rows: Sequence[RunRow]) -> bool:
    for row in rows:
        on_row(row)
    return all(row.status != FAILED for row in rows)  # a failing check stops later hops, not other backfills


def _check_row(found: dg.AssetCheckEvaluation, run_id: str) -> CheckRow:
    numbers: dict[str, Any] = {key: value.value for key, value in found.metadata.items()}
    return CheckRow(
        found.asset_key.to_user_string(),
        found.check_name,
        found.severity.value,
        found.blocking is True,
        found.description or ", ".join(f"{name} {value}" for name, value in numbers.items()),
        numbers,
        run_id,
    )


def _span(keys: Sequence[str | None]) -> str | None:
    given = [key for key in keys if key is not None]
    if not given:
        return None
    return given[0] if len(given) == 1 else f"{given[0]}...{given[-1]}"


def _integer(value: Any) -> int:
    return int(value or 0)
