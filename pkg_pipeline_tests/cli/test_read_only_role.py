"""A role that may read the memory and nothing else can do every read: commands, routes, sensors and schedules."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import dagster as dg
import psycopg
import pytest
from psycopg import sql

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.pipeline_memory import opened
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.api.test_deleted_words import client_over, questions
from pkg_pipeline_tests.cli.processes import Program
from pkg_pipeline_tests.cli.test_deleted_words import reads
from pkg_pipeline_tests.stages import deleted_words as words

ALSO_READING = (("doctor", "--json"), ("db", "status"), ("archive", "status"))
WRITES_FILES = {"compare"}
SIX = datetime(2025, 3, 16, 6, tzinfo=UTC)


@contextmanager
def reader(url: str) -> Iterator[str]:
    """The URL of a role with SELECT alone; it goes with the block."""
    name = f"reader_{uuid.uuid4().hex}"
    role = sql.Identifier(name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA pkg TO {}").format(role))
        connection.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA pkg TO {}").format(role))
        parts = urlsplit(url)
        login, at, place = parts.netloc.rpartition("@")
        del login
        yield parts._replace(netloc=f"{name}{at or '@'}{place}").geturl()
        connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
        connection.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture
def readable(database_url: str, tmp_path: Path) -> Iterator[str]:
    """A memory with conversations, summaries, folds and chunks, through the eyes of a reader."""
    words.fill(database_url, tmp_path)
    with reader(database_url) as url:
        with engine.connect(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM installation")
        yield url


def settings_of(url: str, home: Path, **more: object) -> Settings:
    given = {"home": home, "database_url": url, "now": words.NOW, "llm": "offline", "embedder": "none"}
    return Settings.model_validate({**given, **more})


def test_every_command_that_reads_answers(readable: str, given: Program, tmp_path: Path) -> None:
    given.variables |= {"DATABASE_URL": readable, "PKG_LLM": "offline", "PKG_EMBEDDER": "none", "PKG_NOW": words.NOW}
    for arguments in (*reads(tmp_path), *ALSO_READING):
        if arguments[0] not in WRITES_FILES:
            said = given(*arguments)
            assert said.code == 0, (arguments, said.err)
            assert "read-only" not in said.err + said.out


def test_every_route_that_reads_answers(readable: str, tmp_path: Path) -> None:
    with (
        wiring.open_memory(settings_of(readable, tmp_path), migrates=False) as memory,
        client_over(memory) as client,
    ):
        for route, path, query in questions(client):
            answer = client.get(path, params=query)
            assert answer.status_code in (200, 404, 422), (route, query, answer.text)


def test_every_tick_looks_and_writes_nothing(readable: str, tmp_path: Path) -> None:
    settings = settings_of(readable, tmp_path, summary_min_age_days=1)
    with opened(settings, works=False) as memory, dg.instance_for_test() as instance:
        made = build_definitions(start=memory.partitions_start, settings=settings, marts=False)  # none of them ticks
        ticked = set[str]()
        for sensor in made.sensors or []:
            assert isinstance(sensor, dg.SensorDefinition)
            with dg.build_sensor_context(instance=instance, resources={"memory": memory}, definitions=made) as context:
                sensor.evaluate_tick(context)
            ticked.add(sensor.name)
        for schedule in made.schedules or []:
            assert isinstance(schedule, dg.ScheduleDefinition)
            with dg.build_schedule_context(
                instance=instance, resources={"memory": memory}, scheduled_execution_time=SIX
            ) as context:
                schedule.evaluate_tick(context)
            ticked.add(schedule.name)
    assert ticked >= {"due_days", "due_weeks", "due_months", "requested_backfills", "summaries_at_three"}


def test_tables_of_another_revision_are_refused_to_who_only_looks(database_url: str, tmp_path: Path) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    with (
        pytest.raises(engine.DatabaseUnavailable, match="db upgrade"),
        opened(settings_of(database_url, tmp_path), works=False),
    ):
        pass


def test_opening_a_current_memory_changes_no_row(database_url: str, tmp_path: Path) -> None:
    words.fill(database_url, tmp_path)

    def written() -> list[tuple[object, ...]]:
        with psycopg.connect(database_url) as connection:
            return connection.execute(
                "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables"
                " WHERE schemaname = 'pkg' ORDER BY relname"
            ).fetchall()

    def settled() -> list[tuple[object, ...]]:
        """Counts reach the view when the sessions that made them end."""
        deadline, before = time.monotonic() + 20, written()
        while time.monotonic() < deadline:
            with psycopg.connect(database_url, autocommit=True) as connection:
                connection.execute("SELECT pg_stat_force_next_flush()")
                found = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
                ).fetchone()
            if found == (0,) and (after := written()) == before:
                return after
            before = written()
        raise AssertionError("others are connected")

    before = settled()
    with opened(settings_of(database_url, tmp_path), works=False) as memory:
        assert memory.partitions_start
        memory.due_weeks()
    assert settled() == before
