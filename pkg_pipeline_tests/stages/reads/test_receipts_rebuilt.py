"""Receipts (B11): whatever a memory learns, is told or made to do after a context was served, the block is made again
to the byte, until something in it is forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres.archive.rebuilding import PostgresRebuilding
from pkg_pipeline.stages.items.deciding import ItemEdit
from pkg_pipeline.stages.items.fact_deciding import FactEdit, NewFact
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.context import Asked
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.wiring.archive import ArchiveWork
from pkg_pipeline.wiring.chats import set_category
from pkg_pipeline.wiring.facts import FactReview
from pkg_pipeline.wiring.people import PeopleWork
from pkg_pipeline.wiring.receipts import Receipts
from pkg_pipeline_tests import databases
from pkg_pipeline_tests.stages.reads.test_known_as_of import (
    APRIL,
    DAYS,
    EDITED,
    FEBRUARY,
    FIRST,
    JANUARY,
    MARCH,
    SECOND,
    THIRD,
    line,
    opened,
    take,
)

NAME = "receipts_rebuilt"
SERVED, CHANGED, LATER, LAST = (datetime(2025, 6, day, 12, tzinfo=UTC) for day in (1, 2, 3, 4))


def olga(memory: wiring.Memory) -> UUID:
    return find_entity(memory.reads, "Olga").id


def items(memory: wiring.Memory) -> list[tuple[UUID, str]]:
    with memory.connections.connection() as connection:
        return connection.execute("SELECT id, text FROM pkg.items ORDER BY first_at, id").fetchall()


def facts(memory: wiring.Memory) -> list[tuple[UUID, str]]:
    with memory.connections.connection() as connection:
        return connection.execute(
            "SELECT id, value FROM pkg.entity_facts WHERE status = 'confirmed' ORDER BY fact_type, value"
        ).fetchall()


def edited(memory: wiring.Memory) -> None:
    words = {**APRIL[4], "text": "Agreed, 19 May at the yard.", "edited_at": "2025-06-02T09:00:00Z"}
    price = {**EDITED, "text": EDITED["text"].replace("6,000", "7,000"), "edited_at": "2025-06-02T09:00:00Z"}
    mail = {**MARCH[1], "text": "My email is now olga@third.example.", "edited_at": "2025-06-02T09:00:00Z"}
    take(memory, [words, price, mail])


def edited_unread(memory: wiring.Memory) -> None:
    file = memory.settings.home / "export.jsonl"
    words = {**APRIL[4], "text": "Agreed, 19 May at the yard.", "edited_at": "2025-06-02T09:00:00Z"}
    file.write_text(json.dumps(words) + "\n")
    memory.import_path(file)


def grown(memory: wiring.Memory) -> None:
    more = [
        line("13", "2025-05-31T10:00", "Olga", "My phone is +49 30 901820. I will bring the papers on 5 June."),
        line("14", "2025-05-31T10:05", "Me", "Good, and the contract is sent."),
    ]
    take(memory, more)


def facts_judged(memory: wiring.Memory) -> None:
    review = FactReview(memory)
    for place, (fact, _) in enumerate(facts(memory)):
        review.decide(fact, FactEdit("rejected") if place % 2 else FactEdit(value="olga@person.example"))
    review.add(NewFact(olga(memory), "phone", "+49 30 901821"))


def items_judged(memory: wiring.Memory) -> None:
    for place, (item, _) in enumerate(items(memory)):
        if place % 2:
            memory.decide_item(item, ItemEdit(status="closed"))
        else:
            memory.decide_item(item, ItemEdit(text="Something else by a person"))


def mass(memory: wiring.Memory) -> None:
    with memory.connections.connection() as connection:
        for (chat,) in connection.execute("SELECT id FROM pkg.chats").fetchall():
            set_category(memory, chat, "mass")


def renamed(memory: wiring.Memory) -> None:
    PeopleWork(memory).rename(olga(memory), "Olga Petersen")


def rebuilt(memory: wiring.Memory) -> None:
    PostgresRebuilding(memory.connections).clear()
    memory.build_interactions()
    memory.items.run(Billing("backfill"))
    memory.summarize(DAYS, Billing("backfill"))
    memory.chunks.build(DAYS)


def archived(memory: wiring.Memory) -> None:
    ArchiveWork(memory).archive_months(memory.archive.due_months())


CHANGES: dict[str, Callable[[wiring.Memory], object]] = {
    "nothing": lambda _: None,
    "edited": edited,
    "edited_unread": edited_unread,
    "grown": grown,
    "facts_judged": facts_judged,
    "items_judged": items_judged,
    "mass": mass,
    "renamed": renamed,
    "rebuilt": rebuilt,
    "archived": archived,
}


@pytest.fixture
def database_url(server_url: str, copy_of: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    def make(url: str) -> str:
        for now, lines in ((FIRST, [*JANUARY, *FEBRUARY]), (SECOND, MARCH), (THIRD, APRIL)):
            with opened(url, tmp_path_factory.mktemp("home"), now) as memory:
                take(memory, lines)
        return ""

    databases.kept(server_url, NAME, make)
    return copy_of(NAME)


ASKED: tuple[Asked, ...] = (
    {},
    {"max_tokens": 400},
    {"as_of": datetime(2025, 4, 2, tzinfo=UTC)},
    {"as_of": FIRST, "max_tokens": 500},
    {"hint": "price of the boat"},
    {"known_as_of": FIRST},
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_block_is_made_again_whatever_came_after(change: str, database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, SERVED) as memory:
        who = olga(memory)
        served = [memory.context(who, **one) for one in ASKED]
    with opened(database_url, tmp_path, CHANGED) as memory:
        CHANGES[change](memory)
        served += [memory.context(who, **one) for one in ASKED]
    with opened(database_url, tmp_path, LATER) as memory:
        if change == "edited_unread":
            edited(memory)
    with opened(database_url, tmp_path, LAST) as memory:
        for place, one in enumerate(served):
            assert one.receipt_id is not None
            again = Receipts(memory).rebuild(one.receipt_id)
            assert (again.reason, again.text) == (None, one.block.text), place


@pytest.mark.parametrize("change", ["facts_judged", "items_judged", "renamed"])
def test_a_clock_that_stands_tells_before_from_after(change: str, database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, SERVED) as memory:
        served = memory.context(olga(memory))
        assert served.receipt_id is not None
        CHANGES[change](memory)
        assert memory.context(served.entity_id).block.text != served.block.text
        assert Receipts(memory).rebuild(served.receipt_id).text == served.block.text


def test_what_was_deleted_is_named_and_comes_back_for_no_moment(database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, SERVED) as memory:
        served = memory.context(olga(memory))
        assert served.receipt_id is not None
    with opened(database_url, tmp_path, CHANGED) as memory:
        edited(memory)
        with memory.connections.connection() as connection:
            kept = "SELECT count(*) FROM pkg.past_versions WHERE was::text LIKE '%6,000%'"
            assert connection.execute(kept).fetchone() != (0,)
        take(memory, [{**EDITED, "deleted": True}])
        with memory.connections.connection() as connection:
            assert connection.execute(kept).fetchone() == (0,)
        again = Receipts(memory).rebuild(served.receipt_id)
    assert again.text is None
    assert again.reason is not None
    gone = {(one.kind, one.id) for tier in served.block.tiers for one in tier.items if "6,000" in one.text}
    assert gone
    assert gone <= {*again.lines}
