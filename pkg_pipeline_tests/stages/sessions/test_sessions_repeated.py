"""An append that is repeated, whenever and from wherever, leaves the memory as the first one left it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline_tests.digest import digest, tables
from pkg_pipeline_tests.stages.ingest.import_rig import START
from pkg_pipeline_tests.stages.sessions.session_rig import SessionRig, counted, said

TEXTS = ["yes", "I agree to pay 40 EUR on 3 May", "a somewhat longer text", ""]


@pytest.fixture
def rig(database_url: str) -> Iterator[SessionRig]:
    rig = SessionRig(database_url, now=START)
    yield rig
    rig.close()


def rows(rig: SessionRig) -> dict[str, list[tuple[Any, ...]]]:
    with rig.connection() as connection:
        return tables(connection)


def message(number: int) -> dict[str, Any]:
    """Always the same one of a number; every third says when it was said, some say who they are."""
    given = said(number, TEXTS[number % 4], role="assistant" if number % 2 else "user")
    if number % 3 == 0:
        given["sent_at"] = (START + timedelta(hours=number)).isoformat()
    if number % 5 == 0:
        given |= {"sender_id": "ann", "sender_name": f"Ann {number}"}
    if number == 7:
        given |= {"deleted": True}
    return given


def test_the_same_messages_five_weeks_later_change_nothing(rig: SessionRig) -> None:
    talk = [message(number) for number in range(6)]
    first = rig.append(*talk)
    rig.build()
    before = rows(rig), counted(rig.state())
    rig.run("DELETE FROM dirty_partitions")
    for sessions in (rig.sessions, rig.process()):
        rig.now += timedelta(days=40)
        report = rig.append(*talk, sessions=sessions)
        assert (report.counts.unchanged, report.counts.new, report.counts.updated) == (6, 0, 0)
        assert report.chat == first.chat
    assert rig.value("SELECT count(*) FROM dirty_partitions") == 0
    rig.build()
    assert (rows(rig), counted(rig.state())) == before


def test_new_ones_among_the_known_are_dated_and_the_known_are_not(rig: SessionRig) -> None:
    rig.append(said(1), said(2))
    rig.now += timedelta(days=40)
    report = rig.append(said(1), said(3), said(2), said(3))
    assert (report.counts.new, report.counts.unchanged) == (1, 3)
    assert rig.rows("SELECT external_id, sent_at FROM messages ORDER BY id") == [
        ("1", START),
        ("2", START),
        ("3", rig.now),
    ]


def test_an_edit_or_a_deletion_without_a_time_keeps_the_time(rig: SessionRig) -> None:
    rig.append(said(1, "first"), said(2), said(3, sent_at="2026-01-02T10:00:00"))
    told = rig.value("SELECT sent_at FROM messages WHERE external_id = '3'")
    rig.now += timedelta(days=40)
    report = rig.append(said(1, "second"), said(2, "", deleted=True), said(3))
    assert (report.counts.updated, report.counts.deleted, report.counts.unchanged) == (1, 1, 1)
    stored = rig.rows("SELECT content, sent_at, is_time_assumed FROM messages ORDER BY id")
    assert stored == [("second", START, False), ("", START, False), ("user says 3", told, True)]


def test_another_time_that_the_source_states_is_an_update(rig: SessionRig) -> None:
    rig.append(said(1), said(2))
    other = START - timedelta(days=3)
    report = rig.append(said(1, sent_at=other.isoformat()))
    assert report.counts.updated == 1
    assert rig.value("SELECT sent_at FROM messages WHERE external_id = '1'") == other
    both = rig.append(said(2), said(2, sent_at=other.isoformat()), said(4), said(4, sent_at=other.isoformat()))
    assert (both.counts.new, both.counts.updated) == (1, 1)
    assert rig.rows("SELECT DISTINCT sent_at FROM messages") == [(other,)]


@pytest.mark.parametrize("step", [timedelta(0), -timedelta(days=3), timedelta(days=3)])
@pytest.mark.parametrize("other", ["a", "b", "zz"])
def test_the_last_that_was_told_stands_at_any_clock(rig: SessionRig, step: timedelta, other: str) -> None:
    rig.append(said(1, "hello"))
    rig.now += step
    assert rig.append(said(1, other), said(1, "again " + other)).counts.updated == 1
    assert rig.value("SELECT content FROM messages") == "again " + other
    assert rig.append(said(1, other), said(1, "again " + other)).counts.unchanged == 2


def test_an_old_name_in_a_repeated_message_is_no_new_name(rig: SessionRig) -> None:
    rig.append(said(1, sender_id="u", sender_name="Bob"))
    rig.now += timedelta(days=2)
    rig.append(said(2, sender_id="u", sender_name="Robert"))
    for sessions in (rig.sessions, rig.process()):
        rig.now += timedelta(days=40)
        assert rig.append(said(1, sender_id="u", sender_name="Bob"), sessions=sessions).counts.unchanged == 1
        assert rig.rows("SELECT name FROM entities") == [("Robert",)]


CALLS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 15), min_size=1, max_size=6),
        st.integers(-60 * 24 * 90, 60 * 24 * 90),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=8,
)
"""Of every call the numbers of its messages, the clock's minutes and the process."""


def test_any_sequence_with_repeats_ends_as_the_first_occurrences(rig: SessionRig) -> None:
    """Each call once more as it was, and its messages again in others, at any clock and from three processes."""

    def ended(calls: list[tuple[list[int], int, int]], *, is_repeated: bool) -> str:
        rig.empty()
        processes = [rig.process() for _ in range(3)]
        seen = set[int]()
        for numbers, minutes, process in calls:
            rig.now = START + timedelta(days=200, minutes=minutes)
            fresh = [number for number in dict.fromkeys(numbers) if number not in seen]
            seen.update(fresh)
            chosen = numbers if is_repeated else fresh
            if not chosen:
                continue
            report = rig.append(*map(message, chosen), sessions=processes[process])
            assert report.rejected == []
            gone = 7 in fresh
            assert (report.counts.new, report.counts.deleted) == (len(fresh) - gone, gone)
            assert report.counts.unchanged == len(chosen) - len(fresh)
            if is_repeated:
                rig.now += timedelta(minutes=abs(minutes))
                assert rig.append(*map(message, chosen)).counts.unchanged == len(chosen)
        rig.build()
        assert counted(rig.state()) == rig.recount(rig.state().id)
        with rig.connection() as connection:
            return digest(connection)

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(calls=CALLS)
    def same(calls: list[tuple[list[int], int, int]]) -> None:
        assert ended(calls, is_repeated=True) == ended(calls, is_repeated=False)

    same()


def test_the_clock_of_a_repeat_is_nowhere(rig: SessionRig) -> None:
    """No column of any row of the memory says a time after the first append, but for when a session was looked at."""
    rig.append(*(message(number) for number in range(8)))
    far = datetime.fromisoformat("2190-01-01T00:00:00+00:00")
    rig.now = far
    rig.append(*(message(number) for number in range(8)))
    for table, column in rig.rows(
        "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
        " USING (table_schema, table_name) WHERE table_schema = 'pkg' AND table_type = 'BASE TABLE'"
        " AND data_type = 'timestamp with time zone' AND column_name <> 'next_due_at'"
    ):
        assert rig.value(f"SELECT count(*) FROM {table} WHERE {column} >= '2190-01-01'") == 0, (table, column)
