"""Pools over many databases of one server with one bound over all of their connections: what one memory has not used
for longest makes place for another. What a connection has prepared is its database's alone.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.engine import SCHEMA_CHANGES, WAIT_SECONDS, Connection, libpq_url, pooled

IDLE_SECONDS = 60.0


class Room:
    """At most ``size`` connections, one memory's at most ``share``; closed once unused for ``idle_seconds``."""

    def __init__(
        self,
        size: int,
        *,
        share: int | None = None,
        idle_seconds: float = IDLE_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.size, self.share = size, share or size
        self._idle_seconds, self._now = idle_seconds, now
        self._changed = threading.Condition()
        self._idle: OrderedDict[Connection, tuple[_Shared, float]] = OrderedDict()
        self._used: Counter[_Shared] = Counter()
        self._open = 0

    @property
    def open(self) -> int:
        """Connections that are open or being opened."""
        return self._open

    def take(self, pool: _Shared, timeout: float) -> Connection:
        """Raises PoolTimeout, psycopg.OperationalError."""
        deadline = time.monotonic() + timeout
        given_up: Connection | None = None
        with self._changed:
            while True:
                if self._used[pool] < self.share:
                    own = next((one for one in reversed(self._idle) if self._idle[one][0] is pool), None)
                    if own is not None:
                        del self._idle[own]
                        self._used[pool] += 1
                        return own
                    if self._open < self.size:
                        self._open += 1
                        break
                    if self._idle:
                        given_up, _ = self._idle.popitem(last=False)
                        break
                if not self._changed.wait(deadline - time.monotonic()):
                    raise PoolTimeout(f"no connection became free within {timeout:.2f} s")
            self._used[pool] += 1
        if given_up is not None:
            given_up.close()
        try:
            return pool.opened()
        except BaseException:
            self._gone(pool)
            raise

    def give(self, pool: _Shared, connection: Connection, *, is_usable: bool) -> None:
        """Takes a connection back; ``is_usable``: it may serve another request."""
        if not is_usable:
            connection.close()
            self._gone(pool)
            return
        with self._changed:
            self._less(pool)
            self._idle[connection] = pool, self._now()
            self._changed.notify_all()

    def sweep(self) -> None:
        """Closes what nobody has used for long."""
        before = self._now() - self._idle_seconds
        self._close(lambda _, since: since <= before)

    def leave(self, pool: _Shared) -> None:
        """Closes what ``pool`` does not use just now."""
        self._close(lambda owner, _: owner is pool)

    def _close(self, is_meant: Callable[[_Shared, float], bool]) -> None:
        with self._changed:
            meant = [one for one, (owner, since) in self._idle.items() if is_meant(owner, since)]
            for one in meant:
                del self._idle[one]
            self._open -= len(meant)
            self._changed.notify_all()
        for one in meant:
            one.close()

    def _gone(self, pool: _Shared) -> None:
        with self._changed:
            self._less(pool)
            self._open -= 1
            self._changed.notify_all()

    def _less(self, pool: _Shared) -> None:
        self._used[pool] -= 1
        if not self._used[pool]:
            del self._used[pool]  # a memory that is closed is not remembered


class SharedConnections:
    """Makes pools as ``engine.pool`` does, over rooms that all memories share: one for each kind, since who holds a
    connection of one kind may wait for one of another.
    """

    def __init__(self, size: int, *, share: int | None = None, idle_seconds: float = IDLE_SECONDS) -> None:
        """``size``: connections of each of the three kinds; ``share``: of one memory."""
        self.rooms = {kind: Room(size, share=share, idle_seconds=idle_seconds) for kind in ("read", "append", "work")}

    @property
    def open(self) -> int:
        return sum(room.open for room in self.rooms.values())

    def sweep(self) -> None:
        for room in self.rooms.values():
            room.sweep()

    def pool(
        self,
        url: str,
        *,
        size: int,
        readonly: bool = False,
        is_checked: bool | None = None,
        wait_seconds: float = WAIT_SECONDS,
        now: datetime | None = None,
    ) -> ConnectionPool:
        """``size`` is the room's matter. Opens nothing before it is asked."""
        del size
        checks = not readonly if is_checked is None else is_checked
        room = self.rooms["read" if readonly else "work" if checks else "append"]
        url = libpq_url(url)
        return _Shared(room, url, wait_seconds, pooled(url, readonly=readonly, now=now), is_checked=checks)


class _Shared(ConnectionPool):
    """One database's part of a room. Never opened as a pool of its own: it starts no thread."""

    def __init__(self, room: Room, url: str, wait_seconds: float, given: dict[str, Any], *, is_checked: bool) -> None:
        super().__init__(url, min_size=0, max_size=1, open=False, timeout=wait_seconds, kwargs=given)
        self._room, self._url, self._given, self._is_checked = room, url, given, is_checked
        self._is_left = False

    def opened(self) -> Connection:
        return psycopg.connect(self._url, **self._given)

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        found = self.getconn(timeout)
        try:
            yield found
        except SCHEMA_CHANGES:
            found.close()
            raise
        finally:
            self.putconn(found)

    def getconn(self, timeout: float | None = None) -> Connection:
        if self._is_left:
            raise psycopg.OperationalError("this memory is closed")
        wait = self.timeout if timeout is None else timeout
        while True:
            found = self._room.take(self, wait)
            if not self._is_checked:
                return found
            try:
                self.check_connection(found)
            except psycopg.Error:
                self._room.give(self, found, is_usable=False)
            else:
                return found

    def putconn(self, conn: Connection) -> None:
        with suppress(psycopg.Error):
            if conn.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                conn.rollback()
        is_whole = not conn.closed and conn.info.transaction_status is TransactionStatus.IDLE
        self._room.give(self, conn, is_usable=is_whole and not self._is_left)

    def check(self) -> None:
        """What waits for use may be broken: it is opened anew."""
        self._room.leave(self)

    def close(self, timeout: float = 0) -> None:
        del timeout
        self._is_left = True
        self._room.leave(self)
