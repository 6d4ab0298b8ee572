"""One bound over the connections to many databases: who gets one, who has to give one up, and what is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import psycopg
import pytest
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres import memories
from pkg_pipeline.adapters.postgres.engine import transaction, value
from pkg_pipeline.adapters.postgres.shared_connections import Room, SharedConnections
from pkg_pipeline_tests.stages.many_memories import named_deployment

NAMES = ("anna", "bob", "carl")


@pytest.fixture(scope="module")
def url(server_url: str) -> Iterator[str]:
    with named_deployment(server_url) as own:
        for name in NAMES:
            memories.create(own, name, prepare=lambda _: None, clean=lambda _: None)
        yield own


Pools = Callable[..., dict[str, ConnectionPool]]


@pytest.fixture
def pools() -> Iterator[Pools]:
    """One a memory; closed at the end."""
    made: list[ConnectionPool] = []

    def make(shared: SharedConnections, url: str, **given: object) -> dict[str, ConnectionPool]:
        options = {"size": 9, "readonly": True, "wait_seconds": 0.05, **given}
        found = {name: shared.pool(memories.url_of(url, name), **options) for name in NAMES}  # type: ignore[arg-type]
        made.extend(found.values())
        return found

    yield make
    for one in made:
        one.close()


def backend(pool: ConnectionPool) -> tuple[str, int]:
    with pool.connection() as connection:
        return connection.info.dbname.rpartition(".")[2], connection.info.backend_pid


def test_a_connection_is_kept_until_another_memory_needs_its_place(url: str, pools: Pools) -> None:
    shared = SharedConnections(2)
    each = pools(shared, url)
    assert shared.open == 0, "nothing is opened before it is asked"
    first = backend(each["anna"])
    assert first == backend(each["anna"])
    assert first[0] == "anna"
    second = backend(each["bob"])
    assert backend(each["anna"]) == first
    assert backend(each["carl"])[0] == "carl"  # in bob's place, who was asked least lately
    assert backend(each["anna"]) == first
    assert backend(each["bob"]) != second
    assert shared.open == 2


def test_the_bound_holds_for_all_and_the_share_for_one(url: str, pools: Pools) -> None:
    shared = SharedConnections(3, share=2)
    each = pools(shared, url)
    with each["anna"].connection(), each["anna"].connection():
        with pytest.raises(PoolTimeout), each["anna"].connection():
            pass
        with each["bob"].connection() as bobs:
            assert value(bobs, "SELECT 1") == 1
            with pytest.raises(PoolTimeout), each["carl"].connection():
                pass
        with each["carl"].connection() as carls:
            assert value(carls, "SELECT current_database()").endswith(".carl")
    assert shared.open == 3


def test_kinds_do_not_wait_for_one_another(url: str, pools: Pools) -> None:
    shared = SharedConnections(1)
    reading, working = pools(shared, url)["anna"], pools(shared, url, readonly=False)["anna"]
    appending = pools(shared, url, readonly=False, is_checked=False)["anna"]
    with reading.connection() as reads, working.connection() as works, appending.connection() as appends:
        assert len({one.info.backend_pid for one in (reads, works, appends)}) == 3
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            reads.execute("DELETE FROM messages")


def test_who_waits_gets_what_is_given_back(url: str, pools: Pools) -> None:
    shared = SharedConnections(1)
    each = pools(shared, url, wait_seconds=20)
    found: list[str] = []
    with each["anna"].connection():
        waiting = threading.Thread(target=lambda: found.append(backend(each["bob"])[0]))
        waiting.start()
        assert found == []
    waiting.join()
    assert found == ["bob"]


def test_what_is_broken_or_left_is_not_given_again(url: str, pools: Pools) -> None:
    shared = SharedConnections(3)
    reading, working = pools(shared, url)["anna"], pools(shared, url, readonly=False)["anna"]
    before = backend(working)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (before[1],))
    assert backend(working) != before, "a working connection is looked at before it is given"
    before = backend(reading)
    reading.check()
    assert backend(reading) != before
    with suppress(ZeroDivisionError), transaction(working) as connection:
        connection.execute("CREATE TABLE left_over ()")
        raise ZeroDivisionError
    with working.connection() as connection:
        connection.execute("BEGIN")
    with working.connection() as connection:
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert value(connection, "SELECT to_regclass('left_over')") is None
    working.close()
    reading.close()
    assert shared.open == 0
    with pytest.raises(psycopg.OperationalError), reading.connection():
        pass


def test_a_memory_that_is_gone_takes_no_place(url: str, pools: Pools) -> None:
    shared = SharedConnections(1)
    each = pools(shared, url)
    each["bob"] = shared.pool(memories.url_of(url, "nobody"), size=9, readonly=True)
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError), each["bob"].connection():
            pass
    assert backend(each["anna"])[0] == "anna"


def test_what_nobody_used_for_long_is_closed(url: str, pools: Pools) -> None:
    at = [0.0]
    room = Room(2, idle_seconds=60, now=lambda: at[0])
    shared = SharedConnections(2)
    shared.rooms["read"] = room
    each = pools(shared, url)
    backend(each["anna"])
    at[0] = 40
    backend(each["bob"])
    at[0] = 70
    shared.sweep()
    assert room.open == 1
    kept = backend(each["bob"])
    assert kept == backend(each["bob"])
    at[0] = 200
    shared.sweep()
    assert room.open == 0
