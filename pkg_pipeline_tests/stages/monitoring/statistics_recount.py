"""What the figures must say, recounted in Python from whole tables. It knows nothing of days, marks or triggers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from pkg_pipeline.stages.monitoring.stores import LedgerFigures, MemoryFigures

Rows = Callable[[str], list[tuple[Any, ...]]]


def recounted_figures(rows: Rows, *, minimum_messages: int) -> MemoryFigures:
    mass = {
        chat
        for chat, kind, category in rows("SELECT id, kind, category FROM chats")
        if category == "mass" or (category is None and kind == "channel")
    }
    served = {
        row[0]: row[1:]
        for row in rows(
            "SELECT interaction_id, status, input_hash, generation_seconds, compression_ratio, cost_usd, key_points,"
            " prompt_version, model_version, schema_version FROM interaction_summaries"
            " WHERE status IN ('completed', 'dirty')"
        )
    }
    given_up = {
        (row[0], row[1])
        for row in rows("SELECT interaction_id, input_hash FROM summary_attempts WHERE state = 'failed'")
    }
    decisions = Counter(
        row[0] for row in rows("SELECT interaction_id FROM items WHERE kind = 'decision' AND NOT is_withheld")
    )
    counts: Counter[str] = Counter()
    oldest = None
    seconds = ratios = cost = 0.0
    versions: Counter[str] = Counter()
    for identity, chat, ended_at, status, messages, input_hash in rows(
        "SELECT id, chat_id, ended_at, status, message_count, input_hash FROM interactions"
    ):
        counts["interactions"] += 1
        summary = served.get(identity)
        if summary is not None:
            counts["summaries"] += 1
            seconds, ratios, cost = seconds + summary[2], ratios + float(summary[3]), cost + float(summary[4])
            counts["key_points"] += len(summary[5])
            counts["decisions"] += decisions[identity]
            versions["|".join(str(part) for part in summary[6:])] += 1
        if status != "completed" or messages < minimum_messages or chat in mass:
            continue
        counts["eligible"] += 1
        if summary is not None and summary[0] == "completed" and summary[1] == input_hash:
            counts["summarized"] += 1
        elif (identity, input_hash) in given_up:
            counts["failed"] += 1
        else:
            counts["pending"] += 1
            oldest = ended_at if oldest is None else min(oldest, ended_at)
    return MemoryFigures(
        **counts,
        oldest_pending_at=oldest,
        generation_seconds=seconds,
        compression_ratios=ratios,
        cost_usd=cost,
        versions=dict(versions),
    )


def recounted_ledger(rows: Rows, *, zone: ZoneInfo) -> list[LedgerFigures]:
    today = rows("SELECT clock_timestamp()")[0][0].astimezone(zone).date()
    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows(
        "SELECT lane, task, model, outcome, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,"
        " duration_seconds, cost_usd, created_at FROM llm_calls"
    ):
        day = row[10].astimezone(zone).date()
        cost = float(row[9])
        this_month = (day.year, day.month) == (today.year, today.month) and day <= today
        numbers = [1, *row[4:9], cost, cost * (day == today), cost * this_month]
        sums = found.setdefault(row[:4], [0] * len(numbers))
        found[row[:4]] = [left + right for left, right in zip(sums, numbers, strict=True)]
    return [LedgerFigures(*key, *numbers) for key, numbers in sorted(found.items())]  # type: ignore[arg-type]
