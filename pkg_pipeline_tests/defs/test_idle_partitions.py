"""A backfill that finds nothing to do leaves what is known of a partition, and its plots, as they are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.assets.partition_marks import BACKFILL_TAG
from pkg_pipeline.defs.keys import keys_between
from pkg_pipeline.defs.lanes import range_tags
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline.stages.archive.stage import MonthReport
from pkg_pipeline.stages.profiles.stage import WeekReport
from pkg_pipeline.stages.recall.chunks import DayReport as ChunkedDay
from pkg_pipeline.stages.summaries.stage import DayReport
from pkg_pipeline_tests.defs.fakes import ARCHIVE, CHUNKS, PROFILES, SUMMARIES, FakeMemory


class DoneMemory(FakeMemory):
    """Everything in it was done long ago."""

    def summarize(self, days: tuple[date, date], billing: Any, scope: Any, on_day: Callable[[Any], None]) -> list[Any]:
        for key in keys_between(*days):
            on_day(DayReport(date.fromisoformat(key)))
        return []

    def build_chunks(self, days: tuple[date, date], *, on_day: Callable[[Any], None]) -> list[Any]:
        for key in keys_between(*days):
            on_day(ChunkedDay(date.fromisoformat(key), interactions=2, chunks=9, kept=9))
        return []

    def build_weeks(self, weeks: Any, billing: Any, *, on_week: Callable[[Any], None], **_: Any) -> list[Any]:
        for week in weeks:
            on_week(WeekReport(week, persons=3, unchanged=3))
        return []

    def archive_months(self, months: Any, *, on_month: Callable[[Any], None], **_: Any) -> list[Any]:
        for month in months:
            on_month(MonthReport(month))
        return []


@pytest.mark.parametrize(
    ("asset", "key"),
    [(SUMMARIES, "2024-05-01"), (CHUNKS, "2024-05-01"), (PROFILES, "2024-05-05"), (ARCHIVE, "2024-05-01")],
)
def test_numbers_of_a_partition_outlive_a_backfill_with_nothing_to_do(
    tmp_path: Path, instance: dg.DagsterInstance, asset: str, key: str
) -> None:
    rows: list[RunRow] = []
    here.run_partitions(LocalRuns(FakeMemory(tmp_path), instance), asset, [key], rows.append)
    first = instance.get_latest_materialization_event(dg.AssetKey(asset))
    here.run_partitions(LocalRuns(DoneMemory(tmp_path), instance), asset, [key], rows.append)
    assert instance.get_latest_materialization_event(dg.AssetKey(asset)) == first
    assert [(row.partition, row.status) for row in rows] == [(key, "done")] * 2
    assert (rows[0].rows > 0, rows[1].rows) == (True, 0)


def test_a_backfill_of_dagsters_is_told_again_what_was_said_of_a_partition(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """It fails where a partition has no materialisation of its own, though its runs succeed."""
    key = "2024-05-01"
    here.run_partitions(LocalRuns(FakeMemory(tmp_path), instance), SUMMARIES, [key], lambda _: None)
    tags = range_tags(key, key, lane="backfill", only_due=False) | {BACKFILL_TAG: "abcdefgh"}
    LocalRuns(DoneMemory(tmp_path), instance)._execute(SUMMARIES, tags, expected=[key])
    again, first = instance.fetch_materializations(dg.AssetKey(SUMMARIES), limit=9).records
    assert again.run_id != first.run_id
    assert again.partition_key == first.partition_key == key
    assert again.asset_materialization is not None
    assert first.asset_materialization is not None
    assert again.asset_materialization.metadata == first.asset_materialization.metadata


def test_a_partition_that_nobody_attempted_is_marked_though_there_is_nothing_to_do(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    here.run_partitions(LocalRuns(DoneMemory(tmp_path), instance), SUMMARIES, ["2024-05-01"], lambda _: None)
    assert instance.get_materialized_partitions(dg.AssetKey(SUMMARIES)) == {"2024-05-01"}


def test_a_due_partition_is_marked_again_whatever_was_done(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """The months' sensor tells by the mark that a month was looked at since the first."""
    for _ in range(2):
        memory = DoneMemory(tmp_path, due={SUMMARIES: ["2024-05-01"]})
        here.run_due(LocalRuns(memory, instance), memory, (SUMMARIES,), lambda _: None)
    assert len(instance.fetch_materializations(dg.AssetKey(SUMMARIES), limit=9).records) == 2


def test_on_the_pages_it_is_marked_again_with_what_was_said_of_it_before(
    tmp_path: Path, instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    """There a backfill takes a partition without an event for a failed one."""
    key = dg.AssetKey(SUMMARIES)
    for memory in (FakeMemory(tmp_path), DoneMemory(tmp_path)):
        job = definitions_of(memory).resolve_job_def("summarize_days")
        tags = {"dagster/backfill": "abc", "dagster/partition": "2024-05-01"}
        assert job.execute_in_process(instance=instance, partition_key="2024-05-01", tags=tags).success
    first, second = (one.asset_materialization for one in instance.fetch_materializations(key, limit=9).records)
    assert first is not None
    assert second is not None
    assert first.metadata == second.metadata
    assert first.metadata["rows"].value == 2
