"""The price table, with the arithmetic in the row."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pkg_pipeline.adapters.llm.prices import PRICES, known_models, price, price_row, with_own_price
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import LlmMisconfigured

MILLION = 1_000_000
PRICED = [
    # 3,000 in at 0.10 and 400 out at 0.50: 0.0003 + 0.0002
    ("claude-haiku-5-5", Usage(3_000, 400), 0.0005),
    # exactly 100,000 is still the short rate
    ("claude-haiku-5-5", Usage(100_000, 0), 0.01),
    # one more and the whole prompt costs 0.50: 100,001 × 0.5 / 10⁶
    ("claude-haiku-5-5", Usage(100_001, 0), 0.0500005),
    # the cached part counts for the step: 60,000 × 0.5 + 50,000 × 0.05, and 1,000 × 2.5 out
    ("claude-haiku-5-5", Usage(60_000, 1_000, cache_read_tokens=50_000), 0.03 + 0.0025 + 0.0025),
    # 1,000 × 0.1 + 2,000 × 0.01 + 4,000 × 0.125
    ("claude-haiku-5-5", Usage(1_000, 0, cache_read_tokens=2_000, cache_write_tokens=4_000), 0.00062),
    ("claude-sonnet-5-5", Usage(MILLION, MILLION), 12.0),
    ("claude-haiku-4-5", Usage(MILLION, MILLION), 6.0),
    ("claude-haiku-4-5-20251001", Usage(MILLION, 0), 1.0),
    ("claude-haiku-5-5", Usage(0, 0), 0.0),
]


@pytest.mark.parametrize(("model", "usage", "expected"), PRICED)
def test_what_a_call_costs(model: str, usage: Usage, expected: float) -> None:
    assert price(model, usage) == pytest.approx(expected, abs=1e-12)
    assert price(model, usage, batched=True) == pytest.approx(expected / 2, abs=1e-12)


def test_a_call_keeps_the_price_of_its_day() -> None:
    usage = Usage(0, 0, cache_read_tokens=MILLION)
    assert price("claude-sonnet-5-5", usage, at=datetime(2026, 10, 6, tzinfo=UTC)) == pytest.approx(0.20)
    assert price("claude-sonnet-5-5", usage, at=datetime(2026, 10, 7, tzinfo=UTC)) == pytest.approx(0.10)
    assert price("claude-haiku-5-5", Usage(MILLION, 0), at=datetime(2020, 1, 1, tzinfo=UTC)) == pytest.approx(0.50)


@pytest.mark.parametrize("model", ["", "gpt-5", "claude-haiku-9", "claude-haiku-5-5-preview"])
def test_an_unknown_model_has_no_price_and_the_error_says_which_have(model: str) -> None:
    with pytest.raises(LlmMisconfigured, match="claude-haiku-5-5") as caught:
        price_row(model)
    assert repr(model) in str(caught.value)


def test_every_row_is_sane() -> None:
    assert len(known_models()) == 3
    for row in PRICES:
        for rate in (row.rate, row.long or row.rate):
            assert 0 < rate.cache_read < rate.input < rate.cache_write < rate.output


def test_a_price_of_ones_own_takes_the_place_of_the_tables() -> None:
    usage = Usage(MILLION, MILLION, cache_read_tokens=MILLION, cache_write_tokens=MILLION)
    table = with_own_price("local-7b", 1.0, 2.0, 0.5)
    assert price("local-7b", usage, table=table) == pytest.approx(4.5)
    assert price("claude-haiku-4-5", Usage(MILLION, 0), table=table) == pytest.approx(1.0)
    own = with_own_price("claude-haiku-4-5-20251001", 3.0, 0.0)
    assert price("claude-haiku-4-5", usage, table=own) == pytest.approx(9.0)
