"""What a failing blocking check stops: over a real database with a planted bad row, real runs and ticks; and over a
fake memory, what the verdict of one run means for the next.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.automation import schedules
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline.defs.pipeline_memory import PipelineMemory, opened
from pkg_pipeline.memory.verdicts import Verdict
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.defs.automation.test_sensors_and_schedules import tick
from pkg_pipeline_tests.defs.conftest import Execute
from pkg_pipeline_tests.defs.fakes import ARCHIVE, FIRST_DAY, PROFILES, SUMMARIES, FakeMemory

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
DAY, WEEK = "2025-02-03", "2026-03-08"
SAID = ("Hello, shall we meet on Friday?", "Yes, agreed: Friday at noon for 300 EUR.", "I will send the contract.")
RECHECK = "the next run of interaction_summaries looks again"


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[PipelineMemory]:
    """One dialog a year ago, cut into its interaction and due."""
    home = tmp_path / "home"
    settings = Settings.model_validate({"home": home, "database_url": database_url, "llm": "offline", "now": NOW})
    lines = [
        {
            "chat_id": "c",
            "message_id": str(number),
            "sender_id": "me" if number % 2 else "anna",
            "sender_name": "Me" if number % 2 else "Anna",
            "is_self": bool(number % 2),
            "sent_at": (datetime(2025, 2, 3, 10, tzinfo=UTC) + timedelta(minutes=number)).isoformat(),
            "text": text,
        }
        for number, text in enumerate(SAID)
    ]
    settings.inbox.mkdir(parents=True)
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with opened(settings) as found:
        found.import_drop(path)
        found.make_searchable()
        yield found


def changed(memory: Any, statement: str, *parameters: Any) -> None:
    with memory._memory.connections.connection() as connection:
        connection.execute(statement, parameters)


def first_important(memory: Any) -> str:
    statement = "SELECT important_messages -> 0 ->> 'message_id' FROM interaction_summaries"
    with memory._memory.connections.connection() as connection:
        return connection.execute(statement).fetchone()[0]


def rows_of(memory: PipelineMemory, instance: dg.DagsterInstance, *assets: str) -> tuple[list[RunRow], LocalRuns]:
    rows: list[RunRow] = []
    runs = LocalRuns(memory, instance)
    here.run_due(runs, memory, assets, rows.append)
    return rows, runs


def profiles(memory: Any) -> int:
    with memory._memory.connections.connection() as connection:
        return connection.execute("SELECT count(*) FROM entity_relationship_profiles").fetchone()[0]


@pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning")
def test_a_planted_bad_row_stops_profiles_archive_and_marts_until_it_is_repaired(
    memory: PipelineMemory, instance: dg.DagsterInstance
) -> None:
    rows, _ = rows_of(memory, instance, SUMMARIES)
    assert [(row.partition, row.status, row.rows) for row in rows] == [(DAY, "done", 1)]
    plant = (
        "UPDATE interaction_summaries SET important_messages ="
        " jsonb_set(important_messages, '{0,message_id}', %s::text::jsonb)"
    )
    first = first_important(memory)
    changed(memory, plant, '"never said"')
    runs = LocalRuns(memory, instance)
    rows = []
    here.run_partitions(runs, SUMMARIES, [DAY], rows.append)
    assert [(row.partition, row.status) for row in rows] == [(DAY, "done"), (None, "blocked")]
    (check,) = [row for row in runs.failing_checks if row.is_blocking]
    assert (check.asset, check.check, check.severity) == (SUMMARIES, "grounding", "ERROR")
    assert (check.reason, check.numbers["first_day"]) == ("1 without message, of 3 looked at", DAY)

    why = f"the check grounding of {SUMMARIES} fails (1 without message, of 3 looked at); {RECHECK}"
    stopped, _ = rows_of(memory, instance, PROFILES, ARCHIVE)
    assert [(row.asset, row.partition, row.status, row.error) for row in stopped] == [
        (PROFILES, WEEK, "failed", f"the profiles are held back: {why}")
    ]
    here.run_partitions(runs, ARCHIVE, ["2025-02-01"], stopped.append)
    assert stopped[-1].error == f"the archived texts are held back: {why}"
    assert profiles(memory) == 0
    with pytest.raises(dg.Failure) as failed:
        _build_marts(memory, instance)
    assert failed.value.description == f"the marts are held back: {why}"

    # a run over other days passes, and still looks at what failed
    elsewhere: list[RunRow] = []
    here.run_partitions(runs, SUMMARIES, ["2025-06-01"], elsewhere.append)
    assert [row.status for row in elsewhere] == ["done", "blocked"]

    changed(memory, plant, f'"{first}"')
    here.run_partitions(runs, SUMMARIES, ["2025-06-01"], rows.append)
    assert rows[-1].status == "done"
    assert publication.blocked(instance) is None
    again, _ = rows_of(memory, instance, PROFILES, ARCHIVE)
    assert [(row.asset, row.status) for row in again] == [(PROFILES, "done"), (ARCHIVE, "done")]
    assert profiles(memory) == 1


def _build_marts(memory: PipelineMemory, instance: dg.DagsterInstance) -> None:
    """The body of the dbt assets; without the leave to publish it does not come to dbt."""
    from pkg_pipeline.defs.assets import marts

    next(marts._built(SimpleNamespace(instance=instance), memory, {}))  # type: ignore[arg-type]


WRONG = Verdict(
    "grounding", False, True, "2 without quote, of 9 looked at", {"wrong": 2}, ("x",), (date(2024, 5, 1),) * 2
)
WHY = f"the check grounding of {SUMMARIES} fails (2 without quote, of 9 looked at); {RECHECK}"


@pytest.fixture
def blocked(tmp_path: Path, instance: dg.DagsterInstance, execute: Execute) -> FakeMemory:
    memory = FakeMemory(tmp_path, due={PROFILES: ["2026-03-01"], ARCHIVE: ["2025-02-01"]})
    memory.wrong[SUMMARIES, "grounding"] = WRONG
    assert not execute(memory, "summarize_days", dagster__partition="2024-05-01").success
    return memory


def test_sensors_do_not_ask_for_what_would_be_stopped(blocked: FakeMemory, instance: dg.DagsterInstance) -> None:
    for sensor in ("due_weeks", "due_months"):
        data = tick(sensor, blocked, instance)
        assert (data.run_requests, data.skip_message) == ([], WHY)


def test_schedules_do_not_either_and_say_why(tmp_path: Path) -> None:
    memory = FakeMemory(tmp_path, due={PROFILES: ["2026-03-01"], ARCHIVE: ["2025-02-01"]})
    with dg.instance_for_test() as instance:
        instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                asset_key=dg.AssetKey(SUMMARIES), check_name="grounding", passed=False, metadata={}, description="why"
            )
        )
        for schedule in schedules.build(timezone="UTC", start=FIRST_DAY):
            if schedule.name not in ("profiles_sunday_four", "archive_first_five", "marts_at_six"):
                continue  # what is summarised, folded and searched is no publication
            resources = {} if schedule.name == "marts_at_six" else {"memory": memory}
            with dg.build_schedule_context(instance=instance, resources=resources) as context:
                data = schedule.evaluate_tick(context)
            assert data.run_requests == []
            assert data.skip_message == f"the check grounding of {SUMMARIES} fails (why); {RECHECK}"


def test_what_failed_is_looked_at_by_every_run_until_it_passes(
    blocked: FakeMemory, instance: dg.DagsterInstance, execute: Execute
) -> None:
    """Else a run over other days would lift the stop and leave the wrong row."""
    blocked.verified.clear()
    execute(blocked, "summarize_days", dagster__partition="2024-06-01")
    first = (date(2024, 5, 1),) * 2
    assert (SUMMARIES, ("grounding",), first) in blocked.verified
    assert publication.wrong_days(instance, SUMMARIES, "grounding") == first
    blocked.wrong.clear()
    assert execute(blocked, "summarize_days", dagster__partition="2024-06-01").success
    assert publication.blocked(instance) is None
    assert publication.wrong_days(instance, SUMMARIES, "grounding") is None


def test_a_check_that_never_ran_or_only_warns_stops_nothing(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    assert publication.blocked(instance) is None
    memory = FakeMemory(tmp_path)
    memory.wrong[SUMMARIES, "coverage"] = Verdict("coverage", False, False, "1 of 2 are summarised", {"coverage": 0.5})
    assert execute(memory, "summarize_days", dagster__partition="2024-05-01").success
    assert publication.blocked(instance) is None


def test_no_text_of_a_conversation_is_in_the_verdicts(memory: PipelineMemory, instance: dg.DagsterInstance) -> None:
    rows_of(memory, instance, SUMMARIES)
    changed(memory, 'UPDATE interaction_summaries SET important_messages = \'[{"message_id": "my secret words"}]\'')
    here.run_partitions(LocalRuns(memory, instance), SUMMARIES, [DAY], lambda _: None)
    events = [str(entry) for run in instance.get_runs() for entry in instance.all_logs(run.run_id)]
    assert any("without message" in event for event in events)
    assert not any("secret" in event for event in events)
