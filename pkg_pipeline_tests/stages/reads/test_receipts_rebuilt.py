"""Receipts (B11): whatever a memory learns, is told or made to do after a context was served, the block is made again to
the byte, until something in it is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from pkg_pipeline import wiring
from pkg_pipeline.stages.items.deciding import ItemEdit
from pkg_pipeline.stages.items.fact_deciding import FactEdit, NewFact
from pkg_pipeline.stages.ports import Billing
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
    import json

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
        review.decide(fact, FactEdit("reject") if place % 2 else FactEdit("edit", value="olga@person.example"))
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


def profiled(memory: wiring.Memory) -> None:
    with memory.connections.connection() as connection:
        connection.execute("UPDATE pkg.entity_relationship_profiles SET summary = 'Other words.', remade_at = now()")


def rebuilt(memory: wiring.Memory) -> None:
    from pkg_pipeline.adapters.postgres.archive.rebuilding import PostgresRebuilding

    PostgresRebuilding(memory.connections).clear()
    memory.build_interactions()
    memory.items.run(Billing("backfill"))
    memory.summarize(DAYS, Billing("backfill"))
    memory.chunks.build(DAYS)


def archived(memory: wiring.Memory) -> None:
    ArchiveWork(memory).archive_months(memory.archive.due_months())


CHANGES = {
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


@pytest.mark.parametrize("change", CHANGES)
def test_a_block_is_made_again_whatever_came_after(change: str, database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, SERVED) as memory:
        who = olga(memory)
        asked = [{}, {"max_tokens": 400}, {"as_of": datetime(2025, 4, 2, tzinfo=UTC)}, {"as_of": datetime(2025, 3, 1, tzinfo=UTC), "max_tokens": 500}, {"hint": "price of the boat"}, {"known_as_of": datetime(2025, 3, 2, tzinfo=UTC)}]
        served = [memory.context(who, **one) for one in asked]
    with opened(database_url, tmp_path, CHANGED) as memory:
        CHANGES[change](memory)
        served_then = [memory.context(who, **one) for one in asked[:2]]
    with opened(database_url, tmp_path, LATER) as memory:
        if change == "edited_unread":
            edited(memory)
    with opened(database_url, tmp_path, LAST) as memory:
        again = [Receipts(memory).rebuild(one.receipt_id) for one in (*served, *served_then)]
    differing = {place: one.reason for place, one in enumerate(again) if one.reason is not None}
    assert not differing
