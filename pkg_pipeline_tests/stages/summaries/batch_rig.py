"""A memory whose backfills go in message batches to the local server, by the real SDK and the program's own wiring."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.llm.batches import PostgresBatchStore
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.llm.batches import Batches
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline.wiring import Memory, PinnedClock
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter
from pkg_pipeline_tests.stages.summaries.summary_rig import ALL_DAYS, NOW, OLD, USUAL, SummaryRig

MESSAGES = "/v1/messages"
BATCHES = "/v1/messages/batches"


@contextmanager
def opened(url: str, folder: Path, base_url: str, *, overdue_seconds: float = 900.0, **given: Any) -> Iterator[Memory]:
    settings = Settings(
        home=folder,
        database_url=SecretStr(url),
        now=NOW,
        anthropic_base_url=base_url,
        embedder="none",
        **{
            "llm": "anthropic",
            "anthropic_api_key": SecretStr("sk-test"),
            "backfill_batch_from_calls": 1,
            "llm_concurrency": 2,
            **given,
        },
    )
    memory = Memory(settings, url=url, connections=engine.pool(url, size=6), clock=PinnedClock(NOW))
    memory.counter = LetterCounter()
    store = PostgresBatchStore(memory.connections, memory.budgets, overdue_seconds=overdue_seconds)
    memory.batches = Batches(lambda: memory.batch_client, store)
    try:
        yield memory
    finally:
        memory.close()


class BatchRig:
    """Some talks, a server, a memory."""

    def __init__(self, url: str, folder: Path, *, talks: int = 6, **given: Any) -> None:
        self.rig = SummaryRig(url, folder)
        for number in range(talks):
            text = [f"matter {number}. {said}" for said in USUAL]
            self.rig.say(f"c{number}", text, at=OLD + timedelta(hours=8 * number))
        if talks:
            self.rig.load()
        self.fake = FakeAnthropic(polls=1_000).start()
        self._open = opened(url, folder / "home", self.fake.url, **{"talks_together": 2, **given})
        self.memory = self._open.__enter__()

    def close(self) -> None:
        self._open.__exit__(None, None, None)
        self.fake.stop()
        self.rig.close()

    def ask(self, **given: Any) -> UUID:
        backfills = self.memory.backfills
        asked = backfills.ask(backfills.request(**given), requested_by="test")
        assert asked.backfill is not None
        return asked.backfill.id

    def send(self, backfill_id: UUID) -> None:
        """One run of the backfill over all its days."""
        self.memory.summarize(ALL_DAYS, Billing("backfill", "run"), Scope(backfill_id=backfill_id))
        self.memory.backfills.settle(backfill_id)

    def end(self) -> None:
        """The service has ended its batches."""
        self.fake.batches.end_all()

    def told(self, backfill_id: UUID) -> dict[str, Any]:
        return self.memory.backfills.told(backfill_id).to_json()

    def calls(self, path: str = MESSAGES, method: str = "POST") -> int:
        return sum(entry["path"] == path and entry["method"] == method for entry in self.fake.journal)

    def left_behind(self) -> tuple[Any, ...]:
        return self.rig.rows(
            "SELECT (SELECT count(*) FROM held_leases), (SELECT count(*) FROM budget_reservations),"
            " (SELECT coalesce(sum(reserved_usd), 0)::float8 FROM budgets)"
        )[0]

    def booked(self) -> tuple[float, float]:
        """USD by the ledger, and by the budgets."""
        return self.rig.rows(
            "SELECT (SELECT coalesce(sum(cost_usd), 0)::float8 FROM llm_calls),"
            " (SELECT coalesce(sum(spent_usd), 0)::float8 FROM budgets)"
        )[0]
