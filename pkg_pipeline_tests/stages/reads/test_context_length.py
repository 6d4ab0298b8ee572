"""A context is never longer than the full text; where little was said, the text itself is served (B21)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.context_lengths import lines_of
from pkg_pipeline.memory.context.assembly import assemble
from pkg_pipeline.memory.context.records import ContextRows, HeardMessage, KnownFact
from pkg_pipeline.memory.context.short_text import SHORT_TEXT_TOKENS, elsewhere_tokens, short_block
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.memory.context.test_assembly import CHAT, NOW, entity, rules
from training import accounts
from training.closing_trees import third


def count_many(texts: Sequence[str]) -> list[int]:
    """Words."""
    return [len(text.split()) for text in texts]


def heard(number: int, text: str, *, days: float = 20) -> HeardMessage:
    at = NOW - timedelta(days=days) + timedelta(minutes=number)
    return HeardMessage(f"m{number}", CHAT, "Anna", number % 2 == 1, at, text)


def few_words(*texts: str, facts: tuple[KnownFact, ...] = ()) -> ContextRows:
    messages = tuple(heard(number, text, days=1) for number, text in enumerate(texts))
    full = sum(len(text.split()) for text in texts) + 10 * len(texts)
    known = replace(entity(), messages=len(texts), hypothetical_tokens=full)
    return ContextRows(known, hot=tuple(reversed(messages)), facts=facts)


def test_few_words_are_served_as_they_are_and_in_order() -> None:
    rows = few_words("shall we go", "yes at nine", "good, I bring the tickets")
    block = short_block(rows, replace(rules(1), max_tokens=rows.entity.hypothetical_tokens), count_many)
    assert block is not None
    assert block.tokens == sum(count_many([block.text])) <= rows.entity.hypothetical_tokens
    places = [block.text.index(words) for words in ("shall we go", "yes at nine", "I bring the tickets")]
    assert places == sorted(places)
    assert [item.id for tier in block.tiers for item in tier.items if item.kind == "message"] == ["m0", "m1", "m2"]


@pytest.mark.parametrize("lost", ["a message", "a part of one", "the room", "the shortness"])
def test_what_is_not_whole_or_not_short_is_told_in_tiers(lost: str) -> None:
    rows = few_words("shall we go", "yes at nine")
    limits = replace(rules(1), max_tokens=rows.entity.hypothetical_tokens)
    match lost:
        case "a message":
            rows = replace(rows, hot=rows.hot[1:])
        case "a part of one":
            rows = replace(rows, hot=(rows.hot[0], replace(rows.hot[1], is_cut=True)))
        case "the room":
            limits = replace(limits, max_tokens=5)
        case _:
            rows = replace(rows, entity=replace(rows.entity, hypothetical_tokens=SHORT_TEXT_TOKENS + 1))
    assert short_block(rows, limits, count_many) is None
    assert assemble(rows, limits, count_many).tokens <= limits.max_tokens


def test_what_no_word_of_theirs_says_has_room_beside_them() -> None:
    typed = KnownFact(entity().id, "birthday", "08-15", NOW, ())
    rows = few_words("hi", "hello", facts=(typed,))
    plain = few_words("hi", "hello", facts=(replace(typed, message_ids=("m0",)),))
    assert elsewhere_tokens(plain, rules(1), count_many) == 0
    more = elsewhere_tokens(rows, rules(1), count_many)
    assert more > 0
    block = short_block(rows, replace(rules(1), max_tokens=rows.entity.hypothetical_tokens + more), count_many)
    assert block is not None
    assert "15 August" in block.text
    left = short_block(plain, replace(rules(1), max_tokens=18), count_many)
    assert left is not None
    assert ("fact", "budget") in [(entry.kind, entry.reason) for entry in left.left_out], "what has no room is named"


def test_no_context_of_the_labelled_accounts_is_longer_than_what_was_said(database_url: str, tmp_path: Path) -> None:
    """A third of them is read; all: ``python -m benchmarks.context_lengths``."""
    worlds = third(accounts.load())
    now = max(talk.ended_at for world in worlds for talk in world.talks) + timedelta(days=2)
    given = {"home": tmp_path / "home", "database_url": database_url, "now": now, "llm": "offline", "embedder": "none"}
    file = tmp_path / "accounts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for world in worlds for row in lines_of(world)), encoding="utf-8")
    with open_memory(Settings.model_validate(given)) as memory:
        memory.import_path(file)
        memory.build_interactions()
        compared, in_full = lengths(memory)
    assert compared > 100
    assert in_full > 13


def lengths(memory: Memory) -> tuple[int, int]:
    """Contexts looked at, and those that are every message in full."""
    compared = in_full = 0
    with memory.connections.connection() as connection:
        people = [row[0] for row in connection.execute("SELECT id FROM entities WHERE NOT is_self ORDER BY id")]
    for person in people:
        for most, days in ((4_000, 0), (100_000, 0), (500, 100)):
            found = memory.context(person, max_tokens=most, as_of=memory.clock.now() - timedelta(days=days))
            if not found.hypothetical_tokens:
                continue
            compared += 1
            assert found.block.tokens <= min(most, found.hypothetical_tokens), found.block.text
            told = sum(item.kind == "message" for tier in found.block.tiers for item in tier.items)
            in_full += found.hypothetical_tokens <= SHORT_TEXT_TOKENS and told > 0 and not found.block.left_out
    return compared, in_full
