"""The marts among Dagster's assets: with a manifest, without one, and that everything in it is described."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.adapters.dbt_project import PROJECT
from pkg_pipeline.defs import partitions
from pkg_pipeline.defs.assets import marts
from pkg_pipeline_tests.conftest import REPOSITORY

DAILY = partitions.daily(start=date(2024, 1, 1), timezone="UTC")
WEEKLY = partitions.weekly(start=date(2024, 1, 1), timezone="UTC")


@pytest.fixture
def target() -> Path:
    return dbt_project.prepare(REPOSITORY)


def test_the_marts_hang_on_the_assets_they_are_made_of(target: Path) -> None:
    found = marts.build(target, daily=DAILY, weekly=WEEKLY)
    whole, by_day, by_week = found
    parents = {
        spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps}
        for assets in found
        for spec in assets.specs
    }
    assert parents["decisions"] == {"messages", "interactions", "interaction_summaries", "items"}
    assert parents["action_items"] == {"messages", "interactions", "interaction_summaries", "items", "memory_day"}
    assert parents["relationships_weekly"] == {"entity_relationship_profiles"}
    assert {spec.group_name for assets in found for spec in assets.specs} == {"marts"}
    assert (whole.partitions_def, by_day.partitions_def, by_week.partitions_def) == (None, DAILY, WEEKLY)
    assert {key.to_user_string() for key in by_day.keys} == {"coverage_daily", "llm_cost_daily", "compression"}
    assert by_day.backfill_policy == by_week.backfill_policy == dg.BackfillPolicy.single_run()
    checks = {check.name: check for assets in found for check in assets.check_specs}
    assert all(check.blocking for check in checks.values())
    singular = {file.stem for file in (PROJECT / "tests").glob("*.sql")}
    assert len(singular) >= 5
    assert singular <= set(checks), "a test that is no check of an asset is run by nobody"


def test_the_manifest_is_made_on_first_use_in_the_home_and_never_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As installed from a wheel: there is none beside the project, and nobody may write there."""
    package = tmp_path / "site-packages" / "dbt"
    shutil.copytree(PROJECT, package, ignore=shutil.ignore_patterns("target"))
    before = sorted(package.rglob("*"))
    monkeypatch.setattr(dbt_project, "PROJECT", package)
    folder = dbt_project.prepare(tmp_path / "home")
    assert folder.is_relative_to(tmp_path / "home" / "cache")
    made = (folder / "manifest.json").stat().st_mtime_ns
    assert dbt_project.prepare(tmp_path / "home") == folder
    assert (folder / "manifest.json").stat().st_mtime_ns == made
    assert sorted(package.rglob("*")) == before
    assert sorted(folder.parent.iterdir()) == [folder]


def test_a_project_that_dbt_cannot_read_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dbt").mkdir()
    monkeypatch.setattr(dbt_project, "PROJECT", tmp_path / "dbt")
    with pytest.raises(dbt_project.DbtFailed, match="dbt parse"):
        dbt_project.prepare(tmp_path / "home", tmp_path / "home" / "none")


def described() -> dict[str, dict[str, Any]]:
    import yaml

    found: dict[str, dict[str, Any]] = {}
    for file in (PROJECT / "models").rglob("*.yml"):
        for model in yaml.safe_load(file.read_text(encoding="utf-8")).get("models", []):
            found[model["name"]] = model
    return found


def test_every_model_and_column_is_described_and_the_marts_contracts_are_enforced() -> None:
    import yaml

    project = yaml.safe_load((PROJECT / "dbt_project.yml").read_text(encoding="utf-8"))
    folders = project["models"]["pkg_marts"]
    for folder in ("marts", "by_day", "by_week"):
        assert folders[folder]["+contract"] == {"enforced": True}
    assert project["flags"]["send_anonymous_usage_stats"] is False
    models = described()
    assert set(models) == {file.stem for file in (PROJECT / "models").rglob("*.sql")}
    for name, model in models.items():
        assert model["description"], name
        assert all(column["description"] for column in model["columns"]), name
        assert name.startswith("stg_") or all(column["data_type"] for column in model["columns"]), name


def test_tables_hold_no_words() -> None:
    """What is deleted or forgotten must not live on in a table until its range is built again."""
    labels = {"lane", "task", "model", "model_version", "language", "method", "relationship_type", "frequency"}
    for folder in ("by_day", "by_week"):
        for file in (PROJECT / "models" / folder).glob("*.sql"):
            columns = described()[file.stem]["columns"]
            assert {one["name"] for one in columns if one["data_type"].startswith("text")} <= labels, file.stem
