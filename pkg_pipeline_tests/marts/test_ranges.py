"""A build of a range replaces exactly its range, by dbt's own command and as a run of Dagster's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import dagster as dg
import psycopg
import pytest

from pkg_pipeline import wiring
from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore
from pkg_pipeline.defs import partitions
from pkg_pipeline.defs.assets import marts
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.defs.resources import RESOURCE
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.conftest import REPOSITORY
from pkg_pipeline_tests.marts import small_memory
from pkg_pipeline_tests.marts.conftest import dbt

KEYS = {"coverage_daily": "day", "llm_cost_daily": "day", "compression": "day", "relationships_weekly": "week"}
DAYS = [name for name, key in KEYS.items() if key == "day"]


def digests(url: str) -> dict[tuple[str, date], str]:
    """One of every key's rows, with the moment they were built: a row written again unchanged has another."""
    found: dict[tuple[str, date], str] = {}
    with psycopg.connect(url) as connection:
        for mart, key in KEYS.items():
            statement = f"SELECT {key}, md5(string_agg(m::text, '|' ORDER BY m::text)) FROM marts.{mart} m GROUP BY 1"
            found |= {(mart, row[0]): row[1] for row in connection.execute(statement)}
    return found


@pytest.fixture
def memory(built_url: str, tmp_path: Path) -> Iterator[OpenedMemory]:
    """The small memory at its moment; every mart was built by this program up to then."""
    given = {"home": tmp_path, "database_url": built_url, "now": small_memory.NOW, "timezone": "Europe/Berlin"}
    with wiring.open_memory(
        Settings.model_validate({**given, "live_usd_per_day": 1, "backfill_usd_per_day": 5})
    ) as found:
        PostgresWorkStore(found.connections).keep_last_marts(dbt_project.digest(), date(2024, 3, 15))
        yield OpenedMemory(found)


def attempt(url: str, *keys: str, asset: str = "interaction_summaries") -> None:
    """A run attempts these partitions."""
    with psycopg.connect(url, options="-csearch_path=pkg") as connection:
        for key in keys:
            connection.execute(
                "INSERT INTO partition_states AS s (asset, partition_key, processed_version, attempts)"
                " VALUES (%s, %s, 1, 1) ON CONFLICT (asset, partition_key) DO UPDATE SET attempts = s.attempts + 1",
                (asset, key),
            )


def change_source(url: str) -> None:
    """1, 2 and 3 February change, 2 has nothing any more; costs change on every day."""
    with psycopg.connect(url, options="-csearch_path=pkg") as connection:
        connection.execute("UPDATE interactions SET message_count = 7 WHERE day IN ('2024-02-01', '2024-02-03')")
        connection.execute("DELETE FROM interactions WHERE day = '2024-02-02'")
        connection.execute("UPDATE interaction_summaries SET summary_token_count = 20 WHERE status = 'completed'")
        connection.execute("UPDATE llm_calls SET cost_usd = cost_usd + 1")


