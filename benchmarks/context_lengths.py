"""Contexts beside the full text of what they stand for (B21): none may be longer; of few words the words are served.

    python -m benchmarks.context_lengths

The demo's account and the labelled ones of ``training/accounts`` are read offline, items, facts and summaries made;
the context of everybody is asked for as of eight moments, within 700, 4,000 and 100,000 tokens. A Markdown table.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.demo import account
from pkg_pipeline.memory.context.short_text import SHORT_TEXT_TOKENS
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from training import accounts
from training.worlds import World

DEMO_NOW = datetime.fromisoformat("2026-03-16T09:00:00+00:00")
DAYS_AGO = (0, 3, 10, 30, 60, 100, 200, 300)
BUDGETS = (700, 4_000, 100_000)


def lines_of(world: World) -> Iterator[dict[str, Any]]:
    """An account as lines of the generic format; its owner is the same in all of them."""
    for talk in world.talks:
        for one in talk.messages:
            yield {
                "chat_id": f"{world.name}/{talk.chat_key}",
                "chat_kind": "direct" if len(talk.others) == 1 else "group",
                "message_id": one.external_id,
                "sender_id": "me" if one.sender.is_self else f"{world.name}/{one.sender.name}",
                "sender_name": one.sender.name,
                "is_self": one.sender.is_self,
                "sent_at": one.sent_at.isoformat(),
                "text": one.text,
            }


def lengths(memory: Memory, now: datetime) -> Iterator[tuple[int, int, bool]]:
    """(tokens, of the full text, whether every message is printed) of each context."""
    with memory.connections.connection() as connection:
        people = [row[0] for row in connection.execute("SELECT id FROM entities WHERE NOT is_self ORDER BY id")]
    for person in people:
        for ago in DAYS_AGO:
            for most in BUDGETS:
                found = memory.context(person, as_of=now - timedelta(days=ago), max_tokens=most)
                if found.hypothetical_tokens:
                    said = sum(item.kind == "message" for tier in found.block.tiers for item in tier.items)
                    is_whole = found.card is not None and said >= found.card.messages
                    yield found.block.tokens, found.hypothetical_tokens, is_whole


def measured(name: str, folder: Path, url: str) -> None:
    worlds = [] if name == "the demo" else accounts.load()
    now = max((talk.ended_at for world in worlds for talk in world.talks), default=DEMO_NOW) + timedelta(days=1)
    given = {"home": folder / name, "database_url": url, "now": now, "llm": "offline", "embedder": "none"}
    with open_memory(Settings.model_validate({**given, "timezone": account.TIMEZONE})) as memory:
        if worlds:
            file = folder / "accounts.jsonl"
            rows = (json.dumps(row) for world in worlds for row in lines_of(world))
            file.write_text("\n".join(rows), encoding="utf-8")
            memory.import_path(file)
        else:
            for path in account.write_exports(folder / "exports", DEMO_NOW):
                memory.import_path(path)
        memory.build_interactions()
        memory.items.run(Billing("live"))
        memory.summarize((date(2000, 1, 1), now.date()), Billing("live"))
        report(name, list(lengths(memory, now)))


def report(name: str, found: list[tuple[int, int, bool]]) -> None:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for tokens, full, is_whole in found:
        size = "at most" if full <= SHORT_TEXT_TOKENS else "more than"
        counted[size].update(contexts=1, longer=tokens > full, whole=is_whole, tokens=tokens, full=full)
    for size, one in counted.items():
        share = f"{100 * one['whole'] / one['contexts']:.0f} % | {one['tokens'] / one['full']:.2f}"
        print(f"| {name}, {size} {SHORT_TEXT_TOKENS} tokens said | {one['contexts']:,} | {one['longer']} | {share} |")


def main() -> int:
    print("| contexts | all | longer than the full text | every message in them | tokens over full text |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in ("the demo", "labelled accounts"):
        with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as url:
            measured(name, Path(folder), url)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
