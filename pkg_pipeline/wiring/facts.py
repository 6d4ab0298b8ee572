"""A person's review of facts (B2)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.adapters.postgres.items.fact_listing import PostgresFactReads
from pkg_pipeline.adapters.postgres.items.fact_verdicts import PostgresFactVerdictStore
from pkg_pipeline.stages.items.fact_deciding import FactEdit, NewFact, add_fact, decide_fact

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.wiring.memory import Memory


class FactReview:
    """``reads``: another pool to read on; None: the memory's own."""

    def __init__(self, memory: Memory, reads: ConnectionPool | None = None) -> None:
        self._store = PostgresFactVerdictStore(memory.connections)
        self._clock = memory.clock
        self.reads = PostgresFactReads(memory.connections if reads is None else reads)

    def decide(self, fact_id: UUID, wanted: FactEdit) -> None:
        """Keep what a person decided, and apply it. Raises FactUnknown, BadRequest."""
        decide_fact(self._store, fact_id, wanted, now=self._clock.now())

    def add(self, wanted: NewFact) -> UUID:
        """The id of the fact. Raises BadRequest."""
        return add_fact(self._store, wanted, now=self._clock.now())
