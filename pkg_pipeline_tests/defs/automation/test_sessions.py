"""Live sessions in Dagster: what the sensor and the schedule ask for, what a run reports, and what a tick costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest
from pydantic import SecretStr

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.monitoring.checks import PostgresCheckStore
from pkg_pipeline.adapters.postgres.sessions.folds import PostgresFoldStore
from pkg_pipeline.defs.automation import schedules, sensors
from pkg_pipeline.defs.automation.due import has_work
from pkg_pipeline.defs.pipeline_memory import opened
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.monitoring.verification import EVER
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.defs.fakes import FIRST_DAY, FOLDS, NOW, FakeMemory
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig

LATER = 4102444800.0


def tick(memory: FakeMemory, instance: dg.DagsterInstance) -> Any:
    found = {sensor.name: sensor for sensor in sensors.build(memory.settings, start=FIRST_DAY, wall=lambda: LATER)}
    with dg.build_sensor_context(instance=instance, resources={"memory": memory}) as context:
        return found["due_sessions"].evaluate_tick(context)


@pytest.fixture
def definitions(tmp_path: Path, definitions_of: Callable[[Any], dg.Definitions]) -> Callable[[Any], dg.Definitions]:
    return definitions_of


def test_nothing_due_asks_for_nothing(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    data = tick(FakeMemory(tmp_path), instance)
    assert (data.run_requests, data.skip_message) == ([], "no session is due")


def test_due_sessions_ask_for_one_run_unless_one_is_under_way(
    tmp_path: Path, instance: dg.DagsterInstance, definitions: Callable[[Any], dg.Definitions]
) -> None:
    memory = FakeMemory(tmp_path, due={FOLDS: ["a", "b"]})
    (request,) = tick(memory, instance).run_requests
    assert (request.tags["pkg/lane"], request.tags["pkg/reason"]) == ("live", "2 sessions due")
    job = definitions(memory).resolve_job_def("fold_sessions")
    instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    data = tick(memory, instance)
    assert (data.run_requests, data.skip_message) == ([], "a run of session_summaries is already under way")


def run(memory: FakeMemory, instance: dg.DagsterInstance, made: dg.Definitions, tags: Mapping[str, str]) -> Any:
    job = made.resolve_job_def("fold_sessions")
    result = job.execute_in_process(instance=instance, tags=dict(tags), raise_on_error=False)
    assert result.success
    (event,) = result.asset_materializations_for_node(FOLDS)
    return {name: value.value for name, value in event.metadata.items()}


def test_a_run_reports_flat_numbers(
    tmp_path: Path, instance: dg.DagsterInstance, definitions: Callable[[Any], dg.Definitions]
) -> None:
    memory = FakeMemory(tmp_path, due={FOLDS: ["a"]})
    found = run(memory, instance, definitions(memory), {"pkg/lane": "live"})
    assert {key: found[key] for key in ("rows", "folds", "refolds", "sessions", "pending", "tokens")} == {
        "rows": 3,
        "folds": 2,
        "refolds": 1,
        "sessions": 3,
        "pending": 1,
        "tokens": 1000,
    }
    assert memory.folded == [("live", False)]
    assert memory.verified == [(FOLDS, ("session_coverage",), None)]


def night(memory: FakeMemory, instance: dg.DagsterInstance) -> Any:
    found = {one.name: one for one in schedules.build(timezone="UTC", start=FIRST_DAY)}
    resources = {"memory": memory}
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=NOW, resources=resources) as context:
        return found["sessions_half_past_two"].evaluate_tick(context)


def test_a_night_without_anything_to_fold(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    data = night(FakeMemory(tmp_path), instance)
    assert (data.run_requests, data.skip_message) == ([], "no session has enough to fold")


def test_the_schedule_asks_for_every_session(
    tmp_path: Path, instance: dg.DagsterInstance, definitions: Callable[[Any], dg.Definitions]
) -> None:
    memory = FakeMemory(tmp_path, due={FOLDS: ["a"]})
    (request,) = night(memory, instance).run_requests
    run(memory, instance, definitions(memory), request.tags)
    assert memory.folded == [("live", True)]


# ── over a real database ──────────────────────────────────────────────────────────────────────


def settings_of(url: str, folder: Path, rig: FoldRig) -> Settings:
    return Settings(home=folder, database_url=SecretStr(url), now=rig.now, timezone="UTC", embedder="none")


def test_the_flow_works_off_what_is_due_and_ends_under_a_clock_that_stands(database_url: str, tmp_path: Path) -> None:
    rig = FoldRig(database_url)
    rig.talk(45, words=60)
    with opened(settings_of(database_url, tmp_path, rig)) as memory:
        assert has_work(memory, FOLDS)
        report = memory.fold_sessions(Billing("backfill"), asks_all=False)
        assert (report.sessions, report.folds, report.pending, has_work(memory, FOLDS)) == (1, 1, 0, False)
        rig.talk(7, start=45, words=60)
        assert not has_work(memory, FOLDS)
        report = memory.fold_sessions(Billing("live"), asks_all=True)
        assert (report.folds, rig.live()[-1]["trigger"]) == (1, "scheduled")
        (verdict,) = memory.verify(FOLDS, ["session_coverage"], None)
    assert (verdict.passed, verdict.reason, rig.wrong()) == (True, "1 looked at", [])
    rig.close()


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        ("UPDATE conversation_sessions SET messages_since_hwm = 1", "miscounted"),
        ("UPDATE conversation_sessions SET token_count = token_count + 1", "miscounted"),
        ("UPDATE conversation_sessions SET hwm_message_id = hwm_message_id - 1", "with_another_end"),
        ("UPDATE session_summaries SET message_ids = message_ids[2:]", "with_uncovered_messages"),
        ("UPDATE session_summaries SET from_message_id = 1", "overlapping"),
    ],
)
def test_the_check_finds_what_is_wrong(database_url: str, broken: str, kind: str) -> None:
    rig = FoldRig(database_url)
    rig.talk(40, words=60)
    rig.fold_due(step_messages=20)
    checks = PostgresCheckStore(rig.pool, timezone="UTC")
    assert checks.found("misfolded", EVER).total == 0
    rig.run(broken)
    found = checks.found("misfolded", EVER)
    assert (found.wrong[kind], found.examples) == (1, (str(rig.state().id),))
    rig.close()


MANY = """
    WITH made AS (
        INSERT INTO chats (id, source, external_id, kind, title_at)
        SELECT gen_random_uuid(), 'made', n::text, 'thread', '0001-01-01Z' FROM generate_series(1, 100000) AS n
        RETURNING id
    )
    INSERT INTO conversation_sessions (id, policy, strategy, next_due_at)
    SELECT id, 'hysteresis', 'hybrid', %s + make_interval(secs => row_number() OVER ()) FROM made"""


def test_a_tick_over_100_000_live_sessions_is_cheap(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True, options="-csearch_path=pkg,public") as connection:
        connection.execute(MANY, [NOW])
        connection.execute("ANALYZE conversation_sessions")
    pool = engine.pool(database_url, size=1)
    store = PostgresFoldStore(pool)
    for now, due in ((NOW, 0), (NOW + timedelta(seconds=50_000), sensors.COUNTED_SESSIONS)):
        store.due(now, limit=1)
        began = time.process_time(), time.perf_counter()
        assert store.due(now, limit=sensors.COUNTED_SESSIONS) == due
        assert time.perf_counter() - began[1] < 0.2
    pool.close()
