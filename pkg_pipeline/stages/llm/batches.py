"""Batches that were sent: found again, read into the ledger as if each question had been answered now, and what the
service told instead of answers (P19, B6, B8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.text.cleaning import clean_text
from pkg_pipeline.stages.llm.ask import InBatch, worst_usage
from pkg_pipeline.stages.llm.batch_ports import (
    ANSWERLESS,
    BatchGone,
    BatchItem,
    BatchReply,
    BatchSeen,
    BatchStore,
    InFlight,
    LlmBatches,
    OpenBatch,
    Size,
)
from pkg_pipeline.stages.llm.stores import LedgerRow
from pkg_pipeline.stages.ports import Billing, LlmError, LlmRequest, LlmUnavailable

SEEN_AT_ONCE = 20
"""Batches that one look asks the service about."""

CLOCKS_APART = timedelta(minutes=10)
"""Between the database's clock and the service's."""

LISTED = 1_000
"""Batches of the service among which one without an id on record is looked for."""


class Told:
    """``Elsewhere`` of a run that works off results: what a batch told of a question instead of an answer is told once,
    as the model's. The rest is asked at once, or not at all.
    """

    def __init__(self, items: Iterable[BatchItem], *, asks: bool) -> None:
        told = {item.request_hash: item.failure for item in items}
        self._failures = {key: failure for key, failure in told.items() if failure is not None}
        self._asks = asks

    def asked(self, request: LlmRequest, request_hash: str) -> None:
        del request
        if (failure := self._failures.pop(request_hash, None)) is not None:
            raise failure
        if not self._asks:
            raise InBatch

    def answered(self, request: LlmRequest) -> None:
        del request


@dataclass(frozen=True, slots=True)
class Batches:
    """``client``: the service's batches; None or not served: nothing can be read now."""

    client: Callable[[], LlmBatches | None]
    store: BatchStore

    def in_flight(self) -> InFlight:
        return self.store.in_flight()

    def ready(self) -> bool:
        """Whether ``read`` or work on what was read would find something. Asks the service, briefly; writes nothing.
        Raises an ``LlmError``.
        """
        open_ones = self.store.open()
        if any(one.state == "read" or one.is_lost for one in open_ones):
            return True
        if not open_ones or (client := self._served()) is None:
            return False
        return any(self._moves(client, one) for one in open_ones[:SEEN_AT_ONCE])

    def read(self) -> int:
        """Books the results of every batch that has ended; returns how many questions. A batch whose service does not
        answer stays for later. Raises ``LlmMisconfigured``.
        """
        booked = 0
        open_ones = self.store.open()
        client = self._served() if open_ones else None
        for one in open_ones:
            if one.is_lost and one.state != "read":
                self.store.lose(one.id)
            elif client is not None and one.state != "read":
                try:
                    booked += self._read(client, one)
                except LlmUnavailable:
                    continue
        return booked

    def cancel(self, backfill_id: UUID) -> int:
        """Asks the service to end a backfill's batches; what it answered until then is read as ever. Raises an
        ``LlmError``.
        """
        mine = [one for one in self.store.open() if one.backfill_id == backfill_id and one.state == "sent"]
        client = self._served() if mine else None
        for one in mine if client is not None else ():
            assert client is not None
            with suppress(BatchGone):
                client.cancel(str(one.service_id))
        return len(mine)

    def _served(self) -> LlmBatches | None:
        client = self.client()
        return client if client is not None and client.are_served() else None

    def _moves(self, client: LlmBatches, one: OpenBatch) -> bool:
        if one.service_id is None:
            return one.is_overdue
        try:
            return client.seen(one.service_id).is_ended
        except BatchGone:
            return True

    def _read(self, client: LlmBatches, one: OpenBatch) -> int:
        service_id = one.service_id
        if service_id is None:
            if not one.is_overdue:
                return 0
            found = self._found(client, one)
            if found is None:
                self.store.drop(one.id)
                return 0
            self.store.sent(one.id, service_id := found.id)
        try:
            if not client.seen(service_id).is_ended:
                return 0
            items = {item.name: item for item in self.store.items(one.id)}
            sizes = {name: Size(item.prompt_tokens, item.room) for name, item in items.items()}
            replies = client.replies(service_id, sizes)
        except BatchGone:
            self.store.lose(one.id)
            return 0
        if replies and not any(reply.name in items for reply in replies):
            # of another memory with the same key, sent at the same time
            self.store.not_ours(one.id, service_id)
            return 0
        if not items.keys() <= {reply.name for reply in replies}:
            raise LlmUnavailable("the results of the batch are not whole")
        booked = sum(self._book(client, items[reply.name], reply) for reply in replies if reply.name in items)
        self.store.read(one.id)
        with suppress(LlmError):
            client.delete(service_id)  # prompts and answers are not left with the service for its 29 days
        return booked

    def _found(self, client: LlmBatches, one: OpenBatch) -> BatchSeen | None:
        """The batch that was sent, but whose id did not get on record: an unknown one of as many questions. Its names
        prove it when they are read. The oldest first.
        """
        known = self.store.service_ids()
        there = islice(client.since(one.created_at - CLOCKS_APART), LISTED)
        fitting = [seen for seen in there if seen.id not in known and seen.questions in (0, one.questions)]
        return fitting[-1] if fitting else None

    def _book(self, client: LlmBatches, item: BatchItem, reply: BatchReply) -> bool:
        usage = reply.usage
        if reply.outcome == "unknown":
            usage = worst_usage(item.prompt_tokens, item.room)
        if usage is None:
            return self.store.book(item, None, reply.outcome)
        row = LedgerRow(
            id=item.id,
            subject=None,
            billing=Billing("backfill", item.run_id, item.backfill_id),
            request_hash=item.request_hash,
            task=item.task,
            model=item.model,
            prompt_version=item.prompt_version,
            outcome=reply.outcome,
            usage=Usage(0, 0, estimated=True) if reply.outcome == "unknown" else usage,
            cost_usd=client.price(usage),
            duration_seconds=0.0,
            error=reply.error,
            counted_tokens=item.prompt_tokens,
            reply=clean_text(reply.text) if reply.outcome == "ok" else None,
        )
        return self.store.book(item, row, reply.outcome)


def is_answered(item: BatchItem) -> bool:
    """Whether there is an answer, or word instead of one that is handled like it; else it may be asked again."""
    return not item.is_forgotten and item.outcome is not None and item.outcome not in ANSWERLESS
