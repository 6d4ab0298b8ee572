"""A simulated year: 36,000 messages, the clock from day to day, every schedule and sensor, a model over HTTP.

    python -m benchmarks year [--days 365] [--plot FILE.png] [--json]

Asked at the end: is everything that is due summarised, is nothing there twice, is no decision lost, does the money in
the budget, the ledger and the model's own journal agree; and at each month's end, of the facts planted so far, which
share stands in the context of the person they belong to, at the same ``max_tokens``, while what is stored grows.

The caps of the live lane are lifted: they follow the database's clock, which cannot be moved, so that a year within
minutes would meet one day's cap. Everything else has its defaults.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.year_account import FIRST_DAY, Account, Fact
from benchmarks.year_clock import MovingClock, opened
from pkg_pipeline.adapters.postgres.engine import value
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory

MOST_TOKENS = 4_000
SIZE = "SELECT pg_database_size(current_database())"


@dataclass(frozen=True, slots=True)
class Month:
    """What was asked at one month's end. Token figures are means over the people that facts belong to."""

    at: date
    facts: int
    found: int
    high_missing: int
    tokens: int
    full_tokens: int
    messages: int
    by_kind: dict[str, tuple[int, int]]

    @property
    def share(self) -> float:
        return self.found / self.facts if self.facts else 1.0


def ask(memory: Memory, facts: list[Fact], at: date) -> Month:
    """Every fact planted so far, in the context of the person who said it."""
    with memory.connections.connection() as connection:
        ids = dict(connection.execute("SELECT name, id FROM entities WHERE NOT is_self").fetchall())
        row = connection.execute("SELECT count(*) FROM messages").fetchone()
        high = connection.execute(
            "SELECT p.entity_id, p.item_id::text FROM item_people p JOIN items i ON i.id = p.item_id"
            " WHERE i.kind = 'decision' AND i.importance = 'high' AND i.status = 'open' AND NOT i.is_withheld"
        ).fetchall()
    assert row is not None
    answers = {
        name: memory.context(ids[name], max_tokens=MOST_TOKENS, as_of=None).to_json()
        for name in sorted({fact.person.name for fact in facts})
    }
    by_kind: dict[str, list[int]] = {}
    for fact in facts:
        known = by_kind.setdefault(fact.kind, [0, 0])
        known[0] += fact.key in answers[fact.person.name]["text"]
        known[1] += 1
    by_entity = {ids[name]: answer for name, answer in answers.items()}
    missing = sum(item not in _named(by_entity[entity]) for entity, item in high if entity in by_entity)
    count = len(answers) or 1
    return Month(
        at=at,
        facts=len(facts),
        found=sum(found for found, _ in by_kind.values()),
        high_missing=missing,
        tokens=sum(answer["tokens"] for answer in answers.values()) // count,
        full_tokens=sum(answer["hypothetical_tokens"] for answer in answers.values()) // count,
        messages=row[0],
        by_kind={kind: (found, planted) for kind, (found, planted) in sorted(by_kind.items())},
    )


def _named(answer: dict[str, Any]) -> set[str]:
    """Ids of everything that is in the block or said to be left out."""
    items = {item["id"] for tier in answer["tiers"] for item in tier["items"]}
    return items | {entry["id"] for entry in answer["left_out"]}


def live(account: Account, settings: Settings, folder: Path, days: int) -> dict[str, Any]:
    clock = MovingClock(datetime.combine(FIRST_DAY, datetime.min.time(), tzinfo=UTC))
    months: list[Month] = []
    started = time.perf_counter()
    with opened(settings, clock) as (seen, memory, ticks):
        seen.inbox.folder.mkdir(parents=True, exist_ok=True)
        for number, (day, lines) in enumerate(account.day_exports()):
            ticks.night(day)
            clock.at = datetime.combine(day, datetime.min.time(), tzinfo=UTC) + timedelta(hours=23, minutes=30)
            file = folder / f"{day}.jsonl"
            file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
            file.rename(seen.inbox.folder / file.name)
            ticks.evening()
            if (day + timedelta(days=1)).day == 1 or number == days - 1:
                months.append(ask(memory, [fact for fact in account.facts if fact.day <= day], day))
                _tell(months[-1], time.perf_counter() - started)
        found = audit(memory, account, clock.at)
        memory.chunks.build((FIRST_DAY, clock.at.date()))
        with memory.connections.connection() as connection:
            found["searchable_bytes"] = value(connection, SIZE)
        found |= {"ticks": ticks.ticks, "runs": dict(ticks.runs), "failed_runs": ticks.failed, "asked": ticks.names}
    found["seconds"] = round(time.perf_counter() - started, 1)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found | {"months": months}


