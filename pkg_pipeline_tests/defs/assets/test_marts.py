"""The marts among Dagster's assets: with a manifest, without one, and that everything in it is described."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs import partitions
from pkg_pipeline.defs.assets import dbt_marts

DAILY = partitions.daily(start=date(2024, 1, 1), timezone="UTC")
WEEKLY = partitions.weekly(start=date(2024, 1, 1), timezone="UTC")


@pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning")
@pytest.mark.skipif(importlib.util.find_spec("dagster_dbt") is None, reason="NOT RUN: dagster-dbt is not installed")
@pytest.mark.skipif(not dbt_marts.MANIFEST.exists(), reason="NOT RUN: there is no manifest; make it by: make env")
def test_the_marts_hang_on_the_assets_they_are_made_of() -> None:
    found = dbt_marts.build(daily=DAILY, weekly=WEEKLY)
    whole, by_day, by_week = found.assets
    parents = {
        spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps}
        for assets in found.assets
        for spec in assets.specs
    }
    assert parents["decisions"] == {"messages", "interactions", "interaction_summaries"}
    assert parents["action_items"] == {"messages", "interactions", "interaction_summaries", "memory_day"}
    assert parents["relationships_weekly"] == {"entity_relationship_profiles"}
    assert {spec.group_name for assets in found.assets for spec in assets.specs} == {"marts"}
    assert (whole.partitions_def, by_day.partitions_def, by_week.partitions_def) == (None, DAILY, WEEKLY)
    assert {key.to_user_string() for key in by_day.keys} == {"coverage_daily", "llm_cost_daily", "compression"}
    assert by_day.backfill_policy == by_week.backfill_policy == dg.BackfillPolicy.single_run()
    checks = {check.name: check for assets in found.assets for check in assets.check_specs}
    assert all(check.blocking for check in checks.values())
    singular = {file.stem for file in (dbt_marts.PROJECT / "tests").glob("*.sql")}
    assert len(singular) >= 5
    assert singular <= set(checks), "a test that is no check of an asset is run by nobody"
    assert [job.name for job in found.jobs] == ["build_day_marts", "build_week_marts"]
    assert [one.name for one in found.schedules] == ["day_marts_at_six", "week_marts_at_six"]
    assert {one.default_status for one in found.schedules} == {dg.DefaultScheduleStatus.RUNNING}


def test_without_a_manifest_the_core_loads_and_a_warning_says_what_to_do(tmp_path: Path) -> None:
    with pytest.warns(dbt_marts.MartsMissing, match="make env"):
        marts = dbt_marts.build(daily=DAILY, weekly=WEEKLY, manifest=tmp_path / "manifest.json")
    assert (list(marts.assets), list(marts.jobs), list(marts.schedules), dict(marts.resources)) == ([], [], [], {})


def described() -> dict[str, dict[str, Any]]:
    import yaml

    found: dict[str, dict[str, Any]] = {}
    for file in (dbt_marts.PROJECT / "models").rglob("*.yml"):
        for model in yaml.safe_load(file.read_text(encoding="utf-8")).get("models", []):
            found[model["name"]] = model
    return found


def test_every_model_and_column_is_described_and_the_marts_contracts_are_enforced() -> None:
    import yaml

    project = yaml.safe_load((dbt_marts.PROJECT / "dbt_project.yml").read_text(encoding="utf-8"))
    folders = project["models"]["pkg_marts"]
    for folder in ("marts", "by_day", "by_week"):
        assert folders[folder]["+contract"] == {"enforced": True}
    assert project["flags"]["send_anonymous_usage_stats"] is False
    models = described()
    assert set(models) == {file.stem for file in (dbt_marts.PROJECT / "models").rglob("*.sql")}
    for name, model in models.items():
        assert model["description"], name
        assert all(column["description"] for column in model["columns"]), name
        assert name.startswith("stg_") or all(column["data_type"] for column in model["columns"]), name


def test_tables_hold_no_words() -> None:
    """What is deleted or forgotten must not live on in a table until its range is built again."""
    labels = {"lane", "task", "model", "model_version", "language", "method", "relationship_type", "frequency"}
    for folder in ("by_day", "by_week"):
        for file in (dbt_marts.PROJECT / "models" / folder).glob("*.sql"):
            columns = described()[file.stem]["columns"]
            assert {one["name"] for one in columns if one["data_type"].startswith("text")} <= labels, file.stem
