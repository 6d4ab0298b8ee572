"""The assets in a real instance: what is marked, what a failure leaves, what the checks say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import psycopg
import pytest
from psycopg_pool import PoolTimeout

from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.defs.failures import RETRIES, RETRY_SECONDS, translated
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured, LlmUnavailable
from pkg_pipeline_tests.defs.conftest import Execute
from pkg_pipeline_tests.defs.fakes import SUMMARIES, FakeMemory

JOB = "summarize_days"
WEEK = {"dagster__asset_partition_range_start": "2024-05-01", "dagster__asset_partition_range_end": "2024-05-07"}
KEY = dg.AssetKey(SUMMARIES)


def marked(instance: dg.DagsterInstance) -> dict[str, dict[str, object]]:
    """Partition → metadata, of every materialisation event there is; a partition marked twice fails."""
    records = instance.fetch_materializations(KEY, limit=1000, ascending=True).records
    found: dict[str, dict[str, object]] = {}
    for record in records:
        event = record.asset_materialization
        assert event is not None
        assert event.partition is not None
        assert event.partition not in found, "marked twice"
        found[event.partition] = {name: value.value for name, value in event.metadata.items()}
    return found


def test_some_rows_stand_beside_the_numbers(tmp_path: Path, instance: dg.DagsterInstance, execute: Execute) -> None:
    memory = FakeMemory(tmp_path)
    at = datetime(2024, 5, 2, 10, 30, tzinfo=UTC)
    memory.rows = {(SUMMARIES, "2024-05-02"): [{"id": 7, "at": at, "status": "dirty"}, {"id": 8, "at": None}]}
    memory.rows[("interactions", None)] = [{"id": 9}]
    assert execute(memory, JOB, **WEEK).success
    days = marked(instance)
    assert days["2024-05-02"]["preview"] == (
        "| id | at | status |\n| --- | --- | --- |\n| 7 | 2024-05-02 10:30:00 | dirty |\n| 8 |  |"
    )
    assert "preview" not in days["2024-05-03"], "nothing to show"
    assert execute(memory, "build_interactions").success
    event = instance.get_latest_materialization_event(dg.AssetKey("interactions"))
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["preview"].value == "| id |\n| --- |\n| 9 |"


def check(instance: dg.DagsterInstance, asset: str, name: str) -> tuple[bool, dg.AssetCheckSeverity, object]:
    key = dg.AssetCheckKey(dg.AssetKey(asset), name)
    record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.event is not None
    evaluation = record.event.dagster_event.asset_check_evaluation_data
    return evaluation.passed, evaluation.severity, evaluation.metadata[name].value


def test_each_day_of_a_range_is_marked_once_with_its_own_flat_numbers(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path)
    result = execute(memory, JOB, **WEEK)
    assert result.success
    days = marked(instance)
    assert list(days) == [f"2024-05-0{day}" for day in range(1, 8)]
    assert days["2024-05-03"] == {
        "rows": 2,
        "summarized": 2,
        "updated": 0,
        "pending": 1,
        "failed": 0,
        "quarantined": 0,
        "deferred": 0,
        "batched": 0,
        "calls": 2,
        "tokens": 120,
        "cost_usd": 0.25,
        "compression_ratio": 0.0,
        "seconds": 0.5,
    }
    assert {run for _, _, run in memory.summarized} == {result.run_id}


def test_a_run_that_stops_at_the_fourth_day_keeps_exactly_three(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    wrong_key = LlmMisconfigured("the API refused ANTHROPIC_API_KEY")
    result = execute(FakeMemory(tmp_path, fail_at=("2024-05-04", wrong_key)), JOB, **WEEK)
    assert not result.success
    assert sorted(marked(instance)) == ["2024-05-01", "2024-05-02", "2024-05-03"]
    failure = result.get_step_failure_events()[0].step_failure_data.user_failure_data
    assert failure is not None
    assert failure.description == "the summaries stopped: the API refused ANTHROPIC_API_KEY"


def test_no_unknown_errors_text_reaches_the_event_log(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    """A driver's error can quote the row it failed on, and a row is somebody's conversation."""
    secret = "meet me at the old harbour"
    result = execute(FakeMemory(tmp_path, fail_at=("2024-05-02", ValueError(f"bad row: {secret}"))), JOB, **WEEK)
    assert not result.success
    events = [str(entry) for entry in instance.all_logs(result.run_id)]
    assert any("the summaries failed: ValueError" in event for event in events)
    assert not any(secret in event for event in events)


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection unexpectedly"),
        psycopg.InterfaceError("the connection is closed"),
        PoolTimeout("no connection within 30 s"),
        DatabaseUnavailable("PostgreSQL at db:5432 is still starting; try again in a moment"),
        LlmUnavailable("503"),
    ],
)
def test_what_passes_by_itself_is_tried_again_after_seconds(error: Exception) -> None:
    with pytest.raises(dg.RetryRequested) as requested, translated("the import"):
        raise error
    assert (requested.value.max_retries, requested.value.seconds_to_wait) == (RETRIES, RETRY_SECONDS)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SettingsError("PKG_NOW: 2999 lies in the future"), "the import stopped: PKG_NOW: 2999 lies in the future"),
        (psycopg.errors.NotNullViolation("Failing row contains (secret)"), "the import failed: NotNullViolation"),
        (KeyError("a name of somebody"), "the import failed: KeyError"),
    ],
)
def test_what_would_fail_alike_is_not_tried_again(error: Exception, said: str) -> None:
    with pytest.raises(dg.Failure) as failed, translated("the import"):
        raise error
    assert failed.value.allow_retries is False
    assert str(failed.value.description).startswith(said)
    assert "secret" not in str(failed.value.description)


def test_only_due_days_of_a_range_are_attempted_when_asked_for(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-04-30", "2024-05-02", "2024-05-03", "2024-05-06"]})
    execute(memory, JOB, **WEEK, pkg__only_due="true", pkg__lane="live")
    assert [(key, lane) for key, lane, _ in memory.summarized] == [
        ("2024-05-02", "live"),
        ("2024-05-03", "live"),
        ("2024-05-06", "live"),
    ]
    assert sorted(marked(instance)) == ["2024-05-02", "2024-05-03", "2024-05-06"]


def test_one_partition_started_by_hand_is_attempted_due_or_not_in_the_backfill_lane(
    tmp_path: Path, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path)
    execute(memory, JOB, dagster__partition="2024-05-09")
    assert [(key, lane) for key, lane, _ in memory.summarized] == [("2024-05-09", "backfill")]


@pytest.mark.parametrize(("left", "passed"), [(0, True), (12, False)])
def test_what_is_left_over_all_days_is_a_warning_and_no_failure(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute, left: int, passed: bool
) -> None:
    assert execute(FakeMemory(tmp_path, left=left), JOB, dagster__partition="2024-05-09").success
    assert check(instance, SUMMARIES, "pending") == (passed, dg.AssetCheckSeverity.WARN, left)


def test_marks_carry_the_code_version_that_makes_stale_days_visible(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute, definitions_of
) -> None:
    memory = FakeMemory(tmp_path)
    execute(memory, JOB, dagster__partition="2024-05-09")
    event = instance.get_latest_materialization_event(KEY)
    assert event is not None
    assert event.asset_materialization is not None
    spec = next(spec for spec in definitions_of(memory).resolve_all_asset_specs() if spec.key == KEY)
    assert event.asset_materialization.tags["dagster/code_version"] == spec.code_version
    assert "summary/" in str(spec.code_version)
    assert "offline-" in str(spec.code_version)


def test_messages_takes_the_inbox_and_reports_what_was_refused(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path, refuse=frozenset({"photo.png"}))
    memory.settings.inbox.mkdir()
    for name in ("chat.jsonl", "photo.png"):
        (memory.settings.inbox / name).write_text("{}\n", encoding="utf-8")
    assert execute(memory, "import_inbox").success
    event = instance.get_latest_materialization_event(dg.AssetKey("messages"))
    assert event is not None
    assert event.asset_materialization is not None
    numbers = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert (numbers["rows"], numbers["files"], numbers["failed"], numbers["pending"]) == (3, 2, 1, 0)
    assert check(instance, "messages", "failed") == (False, dg.AssetCheckSeverity.WARN, 1)
    assert (memory.settings.inbox / "done" / "chat.jsonl").exists()
    assert (memory.settings.inbox / "failed" / "photo.png").exists()


def test_interactions_says_what_it_did(tmp_path: Path, instance: dg.DagsterInstance, execute: Execute) -> None:
    assert execute(FakeMemory(tmp_path, silent=4), "build_interactions").success
    event = instance.get_latest_materialization_event(dg.AssetKey("interactions"))
    assert event is not None
    assert event.asset_materialization is not None
    numbers = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert (numbers["rows"], numbers["chats"], numbers["completed"], numbers["messages"]) == (5, 2, 4, 40)
    assert check(instance, "interactions", "pending")[0]