def audit(memory: Memory, account: Account, now: datetime) -> dict[str, Any]:
    """What must hold at the end, by plain counting."""
    settings = memory.settings
    due_before = now - timedelta(days=settings.summary_min_age_days)

    def one(statement: str, *values: Any) -> Any:
        with memory.connections.connection() as connection:
            row = connection.execute(statement, values).fetchone()  # type: ignore[arg-type]
        assert row is not None
        return row[0]

    eligible = "i.status = 'completed' AND i.message_count >= %s AND i.ended_at <= %s"
    current = "s.interaction_id = i.id AND s.status = 'completed' AND s.input_hash = i.input_hash"
    due = one(f"SELECT count(*) FROM interactions i WHERE {eligible}", settings.summary_min_messages, due_before)
    done = one(
        f"SELECT count(*) FROM interactions i JOIN interaction_summaries s ON {current} WHERE {eligible}",
        settings.summary_min_messages,
        due_before,
    )
    planted = [fact for fact in account.facts if fact.kind == "decision" and fact.day < due_before.date()]
    lost = [
        fact.key
        for fact in planted
        if not one("SELECT count(*) FROM items WHERE kind = 'decision' AND quote LIKE %s", f"%{fact.key}%")
    ]
    return {
        "due": due,
        "summarized": done,
        "coverage": round(done / due, 4) if due else 1.0,
        "messages_expected": account.messages,
        "messages_stored": one("SELECT count(*) FROM messages"),
        "bytes": one(SIZE),
        "double_summaries": one(
            "SELECT count(*) FROM (SELECT interaction_id FROM interaction_summaries"
            " WHERE status IN ('completed', 'dirty') GROUP BY 1 HAVING count(*) > 1) d"
        ),
        "double_items": one(
            "SELECT count(*) FROM (SELECT interaction_id, owner_entity_id, kind, lower(text) FROM items"
            " GROUP BY 1, 2, 3, 4 HAVING count(*) > 1) d"
        ),
        "decisions_planted": len(planted),
        "decisions_lost": len(lost),
        "profiles": one("SELECT count(*) FROM entity_relationship_profiles"),
        "archived": one("SELECT count(*) FROM messages WHERE is_archived"),
        "superseded": one("SELECT count(*) FROM interaction_summaries WHERE status = 'superseded'"),
        "calls": one("SELECT count(*) FROM llm_calls"),
        "usd_ledger": float(one("SELECT coalesce(sum(cost_usd), 0) FROM llm_calls")),
        "usd_budget": float(one("SELECT coalesce(sum(spent_usd), 0) FROM budgets")),
        "usd_reserved": float(one("SELECT coalesce(sum(reserved_usd), 0) FROM budgets")),
        "tokens_ledger": one("SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM llm_calls"),
    }


def _tell(month: Month, seconds: float) -> None:
    kinds = ", ".join(f"{kind} {found}/{planted}" for kind, (found, planted) in month.by_kind.items())
    print(
        f"{month.at}  {month.messages:6} messages  {month.found:3}/{month.facts:3} facts ({month.share:6.1%}; {kinds})"
        f"  {month.tokens} of {month.full_tokens} tokens  {month.high_missing} HIGH unnamed  {seconds:5.0f} s",
        file=sys.stderr,
        flush=True,
    )


