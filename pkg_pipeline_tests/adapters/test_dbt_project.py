"""dbt's variables from a database URL."""

from __future__ import annotations

import os

import psycopg
import pytest

from pkg_pipeline.adapters import dbt_project


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgresql://me:p%40ss@db.example:6543/memory?sslmode=require",
            ("db.example", "6543", "me", "p@ss", "memory", "require"),
        ),
        ("postgresql://postgres@/postgres?host=%2Frun%2Fpg", ("/run/pg", "5432", "postgres", "", "postgres", "prefer")),
        ("postgres://me@localhost/memory", ("localhost", "5432", "me", "", "memory", "prefer")),
        ("postgresql+psycopg://me@[::1]:5433/memory", ("::1", "5433", "me", "", "memory", "prefer")),
    ],
)
def test_the_parts_of_a_url(url: str, expected: tuple[str, ...]) -> None:
    found = dbt_project.variables(url)
    names = ("HOST", "PORT", "USER", "PASSWORD", "DATABASE", "SSLMODE")
    assert tuple(found[f"PKG_DBT_{name}"] for name in names) == expected
    assert found["DBT_SEND_ANONYMOUS_USAGE_STATS"] == "false"


def test_the_password_leaves_the_environment_again(database_url: str) -> None:
    url = database_url.replace("postgres@", "postgres:secret@", 1)
    with dbt_project.building(url):
        assert os.environ["PKG_DBT_PASSWORD"] == "secret"
    assert "PKG_DBT_PASSWORD" not in os.environ


def test_one_build_at_a_time(database_url: str) -> None:
    """Two that make the same view or table for the first time would meet."""
    asked = "SELECT pg_try_advisory_lock(hashtext('marts'))"
    with dbt_project.building(database_url), psycopg.connect(database_url) as other:
        assert other.execute(asked).fetchone() == (False,)
