"""dbt as a process, and a database in which everything is built: once a test run, copied for each test."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import fasteners
import psycopg
import pytest

from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline_tests.conftest import FOLDER_VARIABLE
from pkg_pipeline_tests.databases import TEMPLATE
from pkg_pipeline_tests.marts import small_memory

DBT, PROJECT = dbt_project.EXECUTABLE, dbt_project.PROJECT
BUILT = "pkg_marts_built"
VARIABLES = {"now": small_memory.NOW, "live_cap_usd": 1, "backfill_cap_usd": 5}


def dbt(command: str, url: str, target: Path, *options: str, **variables: object) -> subprocess.CompletedProcess[str]:
    """The command over the project with the small memory's variables."""
    environment = {
        **os.environ,
        **dbt_project.variables(url),
        "DBT_TARGET_PATH": str(target),
        "DBT_LOG_PATH": str(target),
    }
    project = ["--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT)]
    given = ["--vars", json.dumps({**VARIABLES, **variables})]
    return subprocess.run(
        [str(DBT), command, *project, *given, *options],
        env=environment, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


@pytest.fixture(scope="session")
def built_database(server_url: str) -> str:
    """Name of the database in which the small memory's marts were built and tested; nobody connects to it."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    with fasteners.InterProcessLock(folder / "marts.lock"):
        if not (folder / "marts.built").exists():
            _create(server_url, BUILT, TEMPLATE)
            url = engine.with_database(server_url, BUILT)
            small_memory.fill(url)
            built = dbt("build", url, folder / "marts")
            assert built.returncode == 0, built.stdout
            assert "WARN=0 ERROR=0 SKIP=0" in built.stdout
            (folder / "marts.built").touch()
    return BUILT


@pytest.fixture(scope="session")
def manifest(built_database: str) -> Path:
    """What dbt parsed when it built them."""
    del built_database
    return Path(os.environ[FOLDER_VARIABLE]) / "marts" / "manifest.json"


@pytest.fixture
def built_url(server_url: str, built_database: str) -> Iterator[str]:
    """A copy of the built database for one test."""
    name = f"t_{uuid.uuid4().hex}"
    with fasteners.InterProcessLock(Path(os.environ[FOLDER_VARIABLE]) / "marts.lock"):
        _create(server_url, name, built_database)
    yield engine.with_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _create(server_url: str, name: str, template: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
