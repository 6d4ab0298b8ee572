"""Receipts of served contexts (B11)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.adapters.postgres.reads.receipts import PostgresReceiptReads
from pkg_pipeline.stages.reads.context import entity_context, program_version
from pkg_pipeline.stages.reads.receipts import (
    KeptReceipt,
    ListedReceipt,
    Rebuilt,
    kept_receipt,
    rebuild,
    receipt_id_of,
)
from pkg_pipeline.wiring.contexts import context_settings

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


class Receipts:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._reads = PostgresReceiptReads(memory.connections)

    def newest(self, entity_id: UUID | None, limit: int) -> list[ListedReceipt]:
        """Of one entity, or of all."""
        return self._reads.newest(entity_id, limit)

    def id_of(self, asked: str) -> UUID:
        """The id given in full, or by its first digits. Raises ReceiptUnknown."""
        return receipt_id_of(self._reads, asked)

    def show(self, receipt_id: UUID) -> KeptReceipt:
        """Raises ReceiptUnknown."""
        return kept_receipt(self._reads, receipt_id)

    def rebuild(self, receipt_id: UUID) -> Rebuilt:
        """Raises ReceiptUnknown."""
        receipt, memory = self.show(receipt_id), self._memory
        relevant = None if receipt.request["hint"] is None else memory.recall.relevant
        return rebuild(
            receipt,
            now=memory.clock.now(),
            settings=context_settings(memory.settings),
            program=program_version(),
            context=partial(entity_context, memory.reads, memory.counter, relevant=relevant),
        )
