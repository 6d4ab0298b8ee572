"""``receipts`` as a real process: what a context drew on, and the same block until something of it is gone (B11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from pkg_pipeline_tests.cli.processes import NOW, Program
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said

AT = datetime.fromisoformat(NOW) - timedelta(days=4)
LATER = (datetime.fromisoformat(NOW) + timedelta(days=30)).isoformat()


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    memory.person("Olga")
    memory.chat("Olga", ["Me", "Olga"])
    thanks = "Thanks. " + "I will fetch them on the way home. " * 80  # with little said, words stand for lists
    talk = memory.conversation("Olga", AT, [Said("Olga", "The [red]keys are with Anna."), Said("Me", thanks)])
    memory.fact("Olga", "position", "Engineer", interaction_id=talk, valid_from=AT, message_ids=["m1"])
    memory.fact("Olga", "hobby", "rowing", interaction_id=talk, valid_from=AT, message_ids=["m1"])
    yield memory
    memory.close()


def test_a_block_is_rebuilt_to_the_byte_until_a_part_of_it_is_gone(given: Program, build: MemoryBuilder) -> None:
    served = given.ok("context", "Olga", "--max-tokens", "300", "--json").json
    receipt = served["receipt_id"]
    shown = given.ok("receipts", "show", receipt, "--json").json
    assert shown["tokens"] == served["tokens"]
    assert [tier["tier"] for tier in shown["tiers"]] == [tier["tier"] for tier in served["tiers"]]
    assert "keys" not in given.ok("receipts", "show", receipt).out
    assert given.ok("receipts", "show", receipt[:8], "--json").json == shown
    (listed,) = given.ok("receipts", "list", "--entity", "Olga", "--json").json["items"]
    assert listed["receipt_id"] == receipt
    assert (listed["entity_name"], listed["tokens"]) == ("Olga", served["tokens"])
    assert receipt[:8] in given.ok("receipts", "list").out
    given("receipts", "show", "12345678").failed("there is no receipt")
    # a month later, under other settings
    given.variables |= {"PKG_NOW": LATER, "PKG_HOT_DAYS": "1", "PKG_CONTEXT_TOKENS": "50"}
    again = given.ok("receipts", "rebuild", receipt, "--json").json
    assert again == {"receipt_id": receipt, "matches": True, "differs": None, "lines": [], "text": served["text"]}
    assert given.ok("receipts", "rebuild", receipt).out == served["text"]
    build.fact("Olga", "phone", "+4930123456", valid_from=AT)
    given("receipts", "rebuild", receipt).failed("differs", "1 that the memory did not know then")
    build.connection.execute("DELETE FROM entity_facts WHERE fact_type IN ('phone', 'hobby')")
    said = given("receipts", "rebuild", receipt).failed("differs: ", " of 4 lines", "fact ")
    assert "rowing" not in said
    build.connection.execute("UPDATE entity_facts SET value = 'Chief'")
    build.fact("Olga", "hobby", "rowing", valid_from=AT, message_ids=["m1"])
    given("receipts", "rebuild", receipt).failed("differs")
    build.connection.execute("UPDATE context_receipts SET request = request - 'sha256'")
    given("receipts", "rebuild", receipt).failed("before receipts kept a digest")
    build.connection.execute("DELETE FROM context_receipts")
    for command in ("show", "rebuild"):
        given("receipts", command, receipt).failed("no receipt", "forgotten")
    given("receipts", "show", "x").failed("there is no receipt 'x'")


def test_a_context_in_brief_is_printed_alone_and_its_block_rebuilt(given: Program, build: MemoryBuilder) -> None:
    printed = given.ok("context", "Olga", "--brief").out
    assert printed.startswith("# Olga\n## How things stand\n")
    assert "- position: Engineer\n" in printed[printed.index("## To remember\n") :]
    assert "chosen from its lines" in printed
    served = given.ok("context", "Olga", "--brief", "--json").json
    assert [part["part"] for part in served["brief_parts"]["parts"]] == ["state", "current", "open", "facts"]
    assert (served["brief_parts"]["model"], served["brief_parts"]["warning"]) == (None, None)
    again = given.ok("receipts", "rebuild", served["receipt_id"], "--json").json
    assert again == {
        "receipt_id": served["receipt_id"],
        "matches": True,
        "differs": None,
        "lines": [],
        "text": served["text"],
    }


def test_a_brief_of_a_short_talk_tells_what_is_known_beside_its_words(given: Program, build: MemoryBuilder) -> None:
    build.person("Ivo")
    build.chat("Ivo", ["Me", "Ivo"])
    talk = build.conversation("Ivo", AT, [Said("Ivo", "+4930901820 ivo@example.org")])
    for kind, value in (("phone", "+4930901820"), ("email", "ivo@example.org"), ("preference", "writes little")):
        build.fact("Ivo", kind, value, interaction_id=talk, valid_from=AT, message_ids=["m1"])
    served = given.ok("context", "Ivo", "--brief", "--json").json
    assert served["tokens"] <= served["hypothetical_tokens"], "the block itself is no longer than what was said"
    (facts,) = [part["sentences"] for part in served["brief_parts"]["parts"] if part["part"] == "facts"]
    assert {one["text"] for one in facts} == {
        "phone: +4930901820",
        "e-mail: ivo@example.org",
        "preference: writes little",
    }
