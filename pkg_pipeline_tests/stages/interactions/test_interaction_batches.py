"""Many chats at once: few transactions, nobody waits for another's backlog, killed at any statement it goes on."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import Any, LiteralString

import pytest
from psycopg import OperationalError

from pkg_pipeline.adapters.postgres.interactions import store as interaction_store
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.interactions.stage import build_interactions
from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.ingest.import_rig import FixedClock, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts

SENDERS = ("ann", "bob", "cem")


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def chats(count: int, *, prefix: str = "c", messages: int = 3) -> list[dict[str, Any]]:
    """Every third is a group; every fifth has a silence in it that is longer than the gap."""
    return [
        line(
            f"{prefix}{number}",
            place,
            minute=number + place * (300 if number % 5 == 0 else 1),
            sender=SENDERS[place % (3 if number % 3 == 0 else 2)],
            text=f"Ann says {place}",
            chat_kind="group" if number % 3 == 0 else "direct",
        )
        for number in range(count)
        for place in range(messages)
    ]


def dirty(rig: Rig) -> int:
    return rig.value("SELECT count(DISTINCT partition_key) FROM dirty_partitions WHERE asset = 'interactions'")


def logical(rig: Rig) -> dict[str, Any]:
    with rig.connection() as connection:
        return tables(connection)


def test_a_thousand_chats_take_a_few_transactions(rig: Rig) -> None:
    rig.take(chats(1_000))
    before = rig.pool.get_stats()["requests_num"]
    report = rig.build()
    assert (report.chats, report.messages) == (1_000, 3_000)
    assert rig.pool.get_stats()["requests_num"] - before < 15
    assert_recounts(rig)


@pytest.mark.parametrize(("messages_at_once", "chunk"), [(1, 2), (10, 4), (25, 1_000)])
def test_how_the_batches_are_cut_makes_no_difference(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, messages_at_once: int, chunk: int
) -> None:
    rig.take(chats(30, messages=5))
    rig.build()
    whole = logical(rig)
    rig.empty()
    monkeypatch.setattr(interaction_store, "MESSAGES_AT_ONCE", messages_at_once)
    monkeypatch.setattr(interaction_store, "CHUNK_MESSAGES", chunk)
    rig.take(chats(30, messages=5))
    assert rig.build().chats == 30
    assert logical(rig) == whole


def test_a_small_import_does_not_wait_for_anothers_backlog(rig: Rig) -> None:
    """While a transaction holds a batch of the backlog, the chat that just came in is made, and so is what is free."""
    rig.take(chats(520, prefix="backlog"))
    waiting = rig.interactions.dirty_chats()
    own = rig.take([line("small", number, minute=number) for number in range(3)]).chats
    with rig.interactions.open_batch(waiting, gap_seconds=60, mass_senders=50, waits=True) as held:
        assert held.built == 500
        report = build_interactions(rig.interactions, clock=FixedClock(), params=rig.params, chats=own)
    assert report.chats == 1
    assert rig.value(
        "SELECT count(*) FROM interactions i JOIN chats c ON c.id = i.chat_id WHERE c.external_id = 'small'"
    )
    assert dirty(rig) == 520
    rig.build()
    assert dirty(rig) == 0
    assert_recounts(rig)


def test_a_small_import_takes_along_what_little_else_it_touched(rig: Rig) -> None:
    rig.take(chats(6))
    rig.build()
    renamed = [line("other", 1, minute=9_000, sender="ann", sender_name="Anneliese")]
    own = rig.take(renamed).chats
    assert dirty(rig) > 1, "the groups in which she has another name now"
    build_interactions(rig.interactions, clock=FixedClock(), params=rig.params, chats=own)
    assert dirty(rig) == 0
    assert_recounts(rig)


def test_whatever_statement_fails_the_next_build_goes_on(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every statement in turn is the last of its process."""
    monkeypatch.setattr(interaction_store, "CHATS_AT_ONCE", 3)
    late = [line(f"c{number}", 9, minute=number + 200, sender="bob") for number in range(7)]
    rig.take(chats(7))
    rig.build()
    rig.take(late)
    rig.build()
    whole = logical(rig)
    rig.empty()
    rig.take(chats(7))
    rig.build()
    rig.take(late)
    left, failures = 0, 0

    class Killed(BaseException):
        pass

    text = Statements.text

    def dying(self: Statements, name: str) -> LiteralString:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return text(self, name)

    monkeypatch.setattr(Statements, "text", dying)
    while True:
        left = failures
        try:
            rig.build()
        except Killed:
            failures += 1
            continue
        break
    assert failures > 20, "statements at which it died"
    assert logical(rig) == whole
    assert_recounts(rig)


@pytest.mark.parametrize("reads_on", [True, False])
def test_a_connection_that_dies_while_messages_are_read_leaves_no_open_cursor(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, reads_on: bool
) -> None:
    monkeypatch.setattr(interaction_store, "CHUNK_MESSAGES", 1)
    rig.take(chats(3))

    def read_until_it_dies() -> None:
        found = rig.interactions.dirty_chats()
        with rig.interactions.open_batch(found, gap_seconds=3600, mass_senders=9, waits=True) as batch:
            for _, chunks in batch.chats():
                with rig.connection() as other:
                    other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'FETCH%'")
                if not reads_on:
                    raise ArithmeticError
                list(chunks)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OperationalError if reads_on else ArithmeticError):
            read_until_it_dies()
        gc.collect()
