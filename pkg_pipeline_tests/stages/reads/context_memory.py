"""A memory of one friendship and the means to ask for its context: what the tests of the read begin with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from tiktoken import Encoding

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.adapters.text.tokens import TiktokenCounter, load_encoding
from pkg_pipeline.memory.context.records import ContextRows
from pkg_pipeline.memory.records import Tier
from pkg_pipeline.stages.reads.context import ContextRequest, ContextSettings, entity_context
from pkg_pipeline.stages.reads.stores import ContextQuery
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
LONG = 20_000
"""Tokens of a message: a conversation with such ones is served by what is told of it, never whole."""

SAID_BEFORE = 30_000

SHARES: dict[Tier, int] = {"permanent": 300, "hot": 2000, "warm": 1000, "cold": 300, "relevant": 500}


@cache
def counter() -> TiktokenCounter:
    """The real one, loaded once a process."""
    return TiktokenCounter()


@cache
def _encoding() -> Encoding:
    return load_encoding()


def exact_tokens(text: str) -> int:
    """By the tokenizer itself, the text in one piece: what a reader with tiktoken would count."""
    return len(_encoding().encode_ordinary(text))


class OfMuchSaid(PostgresReadStore):
    """As if everybody had said ``SAID_BEFORE`` tokens more: what little was said is not served in tiers (B21)."""

    def read_context(self, query: ContextQuery) -> ContextRows | None:
        rows = super().read_context(query)
        if rows is None or not (rows.hot or rows.entity.hypothetical_tokens):
            return rows
        more = rows.entity.hypothetical_tokens + SAID_BEFORE
        return replace(rows, entity=replace(rows.entity, hypothetical_tokens=more))


def settings(zone: str = "UTC", **changes: Any) -> ContextSettings:
    given: dict[str, Any] = {
        "zone": ZoneInfo(zone),
        "max_tokens": 4000,
        "hot_days": 7,
        "hot_messages": 50,
        "warm_days": 90,
        "warm_summaries": 10,
        "shares": SHARES,
    }
    return ContextSettings(**{**given, **changes})


@dataclass
class Remembered:
    """A memory under construction (``build``) that can be asked."""

    build: MemoryBuilder
    store: PostgresReadStore
    plain: PostgresReadStore
    """As it is, for what is told of few words."""

    def ask(
        self,
        name: str = "Anna",
        *,
        zone: str = "UTC",
        with_settings: dict[str, Any] | None = None,
        is_plain: bool = False,
        **more: Any,
    ) -> dict[str, Any]:
        """The answer's JSON, after the checks that hold for every answer."""
        self.build.totals()
        entity: UUID = self.build.people[name]
        request = ContextRequest(entity_id=entity, now=NOW, **more)
        store = self.plain if is_plain else self.store
        answer = entity_context(store, counter(), request, settings=settings(zone, **(with_settings or {}))).to_json()
        check(answer)
        return answer


def check(answer: dict[str, Any]) -> None:
    """What every context promises, whatever is in it."""
    text = answer["text"]
    assert exact_tokens(text) == answer["tokens"] <= answer["max_tokens"]
    assert sum(tier["tokens"] for tier in answer["tiers"]) == answer["tokens"]
    assert [tier["tier"] for tier in answer["tiers"]] == ["permanent", "hot", "warm", "cold", "relevant"]
    assert text == "" or text.endswith("\n")
    assert all(line.startswith(("- ", "#")) for line in text.splitlines())
    assert text.count("\n") == len(text.splitlines())
    for tier in answer["tiers"]:
        assert all(f"- {item['text']}\n" in text for item in tier["items"])
    printed = [(item["kind"], item["id"]) for tier in answer["tiers"] for item in tier["items"]]
    assert len(printed) == len(set(printed)), "nothing is said twice"
    missing = {(one["kind"], one["id"]) for one in answer["left_out"] if one["reason"] != "shortened"}
    assert not missing & set(printed)


def tier(answer: dict[str, Any], name: str) -> list[str]:
    """The texts of one tier in print order."""
    return [item["text"] for one in answer["tiers"] if one["tier"] == name for item in one["items"]]


def items(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for one in answer["tiers"] if one["tier"] == name for item in one["items"]]


def reasons(answer: dict[str, Any]) -> dict[str, str]:
    """Why each thing was left out, by id."""
    return {one["id"]: one["reason"] for one in answer["left_out"]}


def remembered(database_url: str) -> Iterator[Remembered]:
    """Me and Anna and their dialog, empty; closes everything behind the test."""
    build = MemoryBuilder(database_url)
    pool = engine.pool(database_url, size=2, readonly=True)
    try:
        build.person("Me", is_self=True)
        build.person("Anna")
        build.chat("Anna", ["Me", "Anna"])
        zone = ZoneInfo("UTC")
        yield Remembered(build, OfMuchSaid(pool, zone=zone), PostgresReadStore(pool, zone=zone))
    finally:
        pool.close()
        build.close()


def days(count: float) -> timedelta:
    return timedelta(days=count)


def summarised(memory: Remembered, ago: float, text: str, **more: object) -> UUID:
    interaction = memory.build.conversation(
        "Anna", NOW - days(ago), [Said("Anna", f"said {ago}"), Said("Me", "yes", 5)], tokens=LONG
    )
    memory.build.summary(interaction, text, **more)  # type: ignore[arg-type]
    return interaction
