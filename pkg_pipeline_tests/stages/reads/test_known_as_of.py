"""Two clocks (B11): what was true then, and what the memory knew then.

A memory takes in three exports at three times of its pinned clock, and is asked at each. Asked later for what it knew
then, it serves the same block; ``left_out`` names what it has no earlier state of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from pydantic import SecretStr

from pkg_pipeline import wiring
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline_tests import databases

NAME = "known_as_of"
FIRST, SECOND, THIRD = (datetime(2025, month, 1, 12, tzinfo=UTC) for month in (3, 4, 5))
DAYS = (date(2024, 1, 1), date(2025, 6, 1))
LONG = "The hall is large, the light is good, and there is room for forty boats in winter. "


def line(key: str, sent_at: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "chat_id": "c1",
        "message_id": key,
        "sender_id": sender.casefold(),
        "sender_name": sender,
        "is_self": sender == "Me",
        "sent_at": f"{sent_at}:00Z",
        "text": text,
        "chat_kind": "direct",
        **more,
    }


JANUARY = [
    line("1", "2025-01-10T10:00", "Olga", "Hello! My email is olga@old.example. " + LONG * 3),
    line("2", "2025-01-10T10:05", "Me", "Thank you. Let us agree on the price of the boat: 5,000 EUR. " + LONG * 3),
    line("3", "2025-01-10T10:10", "Olga", "Agreed. " + LONG),
    line("3a", "2025-01-10T10:11", "Olga", "I will send the contract by 14 February."),
]
FEBRUARY = [
    line("4", "2025-02-25T10:00", "Olga", "The mast is nearly ready, I am glad to say."),
    line("5", "2025-02-25T10:05", "Me", "Good. I will call the yard by Friday."),
    line("6", "2025-02-25T10:10", "Olga", "Perfect, thank you."),
]
EDITED = {
    **JANUARY[1],
    "text": "Thank you. Let us agree on the price of the boat: 6,000 EUR. " + LONG * 3,
    "edited_at": "2025-03-20T09:00:00Z",
}
MARCH = [
    EDITED,
    line("7", "2025-03-28T10:00", "Olga", "My email is now olga@new.example, please use that one."),
    line("8", "2025-03-28T10:05", "Me", "Noted. Has the contract been sent?"),
    line("9", "2025-03-28T10:10", "Olga", "Yes, I sent the contract this morning."),
]
LATE = [
    line("0", "2024-12-02T10:00", "Olga", "We met at the fair in Bremen, do you remember?"),
    line("0a", "2024-12-02T10:05", "Me", "Of course, the stand with the old engines."),
    line("0b", "2024-12-02T10:10", "Olga", "Exactly that one!"),
]
APRIL = [
    *LATE,
    line("10", "2025-04-28T10:00", "Olga", "Shall we meet at the yard on 12 May?"),
    line("11", "2025-04-28T10:05", "Me", "Agreed, 12 May at the yard."),
    line("12", "2025-04-28T10:10", "Olga", "See you there."),
]


@contextmanager
def opened(url: str, home: Path, now: datetime) -> Iterator[wiring.Memory]:
    settings = Settings(home=home, database_url=SecretStr(url), now=now, embedder="offline")
    with wiring.open_memory(settings) as memory:
        yield memory


def take(memory: wiring.Memory, lines: Sequence[Mapping[str, Any]]) -> None:
    """An export of that moment, and all that a run makes of it."""
    file = memory.settings.home / "export.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    at = memory.clock.now().timestamp()
    os.utime(file, (at, at))
    memory.import_path(file)
    memory.build_interactions()
    memory.items.run(Billing("backfill"))
    memory.summarize(DAYS, Billing("backfill"))
    memory.chunks.build(DAYS)


Asked = tuple[datetime, int]
"""As of when, and within how many tokens."""


def asked(memory: wiring.Memory, *, known: datetime | None = None, until: datetime) -> dict[Asked, dict[str, Any]]:
    """Contexts as of every moment up to one, and what they are now."""
    olga = find_entity(memory.reads, "Olga").id
    moments = (datetime(2025, 1, 20, tzinfo=UTC), datetime(2025, 2, 26, tzinfo=UTC), FIRST, SECOND, THIRD)
    return {
        (as_of, size): memory.context(olga, as_of=as_of, known_as_of=known, max_tokens=size).to_json()
        for as_of in moments
        if as_of <= until
        for size in (400, 4000)
    }


Told = dict[datetime, dict[Asked, dict[str, Any]]]


@pytest.fixture(scope="module")
def told(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What was served at each of the three times, by the database that ``database_url`` is like."""
    served: Told = {}

    def make(url: str) -> str:
        home = tmp_path_factory.mktemp("home")
        for now, lines in ((FIRST, [*JANUARY, *FEBRUARY]), (SECOND, MARCH), (THIRD, APRIL)):
            with opened(url, home, now) as memory:
                take(memory, lines)
                served[now] = asked(memory, until=now)
        return ""

    databases.kept(server_url, NAME, make)
    return served


