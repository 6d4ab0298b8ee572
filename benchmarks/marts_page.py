"""The answers in docs/marts.md: what its queries give of the demo at a pinned moment.

    python -m benchmarks.marts_page [--write]

The demo's account is imported, read, summarised and profiled offline, its marts are built, and every file of
docs/queries is run. Without ``--write`` the page is only compared. ``make docs`` writes it, too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import starmap
from pathlib import Path
from typing import Any, Final, cast

import psycopg
from rich.cells import cell_len

from benchmarks.demo_truth import TRUTH, read_demo
from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.demo import account
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import open_memory
from pkg_pipeline.wiring.opening import reconcile

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PAGE: Final = DOCS / "marts.md"
QUERIES: Final = DOCS / "queries"
NOW: Final = datetime.fromisoformat(json.loads(TRUTH.read_text("utf-8"))["now"])
FIRST: Final = date(2015, 1, 1)
MIN_TOKENS: Final = 40
"""The default; tests have another one, which a memory that was read by them keeps until ``reconcile``."""


def build(url: str, folder: Path) -> None:
    """Summaries, profiles and marts of the demo at ``url``, which was read (``read_demo``) at ``NOW``."""
    given = {
        "home": folder / "home", "database_url": url, "now": NOW, "llm": "offline", "embedder": "none",
        "timezone": account.TIMEZONE, "summary_min_tokens": MIN_TOKENS,
    }  # fmt: skip
    with open_memory(Settings.model_validate(given)) as memory:
        reconcile(memory)
        memory.summarize((FIRST, NOW.date()), Billing("backfill"))
        list(memory.profiles.build_weeks(memory.profiles.due_weeks(), Billing("backfill")))
        with memory.connections.connection() as connection:
            # the ledger follows the database's clock, and the page must not change with the day it is made on
            connection.execute("UPDATE llm_calls SET created_at = %s", (NOW,))
        if failed := dbt_project.failed(memory.marts.build().results):
            raise SystemExit(f"not built: {', '.join(failed)}")


def with_answers(page: str, url: str) -> str:
    """The page with each query as its file has it, and its answer of the marts at ``url`` below."""

    def told(found: re.Match[str]) -> str:
        name = found["name"]
        query = (QUERIES / name).read_text("utf-8")
        asked = query.partition("\n")[2].strip()
        return f"[queries/{name}](queries/{name})\n\n```sql\n{asked}\n```\n\n```\n{answer(connection, query)}\n```\n"

    place = r"\[queries/(?P<name>\w+\.sql)\]\(\S+\)\n\n```sql\n.*?\n```\n\n```\n.*?\n```\n"
    with psycopg.connect(url) as connection:
        return re.sub(place, told, page, flags=re.DOTALL)


def answer(connection: psycopg.Connection, query: str) -> str:
    """Aligned as psql does it."""
    cursor = connection.execute(cast("Any", query))
    rows = cursor.fetchall()
    names = [column.name for column in cursor.description or ()]
    columns = [[row[at] for row in rows] for at in range(len(names))]
    widths = [max(map(cell_len, [name, *map(_cell, held)])) for name, held in zip(names, columns, strict=True)]
    lines = [
        " | ".join(f"{name:^{width}}" for name, width in zip(names, widths, strict=True)),
        "-+-".join("-" * width for width in widths),
        *(" | ".join(starmap(_padded, zip(row, widths, strict=True))) for row in rows),
    ]
    counted = f"({len(rows)} row{'' if len(rows) == 1 else 's'})"
    return "\n".join([f" {lines[0]}".rstrip(), f"-{lines[1]}-", *(f" {one}".rstrip() for one in lines[2:]), counted])


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _padded(value: object, width: int) -> str:
    space = " " * (width - cell_len(_cell(value)))
    return space + _cell(value) if isinstance(value, int | float | Decimal) else _cell(value) + space


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    given = parser.parse_args(arguments)
    before = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        read_demo(Path(folder), server, NOW)
        build(server, Path(folder))
        page = with_answers(before, server)
    if given.write:
        PAGE.write_text(page, "utf-8")
        return 0
    print("as it is" if page == before else "docs/marts.md tells other answers: make docs")
    return int(page != before)


if __name__ == "__main__":
    sys.exit(main())
