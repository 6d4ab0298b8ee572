"""What is derived can be made again from kept answers (B8): no question is asked twice, and the memory is the same."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import psycopg
import pytest

from faults import hops
from faults.ground import tables
from pkg_pipeline.adapters.postgres.archive.rebuilding import PostgresRebuilding
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests import read_demo

DAYS = (date(2020, 1, 1), date(2026, 12, 31))
MADE = ("items", "interaction summaries", "relationship profiles", "chunks")


def cleared(memory: Memory) -> None:
    gone = PostgresRebuilding(memory.connections).clear()
    assert min(gone.summaries, gone.readings, gone.items, gone.facts, gone.profiles) > 0
    assert PostgresRebuilding(memory.connections).count()[:5] == (0, 0, 0, 0, 0)


def calls(url: str) -> tuple[int, str]:
    with psycopg.connect(url, options="-csearch_path=pkg,public") as connection:
        row = connection.execute("SELECT count(*), coalesce(sum(cost_usd), 0)::text FROM llm_calls").fetchone()
    assert row is not None
    return row


@pytest.mark.parametrize("rules", [[], [Fault(answer="prose", times=3)]], ids=["all pass", "some were refused"])
def test_a_paid_memory_is_made_again_without_a_call(database_url: str, tmp_path: Path, rules: list[Fault]) -> None:
    hops.write_export(tmp_path)
    with FakeAnthropic(rules=rules) as server, hops.opened(database_url, tmp_path, server.url) as memory:
        for name in ("import", "interactions", *MADE):
            hops.HOPS[name](memory)
        before, paid = tables(database_url), calls(database_url)
        assert paid[0] > 0
        cleared(memory)
        for name in MADE:
            hops.HOPS[name](memory)
    assert calls(database_url) == paid
    assert tables(database_url) == before


def made(memory: Memory) -> None:
    memory.items.run(Billing("backfill"))
    memory.summarize(DAYS, Billing("backfill"))
    memory.profiles.build_weeks(memory.profiles.due_weeks(), Billing("backfill"))
    memory.chunks.build(DAYS)


def test_the_whole_demo_is_made_again_as_it_was(read_demo_url: str, tmp_path: Path) -> None:
    with read_demo.opened(read_demo_url, tmp_path, embedder="offline") as memory:
        made(memory)
        before = tables(read_demo_url)
        cleared(memory)
        made(memory)
    assert calls(read_demo_url)[1] == "0.000000"
    assert tables(read_demo_url) == before
