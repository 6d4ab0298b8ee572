"""Imports that the command line or the API made: the next run shows them, once, with their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from pkg_pipeline.adapters.postgres.monitoring.work import Unreported
from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.automation import sensors
from pkg_pipeline.defs.automation.due import has_work
from pkg_pipeline.defs.hops import ASSETS
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline_tests.defs.fakes import FIRST_DAY, FakeMemory

TWICE = {
    "messages": [
        Unreported(1, {"files": 1, "messages_new": 12}),
        Unreported(2, {"files": 2, "messages_new": 5, "messages_updated": 1}),
    ],
    "interactions": [Unreported(3, {"rows": 4, "chats": 2, "messages": 18})],
}


def imported(home: Path) -> FakeMemory:
    memory = FakeMemory(home)
    memory.elsewhere = {asset: list(held) for asset, held in TWICE.items()}
    return memory


def numbers(instance: dg.DagsterInstance, asset: str) -> dict[str, Any]:
    (record,) = instance.fetch_materializations(dg.AssetKey(asset), limit=9).records
    assert record.asset_materialization is not None
    return {name: value.value for name, value in record.asset_materialization.metadata.items()}


def test_they_are_materialisations_of_one_run_each_and_no_work_afterwards(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    memory = imported(tmp_path)
    rows: list[RunRow] = []
    here.run_due(LocalRuns(memory, instance), memory, ASSETS, rows.append)
    assert [(row.asset, row.rows) for row in rows] == [("messages", 18), ("interactions", 9)]
    assert {name: numbers(instance, "messages")[name] for name in ("files", "messages_new", "messages_updated")} == {
        "files": 3,
        "messages_new": 17,
        "messages_updated": 1,
    }
    assert numbers(instance, "interactions")["messages"] == 58  # forty of the run itself
    assert not any(has_work(memory, asset) for asset in ASSETS)


def test_the_sensors_ask_for_the_two_runs(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = imported(tmp_path)
    found = {one.name: one for one in sensors.build(memory.settings, start=FIRST_DAY)}
    for name, reason in (
        ("inbox", "0 drops in the inbox, 2 imports from the command line"),
        ("touched_chats", "0 chats touched, 0 interactions silent, 1 imports from the command line"),
    ):
        with dg.build_sensor_context(instance=instance, resources={"memory": memory}) as context:
            (request,) = found[name].evaluate_tick(context).run_requests or []
        assert request.tags["pkg/reason"] == reason


def test_messages_that_came_by_the_api_are_shown_by_the_run_that_found_them(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    for _ in range(2):
        memory = FakeMemory(tmp_path, due={"interactions": ["chat-a"]})
        here.run_due(LocalRuns(memory, instance), memory, ("interactions",), lambda _: None)
    assert numbers(instance, "messages") == {"rows": 40}
