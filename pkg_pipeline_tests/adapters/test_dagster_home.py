"""Dagster's home over a real database: the file, the schema, the environment, no password anywhere on disk."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
import psycopg
import pytest
import yaml

from pkg_pipeline.adapters import dagster_home


@dg.op
def nothing() -> None: ...


@dg.job
def job() -> None:
    nothing()


def test_the_file_is_written_once_and_kept_up_to_date(tmp_path: Path) -> None:
    file = dagster_home.write(tmp_path / "dagster")
    first = file.stat()
    assert dagster_home.write(tmp_path / "dagster").stat().st_mtime_ns == first.st_mtime_ns
    file.write_text(f"{dagster_home.MARK}\ntelemetry: {{enabled: true}}\n", encoding="utf-8")
    dagster_home.write(tmp_path / "dagster")
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["telemetry"] == {"enabled": False}


def test_a_file_that_a_person_took_over_is_left_alone(tmp_path: Path) -> None:
    mine = "telemetry: {enabled: false}\n"
    (tmp_path / "dagster.yaml").write_text(mine, encoding="utf-8")
    assert dagster_home.write(tmp_path).read_text(encoding="utf-8") == mine


def test_backfills_leave_places_for_what_is_live() -> None:
    def limits(running: dagster_home.Running) -> tuple[int, set[int]]:
        runs = yaml.safe_load(running.yaml)["concurrency"]["runs"]
        mine = [one for one in runs["tag_concurrency_limits"] if one["key"] != "pkg/memory"]
        return runs["max_concurrent_runs"], {one["limit"] for one in mine}

    assert limits(dagster_home.Running()) == (3, {1})
    assert limits(dagster_home.Running(1)) == (1, {1})
    assert limits(dagster_home.Running(10)) == (10, {8})


def test_with_a_broker_runs_go_to_workers_and_its_password_into_no_file(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = dagster_home.Running(4, "redis://:hunter2@127.0.0.1:1/0")
    with dagster_home.prepared(tmp_path, database_url, running) as instance:
        launcher = instance.run_launcher
        assert type(launcher).__name__ == "WatchedCeleryRunLauncher"
        assert launcher.broker == launcher.backend == running.broker  # type: ignore[attr-defined]
        assert launcher.celery.conf.task_acks_late  # type: ignore[attr-defined]
    assert "hunter2" not in (tmp_path / "dagster.yaml").read_text(encoding="utf-8")
    monkeypatch.delenv(dagster_home.BROKER_VARIABLE, raising=False)
    with dagster_home.instance(tmp_path, database_url) as instance:
        assert type(instance.run_launcher).__name__ == "DefaultRunLauncher"


def test_runs_are_kept_in_schema_dagster_and_found_again(tmp_path: Path, database_url: str) -> None:
    for _ in range(2):
        with dagster_home.prepared(tmp_path, database_url) as instance:
            assert job.execute_in_process(instance=instance).success
    with dagster_home.instance(tmp_path, database_url) as instance:
        assert len(instance.get_runs()) == 2
        assert instance.telemetry_enabled is False
        assert instance.nux_enabled is False
        assert instance.run_monitoring_enabled
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT table_schema, count(*) FROM information_schema.tables"
            " WHERE table_name IN ('runs', 'event_logs', 'job_ticks') GROUP BY 1"
        ).fetchall()
    assert found == [("dagster", 3)]


def test_the_environment_is_as_before_afterwards(tmp_path: Path, database_url: str, monkeypatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "/somewhere/else")
    monkeypatch.delenv(dagster_home.URL_VARIABLE, raising=False)
    with dagster_home.instance(tmp_path, database_url):
        assert os.environ["DAGSTER_HOME"] == str(tmp_path)
    assert os.environ["DAGSTER_HOME"] == "/somewhere/else"
    assert dagster_home.URL_VARIABLE not in os.environ


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@db.example:6543/memory?sslmode=require",
        "postgres://me:hunter2@db.example/memory",
        "postgresql+psycopg://me:hunter2@db.example/memory",
    ],
)
def test_the_password_is_in_the_environment_and_in_no_file(tmp_path: Path, url: str) -> None:
    made = dagster_home.environment(tmp_path, url)[dagster_home.URL_VARIABLE]
    assert made.startswith("postgresql+psycopg2://me:hunter2@db.example")
    assert "options=-csearch_path%3Ddagster" in made
    dagster_home.write(tmp_path)
    assert all("hunter2" not in file.read_text(encoding="utf-8") for file in tmp_path.rglob("*") if file.is_file())
