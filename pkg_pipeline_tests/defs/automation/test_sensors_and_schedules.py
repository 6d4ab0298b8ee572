"""Ticks over a real instance: what is asked for, what is not, and the reason that is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs.automation import schedules, sensors
from pkg_pipeline.defs.lanes import range_of, range_tags
from pkg_pipeline_tests.defs.fakes import FIRST_DAY, SUMMARIES, FakeMemory

LATER = 4102444800.0  # unix seconds, long after any file here was written


def tick(
    name: str, memory: FakeMemory, instance: dg.DagsterInstance, *, cursor: str | None = None, wall: float = LATER
):
    found = {sensor.name: sensor for sensor in sensors.build(memory.settings, start=FIRST_DAY, wall=lambda: wall)}
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources={"memory": memory}) as context:
        return found[name].evaluate_tick(context)


def ranges(data: Any) -> list[tuple[str, str] | None]:
    return [range_of(request.tags) for request in data.run_requests]


@pytest.fixture
def running(instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions], tmp_path: Path):
    def start(job: str, tags: Mapping[str, str]) -> None:
        found = definitions_of(FakeMemory(tmp_path)).resolve_job_def(job)
        instance.create_run_for_job(found, tags=dict(tags), status=dg.DagsterRunStatus.STARTED)

    return start


# ── due days ──────────────────────────────────────────────────────────────────────────────────


def test_nothing_due_asks_for_nothing_and_says_so(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    data = tick("due_days", FakeMemory(tmp_path), instance)
    assert (data.run_requests, data.skip_message) == ([], "no day is due")


def test_due_days_are_asked_for_in_the_live_lane_as_ranges(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-01", "2024-05-02", "2024-05-09"]})
    data = tick("due_days", memory, instance)
    assert ranges(data) == [("2024-05-01", "2024-05-09")]
    assert data.run_requests[0].tags["pkg/lane"] == "live"
    assert data.run_requests[0].tags["pkg/only_due"] == "true"


def test_a_tick_asks_for_at_most_four_runs_less_what_is_running(
    tmp_path: Path, instance: dg.DagsterInstance, running
) -> None:
    months = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    memory = FakeMemory(tmp_path, due={SUMMARIES: months})
    assert len(ranges(tick("due_days", memory, instance))) == 4
    running("summarize_days", range_tags("2024-01-01", "2024-02-02", lane="live", only_due=True))
    asked = ranges(tick("due_days", memory, instance))
    assert len(asked) == 3
    assert asked[0] == ("2024-02-03", "2024-03-04")


def test_days_somebody_backfills_in_the_ui_are_left_alone(
    tmp_path: Path, instance: dg.DagsterInstance, running
) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-01", "2024-05-02"]})
    running(
        "summarize_days",
        {"dagster/backfill": "x", **range_tags("2024-05-01", "2024-05-31", lane="backfill", only_due=False)},
    )
    data = tick("due_days", memory, instance)
    assert data.run_requests == []
    assert data.skip_message == "2 days are due; 1 runs are already under way"


def test_a_killed_commands_run_does_not_block_its_days(tmp_path: Path, instance: dg.DagsterInstance, running) -> None:
    """It stays STARTED in Dagster's tables for ever, since nobody is left to end it."""
    import socket

    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-01"]})
    dead = {"pkg/process": f"{socket.gethostname()}:1:1"}  # process 1 exists, but did not start in 1970
    running("summarize_days", {**range_tags("2024-05-01", "2024-05-01", lane="backfill", only_due=True), **dead})
    assert ranges(tick("due_days", memory, instance)) == [("2024-05-01", "2024-05-01")]


def test_after_failures_the_sensor_pauses_then_asks_with_another_key(
    tmp_path: Path, instance: dg.DagsterInstance, definitions_of
) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-01"]})
    before = tick("due_days", memory, instance).run_requests[0].run_key
    run = instance.create_run_for_job(definitions_of(memory).resolve_job_def("summarize_days"))
    instance.report_run_failed(run, "no key")
    ended = instance.get_run_records()[0].end_time
    assert ended is not None
    paused = tick("due_days", memory, instance, wall=ended + 59)
    assert paused.run_requests == []
    assert paused.skip_message is not None
    assert paused.skip_message.startswith("the last 1 runs of summarize_days failed; asks again at ")
    again = tick("due_days", memory, instance, wall=ended + 61).run_requests[0].run_key
    assert again not in (None, before)


# ── touched chats ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("due", "silent", "reason"),
    [
        (["chat-a", "chat-b"], 0, "2 chats touched, 0 interactions silent"),
        ([], 3, "0 chats touched, 3 interactions silent"),
    ],
)
def test_touched_chats_or_silence_ask_for_one_run(
    tmp_path: Path, instance: dg.DagsterInstance, due: list[str], silent: int, reason: str
) -> None:
    data = tick("touched_chats", FakeMemory(tmp_path, due={"interactions": due}, silent=silent), instance)
    assert [request.tags["pkg/reason"] for request in data.run_requests] == [reason]


