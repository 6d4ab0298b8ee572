"""Memories are made and dropped whole: whatever a killed process left, the next one finds one or none."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pkg_pipeline.adapters.postgres import engine, memories
from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.adapters.postgres.memories import MemoryExists, MemoryUnknown
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline_tests.stages.many_memories import named_deployment


@pytest.fixture
def url(server_url: str) -> Iterator[str]:
    with named_deployment(server_url) as own:
        yield own


def nothing(_: str) -> None:
    pass


def create(url: str, name: str, prepare: Callable[[str], None] = nothing) -> None:
    memories.create(url, name, prepare=prepare, clean=nothing)


def databases(url: str) -> set[str]:
    own = memories.own_database(url)
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", (f"{own}.",))
        return {str(row[0]).removeprefix(f"{own}.") for row in found.fetchall()}


def test_they_are_made_listed_and_dropped(url: str) -> None:
    for name in ("bob", "anna", "a-b_c2"):
        create(url, name)
    assert memories.names(url) == [one.memory for one in memories.listed(url)] == ["a-b_c2", "anna", "bob"]
    assert {one.connections for one in memories.listed(url)} == {0}
    assert migrate.current(memories.url_of(url, "anna")) == migrate.head()
    with pytest.raises(MemoryExists):
        create(url, "anna")
    gone: list[str] = []
    with engine.connect(memories.url_of(url, "anna"), autocommit=True) as using:
        memories.drop(url, "anna", clean=gone.append)
        with pytest.raises(psycopg.OperationalError):
            using.execute("SELECT 1")
    assert gone == ["anna"]
    with pytest.raises(MemoryUnknown):
        memories.drop(url, "anna", clean=gone.append)
    with pytest.raises(MemoryUnknown):
        memories.require(url, "anna")
    memories.require(url, "bob")
    assert memories.drop_all(url, clean=gone.append) == ["a-b_c2", "bob"]
    assert databases(url) == set()


def test_one_of_the_same_name_is_another(url: str) -> None:
    with engine.connect(url, autocommit=True) as connection:
        database = memories.database_of(url, "anna")
        create(url, "anna")
        first = memories.identity(connection, database)
        memories.drop(url, "anna", clean=nothing)
        assert memories.identity(connection, database) is None
        create(url, "anna")
        assert memories.identity(connection, database) not in (None, first)


def test_two_deployments_of_one_server_do_not_see_each_other(server_url: str) -> None:
    with named_deployment(server_url) as one, named_deployment(server_url) as other:
        create(one, "anna")
        assert memories.names(other) == []
        with pytest.raises(MemoryUnknown):
            memories.drop(other, "anna", clean=nothing)
        create(other, "anna")
        memories.drop(one, "anna", clean=nothing)
        assert memories.names(other) == ["anna"]


def test_a_name_that_postgresql_would_cut_is_refused(url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="63 bytes"):
        create(url, "x" * 60)


def killed_in(step: Callable[[], None]) -> None:
    """Runs it in a process that kills itself where the step says so."""
    child = multiprocessing.get_context("fork").Process(target=step)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL


def kill(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_killed_while_one_is_made_there_is_none_and_it_can_be_made(url: str) -> None:
    create(url, "bob")
    killed_in(lambda: create(url, "anna", kill))
    assert memories.names(url) == ["bob"]
    assert "NEW" in databases(url)
    create(url, "carl")
    create(url, "anna")
    assert databases(url) == {"TEMPLATE", "anna", "bob", "carl"}


def test_killed_while_one_is_dropped_it_is_gone_and_the_next_finishes(url: str) -> None:
    create(url, "anna")
    create(url, "bob")
    killed_in(lambda: memories.drop(url, "anna", clean=kill))
    assert memories.names(url) == ["bob"]
    assert "anna" in databases(url), "so that somebody knows which files are left"
    with pytest.raises(MemoryUnknown):
        memories.require(url, "anna")
    finished: list[str] = []
    memories.create(url, "anna", prepare=lambda _: finished.append("made"), clean=finished.append)
    assert finished == ["anna", "made"], "what the old one left is removed before the new one is made"
    assert memories.names(url) == ["anna", "bob"]


def test_files_that_cannot_be_removed_are_not_forgotten(url: str) -> None:
    create(url, "anna")

    def fails(_: str) -> None:
        raise PermissionError(13, "Permission denied", "inbox")

    with pytest.raises(PermissionError):
        memories.drop(url, "anna", clean=fails)
    assert memories.names(url) == []
    finished: list[str] = []
    with pytest.raises(MemoryUnknown):
        memories.drop(url, "anna", clean=finished.append)
    assert finished == ["anna"]
    assert "anna" not in databases(url)


def test_two_that_make_the_same_make_one(url: str, tmp_path: Path) -> None:
    del tmp_path
    fork = multiprocessing.get_context("fork")
    makers = [fork.Process(target=create, args=(url, name)) for name in ("anna", "anna", "bob")]
    for one in makers:
        one.start()
    for one in makers:
        one.join()
    assert sorted(one.exitcode or 0 for one in makers) == [0, 0, 1]
    assert memories.names(url) == ["anna", "bob"]


def test_a_role_that_may_not_make_databases_is_told_so(url: str) -> None:
    role = f"r_{memories.own_database(url)}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        try:
            with pytest.raises(DatabaseUnavailable, match="CREATEDB"):
                create(url.replace("//postgres@", f"//{role}@"), "anna")
        finally:
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
