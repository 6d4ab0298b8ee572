"""Weeks and months: the assets over a real instance, what sensors and schedules ask for, and what they wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs import keys
from pkg_pipeline.defs.automation import schedules
from pkg_pipeline.defs.lanes import range_of, range_tags
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline_tests.defs.automation.test_sensors_and_schedules import tick
from pkg_pipeline_tests.defs.conftest import Execute
from pkg_pipeline_tests.defs.fakes import ARCHIVE, FIRST_DAY, PROFILES, FakeMemory

WEEKS = {"dagster__asset_partition_range_start": "2024-05-05", "dagster__asset_partition_range_end": "2024-05-19"}
MONTHS = {"dagster__asset_partition_range_start": "2024-01-01", "dagster__asset_partition_range_end": "2024-03-01"}


def marked(instance: dg.DagsterInstance, asset: str) -> dict[str, dict[str, Any]]:
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=100, ascending=True).records
    events = [record.asset_materialization for record in records]
    assert all(event is not None for event in events)
    return {str(event.partition): {key: v.value for key, v in event.metadata.items()} for event in events if event}


def test_each_week_is_marked_with_flat_numbers_and_the_code_version(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    memory = FakeMemory(tmp_path)
    assert execute(memory, "profile_weeks", **WEEKS).success
    found = marked(instance, PROFILES)
    assert list(found) == ["2024-05-05", "2024-05-12", "2024-05-19"]
    assert found["2024-05-12"] == {
        "rows": 4,  # 3 made and 1 carried over
        "persons": 5,
        "profiled": 3,
        "carried_over": 1,
        "unchanged": 0,
        "pending": 1,
        "failed": 0,
        "quarantined": 0,
        "deferred": 1,
        "calls": 3,
        "tokens": 1000,
        "source_tokens": 2000,
        "summary_tokens": 100,
        "cost_usd": 0.5,
        "compression_ratio": 20.0,
        "seconds": 0.5,
    }
    assert {lane for _, lane, _ in memory.built} == {"backfill"}
    spec = {one.key.to_user_string(): one for one in definitions_of(memory).resolve_all_asset_specs()}[PROFILES]
    event = instance.get_latest_materialization_event(dg.AssetKey(PROFILES))
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.tags["dagster/code_version"] == spec.code_version
    assert str(spec.code_version).startswith("relationship_profile/")


def test_a_run_that_stops_keeps_the_weeks_it_finished(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path, fail_at=("2024-05-12", LlmMisconfigured("the API refused ANTHROPIC_API_KEY")))
    assert not execute(memory, "profile_weeks", **WEEKS).success
    assert list(marked(instance, PROFILES)) == ["2024-05-05"]


def test_only_due_weeks_of_a_range_in_the_live_lane(tmp_path: Path, execute: Execute) -> None:
    memory = FakeMemory(tmp_path, due={PROFILES: ["2024-04-28", "2024-05-12"]})
    execute(memory, "profile_weeks", **WEEKS, pkg__only_due="true", pkg__lane="live")
    assert [(week, lane) for week, lane, _ in memory.built] == [("2024-05-12", "live")]


def test_months_are_one_run_and_each_is_marked(tmp_path: Path, instance: dg.DagsterInstance, execute: Execute) -> None:
    assert execute(FakeMemory(tmp_path), "archive_months", **MONTHS).success
    found = marked(instance, ARCHIVE)
    assert list(found) == ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert (found["2024-02-01"]["rows"], found["2024-02-01"]["bytes"], found["2024-02-01"]["pending"]) == (30, 4096, 2)
    assert len(instance.get_runs()) == 1


def test_how_a_backfill_is_split(tmp_path: Path, definitions_of: Callable[[Any], dg.Definitions]) -> None:
    found = definitions_of(FakeMemory(tmp_path))
    assert found.resolve_assets_def(PROFILES).backfill_policy == dg.BackfillPolicy.multi_run(4)
    assert found.resolve_assets_def(ARCHIVE).backfill_policy == dg.BackfillPolicy.single_run()


@pytest.mark.parametrize(
    ("grain", "given", "batches"),
    [
        # four weeks a run, at most three idle ones in a row inside it
        (keys.WEEK, ["2024-01-07", "2024-01-14", "2024-01-21", "2024-01-28", "2024-02-04"], [4, 1]),
        (keys.WEEK, ["2024-01-07", "2024-02-04"], [2]),  # 4 weeks apart
        (keys.WEEK, ["2024-01-07", "2024-02-11"], [1, 1]),  # 5 weeks
        (keys.MONTH, [f"2024-{month:02}-01" for month in range(1, 13)], [12]),
        (keys.MONTH, ["2023-01-01", "2024-01-01", "2025-02-01"], [2, 1]),  # 12 and 13 months apart
    ],
)
def test_batches_of_weeks_and_months(grain: keys.Grain, given: list[str], batches: list[int]) -> None:
    assert [len(batch) for batch in keys.batches(given, key=str, grain=grain)] == batches


@pytest.mark.parametrize(
    ("grain", "first", "last", "found"),
    [
        (keys.WEEK, "2024-02-25", "2024-03-03", ["2024-02-25", "2024-03-03"]),
        (keys.WEEK, "2024-02-26", "2024-03-02", []),  # Monday to Saturday
        (keys.MONTH, "2023-12-02", "2024-03-01", ["2024-01-01", "2024-02-01", "2024-03-01"]),
        (keys.MONTH, "2024-02-02", "2024-02-29", []),
    ],
)
def test_a_range_covers_the_partitions_that_begin_in_it(
    grain: keys.Grain, first: str, last: str, found: list[str]
) -> None:
    assert keys.keys_between(date.fromisoformat(first), date.fromisoformat(last), grain) == found


# ── who asks ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def running(instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions], tmp_path: Path):
    def start(job: str, **tags: str) -> dg.DagsterRun:
        found = definitions_of(FakeMemory(tmp_path)).resolve_job_def(job)
        return instance.create_run_for_job(found, tags=tags, status=dg.DagsterRunStatus.STARTED)

    return start


def ranges(data: Any) -> list[tuple[str, str] | None]:
    return [range_of(request.tags) for request in data.run_requests]


def at(tmp_path: Path, now: str, **due: list[str]) -> FakeMemory:
    return FakeMemory(tmp_path, due=due, now=datetime.fromisoformat(now).replace(tzinfo=UTC))


def test_left_over_weeks_are_asked_for_live_and_only_due(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={PROFILES: ["2026-02-22", "2026-03-01"]})
    data = tick("due_weeks", memory, instance)
    assert ranges(data) == [("2026-02-22", "2026-03-01")]
    assert (data.run_requests[0].tags["pkg/lane"], data.run_requests[0].tags["pkg/only_due"]) == ("live", "true")
    assert tick("due_weeks", FakeMemory(tmp_path), instance).skip_message == "nothing is left over"


@pytest.mark.parametrize(("now", "asked"), [("2026-03-15T03:59", []), ("2026-03-15T04:00", [("2026-03-08",) * 2])])
def test_the_sensor_does_not_come_before_sunday_four(
    tmp_path: Path, instance: dg.DagsterInstance, now: str, asked: list[Any]
) -> None:
    assert ranges(tick("due_weeks", at(tmp_path, now, **{PROFILES: ["2026-03-08"]}), instance)) == asked


def test_a_week_that_is_not_over_is_no_partition(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={PROFILES: [keys.WEEK.begin(datetime.now(UTC).date()).isoformat()]})
    assert tick("due_weeks", memory, instance).run_requests == []


def test_weeks_that_run_or_wait_in_the_queue_are_left_alone(
    tmp_path: Path, instance: dg.DagsterInstance, running
) -> None:
    memory = FakeMemory(tmp_path, due={PROFILES: ["2026-02-22", "2026-03-01"]})
    running("profile_weeks", **range_tags("2026-02-22", "2026-02-22", lane="backfill", only_due=False))
    assert ranges(tick("due_weeks", memory, instance)) == [("2026-03-01", "2026-03-01")]


def test_after_a_failed_run_weeks_pause_like_days(tmp_path: Path, instance: dg.DagsterInstance, running) -> None:
    instance.report_run_failed(running("profile_weeks"), "no key")
    ended = instance.get_run_records()[0].end_time
    assert ended is not None
    memory = FakeMemory(tmp_path, due={PROFILES: ["2026-03-01"]})
    said = tick("due_weeks", memory, instance, wall=ended + 59).skip_message
    assert str(said).startswith("the last 1 runs of profile_weeks failed; asks again at ")
    assert len(tick("due_weeks", memory, instance, wall=ended + 61).run_requests) == 1


def test_a_tick_asks_for_four_runs_of_four_weeks(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    weeks = keys.keys_between(date(2025, 1, 5), date(2025, 12, 28), keys.WEEK)
    found = ranges(tick("due_weeks", FakeMemory(tmp_path, due={PROFILES: weeks}), instance))
    assert found == [(weeks[at], weeks[at + 3]) for at in (0, 4, 8, 12)]


def test_months_worked_off_since_the_first_wait_for_the_next_first(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    """Every day something comes of age; the archive still works once a month (P24)."""
    now = datetime.now(UTC)
    memory = FakeMemory(tmp_path, due={ARCHIVE: ["2024-01-01", "2024-02-01"]}, now=now)
    execute(memory, "archive_months", dagster__partition="2024-01-01")
    memory.partitions.due_keys[ARCHIVE] = ["2024-01-01", "2024-02-01"]
    assert ranges(tick("due_months", memory, instance)) == [("2024-02-01", "2024-02-01")]


@pytest.fixture
def kept_instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as found:
        yield found


def test_sunday_waits_for_the_nights_live_summaries_and_for_no_backfill(
    tmp_path: Path, kept_instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    """At 04:00 the run of 03:00 is still at work: the tick says so, the sensor follows when it is done."""
    memory = FakeMemory(tmp_path, due={PROFILES: ["2026-03-01"], ARCHIVE: ["2024-01-01"]})
    job = definitions_of(memory).resolve_job_def("summarize_days")
    backfill = range_tags("2024-01-01", "2024-01-30", lane="backfill", only_due=False)
    kept_instance.create_run_for_job(job, tags=backfill, status=dg.DagsterRunStatus.STARTED)
    assert asked(memory, kept_instance) == {"profiles_sunday_four": "2026-03-01", "archive_first_five": "2024-01-01"}
    live = range_tags("2026-03-07", "2026-03-07", lane="live", only_due=True)
    run = kept_instance.create_run_for_job(job, tags=live, status=dg.DagsterRunStatus.STARTED)
    waits = "1 runs of the night's summaries are under way; the weeks follow them"
    assert asked(memory, kept_instance) == {"profiles_sunday_four": waits, "archive_first_five": "2024-01-01"}
    assert tick("due_weeks", memory, kept_instance).skip_message == waits
    kept_instance.report_run_canceled(run)
    assert len(tick("due_weeks", memory, kept_instance).run_requests) == 1


def asked(memory: FakeMemory, instance: dg.DagsterInstance) -> dict[str, str]:
    """By schedule: the first key asked for, or why none is."""
    found: dict[str, str] = {}
    for schedule in schedules.build(timezone="UTC", start=FIRST_DAY):
        if schedule.name not in ("profiles_sunday_four", "archive_first_five"):
            continue
        with dg.build_schedule_context(instance=instance, resources={"memory": memory}) as context:
            data = schedule.evaluate_tick(context)
        span = range_of(data.run_requests[0].tags) if data.run_requests else None
        found[schedule.name] = span[0] if span else str(data.skip_message)
    return found
