"""The person card at the head of a context (B19): who, how often, since when, how to reach them; nothing twice."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.profiles.profile_rows import profile
from pkg_pipeline_tests.stages.reads.context_memory import NOW, Remembered, exact_tokens

MARCH_8 = date(2026, 3, 8)
MOST_TOKENS = 90


def days(count: float) -> timedelta:
    return timedelta(days=count)


def weekly(build: MemoryBuilder, name: str = "Anna") -> None:
    for week in range(8):
        build.conversation(name, NOW - days(2 + 7 * week), [Said(name, "hello"), Said("Me", "hi", 1)])


def head(answer: dict[str, Any]) -> list[str]:
    """The block's lines before its first section."""
    return answer["text"].partition("\n## ")[0].splitlines()


def test_the_card_says_who_it_is_and_every_fact_once(memory: Remembered) -> None:
    build = memory.build
    weekly(build)
    profile(build, "Anna", MARCH_8, "Rent and repairs.", relationship_type="landlord")
    said = {
        "family": "son Max",
        "birthday": "1980-08-15",
        "work_phone": "+44 7000 000132",
        "position": "accountant",
        "organization": "Lime Ltd",
        "email": "anna@lime.example",
        "preference": "writes only on weekdays",
    }
    for kind, value in said.items():
        build.fact("Anna", kind, value)
    answer = memory.ask()
    assert head(answer) == [
        "# Anna",
        "- landlord · in touch about weekly · in English via Telegram · messages: 16 (since 23 January 2026)"
        " · last contact 13 March 2026 (2 days ago) · as of 15 March 2026, 12:00",
        "- position: accountant",
        "- organisation: Lime Ltd",
        "- work phone: +44 7000 000132",
        "- e-mail: anna@lime.example",
        "- birthday: 15 August 1980",
        "- family: son Max",
    ]
    assert exact_tokens("\n".join(head(answer))) <= MOST_TOKENS + 20, "six facts are more than most people have"
    assert exact_tokens("\n".join(head(answer)[:6])) <= MOST_TOKENS
    for value in ("accountant", "Lime Ltd", "15 August", "landlord"):
        assert answer["text"].count(value) == 1
    assert "## Facts and agreements\n- preference: writes only on weekdays" in answer["text"]
    card = answer["card"]
    assert (card["relationship"], card["frequency"], card["languages"]) == ("landlord", "weekly", ["en"])
    assert [fact["type"] for fact in card["facts"]] == [
        "position", "organization", "work_phone", "email", "birthday", "family",
    ]  # fmt: skip
    assert card["last_contact"] == "2026-03-13T12:01:00Z"


def test_the_last_contact_counts_talks_that_nobody_summed_up_or_cut_yet(memory: Remembered) -> None:
    weekly(memory.build)
    profile(memory.build, "Anna", MARCH_8, "Rent and repairs.")
    memory.build.conversation("Anna", NOW - days(0.1), [Said("Anna", "one more thing")], sessionised=False)
    answer = memory.ask()
    assert "last contact 15 March 2026 (today)" in head(answer)[1]
    assert answer["card"]["last_contact"] == "2026-03-15T09:36:00Z"


def test_as_of_an_earlier_day_the_rhythm_is_that_of_then(memory: Remembered) -> None:
    weekly(memory.build)
    assert memory.ask(as_of=NOW - days(45))["card"]["frequency"] is None, "two days of contact have no rhythm"
    assert memory.ask(as_of=NOW - days(20))["card"]["frequency"] == "weekly"


@pytest.mark.parametrize(("kind", "is_card"), [("mass", False), (None, True)])
def test_a_bot_is_no_person(memory: Remembered, kind: str | None, is_card: bool) -> None:
    weekly(memory.build)
    memory.build.connection.execute("UPDATE chats SET category = %s", (kind,))
    answer = memory.ask()
    assert (answer["card"] is not None) is is_card
    assert ("in touch" in head(answer)[1]) is is_card
    assert "last contact 13 March 2026" in head(answer)[1]


def test_my_own_context_has_no_card(memory: Remembered) -> None:
    weekly(memory.build)
    assert memory.ask("Me")["card"] is None


def test_what_a_person_said_of_the_relationship_holds_against_the_profile(memory: Remembered) -> None:
    weekly(memory.build)
    profile(memory.build, "Anna", MARCH_8, "Rent.", relationship_type="client")
    assert memory.ask()["card"]["relationship"] == "client"
    memory.build.fact("Anna", "relationship", "friend")
    answer = memory.ask()
    assert answer["card"]["relationship"] == "friend"
    assert head(answer)[1].startswith("- friend · ")


def test_a_profile_that_left_it_open_holds_against_a_guess_from_the_newest_words(memory: Remembered) -> None:
    rent = [Said("Anna", "The rent is due, your tenancy ends in May"), Said("me", "I paid the rent, the boiler leaks")]
    memory.build.conversation("Anna", NOW - days(1), rent * 3)
    assert memory.ask()["card"]["relationship"] == "landlord"
    profile(memory.build, "Anna", MARCH_8, "Talks.", relationship_type="unknown")
    assert memory.ask()["card"]["relationship"] == "unknown"


def test_what_is_unknown_is_left_out(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "hi")])
    answer = memory.ask()
    assert head(answer)[1].startswith("- in English via Telegram · messages: 1 (since 14 March 2026) · last contact")
    assert (answer["card"]["relationship"], answer["card"]["frequency"]) == ("unknown", None)
