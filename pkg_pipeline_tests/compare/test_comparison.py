"""Figures of a control run (T4): every expected number is worked out in the row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.compare.figures import FoldUse, TurnUse, overflows_from, pays_from, sampled, spent, totals

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def turn(
    number: int, usd: float, hypothetical_usd: float, *folds: float, tokens: tuple[int, int] = (10, 20)
) -> TurnUse:
    made = tuple(FoldUse("tokens", 6, 1, 300, 50, cost) for cost in folds)
    return TurnUse(
        number, f"m{number}", START + timedelta(minutes=number), *tokens, 5, usd, hypothetical_usd, folds=made
    )


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        # cumulative compressed / uncompressed
        ([], None),
        ([turn(1, 1, 1), turn(2, 1, 2)], 2),  # 1/1 (equal is not less), 2/3
        ([turn(1, 1, 2), turn(2, 1, 2)], 1),  # 1/2, 2/4
        ([turn(1, 1, 1, 3), turn(2, 1, 2), turn(3, 1, 3), turn(4, 1, 4)], 4),  # 4/1, 5/3, 6/6, 7/10
        ([turn(1, 1, 2), turn(2, 1, 2, 5), turn(3, 1, 6)], 3),  # 1/2, 7/4, 8/10: it fell below before, and did not stay
        ([turn(1, 1, 2), turn(2, 1, 2, 9)], None),  # 1/2, 11/4: the last fold is not paid back
        ([turn(1, 1, 1), turn(2, 1, 1)], None),  # never less
    ],
)
def test_it_pays_from_where_the_sums_stay_below(turns: list[TurnUse], expected: int | None) -> None:
    assert pays_from(turns) == expected


def test_what_is_paid_up_to_a_turn_holds_its_folds() -> None:
    paid = spent([turn(1, 1, 2), turn(2, 1, 3, 0.5, 0.25), turn(3, 1, 4)])
    assert [tuple(one) for one in paid] == [(1, 2), (2.75, 5), (3.75, 9)]


def test_totals_are_sums_and_shares_of_the_uncompressed() -> None:
    found = totals([turn(1, 1, 2, tokens=(100, 100)), turn(2, 1, 8, 2, tokens=(200, 900))])
    assert (found.turns, found.prompt_tokens, found.hypothetical_tokens, found.completion_tokens) == (2, 300, 1000, 10)
    assert (found.folds, found.folded_messages, found.fold_tokens, found.fold_usd) == (1, 6, 350, 2)
    assert (found.usd, found.hypothetical_usd) == (4, 10)  # 1 + 1 + 2 against 2 + 8
    assert found.mean_prompt_tokens == 150
    assert found.saved_tokens_percent == pytest.approx(35)  # 300 + 350 of 1000
    assert found.saved_usd_percent == pytest.approx(60)
    assert found.to_json()["saved_usd_percent"] == 60


def test_nothing_said_nothing_saved() -> None:
    found = totals([])
    assert (found.mean_prompt_tokens, found.mean_hypothetical_tokens, found.saved_tokens_percent) == (0, 0, 0)


def test_the_uncompressed_prompt_outgrows_the_window_at_its_first_turn_above_it() -> None:
    turns = [turn(number, 1, 1, tokens=(10, 100 * number)) for number in range(1, 6)]
    assert overflows_from(turns, 300) == 4
    assert overflows_from(turns, 500) is None


costs = st.floats(min_value=0, max_value=10)
Rows = list[tuple[float, float, list[float]]]
played = st.lists(st.tuples(costs, costs, st.lists(costs, max_size=2)), max_size=12)


@given(played)
def test_before_the_turn_that_pays_the_sums_were_not_below_for_good(
    rows: list[tuple[float, float, list[float]]],
) -> None:
    turns = [turn(number, usd, other, *folds) for number, (usd, other, folds) in enumerate(rows, start=1)]
    found, paid = pays_from(turns), spent(turns)
    for place in range(len(turns)):
        stays_below = all(one.usd < one.hypothetical_usd for one in paid[place:])
        assert stays_below == (found is not None and place + 1 >= found)


@given(st.integers(0, 300), st.integers(2, 40), st.integers(1, 300))
def test_a_long_table_is_cut_evenly_and_keeps_its_ends(length: int, most: int, kept: int) -> None:
    turns = [turn(number, 1, 1) for number in range(1, length + 1)]
    shown = [one.number for one in sampled(turns, most, keep=(kept, None))]
    assert len(shown) <= most + 1
    assert shown == sorted(set(shown))
    if turns:
        assert {1, length} <= set(shown)
        assert kept > length or kept in shown
