"""LangGraph's saver over a foreign database: never migrated (``setup`` is not called), and only LangGraph's safe
classes are deserialized, no pickles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg.rows import dict_row

from pkg_pipeline.adapters.postgres.engine import CONNECT_TIMEOUT_SECONDS, libpq_url, without_password
from pkg_pipeline.stages.ingest.threads import ThreadUnreadable

MESSAGES = "messages"
"""The usual channel of messages in LangGraph."""

ROOT = ""
"""The namespace of threads; others are subgraph runs."""


class ThreadsUnavailable(Exception):
    """The database cannot be read; one line says why."""


@contextmanager
def connected(url: str, *, readonly: bool) -> Iterator[psycopg.Connection[Any]]:
    """A connection as savers need it. Raises ThreadsUnavailable."""
    try:
        connection = psycopg.connect(
            libpq_url(url),
            autocommit=True,
            row_factory=dict_row,  # type: ignore[arg-type]
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            application_name="pkg_pipeline threads",
        )
    except (psycopg.Error, ValueError) as error:
        said = (without_password(str(error), url).strip().splitlines() or ["no reason given"])[-1]
        raise ThreadsUnavailable(f"PKG_LANGGRAPH_URL: {said}") from None
    with connection:
        if readonly:
            connection.execute("SET default_transaction_read_only = on")
        yield connection


def saver_on(connection: psycopg.Connection[Any]) -> PostgresSaver:
    """LangGraph's saver with the strict serializer. Raises ThreadsUnavailable if its tables are missing."""
    found = connection.execute("SELECT to_regclass('checkpoints') IS NOT NULL AS there").fetchone()
    if found is None or not found["there"]:
        raise ThreadsUnavailable("this database has no checkpoints of LangGraph; give the one that its saver writes to")
    return PostgresSaver(connection, serde=JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None))


def config_of(thread_id: str, checkpoint_id: str | None = None) -> Any:
    """The config of a thread or of one of its checkpoints."""
    place = {"thread_id": thread_id, "checkpoint_ns": ROOT}
    return {"configurable": place if checkpoint_id is None else {**place, "checkpoint_id": checkpoint_id}}


def id_of(found: CheckpointTuple) -> str:
    return str(found.config["configurable"]["checkpoint_id"])  # type: ignore[typeddict-item]


@contextmanager
def readable() -> Iterator[None]:
    """Turns errors of reading a thread into ThreadUnreadable."""
    try:
        yield
    except NotImplementedError as error:
        kind = str(error).rpartition(":")[2].strip()
        if "pickle" in kind:
            raise ThreadUnreadable("it holds pickled data, which is not read: it could run code") from None
        if "+" in kind:
            raise ThreadUnreadable(f"its data is encrypted ({kind.rpartition('+')[2]})") from None
        raise ThreadUnreadable(f"its data is of a type that is not read ({kind[:40]})") from None
    except (psycopg.Error, ThreadUnreadable):
        raise
    except Exception as error:
        raise ThreadUnreadable(f"its data cannot be read ({type(error).__name__})") from error


def is_delta(found: CheckpointTuple) -> bool:
    """Whether messages are stored as differences (``DeltaChannel``)."""
    metadata: Any = found.metadata or {}
    if "counters_since_delta_snapshot" in metadata or "delta_writes_versioned" in metadata:
        return True
    values = found.checkpoint["channel_values"]
    value = values.get(MESSAGES)
    return (MESSAGES in found.checkpoint["channel_versions"] and MESSAGES not in values) or (
        value is not None and not isinstance(value, list)
    )
