"""The store of windows: reads of a session, and records of served windows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.ingest.echoes import keep
from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.adapters.postgres.reads.context_rows import message_keys
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.hashing import chat_key
from pkg_pipeline.memory.records import MessageRole
from pkg_pipeline.memory.window.records import WindowMessage
from pkg_pipeline.stages.window.records import FoldSummary, ServedWindow, Topic, WindowQuery, WindowRows

SQL = Statements("served_windows")

log = logging.getLogger(__name__)

Price = Callable[[str, int, int], float | None]
"""(model, input tokens, output tokens) → USD, None for models without a price."""


class StoredMessage(NamedTuple):
    """A message as the statement ``window`` gives it, in the order of its columns."""

    id: int
    external_id: str
    role: MessageRole | None
    text: str
    parts: list[dict[str, Any]] | None
    is_archived: bool
    is_self: bool
    sender_name: str | None


class PostgresWindowStore:
    """Read-only. Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._reads = Reads(connections, "windows")

    def read_window(self, query: WindowQuery) -> WindowRows | None:
        """One round trip, and one more for archived texts."""
        found = orjson.loads(self._reads.value("window", **window_parameters(query)))
        if found["session"] is None:
            return None
        messages = [StoredMessage._make(one) for one in found["messages"] or ()]
        if archived := [message.id for message in messages if message.is_archived]:
            kept = {one.id: one for one in self._reads.named("archived_texts", ids=archived)}
            messages = [
                message._replace(text=kept[message.id].text, parts=kept[message.id].parts)
                if message.id in kept
                else message
                for message in messages
            ]
        return _window_rows(found, messages)

    def topics(self, session_id: UUID, *, limit: int) -> list[Topic]:
        """Most mentioned first, then last seen."""
        return self._reads.rows(Topic, "topics", session=session_id, limit=limit)


def window_parameters(query: WindowQuery) -> dict[str, Any]:
    return {"session": query.session_id, **asdict(query)}


def _window_rows(found: Mapping[str, Any], messages: Sequence[StoredMessage]) -> WindowRows:
    session = found["session"]
    hwm, source, chat = session["hwm_message_id"], session["source"], session["external_id"]
    keys = message_keys(source, chat, (message.external_id for message in messages))
    return WindowRows(
        chat_key=chat_key(source, chat),
        policy=session["policy"],
        strategy=session["strategy"],
        hwm_message_id=hwm,
        message_count=session["message_count"],
        token_count=session["token_count"],
        messages_since_hwm=session["messages_since_hwm"],
        messages=tuple(
            WindowMessage(
                key=key,
                role=message.role,
                text=message.text,
                parts=None if message.parts is None else tuple(message.parts),
                sender_name=message.sender_name or "",
                is_self=message.is_self,
                is_folded=message.id <= hwm,
            )
            for key, message in zip(keys, messages, strict=True)
        ),
        folds=tuple(
            FoldSummary(UUID(fold["id"]), fold["summary"], fold["dirty_reason"] is not None)
            for fold in found["folds"] or ()
        ),
        running="" if found["is_withheld"] else session["running_summary"],
        is_withheld=found["is_withheld"],
        topics=tuple(found["topics"] or ()),
        calibration=found["calibration"],
        has_failed=session["has_failed"],
        folded_tokens=session["token_count"] - session["tokens_since_hwm"],
        dirty_folds=session["dirty_folds"],
    )


class PostgresServedWindows:
    """``WindowSink`` that writes at once. Raises nothing; ``lost`` counts failures."""

    def __init__(self, connections: ConnectionPool, *, price: Price = lambda *_: None) -> None:
        self._connections = connections
        self._price = price
        self.lost = 0

    def put(self, receipt: ServedWindow) -> None:
        self.put_many([receipt])

    def put_many(self, receipts: list[ServedWindow]) -> None:
        try:
            with self._connections.connection() as connection, connection.transaction(), connection.cursor() as cursor:
                rows = [_served_row(receipt) for receipt in receipts]
                cursor.executemany(SQL.text("insert_served_window"), rows)
                for receipt in receipts:
                    keep(connection, receipt.text)
        except (psycopg.Error, PoolTimeout) as error:
            self._count(len(receipts), error)

    def record_usage(
        self,
        session_id: UUID,
        *,
        input_tokens: int,
        output_tokens: int,
        cost_usd: float | None = None,
        model: str | None = None,
    ) -> bool:
        """Whether the session's last window took the report. Without ``cost_usd`` the model's price is used."""
        given = {
            "session": session_id,
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "cost_usd": cost_usd,
            "model": model,
        }
        try:
            with self._connections.connection() as connection, connection.transaction():
                found = SQL.one(connection, "record_usage", **given)
                if found and found.model and cost_usd is None:
                    cost = self._price(found.model, input_tokens, output_tokens)
                    if cost is not None:
                        SQL.run(connection, "price", id=found.id, cost_usd=cost)
        except (psycopg.Error, PoolTimeout) as error:
            self._count(1, error)
            return False
        return found is not None

    def _count(self, number: int, error: Exception) -> None:
        self.lost += number
        log.warning("%d records of served windows could not be kept: %s", number, type(error).__name__)


def _served_row(served: ServedWindow) -> dict[str, Any]:
    return {
        "id": served.id,
        "session": served.session_id,
        "strategy": served.strategy,
        "model": served.model,
        "prompt_tokens": served.prompt_tokens,
        "hypothetical_tokens": served.hypothetical_tokens,
        "budget": Jsonb(dict(served.budget)),
        "tiers": Jsonb(list(served.tiers)),
        "left_out": Jsonb(list(served.left_out)),
    }