def plot(months: list[Month], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    numbers = range(1, len(months) + 1)
    figure, (above, below) = pyplot.subplots(2, 1, sharex=True, figsize=(8, 6), height_ratios=[1, 1])
    above.plot(numbers, [100 * month.share for month in months], marker="o", color="#1f6f8b")
    above.set_ylim(0, 104)
    above.set_ylabel("facts found, %")
    above.set_title("Facts planted over a year, found in a context of at most 4,000 tokens")
    for number, month in zip(numbers, months, strict=True):
        above.annotate(f"{month.found}/{month.facts}", (number, 100 * month.share), xytext=(0, -14),
                       textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
    below.plot(numbers, [month.full_tokens for month in months], marker="s", color="#b5541c", label="full history")
    below.plot(numbers, [month.tokens for month in months], marker="o", color="#1f6f8b", label="context served")
    below.set_ylabel("tokens, mean of the people")
    below.set_xlabel("month")
    below.set_xticks(list(numbers))
    below.legend(frameon=False)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def report(found: dict[str, Any]) -> bool:
    """The table of docs/figures.md; whether everything asked for holds."""
    months: list[Month] = found["months"]
    second, last = months[min(1, len(months) - 1)], months[-1]
    rounding = 1e-6 * found["calls"]  # the ledger keeps millionths of each call
    money = all(abs(found["usd_ledger"] - found[other]) <= rounding for other in ("usd_budget", "usd_journal"))
    rows = [
        ("coverage of what is due", f"{found['coverage']:.2%} of {found['due']}", found["coverage"] >= 0.99),
        ("messages stored", f"{found['messages_stored']} of {found['messages_expected']}",
         found["messages_stored"] == found["messages_expected"]),
        ("doubles", found["double_summaries"] + found["double_items"],
         not found["double_summaries"] + found["double_items"]),
        ("decisions lost", f"{found['decisions_lost']} of {found['decisions_planted']}", not found["decisions_lost"]),
        ("HIGH decisions neither in a context nor named", last.high_missing, not last.high_missing),
        ("USD: ledger, budget, model's journal",
         f"{found['usd_ledger']:.4f}, {found['usd_budget']:.4f}, {found['usd_journal']:.4f}", money),
        ("facts found, month 2 → last", f"{second.share:.1%} → {last.share:.1%}", last.share >= second.share - 0.02),
        ("full history, month 2 → last", f"{second.full_tokens} → {last.full_tokens} tokens", True),
        ("runs", f"{sum(found['runs'].values())}, {len(found['failed_runs'])} failed", not found["failed_runs"]),
    ]  # fmt: skip
    print("| asked | found | |\n|---|---|---|")
    for asked, said, holds in rows:
        print(f"| {asked} | {said} | {'yes' if holds else '**no**'} |")
    print(
        f"\n{found['ticks']} ticks of {', '.join(found['asked'])}; {found['calls']} calls,"
        f" {found['profiles']} profiles,"
        f" {found['archived']} messages archived, {found['superseded']} summaries superseded;"
        f" {found['seconds']:.0f} s, {found['peak_mb']} MB; the database {found['bytes'] / 1e6:.0f} MB,"
        f" {found['searchable_bytes'] / 1e6:.0f} MB with chunks and vectors"
    )
    return all(holds for _, _, holds in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    account = Account(days=given.days, facts=200 * given.days // 365)
    # most of a year of runs is waiting for the disk to confirm; nothing here is about that
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else "/tmp"
    with tempfile.TemporaryDirectory(prefix="pkgb-", dir=memory) as place, FakeAnthropic() as fake:
        settings = Settings.model_validate(
            {
                "home": Path(place) / "home", "llm": "anthropic", "anthropic_api_key": "local",
                "anthropic_base_url": fake.url, "live_summaries_per_day": 1_000_000, "live_usd_per_day": 1_000_000,
                "live_profiles_per_week": 1_000_000,
            }
        )  # fmt: skip
        found = live(account, settings, Path(place), given.days)
        found["usd_journal"] = journal_usd(fake, settings)
    if given.plot:
        plot(found["months"], given.plot)
    if given.json:
        print(json.dumps({**found, "months": [asdict(month) for month in found["months"]]}, indent=2, default=str))
        return
    if not report(found):
        sys.exit(1)


def journal_usd(fake: FakeAnthropic, settings: Settings) -> float:
    """What the model's own journal says was used, by the price table."""
    from pkg_pipeline.adapters.llm.prices import price
    from pkg_pipeline.memory.records import Usage
    from pkg_pipeline.wiring.models import price_table

    total, table = 0.0, price_table(settings)
    for call in fake.journal:
        usage = call.get("usage")
        if usage:
            total += price(settings.llm_model, Usage(usage["input_tokens"], usage["output_tokens"]), table=table)
    return total


if __name__ == "__main__":
    main()
