"""Homes for the command line: with a server of their own, or with a database on the run's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg_pipeline_tests.cli.processes import NOW, Launcher, Program, servers, short_folder


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    started = Launcher()
    yield started
    started.close()


@pytest.fixture
def program(launcher: Launcher) -> Iterator[Program]:
    """On a home that does not exist yet."""
    with short_folder() as folder:
        yield Program(folder / "home", launcher, {"PKG_NOW": NOW})
        kept = (folder / "home" / "postgres.keep").exists()
        left = [] if kept else servers(folder)
    assert left == [], "a server outlived its last user"


@pytest.fixture
def given(launcher: Launcher, database_url: str) -> Iterator[Program]:
    """On an empty home and a migrated database of its own, on the server of the whole test run."""
    with short_folder() as folder:
        yield Program(folder / "home", launcher, {"PKG_NOW": NOW, "DATABASE_URL": database_url})
