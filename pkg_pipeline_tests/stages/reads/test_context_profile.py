"""The relationship in the cold tier (P3, P8, P9, P29), on a real database."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from psycopg.types.json import Jsonb

from pkg_pipeline_tests.stages.memory_builder import Said, made_id
from pkg_pipeline_tests.stages.profiles.profile_rows import key_decision, milestone, profile
from pkg_pipeline_tests.stages.reads.context_memory import NOW, Remembered, items, reasons, tier

MARCH_1, MARCH_8 = date(2026, 3, 1), date(2026, 3, 8)


def days(count: float) -> timedelta:
    return timedelta(days=count)


def test_a_relationship_stands_before_what_is_open_and_what_was_decided(memory: Remembered) -> None:
    build = memory.build
    talk = build.conversation("Anna", NOW - days(200), [Said("Anna", "moved"), Said("Me", "ok", 1)])
    build.summary(talk, "Anna moved.", message_ids=["202508271200-0", "202508271200-1"])
    recent = build.conversation("Anna", NOW - days(20), [Said("Anna", "the drill")])
    build.action(recent, "return the drill", about=["Anna"], due=date(2026, 3, 5))
    build.decision(talk, "meet on Sundays", about=["Anna"], importance="medium")
    identity = profile(
        build,
        "Anna",
        MARCH_1,
        "Anna is an old friend.",
        milestones=[
            milestone(date(2025, 8, 27), "Moved to the coast", talk, importance="medium"),
            milestone(date(2024, 5, 1), "Met at work", made_id("gone")),
        ],
    )
    answer = memory.ask()
    assert tier(answer, "cold") == [
        "Anna is an old friend.",
        "1 May 2024: Met at work",
        "27 August 2025: Moved to the coast",
        "To do (Anna, since 23 February 2026, OVERDUE, was due 5 March 2026): return the drill",
        "Decided (27 August 2025): meet on Sundays",
    ]
    assert "## Relationship, as of 7 March 2026\n- Anna is" in answer["text"]
    first, met, moved = items(answer, "cold")[:3]
    assert (first["kind"], first["id"], first["at"]) == ("profile", str(identity), "2026-03-08T00:00:00Z")
    assert (met["kind"], met["id"], met["message_ids"]) == ("milestone", f"{identity}/2", [])
    assert [key.rsplit("/", 1)[1] for key in moved["message_ids"]] == ["202508271200-0", "202508271200-1"]


AS_OF = [
    # (asked as of, what is served): the week of 1 March ends on the 8th at midnight UTC, that of 8 March on the 15th
    (NOW, "eighth"),
    (datetime(2026, 3, 15, tzinfo=UTC), "eighth"),
    (datetime(2026, 3, 14, 23, 59, 59, tzinfo=UTC), "first"),
    (datetime(2026, 3, 8, tzinfo=UTC), "first"),
    (datetime(2026, 3, 7, 23, 59, 59, tzinfo=UTC), None),
]


@pytest.mark.parametrize(("as_of", "expected"), AS_OF)
def test_it_is_the_newest_week_that_had_ended_by_then(
    memory: Remembered, as_of: datetime, expected: str | None
) -> None:
    profile(memory.build, "Anna", MARCH_1, "first")
    profile(memory.build, "Anna", MARCH_8, "eighth")
    texts = tier(memory.ask(as_of=as_of), "cold")
    assert texts == ([] if expected is None else [expected])


def test_what_rests_on_a_deleted_message_is_withheld_and_no_older_week_takes_its_place(memory: Remembered) -> None:
    profile(memory.build, "Anna", MARCH_1, "older")
    identity = profile(
        memory.build, "Anna", MARCH_8, "secret", dirty_reason="deleted", milestones=[milestone(MARCH_1, "secret too")]
    )
    answer = memory.ask()
    assert tier(answer, "cold") == []
    assert "secret" not in answer["text"]
    assert reasons(answer) == {str(identity): "withheld"}


def test_what_was_edited_since_is_served_and_marked(memory: Remembered) -> None:
    profile(memory.build, "Anna", MARCH_8, "as it was", dirty_reason="edited", milestones=[milestone(MARCH_1, "Met")])
    answer = memory.ask()
    assert [item["marks"] for item in items(answer, "cold")] == [["stale"], ["stale"]]
    assert "## Relationship, as of 14 March 2026 (changed since" in answer["text"]


def test_a_milestone_that_repeats_a_decision_is_said_once_and_a_withheld_one_not_at_all(memory: Remembered) -> None:
    build = memory.build
    talk = build.conversation("Anna", NOW - days(120), [Said("Anna", "deal")])
    build.summary(talk, "They made a deal.")
    build.decision(talk, "Rent is 900 from June.", about=["Anna"])
    build.decision(talk, "Sell the boat", about=["Anna"], withheld=True)
    profile(
        build,
        "Anna",
        MARCH_8,
        "A landlord.",
        milestones=[
            milestone(MARCH_1, "Rent is 900…", talk),
            milestone(MARCH_1, "sell the boat", talk),
            milestone(MARCH_1, "The roof was mended", talk),
        ],
    )
    answer = memory.ask()
    assert answer["text"].count("Rent is 900") == 1
    assert "boat" not in answer["text"]
    assert tier(answer, "cold")[1:] == ["1 March 2026: The roof was mended"]


def test_the_profile_names_the_messages_of_its_newest_key_decisions_bounded(memory: Remembered) -> None:
    """Twelve decisions of eight messages each: of the ten newest, six each."""
    build = memory.build
    made = []
    for number in range(12):
        talk = build.conversation("Anna", NOW - days(300 - number), [Said("Anna", "x")])
        build.summary(talk, f"Talk {number}.")
        ids = [f"{number}.{place}" for place in range(8)]
        item = build.decision(talk, f"decision {number}", about=["Anna"], message_ids=ids)
        made.append(key_decision(item, talk, date(2025, 6, 1) + days(number), f"decision {number}"))
    profile(build, "Anna", MARCH_8, "Long.", key_decisions=made)
    (line,) = [item for item in items(memory.ask(), "cold") if item["kind"] == "profile"]
    named = [key.rsplit("/", 1)[1] for key in line["message_ids"]]
    assert named == [f"{number}.{place}" for number in range(11, 1, -1) for place in range(6)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ru", "- клиент · на связи примерно раз в месяц · по-русски Telegram · "),
        ("zh", "- 客户 · 大约每月联系 · 用中文 来源：Telegram · "),
        ("en", "- client · in touch about monthly · in English via Telegram · "),
    ],
)
def test_type_and_frequency_are_in_the_language_of_the_block(memory: Remembered, language: str, text: str) -> None:
    build = memory.build
    said = {"ru": "договор и цена", "zh": "合同和价格", "en": "contract and price"}[language]
    for month in range(5):
        build.conversation("Anna", NOW - days(1 + 30 * month), [Said("Anna", said)])
    build.connection.execute("UPDATE interactions SET language = %s", (language,))
    profile(build, "Anna", MARCH_8, "Коротко.", relationship_type="client")
    answer = memory.ask()
    assert answer["text"].splitlines()[1].startswith(text)
    assert tier(answer, "cold") == ["Коротко."]


def test_a_tight_budget_keeps_the_relationship_and_what_is_overdue_and_names_the_rest(memory: Remembered) -> None:
    build = memory.build
    talk = build.conversation("Anna", NOW - days(1), [Said("Anna", "word " * 60, n) for n in range(40)])
    build.summary(talk, "Many words.")
    build.action(talk, "return the drill", about=["Anna"], due=date(2026, 3, 5))
    marks = [milestone(MARCH_1 - days(n), f"Turning point number {n} of many in these years") for n in range(30)]
    identity = profile(build, "Anna", MARCH_8, "Friend of many years. " * 12, milestones=marks)
    answer = memory.ask(max_tokens=1200)
    kinds = [item["kind"] for item in items(answer, "cold")]
    assert kinds[0] == "profile"
    assert "action_item" in kinds
    assert str(identity) not in reasons(answer), "it is neither cut nor left out where it takes a third"
    assert reasons(memory.ask(max_tokens=200))[str(identity)] == "budget"
    assert [reason for key, reason in reasons(answer).items() if key.startswith(f"{identity}/")].count("budget") > 20
    assert memory.ask(max_tokens=1200)["text"] == answer["text"]


def test_what_the_profile_doubts_is_in_doubt_until_it_is_spoken_of_again(memory: Remembered) -> None:
    build = memory.build
    talk = build.conversation("Anna", NOW - days(20), [Said("Anna", "the drill")])
    drill, call, pay, decided = (
        build.action(talk, text, about=["Anna"], due=date(2026, 3, 5)) for text in ("Drill", "Call", "Pay", "Paint")
    )
    build.state(pay, "renewed", NOW - days(1), due_date=date(2026, 3, 20))
    build.state(decided, "reopened", NOW - days(12))
    doubts = [{"id": str(one), "is_doubted": True} for one in (drill, pay, decided)]
    profile(build, "Anna", MARCH_1, "An old friend.", open_action_items=Jsonb([*doubts, {"id": str(call)}]))
    lines = {item["id"]: (item["marks"], item["text"]) for item in items(memory.ask(), "cold")}
    assert lines[str(drill)] == (
        ["doubted"],
        "To do (Anna, since 23 February 2026, was due 5 March 2026, perhaps no longer open): Drill",
    )
    assert [lines[str(one)][0] for one in (call, pay, decided)] == [["overdue"], [], ["overdue"]]
    assert list(lines)[-1] == str(drill), "after what is surely open"
