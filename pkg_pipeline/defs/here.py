"""Runs in this process: what is due now, or a range of days, through the same jobs and instance that the UI shows.

Whether there is anything to do is ``due.py``, which needs no Dagster.
Printing belongs to the command line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import dagster as dg

from pkg_pipeline.defs import orphans
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.due import has_work
from pkg_pipeline.defs.jobs import JOB_OF
from pkg_pipeline.defs.keys import batches
from pkg_pipeline.defs.lanes import LANE_TAG, range_tags
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.defs.resources import RESOURCE


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


class LocalRuns:
    """Executes the jobs one after the other; every run uses the one opened memory."""

    def __init__(self, memory: PipelineMemory, instance: dg.DagsterInstance, *, log_level: str = "CRITICAL") -> None:
        self._memory = memory
        self._instance = instance
        self._log_level = log_level
        orphans.settle(instance, code_server_is_gone=False)

    @cached_property
    def _definitions(self) -> dg.Definitions:
        held = dg.ResourceDefinition.hardcoded_resource(self._memory)
        return build_definitions(settings=self._memory.settings, resource_overrides={RESOURCE: held}, marts=False)

    def asset(self, name: str) -> list[RunRow]:
        """One run of an asset without partitions."""
        return self._execute(name, {LANE_TAG: "backfill"}, expected=[None])

    def days(self, keys: Sequence[str], *, only_due: bool) -> list[RunRow]:
        """One run over the range from the first to the last key, in the backfill lane (P12)."""
        tags = range_tags(keys[0], keys[-1], lane="backfill", only_due=only_due)
        return self._execute("interaction_summaries", tags, expected=list(keys))

    def _execute(self, asset: str, tags: dict[str, str], *, expected: Sequence[str | None]) -> list[RunRow]:
        job = self._definitions.resolve_job_def(JOB_OF[asset])
        started = time.perf_counter()
        result = job.execute_in_process(
            instance=self._instance,
            raise_on_error=False,
            tags={**tags, orphans.PROCESS_TAG: orphans.process_tag()},
            run_config={"loggers": {"console": {"config": {"log_level": self._log_level}}}},
        )
        seconds = time.perf_counter() - started
        rows = list(self._rows(asset, result.run_id))
        if not result.success:
            done = {row.partition for row in rows}
            left = [key for key in expected if key not in done]
            rows.append(
                RunRow(
                    asset, _span(left), "failed", 0, round(seconds, 3), result.run_id, error=self._error(result.run_id)
                )
            )
        return rows

    def _rows(self, asset: str, run_id: str) -> Iterator[RunRow]:
        for entry in self._instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
            event = entry.dagster_event
            if event is None or event.asset_key != dg.AssetKey(asset):
                continue
            given = event.step_materialization_data.materialization.metadata
            numbers = {key: cast(Any, value.value) for key, value in given.items()}
            yield RunRow(
                asset,
                event.partition,
                "done",
                _integer(numbers.get("rows")),
                round(float(numbers.get("seconds") or 0), 3),
                run_id,
                pending=_integer(numbers.get("pending")),
                failed=_integer(numbers.get("failed")),
                cost_usd=float(numbers.get("cost_usd") or 0),
            )

    def _error(self, run_id: str) -> str:
        """The innermost message of the step's or the run's failure, in one line."""
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


def run_due(runs: LocalRuns, memory: PipelineMemory, assets: Iterable[str], on_row: OnRow) -> None:
    """Everything of ``assets`` that is due, in the order of the flow; what one makes due, the next one finds."""
    for asset in assets:
        if not has_work(memory, asset):
            continue
        if asset != "interaction_summaries":
            _tell(on_row, runs.asset(asset))
            continue
        due = memory.partitions.due(asset, now=memory.clock.now())
        for batch in batches([one.key for one in due], key=str):
            if not _tell(on_row, runs.days(batch, only_due=True)):
                return  # what stopped one run would stop the next as well


def run_days(runs: LocalRuns, keys: Sequence[str], on_row: OnRow) -> None:
    """Every day of ``keys``, due or not."""
    for batch in batches(keys, key=str):
        if not _tell(on_row, runs.days(batch, only_due=False)):
            return


def _tell(on_row: OnRow, rows: Sequence[RunRow]) -> bool:
    for row in rows:
        on_row(row)
    return all(row.status == "done" for row in rows)


def _span(keys: Sequence[str | None]) -> str | None:
    given = [key for key in keys if key is not None]
    if not given:
        return None
    return given[0] if len(given) == 1 else f"{given[0]}...{given[-1]}"


def _integer(value: Any) -> int:
    return int(value or 0)