@pytest.fixture
def database_url(told: Told, copy_of: Callable[[str], str]) -> str:
    return copy_of(NAME)


def printed(answer: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(one["kind"], one["id"]): one["text"] for part in answer["tiers"] for one in part["items"]}


def test_what_was_known_then_is_what_was_served_then(told: Told, database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, datetime(2025, 6, 1, tzinfo=UTC)) as memory:
        for now, before in told.items():
            for key, after in asked(memory, known=now, until=now).items():
                assert after["text"] == before[key]["text"], (now, key)
    assert sum(map(len, told.values())) >= 14


def test_a_decision_of_words_that_were_edited_since_stands_as_it_stood_then(
    told: Told, database_url: str, tmp_path: Path
) -> None:
    with opened(database_url, tmp_path, datetime(2025, 6, 1, tzinfo=UTC)) as memory:
        served = {key: lines for key, one in told[FIRST].items() for lines in [printed(one)] if "5,000" in str(lines)}
        later = asked(memory, until=FIRST)
    agreed = [
        (key, item, text) for key, lines in served.items() for item, text in lines.items() if item[0] == "decision"
    ]
    assert agreed
    for key, item, text in agreed:
        found = printed(later[key]).get(item, "")
        has_room = key[1] == max(size for _, size in later)  # where more is known since, less of a line may fit
        assert found == text or (not has_room and found.endswith("…") and text.startswith(found[:-1]))
    for answer in later.values():
        assert "6,000" not in answer["text"]


def test_the_two_clocks_differ(told: Told, database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, datetime(2025, 6, 1, tzinfo=UTC)) as memory:
        olga = find_entity(memory.reads, "Olga").id

        def text(**clocks: datetime) -> str:
            return memory.context(olga, max_tokens=4000, **clocks).block.text  # type: ignore[arg-type]

        assert "Bremen" in text(as_of=FIRST), "it was true then"
        assert "Bremen" not in text(as_of=FIRST, known_as_of=SECOND), "and nobody had told it yet"
        assert "5,000" in text(as_of=FIRST, known_as_of=FIRST)
        assert "6,000" not in text(as_of=FIRST, known_as_of=SECOND), "edited later than that moment"
        assert "6,000" in text(as_of=SECOND, known_as_of=SECOND)
        assert "6,000" not in text(as_of=SECOND, known_as_of=FIRST)
        assert "olga@old.example" in text(as_of=FIRST, known_as_of=SECOND)
        assert "12 May" not in text(known_as_of=SECOND)
        with pytest.raises(BadRequest, match="future"):
            memory.context(olga, known_as_of=datetime(2025, 6, 2, tzinfo=UTC))


