"""The languages of a memory."""

from __future__ import annotations

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.records import Language

SQL = Statements("rewriting")


def spoken_languages(connections: ConnectionPool, *, least_share: float) -> tuple[Language, ...]:
    """Languages of at least ``least_share`` (0 to 1) of the messages, most frequent first. One pass over all
    interactions.
    """
    return tuple(SQL.values(connections, "languages", least_share=least_share))
