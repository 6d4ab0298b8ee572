"""The asset of items: its numbers and warnings, who asks for a run and who waits, and what its checks find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.defs.automation.due import has_work
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.stages.items import free_pass
from pkg_pipeline.stages.partitions import FinishedPartition
from pkg_pipeline.stages.ports import Billing, LlmMisconfigured
from pkg_pipeline_tests.defs.automation.test_sensors_and_schedules import tick
from pkg_pipeline_tests.defs.conftest import Execute
from pkg_pipeline_tests.defs.fakes import ITEMS, FakeMemory
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, by, promises
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, ScriptedLlm

BEGINNING = (dg.DagsterEventType.RUN_STARTING, dg.DagsterEventType.RUN_START)
JOB, KEY = "read_items", dg.AssetKey(ITEMS)


def test_a_run_reports_flat_numbers_and_warns_of_what_is_left(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path, due={ITEMS: ["a talk"]})
    memory.rows[(ITEMS, None)] = [{"id": 7, "status": "open"}]
    assert execute(memory, JOB, pkg__lane="live").success
    event = instance.get_latest_materialization_event(KEY)
    assert event is not None
    assert event.asset_materialization is not None
    found = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert found.pop("preview") == "| id | status |\n| --- | --- |\n| 7 | open |"
    assert found == {
        "rows": 5, "read": 4, "unchanged": 1, "items_new": 3, "items_changed": 2, "pending": 1, "failed": 0,
        "deferred": 1, "calls": 2, "tokens": 1000, "cost_usd": 0.5, "seconds": 0.5,
    }  # fmt: skip
    assert memory.items_read == [("live", False)]
    assert memory.verified == [(ITEMS, ("grounding", "deleted"), None)]
    key = dg.AssetCheckKey(KEY, "pending")
    record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.event is not None
    left = record.event.dagster_event.asset_check_evaluation_data
    assert (left.passed, left.severity) == (False, dg.AssetCheckSeverity.WARN)


def test_a_person_asks_for_stale_readings_by_a_tag(tmp_path: Path, execute: Execute) -> None:
    memory = FakeMemory(tmp_path)
    assert execute(memory, JOB, pkg__stale="true").success
    assert memory.items_read == [("backfill", True)]


def test_a_model_that_is_not_set_up_is_one_line(tmp_path: Path, execute: Execute) -> None:
    error = LlmMisconfigured("the API refused ANTHROPIC_API_KEY")
    result = execute(FakeMemory(tmp_path, fail_at=(ITEMS, error)), JOB)
    failure = result.get_step_failure_events()[0].step_failure_data.user_failure_data
    assert failure is not None
    assert failure.description == "the items stopped: the API refused ANTHROPIC_API_KEY"


def test_unread_talks_ask_for_one_run_in_the_live_lane(
    tmp_path: Path, instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    idle = tick("unread_talks", FakeMemory(tmp_path), instance)
    assert idle.run_requests == []
    memory = FakeMemory(tmp_path, due={ITEMS: ["a talk"]})
    (request,) = tick("unread_talks", memory, instance).run_requests
    assert request.tags["pkg/lane"] == "live"
    # the next look may come before the run that was asked for has begun
    run = instance.create_run_for_job(definitions_of(memory).resolve_job_def(JOB))
    for event in (None, *BEGINNING):
        if event is not None:
            instance.report_dagster_event(dg.DagsterEvent(event.value, JOB), run.run_id)
        data = tick("unread_talks", memory, instance)
        assert (data.run_requests, data.skip_message) == ([], "a run of items is already under way")


# ── over a real database ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ItemRig]:
    made = ItemRig(database_url, tmp_path)
    made.memory.settings = made.memory.settings.model_copy(update={"llm": "offline", "embedder": "none"})
    made.say("anna", ["I will send the keys.", "Thank you"])
    made.load()
    yield made
    made.close()


def test_what_is_due_is_read_once_and_a_cap_lets_no_run_begin(rig: ItemRig) -> None:
    memory = OpenedMemory(rig.memory)
    assert has_work(memory, ITEMS)
    report = memory.read_items(Billing("live"), stale=False)
    assert (report.read, report.left, has_work(memory, ITEMS)) == (1, 0, False)
    rig.say("boris", ["I will call the bank.", "Good"])
    rig.load()
    assert has_work(memory, ITEMS)
    memory.partitions.finish(ITEMS, [FinishedPartition(ITEMS, (), 1, None, rest_seconds=600)])
    assert not has_work(memory, ITEMS)
    assert memory.pending(ITEMS) == 1
    rig.run("UPDATE partition_states SET resume_at = clock_timestamp()")
    assert has_work(memory, ITEMS)


def test_a_talk_that_waits_holds_back_later_ones_with_its_people_alone(rig: ItemRig) -> None:
    memory = OpenedMemory(rig.memory)
    rig.say("anna", ["later", "yes"], at=OLD + timedelta(days=1))
    rig.load()
    first = rig.one("SELECT id FROM interactions ORDER BY ended_at LIMIT 1")
    stage = rig.memory.items
    rig.run(
        "INSERT INTO reading_attempts (interaction_id, input_hash, prompt_version, model_version, attempts, state,"
        " retry_at, last_error) SELECT id, input_hash, %s, %s, 1, 'waiting', now() + interval '1 hour', 'busy'"
        " FROM interactions WHERE id = %s",
        stage.prompt_version, stage.access.model, first,
    )  # fmt: skip
    assert not has_work(memory, ITEMS)
    rig.say("boris", ["I will call the bank.", "Good"])
    rig.load()
    assert has_work(memory, ITEMS)


def test_a_run_that_loses_its_database_goes_on_where_it_stopped(
    rig: ItemRig, execute: Execute, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(1, 5):
        rig.say("anna", [f"I will send key {day}.", "I sent the keys."], at=OLD + timedelta(days=day))
    rig.load()
    monkeypatch.setattr(free_pass, "READ_AT_ONCE", 1)
    memory, whole, seen = OpenedMemory(rig.memory), Statements.execute, 0

    def dying(self: Statements, connection: Any, asked: str, *given: Any) -> Any:
        nonlocal seen
        seen += asked == "save"
        if seen >= 3:
            raise psycopg.OperationalError("the connection is gone")
        return whole(self, connection, asked, *given)

    with monkeypatch.context() as broken:
        broken.setattr(Statements, "execute", dying)
        assert not execute(memory, JOB).success
    assert rig.one("SELECT count(*) FROM interaction_readings") == 2
    rig.leases_ran_out()
    assert execute(memory, JOB).success
    ended = rig.derived()
    assert rig.one("SELECT count(*) FROM interaction_readings") == 5
    rig.run("TRUNCATE interaction_readings, items, item_people, item_states, entity_facts")
    assert execute(memory, JOB).success
    assert rig.derived() == ended


BROKEN = {
    "grounding": "UPDATE item_states SET quote = 'never said'",
    "deleted": "UPDATE messages SET deleted_at = now() WHERE position('keys' IN content) > 0",
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_checks_find_what_nobody_said_and_what_was_deleted(rig: ItemRig, name: str) -> None:
    memory = OpenedMemory(rig.memory)
    rig.read(ScriptedLlm(by(promises), is_paid=False))
    names = ("grounding", "deleted")
    assert [one.passed for one in memory.verify(ITEMS, names, None)] == [True, True]
    rig.run(BROKEN[name])
    found = {one.name: one for one in memory.verify(ITEMS, names, None)}
    assert {key: one.passed for key, one in found.items()} == {key: key != name for key in names}
    assert found[name].is_error
    assert "keys" not in str(found[name])
    rig.run("UPDATE items SET is_withheld = true")
    rig.run("UPDATE item_states SET is_withheld = true")
    assert [one.passed for one in memory.verify(ITEMS, names, None)] == [True, True]
