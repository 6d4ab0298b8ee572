"""What tests share: one embedded server a test run, one database a test, a clock that stands, the sample folder."""

from __future__ import annotations

import gc
import os
import signal
import sys
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests import databases, read_demo, scheduling

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"
FOLDER_VARIABLE = "PKG_TEST_FOLDER"
GARBAGE = (50_000, 20, 20)
"""After how many new objects it is looked for, and how often among older ones."""
# Dagster and dbt must not phone home from tests either
os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")
os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
# most tests write talks of a few words, and want their summaries
os.environ["PKG_SUMMARY_MIN_TOKENS"] = "0"
Settings.model_fields["summary_min_tokens"].default = 0
Settings.model_rebuild(force=True)


def pytest_configure(config: pytest.Config) -> None:
    # started in the background of a shell all of this would ignore SIGINT, and so would every process it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput") and FOLDER_VARIABLE not in os.environ:
        os.environ[FOLDER_VARIABLE] = str(databases.new_folder())
        config.stash[_OWNED] = Path(os.environ[FOLDER_VARIABLE])
        _keep_bytecode(Path(sys.prefix) / "bytecode")


def _keep_bytecode(folder: Path) -> None:
    """Where nothing may be written beside the sources, each of the many processes would compile everything anew.

    The folder is in the environment, which ``make clean`` removes.
    """
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode, sys.pycache_prefix = False, str(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests stay to the end. To look through them for garbage again and again is half of collecting, and a
    twentieth of reading the labelled talks.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(*GARBAGE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    scheduling.order(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    return scheduling.Scheduling(config, log)


_OWNED = pytest.StashKey[Path]()


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = config.stash.get(_OWNED, None)
    if folder is not None:
        databases.remove(folder)
        os.environ.pop(FOLDER_VARIABLE, None)


@pytest.fixture(scope="session")
def server_url() -> str:
    """The test run's server, started by the first test that asks, in whichever worker that runs."""
    return databases.start(Path(os.environ[FOLDER_VARIABLE]))


@pytest.fixture(scope="session")
def administrator(server_url: str) -> Iterator[psycopg.Connection]:
    """Makes and drops databases; to connect for each of them would cost a fifth of both."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        yield connection


@contextmanager
def _copied(administrator: psycopg.Connection, server_url: str, template: str) -> Iterator[str]:
    name = f"t_{uuid.uuid4().hex}"
    administrator.execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(*map(sql.Identifier, (name, template)))
    )
    yield engine.with_database(server_url, name)
    administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def copy_of(administrator: psycopg.Connection, server_url: str) -> Iterator[Callable[[str], str]]:
    """The URL of a new database of this test's own, by the name of the one that it is like (``databases.kept``)."""
    with ExitStack() as made:
        yield lambda name: made.enter_context(_copied(administrator, server_url, name))


@pytest.fixture
def database_url(copy_of: Callable[[str], str]) -> str:
    """A migrated, empty database of this test's own."""
    return copy_of(databases.TEMPLATE)


@pytest.fixture
def read_demo_url(copy_of: Callable[[str], str], server_url: str) -> str:
    """A database of this test's own with the demo's account, imported and read offline at ``read_demo.NOW``."""
    return copy_of(read_demo.made(server_url))


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 3, 15, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"NOT RUN: the sample data is not beside the checkout ({SHARED.name}/)")
    return SHARED
