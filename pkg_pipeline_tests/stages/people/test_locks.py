"""Decisions and imports wait for one another; none of them waits in a ring (B20)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OTHER_RITA, RITA, People, people

INGEST = Statements("ingest")
LATE = datetime(2025, 3, 1, tzinfo=UTC)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        made.take([*CHAT, *MAIL])
        yield made


def test_whoever_may_change_is_locked_in_one_order(rig: People) -> None:
    first, second = sorted((RITA, OTHER_RITA))
    kept = rig.work.merge(first, second)
    lock = "SELECT id FROM entities WHERE id = %s FOR NO KEY UPDATE NOWAIT"
    undoing = threading.Thread(target=lambda: rig.work.undo(str(kept.id)))
    with engine.connect(rig.memory.url) as imports:
        with imports.transaction():
            imports.execute(lock, [first])
            undoing.start()
            _until_it_waits(imports)
            imports.execute(lock, [second])  # what an import locks next is free
        undoing.join(timeout=60)
    assert rig.rows("SELECT count(*) FROM entities WHERE merged_into IS NOT NULL") == [(0,)]


def test_names_of_an_import_wait_for_a_decision(rig: People) -> None:
    store = PostgresIngestStore(rig.memory.connections)
    naming = threading.Thread(target=store.name, kwargs={"chats": {}, "entities": {RITA: (LATE, "Margarita")}})
    with engine.connect(rig.memory.url) as decides:
        with decides.transaction():
            INGEST.run(decides, "lock_selves")
            naming.start()
            _until_it_waits(decides)
            assert rig.rows("SELECT name FROM entities WHERE id = %s", RITA) == [("Rita Hoffmann",)]
        naming.join(timeout=60)
    assert rig.rows("SELECT name FROM entities WHERE id = %s", RITA) == [("Margarita",)]


def _until_it_waits(connection: Connection) -> None:
    waits = (
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid() AND pid IN"
        " (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
    )
    give_up = time.monotonic() + 60
    while connection.execute(waits).fetchone() == (0,):
        assert time.monotonic() < give_up
        time.sleep(0.01)
