"""A worker that kills itself at a named point of archiving or restoring, over the real stage and store:
``python -m … URL NOW archive|restore POINT``. Batches are of four messages, so that there are several.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from psycopg.rows import namedtuple_row

from pkg_pipeline.adapters.postgres.archive import store as archive_store
from pkg_pipeline.adapters.postgres.archive.store import PostgresArchiveStore
from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.archive import stage as archive
from pkg_pipeline_tests.stages.archive.archive_rig import ArchiveRig

BATCH = 4


class Place(NamedTuple):
    """A statement of a transaction or a method of a store, and the how manieth time it is come by."""

    name: str
    is_after: bool
    turn: int = 1


PLACES = {
    "archive": {
        "chosen": Place("ready", is_after=True),
        "partition made": Place("lock_chats", is_after=False),
        "copied": Place("copy", is_after=True, turn=2),
        "blanked": Place("blank", is_after=True, turn=2),
        "counted": Place("count_moved", is_after=True, turn=2),
        "committed": Place("move", is_after=True, turn=2),
        "vacuumed": Place("vacuum", is_after=True),
        "finishing": Place("finish", is_after=False),
        "finished": Place("finish", is_after=True),
    },
    "restore": {
        "chosen": Place("archived", is_after=True),
        "locked": Place("lock_chats_of", is_after=True),
        "given back": Place("give_back", is_after=True, turn=2),
        "removed": Place("remove_copies", is_after=True, turn=2),
        "held": Place("hold", is_after=True, turn=2),
        "committed": Place("batch", is_after=True),
        "between": Place("batch", is_after=False, turn=3),
        "last": Place("batch", is_after=True, turn=3),
    },
}


class _Death:
    """Comes when a place is met for the nth time."""

    def __init__(self, place: Place) -> None:
        self.place, self._left = place, place.turn

    def meets(self, name: str, *, is_after: bool) -> None:
        if (name, is_after) == (self.place.name, self.place.is_after):
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class DyingStatements(Statements):
    def __init__(self, death: _Death) -> None:
        super().__init__("archive")
        self._death = death

    def execute(self, connection: Any, name: str, given: Any, row: Any = namedtuple_row) -> Any:
        self._death.meets(name, is_after=False)
        found = super().execute(connection, name, given, row)
        self._death.meets(name, is_after=True)
        return found


class DyingStore(PostgresArchiveStore):
    def __init__(self, connections: Any, death: _Death) -> None:
        super().__init__(connections)
        self._death = death
        archive_store.SQL = DyingStatements(death)

    def move(self, month: date, batch: Any, age: Any) -> Any:
        moved = super().move(month, batch, age)
        self._death.meets("move", is_after=True)
        return moved

    def archived(self, scope: Any) -> Any:
        found = super().archived(scope)
        self._death.meets("archived", is_after=True)
        return found

    def give_back(self, ids: Sequence[int], *, held_until: datetime) -> Any:
        self._death.meets("batch", is_after=False)
        given = super().give_back(ids, held_until=held_until)
        self._death.meets("batch", is_after=True)
        return given


class DyingPartitions(PostgresPartitionStore):
    def __init__(self, connections: Any, death: _Death) -> None:
        super().__init__(connections)
        self._death = death
        archive_store.SQL = DyingStatements(death)

    def finish(self, asset: str, done: Any) -> None:
        self._death.meets("finish", is_after=False)
        super().finish(asset, done)
        self._death.meets("finish", is_after=True)


def main(url: str, now: str, kind: str, point: str) -> None:
    archive.BATCH_MESSAGES = BATCH
    rig = ArchiveRig(url, now=datetime.fromisoformat(now))
    death = _Death(PLACES[kind][point])
    store = DyingStore(rig.pool, death)
    if kind == "restore":
        rig.restore(store=store)
        return
    deps, params = rig.deps(store, DyingPartitions(rig.pool, death)), rig.archive_params()
    archive.archive_months(archive.due_months(deps, params), deps=deps, params=params)


if __name__ == "__main__":
    main(*sys.argv[1:])
