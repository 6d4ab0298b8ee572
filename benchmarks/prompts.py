"""What the prompts of readings, summaries and profiles cost: tokens for each token of talk, by part, and the price.

    python -m benchmarks.prompts [--json]

The demo's account is imported at a pinned moment and everything that is due is asked of the local model, as with a key.
Of every request that it received the tokens are counted, ours and of the schema as sent, and what of them was the
words of messages. A token of talk is one of a message's text, counted once however often it is sent.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.demo import account
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.prompts import fencing
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline.wiring.models import price_table

NOW: Final = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
UNLIMITED: Final = 1_000_000
TASKS: Final = {"items": "readings", "talks": "summaries", "relationship_type": "profiles"}
"""A property of the answer's schema → what was asked."""

OTHER: Final = "other summaries"
SHOWN_BLOCKS: Final = ("ITEMS", "COUNTED", "SUMMARY", "PARTS")
"""What a prompt tells beside talks."""

PARTS: Final = ("system", "schema", "words of talk", "around them", "shown", "headings")


@dataclass(slots=True)
class Figures:
    """Of one kind of question; ``tokens``: by part."""

    calls: int = 0
    talks: int = 0
    messages: int = 0
    tokens: dict[str, int] | None = None
    answered: int = 0

    @property
    def asked(self) -> int:
        return sum((self.tokens or {}).values())


def run_demo(folder: Path, url: str, now: datetime) -> tuple[list[dict[str, Any]], int, int, Settings]:
    """The journal of the local model, the tokens of all talk, the number of its messages, the settings."""
    with FakeAnthropic() as fake:
        settings = Settings.model_validate(
            {
                "home": folder / "home",
                "database_url": url,
                "now": now,
                "llm": "anthropic",
                "anthropic_api_key": "local",
                "anthropic_base_url": fake.url,
                "embedder": "none",
                "timezone": account.TIMEZONE,
                "live_summaries_per_day": UNLIMITED,
                "live_profiles_per_week": UNLIMITED,
                "live_usd_per_day": UNLIMITED,
            }
        )
        with open_memory(settings) as memory:
            for path in account.write_exports(folder / "exports", now):
                memory.build_interactions(memory.import_path(path).chats)
            memory.items.run(Billing("live"))
            memory.summarize((date(2015, 1, 1), now.date()), Billing("live"))
            memory.profiles.build_weeks(memory.profiles.due_weeks(), Billing("live"))
            texts = _texts(memory)
        asked = [one for one in fake.journal if one["path"] == "/v1/messages" and one["status"] == 200]
    return asked, sum(TiktokenCounter().count_many(texts)), len(texts), settings


def _texts(memory: Memory) -> list[str]:
    """Of every message of every conversation that is read."""
    with memory.connections.connection() as connection:
        rows = connection.execute(
            "SELECT m.content FROM message_texts m JOIN interaction_readings r ON r.interaction_id = m.interaction_id"
            " WHERE m.deleted_at IS NULL"
        )
        return [str(row[0]) for row in rows]


def measured(asked: Iterable[Mapping[str, Any]]) -> dict[str, Figures]:
    """By kind of question; tokens by part."""
    count = TiktokenCounter().count
    found: dict[str, Figures] = defaultdict(Figures)
    for call in asked:
        body = call["body"]
        schema = body["output_config"]["format"]["schema"]
        kind = next((name for key, name in TASKS.items() if key in schema["properties"]), OTHER)
        user, figures = body["messages"][0]["content"], found[kind]
        blocks = fencing.read(user)
        said = [line[2] for line in blocks.get("TALKS", []) if isinstance(line, list)]
        words = sum(map(count, said))
        block_tokens = {name: _block_tokens(user, name) for name in blocks}
        parts = {
            "system": count("".join(part["text"] for part in body["system"])),
            "schema": count(json.dumps(schema, ensure_ascii=False, separators=(",", ":"))),
            "words of talk": words,
            "around them": max(0, block_tokens.get("TALKS", 0) - words),
            "shown": sum(block_tokens.get(name, 0) for name in (*SHOWN_BLOCKS, "SUMMARIES")),
        }
        parts["headings"] = count(user) - sum(parts[name] for name in ("words of talk", "around them", "shown"))
        figures.calls += 1
        figures.talks += sum(isinstance(line, dict) and "talk" in line for line in blocks.get("TALKS", []))
        figures.messages += len(said)
        figures.answered += call["usage"]["output_tokens"]
        figures.tokens = {name: (figures.tokens or {}).get(name, 0) + parts[name] for name in PARTS}
    return dict(found)


def _block_tokens(user: str, name: str) -> int:
    start = user.index(f"<<<{name} ")
    return TiktokenCounter().count(user[start : user.index("<<<END", start)])


def report(
    figures: Mapping[str, Figures], talk_tokens: int, messages: int, usd: Mapping[str, float]
) -> Sequence[Sequence[str]]:
    """A row for each kind of question, and one for all."""
    rows: list[Sequence[str]] = [
        ["asked for", "calls", "talks", *PARTS, "in", "in / token of talk", "out", "USD / 1,000 messages"]
    ]
    for name, one in figures.items():
        parts = [f"{(one.tokens or {})[part]:,}" for part in PARTS]
        each = f"{one.asked / talk_tokens:.2f}"
        price = f"{1_000 * usd[name] / messages:.3f}"
        rows.append([name, f"{one.calls}", f"{one.talks}", *parts, f"{one.asked:,}", each, f"{one.answered:,}", price])
    whole = sum(one.asked for one in figures.values())
    rows.append(
        [
            "all",
            f"{sum(one.calls for one in figures.values())}",
            "",
            *(f"{sum((one.tokens or {})[part] for one in figures.values()):,}" for part in PARTS),
            f"{whole:,}",
            f"{whole / talk_tokens:.2f}",
            f"{sum(one.answered for one in figures.values()):,}",
            f"{1_000 * sum(usd.values()) / messages:.3f}",
        ]
    )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        asked, talk_tokens, messages, settings = run_demo(Path(folder), server, NOW)
    figures = measured(asked)
    rate = next(row for row in price_table(settings) if row.model == settings.llm_model).rate
    usd = {name: (one.asked * rate.input + one.answered * rate.output) / 1e6 for name, one in figures.items()}
    rows = report(figures, talk_tokens, messages, usd)
    if given.json:
        print(json.dumps({"talk_tokens": talk_tokens, "messages": messages, "rows": rows}, ensure_ascii=False))
        return 0
    print(f"{messages:,} messages of {talk_tokens:,} tokens; {settings.llm_model}\n")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
