"""Frames of a small memory, value by value; their dtypes, also of an empty one; what of them is withheld."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pandas as pd
import psycopg
import pytest

from pkg_pipeline import frames
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.reads import frames as reads
from pkg_pipeline.frames.columns import DTYPES, tables, with_tables
from pkg_pipeline.frames.rows import Narrowed
from pkg_pipeline.frames.typed import typed
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.reads.entities import EntityNotFound
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.conftest import REPOSITORY
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.profiles.profile_rows import key_decision, milestone, profile
from pkg_pipeline_tests.stages.reads.context_memory import NOW
from pkg_pipeline_tests.stages.reads.item_rows import item

OLD, LATER = datetime(2026, 1, 10, 22, 30, tzinfo=UTC), datetime(2026, 2, 3, 9, tzinfo=UTC)
WEEK = date(2026, 2, 1)
STORED = [name for name in tables() if name != "recall"]


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    given = {
        "home": tmp_path, "database_url": database_url, "now": NOW, "llm": "offline", "embedder": "none",
        "timezone": "Europe/Berlin",
    }  # fmt: skip
    with open_memory(Settings.model_validate(given)) as opened:
        yield opened


@pytest.fixture
def told(memory: Memory) -> Iterator[MemoryBuilder]:
    """Anna in a dialog and with Bob in a group: one talk each, the first with a decision and an item."""
    build = MemoryBuilder(memory.url)
    for name in ("Me", "Anna", "Bob"):
        build.person(name, is_self=name == "Me")
    build.chat("Anna", ["Me", "Anna"])
    build.chat("team", ["Me", "Anna", "Bob"], kind="group")
    said = [Said("Me", "The shelves?"), Said("Anna", "300 EUR, agreed.", 4, 0.7), Said("Me", "gone", 5, deleted=True)]
    talk = build.conversation("Anna", OLD, said)
    ids = [build.external_id("Anna", OLD, place) for place in range(3)]
    important = [{"message_id": ids[1], "content": "300 EUR, agreed.", "timestamp": "", "reason": "agreement"}]
    build.summary(
        talk, "They agreed on the shelves.", message_ids=ids[:2], tone="positive", key_points=["shelves", "price"],
        important_messages=important,
    )  # fmt: skip
    at, decided = OLD + timedelta(minutes=4), {"kind": "decision", "importance": "high"}
    item(build, talk, "Shelves for 300 EUR", about=["Anna", "Bob"], at=at, message=ids[1], **decided)
    item(build, talk, "Never said", about=["Anna"], at=at, is_withheld=True, **decided)
    later = {"at": LATER, "event": "renewed", "due_date": date(2026, 3, 1)}
    first = date(2026, 2, 1)
    item(build, talk, "Bring them", later, about=["Anna"], at=OLD, message=ids[0], owner="self", due=first)
    told = [Said("Bob", "Lunch?"), Said("Anna", "Yes."), Said("Bob", "At noon.")]
    group = build.conversation("team", LATER, told, belongs={"Anna": [0, 1], "Bob": [0, 2]})
    build.summary(group, "They had lunch.")
    yield build
    build.close()


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): None if not isinstance(value, list) and pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def test_summaries_are_those_that_are_served(memory: Memory, told: MemoryBuilder) -> None:
    found = records(frames.summaries(memory=memory))
    assert [row["summary"] for row in found] == ["They had lunch.", "They agreed on the shelves."]
    row = found[1]
    assert (row["chat"], row["status"], row["withheld"]) == ("telegram:direct:Anna", "completed", False)
    assert (row["key_points"], row["tone"], row["decisions"]) == (["shelves", "price"], "positive", 1)
    assert row["important_messages"] == ["telegram:direct%3AAnna/202601102230-1"]
    assert row["started_at"] == pd.Timestamp(OLD)
    assert row["started_at"].tz is not None


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({"entity": "Bob"}, 1),
        ({"entity": "Anna"}, 2),
        ({"chat": "telegram:direct:Anna"}, 1),
        ({"since": date(2026, 1, 11)}, 1),
        ({"until": "2026-01-10"}, 1),
        ({"since": "2026-01-10", "until": "2026-02-03", "entity": "Anna"}, 2),
        ({"since": "2027-01-01"}, 0),
    ],
)
def test_summaries_by_person_chat_and_day(memory: Memory, told: MemoryBuilder, given: Any, count: int) -> None:
    assert len(frames.summaries(memory=memory, **given)) == count


def test_items_come_once_with_all_whom_they_concern(memory: Memory, told: MemoryBuilder) -> None:
    (decision,) = records(frames.decisions(memory=memory))
    assert (decision["description"], decision["people"]) == ("Shelves for 300 EUR", ["Anna", "Bob"])
    assert (decision["decided_on"], decision["importance"]) == (pd.Timestamp("2026-01-10"), "high")
    assert decision["message_ids"] == ["telegram:direct%3AAnna/202601102230-1"]
    assert decision["chat"] == "telegram:direct:Anna"
    (task,) = records(frames.action_items(memory=memory))
    assert (task["status"], task["owner"], task["people"]) == ("open", "self", ["Anna"])
    assert (task["due_date"], task["closed_at"]) == (pd.Timestamp("2026-03-01"), None)
    states = records(frames.item_states(memory=memory, entity="Anna", until="2026-12-31"))
    assert [(one["kind"], one["place"], one["event"], one["due_date"]) for one in states] == [
        ("decision", 0, "opened", None),
        ("action_item", 0, "opened", pd.Timestamp("2026-02-01")),
        ("action_item", 1, "renewed", pd.Timestamp("2026-03-01")),
    ]
    assert states[1]["message_ids"] == ["telegram:direct%3AAnna/202601102230-0"]
    assert records(frames.decisions(memory=memory, entity="Bob")) == [decision]
    assert frames.action_items(memory=memory, entity="Bob").empty
    assert frames.decisions(memory=memory, since="2026-01-11").empty


def test_messages_of_a_person_are_dialogs_and_what_of_groups_belongs_to_them(
    memory: Memory, told: MemoryBuilder
) -> None:
    assert [row["text"] for row in records(frames.messages(memory=memory))] == [
        "The shelves?", "300 EUR, agreed.", "Lunch?", "Yes.", "At noon.",
    ]  # fmt: skip
    of_anna = records(frames.messages(memory=memory, entity="Anna"))
    assert [row["text"] for row in of_anna] == ["The shelves?", "300 EUR, agreed.", "Lunch?", "Yes."]
    assert [row["is_self"] for row in of_anna] == [True, False, False, False]
    assert [row["sender"] for row in of_anna] == ["Me", "Anna", "Bob", "Anna"]
    assert of_anna[1]["importance"] == pytest.approx(0.7)
    assert (of_anna[0]["id"], of_anna[0]["chat_kind"]) == ("telegram:direct%3AAnna/202601102230-0", "direct")
    by_chat = frames.messages(memory=memory, entity="Anna", chat="telegram:group:team")
    assert list(by_chat["text"]) == ["Lunch?", "Yes."]


def test_days_are_those_of_the_memory(memory: Memory, told: MemoryBuilder) -> None:
    """10 January, 22:30 and five minutes in UTC is still the 10th in Berlin; 23:30 is the 11th."""
    assert len(frames.messages(memory=memory, since="2026-01-10", until="2026-01-10")) == 2
    told.connection.execute("UPDATE messages SET sent_at = sent_at + interval '1 hour' WHERE external_id LIKE '%-1'")
    assert len(frames.messages(memory=memory, since="2026-01-11", until="2026-01-11")) == 1


def test_profiles_and_their_topics(memory: Memory, told: MemoryBuilder) -> None:
    def topic(name: str, mentions: int) -> dict[str, Any]:
        return {"name": name, "mentions": mentions, "last_at": OLD.isoformat()}

    talk, other = told.people["Anna"], told.people["Bob"]
    made = milestone(date(2026, 1, 10), "Shelves agreed", talk)
    for week, listed in ((WEEK - timedelta(days=7), [("shelves", 2)]), (WEEK, [("shelves", 5), ("lunch", 1)])):
        profile(
            told, "Anna", week, "A friend.", milestones=[made], key_decisions=[key_decision(other, talk, WEEK, "300")],
            top_topics=psycopg.types.json.Jsonb([topic(*one) for one in listed]), mean_gap_days=3.5,
        )  # fmt: skip
    profile(told, "Bob", WEEK, "Never said.", dirty_reason="deleted", milestones=[made])
    found = records(frames.profiles(memory=memory))
    assert [(row["name"], row["week"].date(), row["withheld"]) for row in found] == [
        ("Anna", WEEK - timedelta(days=7), False), ("Anna", WEEK, False), ("Bob", WEEK, True),
    ]  # fmt: skip
    assert (found[1]["topics"], found[1]["milestones"]) == (["shelves", "lunch"], ["2026-01-10: Shelves agreed"])
    assert (found[1]["key_decisions"], found[1]["mean_gap_days"]) == ([str(other)], 3.5)
    assert (found[1]["coverage"], found[1]["frequency"]) == (1.0, "weekly")
    assert (found[2]["summary"], found[2]["timeline"], found[2]["milestones"], found[2]["status"]) == (
        None, None, [], "dirty",
    )  # fmt: skip
    trend = records(frames.topics(memory=memory, entity="Anna"))
    assert [(row["topic"], row["rank"], row["mentions"], row["new_mentions"]) for row in trend] == [
        ("shelves", 1, 2, None), ("shelves", 1, 5, 3), ("lunch", 2, 1, None),
    ]  # fmt: skip
    assert len(frames.profiles(memory=memory, since=WEEK.isoformat(), until=WEEK.isoformat())) == 2


def test_activity_counts_weeks_of_each_person(memory: Memory, told: MemoryBuilder) -> None:
    """The first talk is of the week of 4 January, the second of that of 1 February; Anna answers after 4 minutes."""
    found = records(frames.activity(memory=memory))
    assert [(row["name"], row["week"].date(), row["interactions"], row["messages"]) for row in found] == [
        ("Anna", date(2026, 1, 4), 1, 3), ("Anna", WEEK, 1, 2), ("Bob", WEEK, 1, 2),
    ]  # fmt: skip
    assert [row["their_response_minutes"] for row in found] == [4, None, None]
    assert [row["my_response_minutes"] for row in found] == [None, None, None]
    gap = (LATER - OLD).total_seconds() / 86_400
    assert [row["mean_gap_days"] for row in found] == [None, pytest.approx(gap), None]
    assert [row["frequency"] for row in found] == ["rare", "rare", "rare"]
    assert len(frames.activity(memory=memory, entity="Anna", since=WEEK)) == 1
    told.connection.execute("UPDATE chats SET category = 'mass'")
    assert frames.activity(memory=memory).empty


def test_costs_hold_no_word(memory: Memory, told: MemoryBuilder) -> None:
    for at, usd in ((LATER, 0.000123), (OLD, 1.5)):
        told.insert(
            "llm_calls", request_hash="r", task="interaction_summary", model="m", prompt_version="p/1", lane="live",
            outcome="ok", input_tokens=100, output_tokens=10, cost_usd=usd, duration_seconds=2, reply="secret",
            error="secret", created_at=at,
        )  # fmt: skip
    found = frames.costs(memory=memory)
    assert list(found["cost_usd"]) == [1.5, 0.000123]
    assert (found["lane"].dtype.name, found["seconds"].sum()) == ("category", 4)
    assert "secret" not in found.to_csv()
    assert len(frames.costs(memory=memory, until="2026-01-10")) == 1


def test_recall_is_a_frame_too(memory: Memory, told: MemoryBuilder) -> None:
    memory.chunks.build((OLD.date(), LATER.date()))
    found = frames.recall("the price of the shelves", memory=memory, top_k=2)
    assert list(found["rank"]) == list(range(1, len(found) + 1))
    both = {f"telegram:direct%3AAnna/202601102230-{place}" for place in (0, 1)}
    assert set(found["message_ids"][0]) <= both
    assert both <= set(found["message_ids"].explode())
    of_bob = frames.recall("shelves and lunch", memory=memory, entity="Bob")
    assert set(of_bob["source"]) >= {"summary"}
    assert set(of_bob[of_bob["source"] != "decision"]["chat"]) == {"telegram:group:team"}


def dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in frame.dtypes.items()}


@pytest.mark.parametrize("name", list(tables()))
def test_an_empty_frame_has_the_dtypes_of_a_full_one(memory: Memory, name: str) -> None:
    found = frames.recall("anything", memory=memory) if name == "recall" else frames.table(name, memory=memory)
    declared = {one.name: DTYPES.get(one.dtype, one.dtype).split(" (")[0] for one in tables()[name].columns}
    assert found.empty
    assert dtypes(found) == declared
    assert dtypes(typed(name, [[None] * len(declared)])) == declared
    for one in tables()[name].columns:
        if one.categories:
            assert tuple(cast(pd.CategoricalDtype, found[one.name].dtype).categories) == one.categories


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("name", ["summaries", "decisions", "action_items", "item_states", "messages", "activity"])
def test_a_full_frame_has_them(memory: Memory, name: str) -> None:
    assert dtypes(frames.table(name, memory=memory)) == dtypes(typed(name, []))


def test_what_a_table_has_not_is_refused(memory: Memory) -> None:
    with pytest.raises(ValueError, match="costs cannot be narrowed by entity, only by since, until"):
        frames.costs(memory=memory, entity="Anna")
    with pytest.raises(EntityNotFound):
        frames.messages(memory=memory, entity="Nobody")
    with pytest.raises(KeyError):
        frames.table("entities", memory=memory)


@pytest.mark.parametrize("name", STORED)
def test_no_more_than_a_batch_is_asked_for_at_once_and_nothing_can_be_written(
    memory: Memory, told: MemoryBuilder, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = frames.table(name, memory=memory)
    monkeypatch.setattr(reads, "BATCH_ROWS", 1)
    pd.testing.assert_frame_equal(frames.table(name, memory=memory), whole)
    with frames.batches(memory, name, Narrowed()) as found:
        next(found, None)
    statements: list[str] = []
    monkeypatch.setattr(engine.psycopg.Cursor, "execute", _watched(engine.psycopg.Cursor.execute, statements))
    real = engine.pool

    def pool(*given: Any, **options: Any) -> Any:
        made = real(*given, **options)
        with made.connection() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("DELETE FROM messages")
        return made

    monkeypatch.setattr(engine, "pool", pool)
    frames.table(name, memory=memory)
    assert any("DELETE" in one for one in statements), "the pool of the frames was tried"


def _watched(execute: Any, statements: list[str]) -> Any:
    def watched(self: object, statement: object, *more: object, **options: object) -> object:
        statements.append(str(statement))
        return execute(self, statement, *more, **options)

    return watched


def test_the_page_of_the_columns_is_what_is_declared() -> None:
    page = (REPOSITORY / "docs" / "frames.md").read_text(encoding="utf-8")
    assert page == with_tables(page), "make docs writes it"
    assert page.count("| `cost_usd` | Float64 |") == 3


def test_pandas_is_loaded_by_the_first_frame() -> None:
    loaded = "{'pandas', 'sqlalchemy', 'psycopg'} & set(sys.modules)"
    code = f"import sys\nfrom pkg_pipeline import frames\nassert not {loaded}, sys.modules\n"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