def test_interactions_already_being_built_are_not_asked_for_again(
    tmp_path: Path, instance: dg.DagsterInstance, running
) -> None:
    running("build_interactions", {})
    data = tick("touched_chats", FakeMemory(tmp_path, silent=3), instance)
    assert (data.run_requests, data.skip_message) == ([], "a run of interactions is already under way")


# ── inbox ─────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_taken_once_it_looked_the_same_at_two_ticks(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path)
    empty = tick("inbox", memory, instance)
    assert (empty.run_requests, empty.skip_message) == ([], "the inbox is empty")
    memory.settings.inbox.mkdir()
    file = memory.settings.inbox / "export.json"
    file.write_text("{", encoding="utf-8")
    first = tick("inbox", memory, instance, cursor=empty.cursor)
    assert (first.run_requests, first.skip_message) == ([], "1 drops are still being written")
    file.write_text("{}", encoding="utf-8")  # the copy went on
    second = tick("inbox", memory, instance, cursor=first.cursor)
    assert second.run_requests == []
    third = tick("inbox", memory, instance, cursor=second.cursor)
    assert len(third.run_requests) == 1
    fourth = tick("inbox", memory, instance, cursor=third.cursor)  # Dagster drops the same key
    assert [one.run_key for one in fourth.run_requests] == [one.run_key for one in third.run_requests]


def test_a_file_still_younger_than_seconds_waits(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path)
    memory.settings.inbox.mkdir()
    file = memory.settings.inbox / "export.json"
    file.write_text("{}", encoding="utf-8")
    changed = file.stat().st_ctime
    first = tick("inbox", memory, instance, wall=changed + 1)
    assert tick("inbox", memory, instance, cursor=first.cursor, wall=changed + 4).run_requests == []
    assert len(tick("inbox", memory, instance, cursor=first.cursor, wall=changed + 6).run_requests) == 1


def test_the_cursor_holds_sizes_and_times_only(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path)
    memory.settings.inbox.mkdir()
    (memory.settings.inbox / "a.jsonl").write_text("my words", encoding="utf-8")
    cursor = tick("inbox", memory, instance).cursor
    assert cursor is not None
    assert list(json.loads(cursor)) == ["a.jsonl"]
    assert "my words" not in cursor


# ── schedules ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def kept_instance() -> Iterator[dg.DagsterInstance]:
    """Schedules are handed a reference to the instance, which an ephemeral one has not."""
    with dg.instance_for_test() as found:
        yield found


def night(memory: FakeMemory, instance: dg.DagsterInstance):
    schedule = schedules.build(timezone="Asia/Tokyo", start=FIRST_DAY)[0]
    three_in_tokyo = datetime(2026, 3, 15, 18, tzinfo=UTC)
    with dg.build_schedule_context(
        instance=instance, scheduled_execution_time=three_in_tokyo, resources={"memory": memory}
    ) as context:
        return schedule.evaluate_tick(context)


def test_the_night_asks_for_everything_due_and_not_under_way(
    tmp_path: Path, kept_instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-01", "2024-05-02", "2024-06-01"]})
    kept_instance.create_run_for_job(
        definitions_of(memory).resolve_job_def("summarize_days"),
        tags=range_tags("2024-06-01", "2024-06-01", lane="backfill", only_due=False),
        status=dg.DagsterRunStatus.STARTED,
    )
    assert ranges(night(memory, kept_instance)) == [("2024-05-01", "2024-05-02")]


def test_a_quiet_night_asks_for_no_run(tmp_path: Path, kept_instance: dg.DagsterInstance) -> None:
    data = night(FakeMemory(tmp_path), kept_instance)
    assert (data.run_requests, data.skip_message) == ([], "no day is due")


def test_the_hours_are_those_of_the_memorys_time_zone() -> None:
    made = schedules.build(timezone="Asia/Tokyo", start=FIRST_DAY)
    assert {(one.name, one.cron_schedule, one.execution_timezone) for one in made} == {
        ("sessions_half_past_two", "30 2 * * *", "Asia/Tokyo"),
        ("summaries_at_three", "0 3 * * *", "Asia/Tokyo"),
        ("chunks_half_past_three", "30 3 * * *", "Asia/Tokyo"),
        ("profiles_sunday_four", "0 4 * * 0", "Asia/Tokyo"),
        ("archive_first_five", "0 5 1 * *", "Asia/Tokyo"),
        ("marts_at_six", "0 6 * * *", "Asia/Tokyo"),
    }
    assert all(one.default_status is dg.DefaultScheduleStatus.RUNNING for one in made)


def test_all_sensors_run_from_the_start(tmp_path: Path) -> None:
    for sensor in sensors.build(FakeMemory(tmp_path).settings, start=FIRST_DAY):
        assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
