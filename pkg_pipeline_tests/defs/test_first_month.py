"""Partitions begin in the memory's first month; older messages move that back, and nothing that was marked is lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.monitoring.work import first_month
from pkg_pipeline.defs import first_month as older
from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.automation import sensors
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.first_day import begin_if_known
from pkg_pipeline.defs.lanes import range_of
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.defs.fakes import ARCHIVE, CHUNKS, PROFILES, SUMMARIES, FakeMemory
from pkg_pipeline_tests.stages.ingest.import_rig import Rig, line


def keys(definitions: dg.Definitions, asset: str) -> list[str]:
    found = definitions.resolve_asset_graph().get(dg.AssetKey(asset)).partitions_def
    assert found is not None
    return list(found.get_partition_keys(current_time=datetime(2026, 3, 15, tzinfo=UTC)))


def test_days_weeks_and_months_begin_with_the_memory(tmp_path: Path) -> None:
    made = build_definitions(start=date(2025, 11, 1), settings=Settings(home=tmp_path), marts=False)
    # a Sunday: the first week, and the month's first days with it, are there as a whole
    assert [keys(made, asset)[0] for asset in (SUMMARIES, CHUNKS, PROFILES)] == ["2025-10-26"] * 3
    assert keys(made, ARCHIVE)[0] == "2025-11-01"
    assert len(keys(made, SUMMARIES)) == 141, "and not 9,571 from 2000 on"


def test_the_first_month_is_that_of_the_oldest_day_and_never_moves_forward(database_url: str, tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "database_url": database_url})
    this_month = datetime.now(UTC).date().replace(day=1)
    assert begin_if_known(settings) == this_month
    rig = Rig(database_url)
    rig.take([line("c", 1), line("c", 2, minute=1)])
    rig.build()
    assert begin_if_known(settings) == date(2026, 1, 1)
    rig.take([line("c", 3, sent_at="2019-06-07T10:00:00Z")])
    rig.build()
    assert begin_if_known(settings) == date(2019, 6, 1)
    rig.empty()
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO installation VALUES ('partitions_start', '2019-06-01')")
        assert first_month(connection) == date(2019, 6, 1)
    rig.close()
    told = Settings.model_validate({"home": tmp_path, "database_url": database_url, "partitions_start": "2010-05-05"})
    assert begin_if_known(told) == date(2010, 5, 5)
    away = Settings.model_validate({"home": tmp_path, "database_url": "postgresql://127.0.0.1:1/none"})
    assert begin_if_known(away) == this_month


@pytest.mark.parametrize(
    ("asset", "later", "earlier"),
    [
        (SUMMARIES, "2026-01-07", "2019-06-07"),
        (CHUNKS, "2026-01-07", "2019-06-07"),
        (PROFILES, "2026-01-04", "2019-06-02"),
        (ARCHIVE, "2026-01-01", "2019-06-01"),
    ],
)
def test_older_partitions_are_worked_off_and_what_was_marked_stays(
    tmp_path: Path, instance: dg.DagsterInstance, asset: str, later: str, earlier: str
) -> None:
    memory = FakeMemory(tmp_path)
    memory.partitions_start = date(2026, 1, 1)
    rows: list[RunRow] = []
    runs = LocalRuns(memory, instance)
    here.run_partitions(runs, asset, [later], rows.append)
    memory.partitions_start = date(2019, 6, 1)
    here.run_partitions(runs, asset, [earlier], rows.append)
    assert [(row.partition, row.status) for row in rows] == [(later, "done"), (earlier, "done")]
    assert instance.get_materialized_partitions(dg.AssetKey(asset)) == {later, earlier}


def test_nothing_is_asked_for_that_the_loaded_definitions_do_not_have(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until they are loaded anew, which the code server is asked for."""
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2019-06-07", "2026-01-07"]})
    memory.partitions_start = date(2019, 6, 1)
    asked: list[str] = []
    monkeypatch.setattr(older, "_ask_for_reload", asked.append)
    monkeypatch.setenv("PKG_CODE_SERVER", "/run/code")
    found = {one.name: one for one in sensors.build(memory.settings, start=date(2026, 1, 1))}
    with dg.build_sensor_context(instance=instance, resources={"memory": memory}) as context:
        (request,) = found["due_days"].evaluate_tick(context).run_requests or []
        said = older.build(date(2026, 1, 1)).evaluate_tick(context).skip_message
        quiet = older.build(date(2019, 6, 1)).evaluate_tick(context).skip_message
    assert range_of(request.tags) == ("2026-01-07", "2026-01-07")
    assert said == "the memory begins with 2019-06-01, partitions with 2026-01-01: the definitions are loaded anew"
    assert quiet == "partitions begin with 2019-06-01, as the memory does"
    assert asked == ["/run/code"]