def test_a_run_over_two_days_changes_only_them_and_an_emptied_day_vanishes(
    built_url: str, memory: OpenedMemory
) -> None:
    """1, 2 and 3 February change at their source, 1 and 2 are built: 1 is new, 2 was emptied, 3 stays as it was."""
    before = digests(built_url)
    change_source(built_url)
    attempt(built_url, "2024-02-01", "2024-02-02", "2024-02-03")
    made = dg.Definitions(
        assets=marts.build(
            dbt_project.prepare(REPOSITORY),
            daily=partitions.daily(start=date(2024, 1, 1), timezone="UTC"),
            weekly=partitions.weekly(start=date(2024, 1, 1), timezone="UTC"),
        ),
        jobs=[dg.define_asset_job("days", selection=DAYS)],
        resources={RESOURCE: dg.ResourceDefinition.hardcoded_resource(memory)},
        executor=dg.in_process_executor,
    )
    assert list(memory.marts.outdated("by_day")) == ["2024-02-01", "2024-02-02", "2024-02-03"]
    with dg.DagsterInstance.ephemeral() as instance:
        ran = made.resolve_job_def("days").execute_in_process(
            instance=instance,
            tags={
                "dagster/asset_partition_range_start": "2024-02-01",
                "dagster/asset_partition_range_end": "2024-02-02",
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        checks = {one.check_name: one.passed for one in ran.get_asset_check_evaluations()}
    assert list(memory.marts.outdated("by_day")) == ["2024-02-03"]
    attempt(built_url, "2024-02-01")
    assert list(memory.marts.outdated("by_day")) == ["2024-02-01", "2024-02-03"]
    assert checks["cost_equals_the_ledger"]
    assert checks["a_day_covers_no_more_than_it_holds"]
    after = digests(built_url)
    first, second = date(2024, 2, 1), date(2024, 2, 2)
    assert {key for key in before | after if before.get(key) != after.get(key)} == {
        ("coverage_daily", first),
        ("compression", first),
        ("coverage_daily", second),
        ("compression", second),
    }
    assert ("coverage_daily", second) not in after
    assert ("compression", second) not in after


def test_a_first_build_holds_only_its_range_and_weeks_are_replaced_alike(built_url: str, tmp_path: Path) -> None:
    before = digests(built_url)
    with psycopg.connect(built_url) as connection:
        connection.execute("DROP TABLE marts.coverage_daily")
        connection.execute("UPDATE pkg.entity_relationship_profiles SET total_messages = 99")
    selection = ["--select", "coverage_daily", "relationships_weekly"]
    built = dbt("build", built_url, tmp_path, *selection, min_date="2024-03-03", max_date="2024-03-10")
    assert built.returncode == 0, built.stdout
    after = digests(built_url)
    assert [key for key in after if key[0] == "coverage_daily"] == [("coverage_daily", date(2024, 3, 10))]
    weeks = [key for key in before if key[0] == "relationships_weekly" and before[key] != after.get(key)]
    assert weeks == [("relationships_weekly", date(2024, 3, 3))]


def test_one_build_takes_what_is_outdated_and_the_last_days_and_nothing_else(
    built_url: str, memory: OpenedMemory
) -> None:
    """Of three days that changed one was attempted, and a week elsewhere; the last days are too young for it."""
    assert not memory.marts.are_outdated()
    before = digests(built_url)
    change_source(built_url)
    attempt(built_url, "2024-02-01")
    attempt(built_url, "2024-03-03", asset="entity_relationship_profiles")
    assert memory.marts.are_outdated()
    built = memory.marts.build()
    assert dbt_project.failed(built.results) == []
    assert built.keys == {"by_day": ["2024-02-01"], "by_week": ["2024-03-03"]}
    assert all(one.succeeded for one in built.results)
    assert {one.mart for one in built.results if one.name == "cost_equals_the_ledger"} == {"llm_cost_daily"}
    after = digests(built_url)
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    days = {day for mart, day in changed if mart != "relationships_weekly"}
    assert date(2024, 2, 1) in days
    assert not days & {date(2024, 2, 2), date(2024, 2, 3)}
    assert min(days - {date(2024, 2, 1)}) >= date(2024, 3, 3)
    assert not memory.marts.are_outdated()
    # a day that is attempted while a build reads is outdated afterwards
    attempt(built_url, "2024-02-01")
    assert list(memory.marts.outdated("by_day")) == ["2024-02-01"]


def test_the_first_build_and_that_of_another_project_take_everything(built_url: str, memory: OpenedMemory) -> None:
    store = PostgresWorkStore(memory._memory.connections)
    store.keep_last_marts("another", date(2024, 3, 15))
    assert memory.marts.are_outdated()
    before = digests(built_url)
    assert dbt_project.failed(memory.marts.build().results) == []
    after = digests(built_url)
    assert before.keys() == after.keys()
    assert all(before[key] != after[key] for key in before)
    found = store.last_marts()
    assert found is not None
    assert found[0] == dbt_project.digest()


def test_the_job_tells_dagster_of_every_mart_key_and_check_and_waits_for_publication(
    built_url: str, memory: OpenedMemory
) -> None:
    attempt(built_url, "2024-02-01")
    held = {RESOURCE: dg.ResourceDefinition.hardcoded_resource(memory)}
    made = build_definitions(
        start=date(2024, 1, 1), settings=memory.settings, resource_overrides=held, marts=False
    ).resolve_job_def("build_marts")
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    with dg.DagsterInstance.ephemeral() as instance:
        assert made.execute_in_process(instance=instance, run_config=quiet).success
        told = {
            key: instance.get_materialized_partitions(dg.AssetKey(key))
            for key in ("coverage_daily", "relationships_weekly")
        }
        assert told == {"coverage_daily": {"2024-02-01"}, "relationships_weekly": set()}
        assert instance.get_latest_materialization_event(dg.AssetKey("decisions")) is not None
        bad = dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey("interaction_summaries"), check_name="grounding", passed=False, description="2 items"
        )
        instance.report_runless_asset_event(bad)
        attempt(built_url, "2024-02-02")
        held_back = made.execute_in_process(instance=instance, run_config=quiet, raise_on_error=False)
        assert not held_back.success
        assert list(memory.marts.outdated("by_day")) == ["2024-02-02"]
