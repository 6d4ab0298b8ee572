"""``why`` as a real process: from a served line back to its words, reader, gate, run and cost (B11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from pkg_pipeline_tests.cli.processes import NOW, Program
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.reads.item_rows import item, reading

AT = datetime.fromisoformat(NOW) - timedelta(days=20)
DROPPED = {"part": "facts[0]", "reason": "its quote is in none of its messages"}
SERVED = {"action_item", "decision", "fact"}


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    memory.person("Olga")
    memory.chat("Olga", ["Me", "Olga"])
    yield memory
    memory.close()


@pytest.fixture
def call(build: MemoryBuilder) -> UUID:
    """A task, a decision and a fact of one message, and the paid call that read them."""
    said = [Said("Olga", "I will send the [red]keys. We meet at noon; I am an engineer."), Said("Me", "Fine")]
    talk = build.conversation("Olga", AT, said, tokens=20_000)
    (key,) = build.connection.execute("SELECT external_id FROM messages ORDER BY sent_at LIMIT 1").fetchone() or ()
    item(build, talk, "Send the keys", about=["Olga"], at=AT, message=key, quote="send the [red]keys")
    item(build, talk, "Meet at noon", about=["Olga"], at=AT, kind="decision", message=key, quote="We meet at noon")
    build.totals()
    reading(build, talk, quarantined=Jsonb([DROPPED]), cost_usd=0.25)
    build.fact(
        "Olga", "position", "engineer", interaction_id=talk, message_ids=[key], quote="I am an engineer", valid_from=AT
    )
    made = uuid4()
    build.connection.execute(
        "INSERT INTO llm_calls (id, request_hash, task, model, prompt_version, lane, outcome, run_id, input_tokens,"
        " output_tokens, cost_usd, duration_seconds) VALUES"
        " (%s, 'h', 'conversation_reading', 'm', 'p', 'live', 'ok', 'run-7', 1, 1, 0.5, 1)",
        (made,),
    )
    build.connection.execute("INSERT INTO llm_call_subjects VALUES (%s, 'interaction', %s)", (made, talk))
    return made


def served(given: Program) -> dict[str, str]:
    """Ids of lines by kind, as the JSON of a context prints them."""
    tiers = given.ok("context", "Olga", "--json").json["tiers"]
    return {one["kind"]: one["id"] for tier in tiers for one in tier["items"] if one["kind"] in SERVED}


def test_every_served_line_leads_back_to_its_words_and_its_reader(given: Program, call: UUID) -> None:
    lines = served(given)
    assert lines.keys() == SERVED
    quotes = {"action_item": "send the [red]keys", "decision": "We meet at noon", "fact": "I am an engineer"}
    for kind, line in lines.items():
        found = given.ok("why", line, "--json").json
        assert (found["kind"], found["quote"], found["decided_by"]) == (kind, quotes[kind], "memory")
        assert given.ok("why", line[:8], "--json").json == found  # as lists print it
        (said,) = found["messages"]
        assert (said["sender"], said["has_quote"]) == ("Olga", True)
        assert said["text"].startswith("I will send the [red]keys.")
        read = found["reading"]
        assert (read["model"], read["prompt_version"], read["cost_usd"]) == ("offline", "p", 0.25)
        assert read["gate"] == {"passed": True, "dropped_beside": [DROPPED]}
        assert [(one["id"], one["run_id"], one["cost_usd"]) for one in read["calls"]] == [(str(call), "run-7", 0.5)]
    shown = given.ok("why", lines["fact"]).out
    for words in ("position: engineer", "the [red]keys.", "1 call, ", "0.2500 USD", "run-7", *DROPPED.values()):
        assert words in shown


def test_a_line_of_a_deleted_or_forgotten_message_is_shown_no_more(
    given: Program, build: MemoryBuilder, call: UUID
) -> None:
    lines = served(given)
    build.connection.execute("UPDATE messages SET deleted_at = now() WHERE content LIKE '%keys%'")
    build.connection.execute("UPDATE items SET is_withheld = true")
    for line in lines.values():
        assert "keys" not in given("why", line).failed("a message that it rests on was deleted")
    given.ok("forget", "entity", "Olga", "--yes")
    for line in (*lines.values(), str(uuid4())):
        given("why", line).failed("there is no", "nothing is kept of what was forgotten")
    given("why", "x").failed("there is no served line 'x'")


def test_what_a_person_added_says_so(given: Program, build: MemoryBuilder) -> None:
    build.conversation("Olga", AT, [Said("Olga", "Hello")])
    made = given.ok("facts", "add", "--entity", "Olga", "--type", "hobby", "--value", "rowing", "--json").json
    found = given.ok("why", made["id"], "--json").json
    assert (found["messages"], found["reading"], found["decided_by"]) == ([], None, "person")
    assert "a person added it" in given.ok("why", made["id"]).out
