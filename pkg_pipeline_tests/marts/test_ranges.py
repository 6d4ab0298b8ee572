"""A build of a range replaces exactly its range, by dbt's own command and as a run of Dagster's."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import psycopg
import pytest

from pkg_pipeline.defs import partitions
from pkg_pipeline.defs.assets import dbt_marts
from pkg_pipeline.defs.automation import mart_freshness, mart_schedules
from pkg_pipeline.defs.resources import RESOURCE
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.marts.conftest import dbt

KEYS = {"coverage_daily": "day", "llm_cost_daily": "day", "compression": "day", "relationships_weekly": "week"}
DAYS = [dg.AssetKey(name) for name, key in KEYS.items() if key == "day"]


def digests(url: str) -> dict[tuple[str, date], str]:
    """One of every key's rows, with the moment they were built: a row written again unchanged has another."""
    found: dict[tuple[str, date], str] = {}
    with psycopg.connect(url) as connection:
        for mart, key in KEYS.items():
            statement = f"SELECT {key}, md5(string_agg(m::text, '|' ORDER BY m::text)) FROM marts.{mart} m GROUP BY 1"
            found |= {(mart, row[0]): row[1] for row in connection.execute(statement)}
    return found


@pytest.fixture
def definitions(built_url: str, manifest: Path, tmp_path: Path) -> dg.Definitions:
    start = date(2024, 1, 1)
    marts = dbt_marts.build(
        daily=partitions.daily(start=start, timezone="UTC"),
        weekly=partitions.weekly(start=start, timezone="UTC"),
        manifest=manifest,
    )
    memory = SimpleNamespace(settings=Settings(home=tmp_path), database_url=built_url)
    return dg.Definitions(
        assets=marts.assets,
        jobs=marts.jobs,
        resources={RESOURCE: dg.ResourceDefinition.hardcoded_resource(memory), **marts.resources},
        executor=dg.in_process_executor,
    )


@pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:AssetExecutionContext.op is deprecated:DeprecationWarning")  # dagster-dbt's own
def test_a_run_over_two_days_changes_only_them_and_an_emptied_day_vanishes(
    built_url: str, definitions: dg.Definitions, capfd: pytest.CaptureFixture[str]
) -> None:
    """1, 2 and 3 February change at their source, 1 and 2 are built: 1 is new, 2 was emptied, 3 stays as it was."""
    before = digests(built_url)
    with psycopg.connect(built_url, options="-csearch_path=pkg") as connection:
        connection.execute("UPDATE interactions SET message_count = 7 WHERE day IN ('2024-02-01', '2024-02-03')")
        connection.execute("DELETE FROM interactions WHERE day = '2024-02-02'")
        connection.execute("UPDATE interaction_summaries SET summary_token_count = 20 WHERE status = 'completed'")
        connection.execute("UPDATE llm_calls SET cost_usd = cost_usd + 1")
    with dg.DagsterInstance.ephemeral() as instance:
        for day in ("2024-02-01", "2024-02-02", "2024-02-03"):
            instance.report_runless_asset_event(dg.AssetMaterialization("interaction_summaries", partition=day))
        assert mart_freshness.stale(instance, mart_schedules.SUMMARIES, DAYS) == {
            "2024-02-01",
            "2024-02-02",
            "2024-02-03",
        }
        ran = definitions.resolve_job_def(mart_schedules.DAYS_JOB).execute_in_process(
            instance=instance,
            tags={
                "dagster/asset_partition_range_start": "2024-02-01",
                "dagster/asset_partition_range_end": "2024-02-02",
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        capfd.readouterr()
        checks = {one.check_name: one.passed for one in ran.get_asset_check_evaluations()}
        assert mart_freshness.stale(instance, mart_schedules.SUMMARIES, DAYS) == {"2024-02-03"}
        instance.report_runless_asset_event(dg.AssetMaterialization("interaction_summaries", partition="2024-02-01"))
        assert mart_freshness.stale(instance, mart_schedules.SUMMARIES, DAYS) == {"2024-02-01", "2024-02-03"}
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


def test_days_that_nothing_announces_reach_from_the_newest_built_day_to_today() -> None:
    """The ledger's days, and those too young to be summarised: at least the recent ones, never before the first."""
    mart, today, first = dg.AssetKey("llm_cost_daily"), date(2024, 3, 15), date(2024, 1, 1)

    def asked(instance: dg.DagsterInstance, **more: Any) -> tuple[str, str, int]:
        given: dict[str, Any] = {"today": today, "recent_days": 8, "first": first, **more}
        days = mart_freshness.since_last_build(instance, mart, **given)
        return days[0], days[-1], len(days)

    with dg.DagsterInstance.ephemeral() as instance:
        assert asked(instance) == ("2024-03-07", "2024-03-15", 9)  # nothing ever ran
        assert asked(instance, first=date(2024, 3, 10)) == ("2024-03-10", "2024-03-15", 6)
        instance.report_runless_asset_event(dg.AssetMaterialization(mart, partition="2024-02-20"))
        assert asked(instance) == ("2024-02-20", "2024-03-15", 25)
        instance.report_runless_asset_event(dg.AssetMaterialization(mart, partition="2024-03-14"))
        assert asked(instance) == ("2024-03-07", "2024-03-15", 9)


def test_the_morning_asks_for_a_run_a_stretch(tmp_path: Path) -> None:
    daily = partitions.daily(start=date(2024, 1, 1), timezone="UTC")

    @dg.asset(name="coverage_daily", partitions_def=daily)
    def marts() -> None: ...

    now = datetime(2024, 6, 1, tzinfo=UTC)
    memory = SimpleNamespace(
        settings=Settings(home=tmp_path, now=now),
        clock=SimpleNamespace(now=lambda: now),
        partitions_start=date(2024, 1, 1),
    )
    by_day, _ = mart_schedules.build(by_day=marts, by_week=marts, timezone="UTC")
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        for day in ("2024-01-05", "2024-01-06", "2024-03-20"):
            instance.report_runless_asset_event(dg.AssetMaterialization("interaction_summaries", partition=day))
        context = dg.build_schedule_context(instance, resources={RESOURCE: memory}, scheduled_execution_time=now)
        found = by_day.evaluate_tick(context).run_requests or []
    spans = [
        (run.tags.get("dagster/asset_partition_range_start"), run.tags.get("dagster/asset_partition_range_end"))
        for run in found
    ]
    # two old days, one on its own (a single key is tagged as such), what is young by the pinned clock, today's calls
    assert spans[:3] == [("2024-01-05", "2024-01-06"), (None, None), ("2024-05-24", "2024-06-01")]
    assert found[1].tags["dagster/partition"] == "2024-03-20"
    assert len(spans) == 4
