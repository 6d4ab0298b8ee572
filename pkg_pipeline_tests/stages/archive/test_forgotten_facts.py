"""What a forgotten message said of somebody is known no more, and what it had ended is in force again (B2, B3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.memory import hashing
from pkg_pipeline_tests.stages import deleted_words as words

CHAT = hashing.chat_id("jsonl", "ivo")
IVO = hashing.entity_id("jsonl", "ivo")
FIRST, THEN = "Harbour Works", "Zanzibar Yard"
SAID = (
    ("2025-01-05T10:00:00+00:00", "ivo", f"I work at {FIRST} as an engineer. My email is ivo@one.example."),
    ("2025-01-05T10:01:00+00:00", "Me", "Thanks, noted."),
    ("2025-02-20T10:00:00+00:00", "ivo", f"I now work at {THEN} as an engineer. My email is now ivo@two.example."),
    ("2025-02-20T10:01:00+00:00", "Me", "Congratulations!"),
)


@pytest.fixture
def memory(copy_of: Callable[[str], str], server_url: str, tmp_path: Path) -> Iterator[wiring.Memory]:
    lines: list[dict[str, Any]] = [
        {**words.line(number, sender, text), "chat_id": "ivo", "message_id": str(number), "sent_at": at}
        for number, (at, sender, text) in enumerate(SAID, 1)
    ]
    with words.opened(copy_of(words.made(server_url)), tmp_path, "2025-03-01T12:00:00+00:00") as memory:
        file = tmp_path / "ivo.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
        memory.import_path(file)
        memory.build_interactions()
        memory.items.run(words.Billing("backfill"))
        yield memory


def known(memory: wiring.Memory) -> tuple[str | None, set[str], set[str]]:
    """Where Ivo works, his current addresses, and all organisations of the memory."""
    with memory.connections.connection() as connection:
        rows = connection.execute(
            "SELECT o.name FROM entities e LEFT JOIN organizations o ON o.id = e.organization_id WHERE e.id = %s", [IVO]
        ).fetchall()
        mails = connection.execute(
            "SELECT value FROM entity_facts WHERE entity_id = %s AND fact_type = 'email' AND valid_to IS NULL", [IVO]
        ).fetchall()
        names = connection.execute("SELECT name FROM organizations").fetchall()
    return (rows[0][0] if rows else None), {mail for (mail,) in mails}, {name for (name,) in names}


def test_a_forgotten_message_employs_nobody_and_what_it_ended_holds_again(memory: wiring.Memory) -> None:
    assert known(memory) == (THEN, {"ivo@two.example"}, {THEN})
    memory.forgetting.forget(memory.forgetting.message(CHAT, "3"), by="test")
    assert known(memory) == (FIRST, {"ivo@one.example"}, {FIRST})
    memory.forgetting.forget(memory.forgetting.message(CHAT, "1"), by="test")
    assert known(memory) == (None, set(), set())


@pytest.mark.parametrize("what", ["chat", "person"])
def test_no_organisation_outlives_who_worked_there(memory: wiring.Memory, what: str) -> None:
    found = memory.forgetting.chat(CHAT) if what == "chat" else memory.forgetting.person(IVO)
    memory.forgetting.forget(found, by="test")
    assert known(memory) == (None, set(), set())


def employer(memory: wiring.Memory, as_of: str | None = None) -> str | None:
    """Of Ivo, by the card of his context."""
    moment = None if as_of is None else datetime.fromisoformat(as_of)
    said: str | None = memory.context(IVO, as_of=moment).to_json()["card"]["organization"]
    return said


def test_the_card_names_the_employer_of_then_and_none_that_was_deleted(memory: wiring.Memory, tmp_path: Path) -> None:
    assert employer(memory) == THEN
    assert employer(memory, "2025-01-31T00:00:00+00:00") == FIRST
    at, sender, text = SAID[2]
    gone = {**words.line(3, sender, text, deleted=True), "chat_id": "ivo", "message_id": "3", "sent_at": at}
    file = tmp_path / "deleted.jsonl"
    file.write_text(json.dumps(gone) + "\n")
    assert memory.import_path(file).to_json()["messages_deleted"] == 1
    assert employer(memory) is None, "what else is known is read by the next run"
