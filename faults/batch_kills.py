"""``kill -9`` at named points of a message batch's life; the local server keeps the batch, as the service would.

``main`` is run in a process of its own by ``pkg_pipeline_tests.forks``.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults import hops
from faults.ground import Ground, tables
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.llm.anthropic_batches import AnthropicBatches
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.llm.batches import PostgresBatchStore
from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline_tests import forks
from pkg_pipeline_tests.stages.summaries.batch_rig import BATCHES, MESSAGES, opened

MOST_STEPS = 6
SETTLED = {"talks_together": 2, "overdue_seconds": 0.0, "backfill_batch_from_calls": 1}
SEND, COLLECT = "send", "collect"

Point = tuple[str, type[Any], str, bool]

POINTS: dict[str, Point] = {
    "gathered": (SEND, PostgresBatchStore, "begin", True),
    "on record": (SEND, AnthropicBatches, "create", True),
    "sent": (SEND, PostgresBatchStore, "sent", True),
    "its id on record": (SEND, PostgresBatchStore, "sent", False),
    "results read": (COLLECT, PostgresBatchStore, "book", True),
    "one result booked": (COLLECT, PostgresBatchStore, "book", False),
    "leases taken over": (COLLECT, PostgresBatchStore, "take_over", False),
    "published": (COLLECT, PostgresSummaryStore, "publish", False),
}
"""Name → step, and before (True) or after which method."""


def _run(url: str, folder: Path, base_url: str, step: str, point: str = "") -> forks.Ended:
    return forks.run("faults.batch_kills", url, str(folder), base_url, step, point)


def _finished(url: str, folder: Path, fake: FakeAnthropic) -> bool:
    """Works on until the backfill is done; leases of the dead have ended, those of batches have not."""
    for number in range(MOST_STEPS):
        with engine.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM leases WHERE expires_at < clock_timestamp() + interval '1 hour'")
        ended = _run(url, folder, fake.url, COLLECT if number % 2 == 0 else SEND)
        if ended.code != 0:
            raise RuntimeError(f"it does not go on: {ended.err[-1500:]}")
        if ended.out.split()[-1:] == ["done"]:
            return True
        fake.batches.end_all()
    return False


def _paid_twice(fake: FakeAnthropic) -> int:
    """Questions that the service answered more than once, in batches and at once."""
    asked = [call["body"] for call in fake.journal if call["path"] == MESSAGES]
    sent = [call["body"] for call in fake.journal if call["path"] == BATCHES and call["method"] == "POST"]
    asked += [request["params"] for body in sent for request in body["requests"]]
    seen = Counter(hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest() for one in asked)
    return seen.total() - len(seen)


def _left(url: str, *, at: str) -> list[str]:
    with engine.connect(url) as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM held_leases), (SELECT count(*) FROM budget_reservations),"
            " (SELECT coalesce(sum(reserved_usd), 0)::float8 FROM budgets),"
            " (SELECT coalesce(sum(spent_usd), 0) FROM budgets) - (SELECT coalesce(sum(cost_usd), 0) FROM llm_calls),"
            " (SELECT count(*) FROM llm_batches WHERE state NOT IN ('done', 'dropped'))"
        ).fetchone()
    assert found is not None
    return (
        [f"{at}: leases, reservations, USD reserved, apart from the ledger, open batches: {found}"]
        if any(found)
        else []
    )


@fault(
    "killed in a message batch",
    how=f"`kill -9` of a backfill at {len(POINTS)} points: {', '.join(POINTS)}; then again, the batch kept",
    short=len(POINTS),
    full=10 * len(POINTS),
)
def attack(ground: Ground, tries: int) -> Outcome:
    """Lost are rows, doubled rows and questions that the service was paid for twice."""
    outcome = Outcome(
        ends="tables equal to those of an undisturbed batch, no question paid twice, nothing left reserved"
    )
    hops.write_export(ground.folder)
    with ground.database() as before:
        with opened(before, ground.folder, "http://127.0.0.1:9") as memory:
            memory.import_path(ground.folder / "export.jsonl")
            memory.build_interactions()
        with ground.database(before) as url, FakeAnthropic(polls=1_000) as fake:
            if not _finished(url, ground.folder, fake):
                raise RuntimeError("the undisturbed backfill does not end")
            expected = tables(url)
        for number in range(tries):
            point = list(POINTS)[number % len(POINTS)]
            step = POINTS[point][0]
            with ground.database(before) as url, FakeAnthropic(polls=1_000) as fake:
                if step == COLLECT:
                    _run(url, ground.folder, fake.url, SEND)
                    fake.batches.end_all()
                died = _run(url, ground.folder, fake.url, step, point)
                if died.code != -signal.SIGKILL:
                    outcome.wrong.append(f"{point}: ended with {died.code} instead of being killed: {died.err[-500:]}")
                fake.batches.end_all()
                if not _finished(url, ground.folder, fake):
                    outcome.wrong.append(f"{point}: the backfill does not end")
                outcome.tries += 1
                outcome.compare(expected, tables(url), at=point)
                if twice := _paid_twice(fake):
                    outcome.doubled += twice
                    outcome.wrong.append(f"{point}: {twice} questions were paid for twice")
                outcome.wrong += _left(url, at=point)
    return outcome


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_at(owner: type[Any], method: str, *, is_before: bool) -> None:
    done: Callable[..., Any] = getattr(owner, method)

    def dying(*arguments: Any, **options: Any) -> Any:
        if is_before:
            _die()
        done(*arguments, **options)
        _die()

    setattr(owner, method, dying)


def main(url: str, folder: str, base_url: str, step: str, point: str) -> None:
    if point:
        _, owner, method, is_before = POINTS[point]
        _kill_at(owner, method, is_before=is_before)
    with opened(url, Path(folder), base_url, **SETTLED) as memory:
        backfills = memory.backfills
        asked = backfills.ask(backfills.request(), requested_by="test").backfill
        if asked is None:
            print("done")
            return
        if step == SEND:
            memory.summarize(hops.DAYS, Billing("backfill", "run"), Scope(backfill_id=asked.id))
        else:
            memory.batched.collect("run")
        backfills.settle(asked.id)
        print(backfills.told(asked.id).state)
