"""The tables of record for monitoring: figures by day and the marks of days to count again. Triggers, in the migration,
leave the marks; ``monitoring/monitoring.sql`` alone counts.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Date, Double, Index, Integer, Numeric, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import METADATA, MOMENT, columns_of

DAY_STATISTICS = Table(
    "day_statistics",
    METADATA,
    *columns_of(Date, "day"),
    *columns_of(Integer, "minimum_messages interactions eligible summarized pending failed"),
    *columns_of(MOMENT, "oldest_pending_at", null=True),
    *columns_of(Integer, "summaries"),
    *columns_of(Double, "generation_seconds"),
    *columns_of(Numeric, "compression_ratios cost_usd"),
    *columns_of(BigInteger, "key_points decisions"),
    *columns_of(Integer, "open_action_items"),
    *columns_of(JSONB, "versions", default="'{}'"),
    PrimaryKeyConstraint("day"),
    Index("day_statistics_pending", "day", postgresql_where=text("pending > 0")),
)

DAY_STATISTICS_MARKS = Table(
    "day_statistics_marks",
    METADATA,
    *columns_of(Date, "day"),
    *columns_of(BigInteger, "transaction"),
    *columns_of(MOMENT, "marked_at"),
    PrimaryKeyConstraint("day", "transaction", "marked_at"),
)

LEDGER_STATISTICS = Table(
    "ledger_statistics",
    METADATA,
    *columns_of(Date, "day"),
    *columns_of(Text, "lane task model outcome"),
    *columns_of(BigInteger, "calls input_tokens output_tokens cache_read_tokens cache_write_tokens"),
    *columns_of(Numeric, "cost_usd"),
    *columns_of(Double, "duration_seconds"),
    PrimaryKeyConstraint("day", "lane", "task", "model", "outcome"),
)

LEDGER_STATISTICS_MARKS = Table(
    "ledger_statistics_marks",
    METADATA,
    *columns_of(MOMENT, "hour"),
    *columns_of(BigInteger, "transaction"),
    *columns_of(MOMENT, "marked_at"),
    PrimaryKeyConstraint("hour", "transaction", "marked_at"),
)
