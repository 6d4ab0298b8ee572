"""Several imports and builds at once: no deadlock, ids in the order of commits, the same end as one by one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts

IMPORTS = 3
ROUNDS = 5


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def part(number: int, turn: int) -> list[dict[str, Any]]:
    """Chats, people and messages that all imports share, met in another order by each; who I am is said by one."""
    lines = [
        line(f"c{chat}", f"{turn}-{key}", minute=turn * 60 + key, sender=f"p{(chat + key) % 5}", chat_kind="group")
        | {"text": f"P{key} by import {number % 2}", "sender_name": f"Name {turn} {key % 3}"}
        for chat in range(5)
        for key in range(6)
    ]
    if number == 2 and turn == ROUNDS - 1:
        lines[0]["is_self"] = True
    shift = number * 7
    return lines[shift:] + lines[:shift]


def test_imports_that_share_chats_and_people_end_as_if_one_came_after_the_other(rig: Rig) -> None:
    everything = [(number, turn) for number in range(IMPORTS) for turn in range(ROUNDS)]

    def exported(number: int) -> Any:
        return NOW + timedelta(hours=number)

    for number, turn in everything:
        rig.take(part(number, turn), exported_at=exported(number))
    rig.build()
    with rig.connection() as connection:
        expected = tables(connection)
    rig.empty()

    gate = threading.Barrier(IMPORTS + 1)

    def importing(number: int) -> None:
        gate.wait()
        for turn in range(ROUNDS):
            rig.take(part(number, turn), exported_at=exported(number))

    def building() -> None:
        gate.wait()
        for _ in range(ROUNDS):
            rig.build()

    with ThreadPoolExecutor(IMPORTS + 1) as threads:
        running = [threads.submit(importing, number) for number in range(IMPORTS)] + [threads.submit(building)]
        for one in running:
            one.result(timeout=240)  # a deadlock is an error of PostgreSQL here
    rig.build()
    assert_recounts(rig)
    with rig.connection() as connection:
        found = tables(connection)
    for name, rows in expected.items():
        assert found[name] == rows, name


def test_whoever_reads_a_chat_up_to_an_id_never_misses_a_smaller_one(rig: Rig) -> None:
    """A high-water mark over ids skips nothing: all ids that appear later are greater (two writers, one reader)."""
    done = threading.Event()

    def importing(name: str) -> None:
        for turn in range(30):
            rig.take([line("c", f"{name}{turn}-{key}", minute=turn, sender=name) for key in range(20)])

    def reading() -> list[int]:
        seen: list[int] = []
        while not done.is_set() or not seen:
            after = seen[-1] if seen else 0
            seen += [row[0] for row in rig.rows("SELECT id FROM messages WHERE id > %s ORDER BY id", after)]
        return seen + [row[0] for row in rig.rows("SELECT id FROM messages WHERE id > %s ORDER BY id", seen[-1])]

    with ThreadPoolExecutor(3) as threads:
        reader = threads.submit(reading)
        for writer in [threads.submit(importing, name) for name in ("ann", "bob")]:
            writer.result(timeout=240)
        done.set()
        followed = reader.result(timeout=60)
    assert followed == [row[0] for row in rig.rows("SELECT id FROM messages ORDER BY id")]
    assert len(followed) == 1_200
