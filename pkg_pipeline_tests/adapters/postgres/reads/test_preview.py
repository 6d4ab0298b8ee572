"""Previews of what assets write: of every asset, without a word of a conversation, by ranges of indexes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres.reads.preview import NEWEST, ROWS, is_wordless, preview
from pkg_pipeline.adapters.postgres.schema.tables import METADATA
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.cli.processes import NOW, dialogue, line, written

DAY = "2025-01-01"
PARTITIONED = {"interaction_summaries": DAY, "memory_chunks": DAY, "archived_messages": "2025-01-01"}
SAID = "the deadline is 20 February"


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[wiring.Memory]:
    """A dialog that is summarised and searchable, and more messages than a preview shows."""
    given = {"home": tmp_path, "database_url": database_url, "now": NOW, "llm": "offline", "embedder": "none"}
    with wiring.open_memory(Settings.model_validate(given)) as opened:
        many = [line(number, "Wei Chen", f"Words number {number}", chat="c2", day=3) for number in range(20)]
        opened.import_path(written(tmp_path / "one.jsonl", [*dialogue(), *many]))
        opened.build_interactions()
        opened.items.run(Billing("backfill"))
        opened.summarize((date(2025, 1, 1), date(2025, 1, 31)), Billing("backfill"))
        opened.chunks.build((date(2025, 1, 1), date(2025, 1, 31)))
        yield opened


@pytest.mark.parametrize("asset", [*NEWEST, *PARTITIONED, "entity_relationship_profiles"])
def test_every_asset_has_one(memory: wiring.Memory, asset: str) -> None:
    rows = preview(memory.connections, asset, PARTITIONED.get(asset, None if asset in NEWEST else "2025-01-05"))
    empty = asset in {"session_summaries", "archived_messages", "entity_relationship_profiles"}
    assert len(rows) <= ROWS
    assert bool(rows) != empty
    assert SAID not in str(rows)
    columns = METADATA.tables[f"pkg.{asset}"].columns
    assert all(is_wordless(columns[name]) for row in rows for name in row)
    assert {"content", "summary", "description", "external_id"}.isdisjoint(name for row in rows for name in row)


def test_of_messages_the_newest_and_of_a_day_its_own(memory: wiring.Memory) -> None:
    newest = preview(memory.connections, "messages", None)
    assert len(newest) == ROWS
    assert [row["id"] for row in newest] == sorted((row["id"] for row in newest), reverse=True)
    assert len(preview(memory.connections, "interaction_summaries", DAY)) == 1
    assert preview(memory.connections, "interaction_summaries", "2025-01-02") == []
    (row,) = OpenedMemory(memory).preview("interaction_summaries", DAY)
    assert row["status"] == "completed"


def test_no_column_of_free_text_is_wordless() -> None:
    free = {
        "content",
        "summary",
        "timeline",
        "quote",
        "description",
        "title",
        "name",
        "reply",
        "error",
        "text",
        "value",
    }
    wordless = {column.name for table in METADATA.tables.values() for column in table.columns if is_wordless(column)}
    assert wordless.isdisjoint(free)
    assert {"status", "id", "sent_at", "message_count"} <= wordless


@pytest.mark.parametrize("asset", list(NEWEST))
def test_the_newest_are_the_end_of_an_index(memory: wiring.Memory, asset: str) -> None:
    with psycopg.connect(memory.url, options="-c search_path=pkg -c enable_seqscan=off") as connection:
        order = ", ".join(f"{column.name} DESC" for column in NEWEST[asset])
        plan = str(connection.execute(f"EXPLAIN SELECT * FROM {asset} ORDER BY {order} LIMIT 10".encode()).fetchall())
    assert "Index Scan Backward" in plan
    assert "Sort" not in plan
