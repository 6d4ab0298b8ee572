"""Conversations shorter than what a summary of them costs stand as they are, and no block is longer than what was said
(P11, B21)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.stages.monitoring.stage import statistics
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory
from pkg_pipeline.wiring.opening import reconcile
from pkg_pipeline_tests import read_demo
from pkg_pipeline_tests.read_demo import NOW

LEAST = 40
ALL_DAYS = (date(2020, 1, 1), NOW.date())
ELIGIBLE = (
    "FROM interactions i JOIN eligible_chats c ON c.id = i.chat_id"
    " LEFT JOIN live_summaries s ON s.interaction_id = i.id"
    " WHERE i.status = 'completed' AND i.message_count >= 3 AND i.ended_at < %s"
)


@pytest.fixture
def memory(read_demo_url: str, tmp_path: Path) -> Iterator[Memory]:
    with read_demo.opened(read_demo_url, tmp_path, summary_min_tokens=LEAST) as opened:
        reconcile(opened)
        yield opened


def test_short_talks_of_the_demo_are_read_but_not_summarised(memory: Memory) -> None:
    memory.summarize(ALL_DAYS, Billing("live"))
    old = NOW - timedelta(days=8)
    assert rows(memory, f"SELECT count(*) {ELIGIBLE} AND i.token_count < 40 AND s.id IS NOT NULL", old) == [(0,)]
    short, long, made = rows(
        memory,
        "SELECT count(*) FILTER (WHERE i.token_count < 40), count(*) FILTER (WHERE i.token_count >= 40),"
        f" count(s.id) {ELIGIBLE}",
        old,
    )[0]
    assert short > 20
    assert made == long
    assert rows(
        memory, f"SELECT count(*) {ELIGIBLE} AND i.token_count < 40"
        " AND NOT EXISTS (SELECT FROM interaction_readings r WHERE r.interaction_id = i.id)", old
    ) == [(0,)]  # fmt: skip
    assert rows(memory, "SELECT count(*) FROM items t JOIN interactions i ON i.id = t.interaction_id"
                        " WHERE i.token_count < 40")[0][0] > 5  # fmt: skip
    shortest = rows(memory, "SELECT min(compression_ratio) FROM live_summaries")[0][0]
    assert shortest > 1, "a summary is longer than its talk"
    stats = figures(memory)
    assert stats["avg_compression_ratio"] > 1.5
    assert stats["failed_interactions"] == 0
    no_block_is_longer_than_what_was_said(memory)
    eligible = stats["eligible_interactions"]
    memory.settings = memory.settings.model_copy(update={"summary_min_tokens": 0})
    reconcile(memory)
    assert figures(memory)["eligible_interactions"] > eligible + 20


def no_block_is_longer_than_what_was_said(memory: Memory) -> None:
    compared = 0
    for (entity,) in rows(memory, "SELECT id FROM entities WHERE NOT is_self ORDER BY id"):
        for days, most in ((0, 100_000), (0, 700), (30, 4_000), (200, 100_000)):
            at = NOW - timedelta(days=days)
            found = memory.context(entity, as_of=at, max_tokens=most)
            if found.hypothetical_tokens:
                assert found.block.tokens <= min(most, found.hypothetical_tokens), found.block.text
                compared += 1
    assert compared > 60


def rows(memory: Memory, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    with memory.connections.connection() as connection:
        return connection.execute(statement, given).fetchall()  # type: ignore[arg-type]


def figures(memory: Memory) -> dict[str, Any]:
    memory.monitoring.recount()
    return statistics(memory.monitoring.store, memory.monitoring.params, now=NOW).to_json()
