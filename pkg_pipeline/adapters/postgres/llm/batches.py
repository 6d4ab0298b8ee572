"""The store of message batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.llm import ledger
from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.adapters.postgres.llm.leases import Leasing
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of, fields_of, part
from pkg_pipeline.stages.llm.batch_ports import (
    BatchItem,
    BatchOutcome,
    Begun,
    HeldItem,
    InFlight,
    OpenBatch,
    Planned,
)
from pkg_pipeline.stages.llm.stores import Caps, LedgerRow, Refusal
from pkg_pipeline.stages.ports import Lane, Subject

SQL, BUDGETS, LEASES = Statements("batches"), Statements("budgets"), Statements("leases")
LANE: Lane = "backfill"

OVERDUE_SECONDS = 900.0
"""After that a batch without an id on record is not being sent any more: twice the longest request."""

LOST_SECONDS = 30 * 86_400.0
"""The service keeps results for 29 days."""


class PostgresBatchStore(Leasing):
    """Implements ``BatchStore``, of questions about interactions in the backfill lane."""

    _lease_kind = "summary"

    def __init__(
        self, connections: ConnectionPool, budgets: PostgresBudgetStore, *, overdue_seconds: float = OVERDUE_SECONDS
    ) -> None:
        self._connections, self._budgets = connections, budgets
        self._overdue_seconds = overdue_seconds

    def begin(
        self, planned: Sequence[Planned], *, task: str, caps: Caps, held_seconds: float, redo_stale: bool
    ) -> Begun:
        ids: list[UUID | None] = [None] * len(planned)
        refusal: Refusal | None = None
        batch_id: UUID | None = None
        with transaction(self._connections) as connection, connection.transaction() as here:
            billing = planned[0].call.billing
            batch_id = SQL.value(connection, "create", **fields_of(billing), redo_stale=redo_stale)
            held = [(one.id, token) for each in planned for one, token in zip(each.subjects, each.tokens, strict=True)]
            still = set(LEASES.values(connection, "renew", **self._held(held), lease=held_seconds))
            for at, one in enumerate(planned):
                if not still.issuperset(subject.id for subject in one.subjects):
                    continue
                taken = self._budgets.reserve_in(connection, task=task, usd=one.usd, caps=caps, call=one.call)
                if isinstance(taken, Refusal):
                    refusal = taken
                    if taken.is_for_all:
                        break
                    continue
                given = {**fields_of(one.call), **fields_of(one.size), "id": taken.id, "day": taken.day}
                SQL.run(connection, "add_item", batch=batch_id, **given)
                about = columns_of(one.subjects, "kind", "id")
                SQL.run(connection, "add_subjects", item=taken.id, token=list(one.tokens), **about)
                ids[at] = taken.id
            if not any(ids):
                batch_id = None
                raise psycopg.Rollback(here)
            SQL.run(connection, "count_questions", batch=batch_id, questions=sum(one is not None for one in ids))
        return Begun(batch_id, tuple(ids), refusal)

    def sent(self, batch_id: UUID, service_id: str) -> None:
        SQL.run(self._connections, "sent", batch=batch_id, service_id=service_id)

    def drop(self, batch_id: UUID) -> None:
        with transaction(self._connections) as connection:
            if SQL.run(connection, "drop", batch=batch_id) == 0:
                return
            for item in SQL.rows(connection, "unread", batch=batch_id):
                self._settle(connection, item, usd=0.0, billed=0)
                SQL.run(connection, "note_outcome", item=item.id, outcome="unavailable", error="never sent")
            held = [tuple(row) for row in SQL.rows(connection, "all_held", batch=batch_id)]
            if held:
                self.give_back(connection, *held)

    def open(self) -> list[OpenBatch]:
        return SQL.rows(self._connections, "open", OpenBatch, overdue=self._overdue_seconds, lost=LOST_SECONDS)

    def service_ids(self) -> set[str]:
        return set(SQL.values(self._connections, "service_ids"))

    def not_ours(self, batch_id: UUID, service_id: str) -> None:
        SQL.run(self._connections, "not_ours", batch=batch_id, service_id=service_id)

    def items(self, batch_id: UUID) -> list[BatchItem]:
        return SQL.rows(self._connections, "items", BatchItem, batch=batch_id)

    def book(self, item: BatchItem, row: LedgerRow | None, outcome: BatchOutcome) -> bool:
        with transaction(self._connections) as connection:
            taken = SQL.one(connection, "take_item", item=item.id)
            if taken is None:
                return False
            self._settle(connection, item, usd=row.cost_usd if row else 0.0, billed=int(row is not None))
            if row is not None:
                ledger.record(connection, _without_words(row) if taken.is_forgotten else _about(connection, row))
            error = row.error if row else None
            SQL.run(connection, "note_outcome", item=item.id, outcome=outcome, error=error)
            return True

    def read(self, batch_id: UUID) -> None:
        SQL.run(self._connections, "read", batch=batch_id)

    def lose(self, batch_id: UUID) -> None:
        with transaction(self._connections) as connection:
            SQL.value(connection, "lock_batch", batch=batch_id)
            gone = SQL.rows(connection, "unread", batch=batch_id)
            BUDGETS.run(connection, "lock_lane", lane=LANE)
            BUDGETS.run(connection, "end_reservations", ids=[item.id for item in gone])
            BUDGETS.run(connection, "settle_lost", lane=LANE)
            for item in gone:
                SQL.run(connection, "note_outcome", item=item.id, outcome="unknown", error="the results are gone")
            SQL.run(connection, "read", batch=batch_id)

    def held(self, batch_id: UUID) -> list[HeldItem]:
        return SQL.rows(self._connections, "held", _held_item, batch=batch_id)

    def take_over(self, held: Mapping[UUID, int], *, holder: str, lease_seconds: float) -> dict[UUID, int]:
        with transaction(self._connections) as connection:
            given = {**self._held(list(held.items())), "holder": holder, "lease": lease_seconds}
            got = {row.subject_id: row.token for row in LEASES.rows(connection, "take_over", **given)}
            ended = sorted(held.keys() - got.keys())
            return got | self.take(connection, ended, holder=holder, lease_seconds=lease_seconds)

    def worked(self, items: Sequence[HeldItem]) -> None:
        with transaction(self._connections) as connection:
            SQL.run(connection, "worked", items=[one.item.id for one in items])
            held = [pair for one in items for pair in zip(one.ids, one.tokens, strict=True)]
            if held:
                self.give_back(connection, *held)

    def finish(self, batch_id: UUID) -> None:
        SQL.run(self._connections, "finish", batch=batch_id)

    def in_flight(self) -> InFlight:
        found = SQL.one(self._connections, "in_flight", InFlight)
        assert found is not None, "an aggregate always gives a row"
        return found

    def _settle(self, connection: Connection, item: Any, *, usd: float, billed: int) -> None:
        given = {"id": item.id, "day": item.day, "lane": LANE, "task": item.task}
        BUDGETS.run(connection, "settle_batched", **given, usd=usd, billed=billed)


def _about(connection: Connection, row: LedgerRow) -> LedgerRow:
    """With what the question was about, by the id that both have."""
    subject, *also = SQL.rows(connection, "subjects", Subject, item=row.id)
    return replace(row, subject=subject, also=tuple(also))


def _without_words(row: LedgerRow) -> LedgerRow:
    """Of what was forgotten meanwhile only the cost is kept."""
    return replace(row, reply=None, error=None, outcome="erased" if row.outcome == "ok" else row.outcome)


def _held_item(*, ids: tuple[UUID, ...], tokens: tuple[int, ...], **columns: Any) -> HeldItem:
    return HeldItem(part(BatchItem, columns), ids, tokens)
