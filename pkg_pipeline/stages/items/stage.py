"""The items hop: every completed conversation is read once, in time order, and items follow from all readings.

``Items.run(billing, on_progress=…, stale=False)`` reads what is due and returns an ``ItemsReport``; ``estimate()`` says
what that would cost, ``pending()`` what is due. Runs may be killed and repeated at any time; one at a time reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.window.calibration import expected
from pkg_pipeline.prompts import conversation_reading as prompt
from pkg_pipeline.stages.items.free_pass import FreePass
from pkg_pipeline.stages.items.paid_pass import BATCH_TOKENS, PaidPass
from pkg_pipeline.stages.items.reading import LINE_TOKENS, TASK, PassParts
from pkg_pipeline.stages.items.report import ItemsEstimate, ItemsReport
from pkg_pipeline.stages.items.stores import Due, PendingItems
from pkg_pipeline.stages.llm.ask import LlmAccess
from pkg_pipeline.stages.llm.leased_work import Heartbeat
from pkg_pipeline.stages.ports import Billing, Clock

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.store import PostgresItemStore

PROMPT_TOKENS = 1_750
"""Around the talks of a question, with what is shown: on the demo, as ``TALKS_A_CALL`` (``benchmarks.prompts``)."""

TALKS_A_CALL = 30
"""Fewer than fit: languages are asked about apart."""

ANSWER_TOKENS = 25
"""For each talk of a question."""

MOST_LOOKED_AT = 1_000
"""Talks among which one that can be read is looked for."""

ANOTHER_RUNS = "another run reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """``gap_seconds`` of silence end a talk; a paid question has at most ``window_messages`` of one talk."""

    store: PostgresItemStore
    access: LlmAccess
    clock: Clock
    gap_seconds: float
    window_messages: int
    is_paid: bool
    prompt_version: str = prompt.VERSION
    schema_version: int = prompt.SCHEMA_VERSION

    def pending(self, *, stale: bool = False) -> PendingItems:
        """What a run would read now. Raises ``LlmMisconfigured``."""
        return self.store.pending(self._due(stale=stale, is_free=not self.access.llm().is_paid))

    def has_due(self) -> bool:
        """Whether a run would read something now: a due talk that waits for no earlier one."""
        blocked = set[UUID]()
        for talk in self.store.due(self._due(stale=False, is_free=not self.is_paid), limit=MOST_LOOKED_AT):
            if not talk.is_waiting and not talk.circle & blocked:
                return True
            blocked |= talk.circle
        return False

    def estimate(self, *, stale: bool = False) -> ItemsEstimate:
        """Tokens and price of all that a paid model would read, ``stale`` as of ``run``; none of one that costs
        nothing. Raises ``LlmMisconfigured``.
        """
        llm, waiting = self.access.llm(), self.pending(stale=stale)
        if not llm.is_paid:
            return ItemsEstimate(waiting.talks, 0, 0, 0.0)
        text = waiting.message_tokens + waiting.messages * LINE_TOKENS
        calls = max(-(-text // BATCH_TOKENS), -(-waiting.talks // TALKS_A_CALL))
        tokens_in = round((text + calls * PROMPT_TOKENS) * expected(self.access.calibration()))
        tokens_out = waiting.talks * ANSWER_TOKENS
        usd = llm.price(Usage(round(tokens_in / calls), round(tokens_out / calls))) * calls if calls else 0.0
        return ItemsEstimate(waiting.talks, calls, tokens_in + tokens_out, usd)

    def follow(self) -> None:
        """Items and facts follow the conversations and their people as they are now, without reading anything; a run
        under way does so itself.
        """
        work = self.access.work
        held = self.store.begin(holder=work.holder, lease_seconds=work.lease_seconds)
        if held is not None:
            try:
                with self.store.work(held) as following:
                    following.catch_up()
            finally:
                self.store.release([held])

    def run(
        self, billing: Billing, *, on_progress: Callable[[ItemsReport], None] = lambda _: None, stale: bool = False
    ) -> ItemsReport:
        """Read what is due, oldest first. ``stale``: also what another prompt or model read, and what was given up.

        A talk that is given up holds up none after it. Raises ``LlmMisconfigured``; what was read stays.
        """
        started, report, work = time.perf_counter(), ItemsReport(), self.access.work
        asking = self.access.asking(TASK, billing)
        due = self._due(stale=stale, is_free=not asking.llm.is_paid)
        held = self.store.begin(holder=work.holder, lease_seconds=work.lease_seconds)
        if held is None:
            report.stop_reason = ANOTHER_RUNS
        else:
            try:
                with Heartbeat(self.store, lease_seconds=work.lease_seconds) as heartbeat:
                    heartbeat.hold([held])
                    parts = PassParts(
                        self.store, held, due, asking, report, on_progress, work, window_messages=self.window_messages
                    )
                    parts.begin()
                    (FreePass if due.is_free else PaidPass)(parts).run()
            finally:
                self.store.release([held])
        report.left = self.store.pending(replace(due, stale=False)).talks
        if asking.run.stop_reason is not None:
            report.stop_reason, report.rest_seconds = asking.run.stop_reason, asking.run.rest_seconds
        report.seconds = time.perf_counter() - started
        return report

    def _due(self, *, stale: bool, is_free: bool) -> Due:
        return Due(
            now=self.clock.now(),
            gap_seconds=self.gap_seconds,
            prompt_version=self.prompt_version,
            model=self.access.model,
            schema_version=self.schema_version,
            is_free=is_free,
            attempt_limit=self.access.work.attempt_limit,
            stale=stale,
        )