def test_recall_finds_what_was_known_then(told: Told, database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, datetime(2025, 6, 1, tzinfo=UTC)) as memory:

        def found(query: str, known: datetime | None) -> str:
            return memory.recall.search(query, top_k=20, known_as_of=known).block.text

        for query, word in (("where did we meet, at which fair", "Bremen"), ("when do we meet at the yard", "12 May")):
            assert word in found(query, None)
            assert word in found(query, THIRD)
            assert word not in found(query, SECOND)
        assert "5,000" in found("price of the boat", FIRST)
        assert "6,000" not in found("price of the boat", FIRST)
        said = memory.recall.search("boat", known_as_of=FIRST)
        assert any("anew" in one for one in said.warnings)


def test_a_receipt_of_then_rebuilds_what_later_imports_changed(told: Told, database_url: str, tmp_path: Path) -> None:
    from pkg_pipeline.wiring.receipts import Receipts

    with opened(database_url, tmp_path, datetime(2025, 6, 1, tzinfo=UTC)) as memory:
        for now, answers in told.items():
            for (as_of, _), answer in answers.items():
                rebuilt = Receipts(memory).rebuild(UUID(answer["receipt_id"]))
                assert rebuilt.reason is None, (now, as_of)
                assert rebuilt.text == answer["text"]


def test_sql_has_both_clocks(told: Told, database_url: str, tmp_path: Path) -> None:
    with psycopg.connect(database_url, options="-csearch_path=pkg,public") as connection:

        def count(function: str, *clocks: datetime) -> int:
            marks = ", ".join(["%s"] * len(clocks))
            row = connection.execute(f"SELECT count(*) FROM {function}({marks})".encode(), clocks).fetchone()
            assert row is not None
            return row[0]

        for function in ("summaries_as_of", "items_as_of", "facts_as_of"):
            assert count(function, THIRD) >= count(function, THIRD, FIRST) > 0, function
            assert count(function, THIRD, datetime(2025, 2, 1, tzinfo=UTC)) == 0, function
        values = "SELECT value FROM facts_as_of(%s, %s) WHERE fact_type = 'email'"
        assert connection.execute(values, (FIRST, FIRST)).fetchall() == [("olga@old.example",)]
        assert connection.execute(values, (THIRD, FIRST)).fetchall() == [("olga@old.example",)]
        assert connection.execute(values, (THIRD, THIRD)).fetchall() == [("olga@new.example",)]


def test_what_was_deleted_since_comes_back_for_no_moment(told: Told, database_url: str, tmp_path: Path) -> None:
    later = datetime(2025, 5, 20, tzinfo=UTC)
    with opened(database_url, tmp_path, later) as memory:
        take(memory, [{**FEBRUARY[0], "deleted": True}])
        answer = asked(memory, known=FIRST, until=FIRST)[FIRST, 4000]
    assert "mast" not in answer["text"]
    assert {"kind": "message", "id": "jsonl:c1/4", "reason": "withheld"} in answer["left_out"]


def test_a_state_that_is_not_kept_is_named(told: Told, database_url: str, tmp_path: Path) -> None:
    """As before revision 0035: a reading of other words took the place of the one before."""
    with psycopg.connect(database_url, options="-csearch_path=pkg,public") as connection:
        connection.execute(
            "UPDATE item_states SET text = 'Something else', known_from = '2025-05-10Z' WHERE item_id IN"
            " (SELECT id FROM items WHERE known_from <= %s LIMIT 1)", (FIRST,)
        )  # fmt: skip
        connection.execute("DELETE FROM past_versions")
        connection.commit()
    with opened(database_url, tmp_path, datetime(2025, 6, 1, tzinfo=UTC)) as memory:
        answer = asked(memory, known=FIRST, until=FIRST)[FIRST, 4000]
    assert "Something else" not in answer["text"]
    lost = [one["reason"] for one in answer["left_out"] if one["kind"] in ("decision", "action_item")]
    assert [reason for reason in lost if reason != "budget"] == ["not_kept"]
