"""Lists of items: what counts as overdue and lapsed, the order, filters, pages, what deletion withholds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.stages.reads.items import ItemFilter, ItemUnknown, item_filter, item_id_of, list_items, one_item
from pkg_pipeline.stages.reads.paging import BadCursor, Page, cursor_of
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.reads.item_rows import item

NOW = datetime.fromisoformat("2026-03-15T12:00:00+00:00")


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def on(days: int) -> date:
    return (NOW + timedelta(days=days)).date()


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    for name in ("Anna", "Boris"):
        memory.person(name)
        memory.chat(name, ["Me", name])
    yield memory
    memory.close()


@pytest.fixture
def reads(database_url: str) -> Iterator[PostgresItemReads]:
    pool = engine.pool(database_url, size=1, readonly=True)
    yield PostgresItemReads(pool, zone=ZoneInfo("UTC"))
    pool.close()


@pytest.fixture
def stored(build: MemoryBuilder) -> dict[str, UUID]:
    """What there may be of Anna, and one of Boris; text → id."""
    talk = build.conversation("Anna", ago(50), [Said("Anna", "x")])
    other = build.conversation("Boris", ago(5), [Said("Boris", "x")])
    done = {"at": ago(2), "event": "done", "status": "done", "quote": "here it is", "message_ids": ["m9"]}
    perhaps = {**done, "event": "perhaps_done", "status": "perhaps_done", "probability": 0.7, "at": ago(1)}
    renewed = {"at": ago(3), "event": "renewed", "due_date": on(4), "message_ids": ["m5"], "quote": "by Thursday then"}
    made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("due soon", (), {"due": on(2), "at": ago(4)}),
        ("no day", (), {"at": ago(6)}),
        ("over", (), {"due": on(-2), "at": ago(9)}),
        ("over longer", (), {"due": on(-12), "at": ago(25), "owner": "self"}),
        ("due today", (), {"due": on(0), "at": ago(3)}),
        ("lapsed by its day", (), {"due": on(-22), "at": ago(26)}),
        ("lapsed without a day", (), {"at": ago(43)}),
        ("kept", (done,), {"due": on(-5), "at": ago(20)}),
        ("perhaps kept", (perhaps,), {"due": on(-6), "at": ago(20)}),
        ("put off", (renewed,), {"due": on(-3), "at": ago(10)}),
        ("gone", (), {"due": on(1), "at": ago(1), "is_withheld": True}),
    ]
    found = {text: item(build, talk, text, *states, about=["Anna"], **more) for text, states, more in made}
    found["of Boris"] = item(build, other, "of Boris", about=["Boris"], at=ago(5), due=on(3))
    return found


def texts(reads: PostgresItemReads, wanted: ItemFilter | None = None, **more: Any) -> list[str]:
    return [one["text"] for one in listed(reads, wanted, **more).items]


def listed(reads: PostgresItemReads, wanted: ItemFilter | None = None, **more: Any) -> Page:
    return list_items(reads, wanted or ItemFilter(), **{"now": NOW, "limit": 50, "cursor": None, **more})


IN_ORDER = [
    "over longer", "over", "due today", "due soon", "of Boris", "put off", "no day", "perhaps kept",
    "lapsed by its day", "lapsed without a day", "kept",
]  # fmt: skip


def test_overdue_comes_first_then_by_day_and_what_is_settled_last(
    reads: PostgresItemReads, stored: dict[str, UUID]
) -> None:
    assert texts(reads) == IN_ORDER
    status = {one["text"]: (one["status"], one["overdue"]) for one in listed(reads).items}
    assert [text for text, (_, overdue) in status.items() if overdue] == ["over longer", "over"]
    assert {text for text, (one, _) in status.items() if one == "lapsed"} == {
        "lapsed by its day", "lapsed without a day"
    }  # fmt: skip


def test_each_filter_keeps_what_it_says(
    reads: PostgresItemReads, stored: dict[str, UUID], build: MemoryBuilder
) -> None:
    boris = ItemFilter(person_id=build.people["Boris"])
    assert texts(reads, boris) == ["of Boris"]
    assert texts(reads, ItemFilter(statuses=("open",))) == IN_ORDER[:7]
    assert texts(reads, ItemFilter(statuses=("lapsed", "done"))) == IN_ORDER[8:]
    assert texts(reads, ItemFilter(overdue=True)) == IN_ORDER[:2]
    assert texts(reads, ItemFilter(owners=("self", "both"))) == ["over longer"]
    assert texts(reads, ItemFilter(kind="decision")) == []
    assert texts(reads, ItemFilter(overdue=True, statuses=("done",))) == []


def test_days_pass_and_what_was_overdue_lapses(reads: PostgresItemReads, stored: dict[str, UUID]) -> None:
    later = NOW + timedelta(days=40)
    assert texts(reads, ItemFilter(overdue=True), now=later) == []
    assert {one["text"] for one in listed(reads, ItemFilter(statuses=("lapsed",)), now=later).items} >= {
        "over", "over longer", "due soon"
    }  # fmt: skip


def test_of_oneself_is_what_oneself_has_to_do(
    database_url: str, reads: PostgresItemReads, stored: dict[str, UUID]
) -> None:
    pool = engine.pool(database_url, size=1, readonly=True)
    me, anna = (find_entity(PostgresReadStore(pool, zone=ZoneInfo("UTC")), name) for name in ("Me", "Anna"))
    pool.close()
    given: dict[str, Any] = {"kind": "action_item", "statuses": (), "is_open": True, "overdue": False}
    assert texts(reads, item_filter(person=me, **given)) == ["over longer"]
    assert texts(reads, item_filter(person=anna, **given)) == [one for one in IN_ORDER[:7] if one != "of Boris"]
    with pytest.raises(BadRequest):
        item_filter(person=None, **{**given, "statuses": ("done",)})


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pages_joined_are_the_list(reads: PostgresItemReads, stored: dict[str, UUID], size: int) -> None:
    found: list[str] = []
    cursor = None
    while True:
        page = listed(reads, limit=size, cursor=cursor)
        found += [one["text"] for one in page.items]
        if (cursor := page.next) is None:
            break
        assert len(page.items) == size
    assert found == IN_ORDER


@pytest.mark.parametrize(
    "cursor",
    ["x", cursor_of("1 infinity 3", "x"), cursor_of("9 infinity 3", NOW), cursor_of("1 2026-02-31 3", UUID(int=1)),
     cursor_of("1 infinity 1e400", UUID(int=1)), cursor_of("", UUID(int=1))],
)  # fmt: skip
def test_a_cursor_of_another_list_is_refused(reads: PostgresItemReads, cursor: str) -> None:
    with pytest.raises(BadCursor):
        listed(reads, cursor=cursor)


def test_one_item_tells_its_history_with_the_messages_that_say_so(
    reads: PostgresItemReads, stored: dict[str, UUID]
) -> None:
    kept, put_off = (one_item(reads, stored[text], now=NOW) for text in ("kept", "put off"))
    key = "telegram:direct%3AAnna/"
    assert [state["event"] for state in kept["history"]] == ["opened", "done"]
    assert (kept["message_ids"], kept["closed_by"], kept["renewed_in"]) == ([key + "m1"], [key + "m9"], [])
    assert (put_off["closed_by"], put_off["renewed_in"]) == ([], [key + "m5"])
    assert put_off["due_date"] == on(4).isoformat()
    assert [(one["due_date"], one["message_ids"]) for one in put_off["formerly"]] == [
        (on(-3).isoformat(), [key + "m1"])
    ]


def test_a_decision_says_what_held_before(reads: PostgresItemReads, build: MemoryBuilder) -> None:
    talk = build.conversation("Anna", ago(50), [Said("Anna", "x")])
    now = item(build, talk, "The price is 450", about=["Anna"], at=ago(10), kind="decision", message="m3")
    over = {"at": ago(10), "event": "superseded", "status": "superseded", "superseded_by": now, "message_ids": ["m3"]}
    item(build, talk, "The price is 400", over, about=["Anna"], at=ago(40), kind="decision")
    latest, former = listed(reads, ItemFilter(kind="decision")).items
    assert (latest["text"], [one["text"] for one in latest["formerly"]]) == ("The price is 450", ["The price is 400"])
    assert (former["status"], former["superseded_by"], former["formerly"]) == ("superseded", str(now), [])
    assert former["closed_by"] == ["telegram:direct%3AAnna/m3"]
    assert texts(reads, ItemFilter(kind="decision", statuses=("open",))) == ["The price is 450"]


def test_a_state_that_rests_on_a_deleted_message_is_not_told(
    reads: PostgresItemReads, stored: dict[str, UUID], build: MemoryBuilder
) -> None:
    build.connection.execute("UPDATE item_states SET is_withheld = true WHERE event = 'renewed'")
    found = one_item(reads, stored["put off"], now=NOW)
    assert ([one["event"] for one in found["history"]], found["renewed_in"]) == (["opened"], [])
    with pytest.raises(ItemUnknown):
        one_item(reads, stored["gone"], now=NOW)


def test_an_id_may_be_given_by_its_first_digits(reads: PostgresItemReads, stored: dict[str, UUID]) -> None:
    wanted = stored["over"]
    for asked in (str(wanted), str(wanted)[:8], wanted.hex[:12].upper(), f" {wanted} "):
        assert item_id_of(reads, asked) == wanted
    for asked in (str(wanted)[:7], "no id", str(stored["gone"]), "0" * 32, ""):
        with pytest.raises(ItemUnknown):
            item_id_of(reads, asked)
