"""Prices of models in USD per million tokens, by date. Models without a price are refused: a guess would bypass the
budget (P32). Rows are only added, so that old calls keep their price (P14).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import LlmMisconfigured

TABLE_VERSION = "2026-11-21"
"""Stored in the ledger with every cost."""

LONG_PROMPT_TOKENS = 100_000
"""Above it the whole request is charged at the long rate."""

BATCH_SHARE = 0.5
"""Of the price, in a message batch."""

_DATE_SUFFIX = re.compile(r"-20\d{6}$")


@dataclass(frozen=True, slots=True)
class Rate:
    """USD per million tokens. ``cache_write``: of the five-minute cache."""

    input: float
    output: float
    cache_read: float
    cache_write: float


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The price of ``model`` from ``since`` on; ``long`` for prompts over ``LONG_PROMPT_TOKENS``, ``batch``: the share
    that is paid in a message batch.
    """

    model: str
    since: datetime
    rate: Rate
    long: Rate | None = None
    batch: float = BATCH_SHARE


_EPOCH = datetime(2025, 1, 1, tzinfo=UTC)

PRICES: tuple[PriceRow, ...] = (
    PriceRow(
        "claude-haiku-5-5",
        datetime(2026, 10, 7, tzinfo=UTC),
        Rate(input=0.10, output=0.50, cache_read=0.01, cache_write=0.125),
        long=Rate(input=0.50, output=2.50, cache_read=0.05, cache_write=0.625),
    ),
    PriceRow("claude-sonnet-5-5", _EPOCH, Rate(input=2.0, output=10.0, cache_read=0.20, cache_write=2.50)),
    PriceRow(
        "claude-sonnet-5-5",
        datetime(2026, 10, 7, tzinfo=UTC),
        Rate(input=2.0, output=10.0, cache_read=0.10, cache_write=2.50),
    ),
    PriceRow("claude-haiku-4-5", _EPOCH, Rate(input=1.0, output=5.0, cache_read=0.10, cache_write=1.25)),
)


def with_own_price(model: str, read: float, written: float, cached: float | None = None) -> tuple[PriceRow, ...]:
    """The table with a price of one's own for ``model``, USD per million tokens; ``cached``: read from the prompt
    cache, None as ``read``. Writing to that cache costs as ``read``.
    """
    family = _DATE_SUFFIX.sub("", model)
    rate = Rate(input=read, output=written, cache_read=read if cached is None else cached, cache_write=read)
    return (PriceRow(family, _EPOCH, rate), *(row for row in PRICES if row.model != family))


def known_models(table: Sequence[PriceRow] = PRICES) -> tuple[str, ...]:
    return tuple(sorted({row.model for row in table}))


def price_row(model: str, *, at: datetime | None = None, table: Sequence[PriceRow] = PRICES) -> PriceRow:
    """The row for ``model`` at ``at`` (None: the newest, before the first row: the first); dated names (``…-20251001``)
    count as their family. Raises ``LlmMisconfigured``.
    """
    family = _DATE_SUFFIX.sub("", model)
    rows = sorted((row for row in table if row.model == family), key=lambda row: row.since)
    if not rows:
        raise LlmMisconfigured(
            f"no price is known for the model {model!r}; set PKG_LLM_MODEL to one of {', '.join(known_models(table))},"
            " or PKG_LLM_PRICE"
        )
    in_force = [row for row in rows if at is None or row.since <= at]
    return in_force[-1] if in_force else rows[0]


def price(
    model: str,
    usage: Usage,
    *,
    at: datetime | None = None,
    batched: bool = False,
    table: Sequence[PriceRow] = PRICES,
) -> float:
    """USD for ``usage``. The three input counters are disjoint; their sum decides about the long rate."""
    row = price_row(model, at=at, table=table)
    prompt_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    rate = row.long if row.long is not None and prompt_tokens > LONG_PROMPT_TOKENS else row.rate
    millionths = (
        usage.input_tokens * rate.input
        + usage.output_tokens * rate.output
        + usage.cache_read_tokens * rate.cache_read
        + usage.cache_write_tokens * rate.cache_write
    )
    return millionths / 1_000_000 * (row.batch if batched else 1.0)
