"""The ledger of LLM calls, which is the replay cache too (B6, B8)."""

from __future__ import annotations

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.llm.stores import LedgerRow


class PostgresLedgerStore:
    """Implements ``stages.llm.stores.LedgerStore``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        with self._connections.connection() as connection:
            found = connection.execute(query("ledger", "replay"), {"hash": request_hash}).fetchone()
        return None if found is None else (found[0], Usage(found[1], found[2]), "replayed")

    def refuse(self, request_hash: str, *, reason: str) -> None:
        with self._connections.connection() as connection:
            connection.execute(query("ledger", "refuse"), {"hash": request_hash, "reason": reason})

    def record(self, row: LedgerRow) -> None:
        usage = row.usage
        with self._connections.connection() as connection:
            connection.execute(
                query("ledger", "record"),
                {
                    "request_hash": row.request_hash,
                    "task": row.task,
                    "model": row.model,
                    "prompt_version": row.prompt_version,
                    "lane": row.billing.lane,
                    "outcome": row.outcome,
                    "error": row.error,
                    "request_id": row.request_id,
                    "run_id": row.billing.run_id,
                    "backfill_id": row.billing.backfill_id,
                    "input_tokens": usage.input_tokens,
                    "output_tokens": usage.output_tokens,
                    "cache_read_tokens": usage.cache_read_tokens,
                    "cache_write_tokens": usage.cache_write_tokens,
                    "estimated": usage.estimated,
                    "cost_usd": row.cost_usd,
                    "duration_seconds": row.duration_seconds,
                    "reply": row.reply,
                    "subject_kind": row.subject.kind,
                    "subject_id": row.subject.id,
                },
            )
