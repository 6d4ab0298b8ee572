"""P6 as arithmetic: shares, passing on what is left, first-fit. Each row of a table carries its sum."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.context.budget import Request, Unit, allot, demands, fill, scaled

SHARES = [300, 2000, 1000, 300, 500]
EVERYTHING = 10**6


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (4100, [300, 2000, 1000, 300, 500]),
        (41, [3, 20, 10, 3, 5]),
        # 4000·300/4100 = 292.7, 1951.2, 975.6, 292.7, 487.8: floors make 3997, the first three get one more
        (4000, [293, 1952, 976, 292, 487]),
        (1, [1, 0, 0, 0, 0]),
        (0, [0, 0, 0, 0, 0]),
    ],
)
def test_shares_are_scaled_to_the_budget(total: int, expected: list[int]) -> None:
    assert scaled(SHARES, total=total) == expected


@pytest.mark.parametrize(
    ("demanded", "total", "expected"),
    [
        # everybody wants more than there is: the shares themselves
        ([EVERYTHING] * 5, 4100, [300, 2000, 1000, 300, 500]),
        # no hint: the relevant share goes to the others, 4100·300/3600 = 341.7 …, one token each to the first ones
        ([EVERYTHING] * 4 + [0], 4100, [342, 2278, 1139, 341, 0]),
        # everything fits: nobody gets more than asked
        ([10, 20, 30, 40, 50], 4100, [10, 20, 30, 40, 50]),
        # permanent leaves 200 of its 300: 4000 left in 2000:1000:300:500 of 3800 = 2105.3, 1052.6, 315.8, 526.3
        ([100, EVERYTHING, EVERYTHING, EVERYTHING, EVERYTHING], 4100, [100, 2106, 1053, 315, 526]),
        # a single conversation takes the whole
        ([0, EVERYTHING, 0, 0, 0], 4100, [0, 4100, 0, 0, 0]),
        # what one leaves satisfies another, whose rest goes on: permanent and cold want 350 and get it
        ([350, 100, EVERYTHING, 350, 0], 4100, [350, 100, 3300, 350, 0]),
        ([EVERYTHING] * 5, 0, [0, 0, 0, 0, 0]),
        ([EVERYTHING] * 5, -3, [0, 0, 0, 0, 0]),
    ],
)
def test_an_unused_share_goes_to_the_others_in_proportion(demanded: list[int], total: int, expected: list[int]) -> None:
    assert allot(SHARES, demanded, total=total) == expected


def test_a_tier_without_a_share_gets_what_nobody_else_wants() -> None:
    assert allot([100, 0], [30, 500], total=100) == [30, 70]
    assert allot([100, 0], [100, 500], total=100) == [100, 0]


def test_a_heading_costs_once_and_only_with_something_under_it() -> None:
    request = Request(1, (Unit("a", 10, (0,)), Unit("b", 10, (0, 1)), Unit("c", 10, (0, 1))), headings=(3, 4))
    # 3 + 10, then 4 + 10, then 10
    assert [fill([request], total=total)[0].tokens for total in (12, 13, 26, 27, 36, 37)] == [0, 13, 13, 27, 27, 37]


def test_a_line_that_was_too_dear_with_its_heading_goes_in_once_a_cheaper_one_has_brought_it() -> None:
    request = Request(1, (Unit("dear", 10, (0,)), Unit("cheap", 2, (0,))), headings=(5,))
    # the dear one alone would cost 15 of 17, leaving 2 for the cheap one: both are in
    assert fill([request], total=17)[0].units == [0, 1]
    # at 14 the dear one (15) does not fit, the cheap one (7) does; the 7 left do not hold 10
    assert fill([request], total=14)[0].units == [1]


def test_the_same_statement_is_printed_by_the_first_tier_only() -> None:
    first, second = fill([Request(1, (Unit("x", 5),)), Request(1, (Unit("x", 5), Unit("y", 5)))], total=10)
    assert (first.units, second.units) == ([0], [1])


def test_what_an_earlier_tier_cannot_hold_a_later_one_may_say() -> None:
    # the long wording costs 50 and does not fit, the short wording of the same costs 5
    first, second = fill([Request(1, (Unit("x", 50),)), Request(1, (Unit("x", 5),))], total=10)
    assert (first.units, second.units) == ([], [0])


def test_what_an_earlier_tier_cannot_hold_counts_as_the_later_ones_own() -> None:
    # the first tier wants a, b, c, d of 10 and the second only d: of 40 the first would take all but nothing of d
    first = Request(3, tuple(Unit(key, 10) for key in "xabcd"))
    second = Request(1, (Unit("d", 10),))
    assert demands([first, second]) == [50, 0]
    found = fill([first, second], total=40)
    # 40 in 3:1 is 30 and 10
    assert [result.units for result in found] == [[0, 1, 2], [0]]
    # where all fits the earlier one says it
    assert [result.units for result in fill([first, second], total=50)] == [[0, 1, 2, 3, 4], []]


units = st.lists(
    st.builds(Unit, st.sampled_from("abcdefgh"), st.integers(1, 60), st.sampled_from([(), (0,), (0, 1), (0, 2)])),
    max_size=12,
).map(tuple)
requests = st.lists(
    st.builds(Request, st.integers(0, 2000), units, st.tuples(*[st.integers(1, 12)] * 3)), min_size=1, max_size=5
)


@given(requests, st.integers(-5, 800))
def test_the_budget_is_never_exceeded_and_the_sums_are_right(asked: list[Request], total: int) -> None:
    filled = fill(asked, total=total)
    assert sum(result.tokens for result in filled) <= max(total, 0)
    for request, result in zip(asked, filled, strict=True):
        needed = {heading for index in result.units for heading in request.units[index].headings}
        assert result.headings == needed
        printed = sum(request.units[index].tokens for index in result.units)
        assert result.tokens == printed + sum(request.headings[heading] for heading in needed)


@given(requests, st.integers(0, 800))
def test_nothing_is_left_out_that_the_rest_of_the_budget_could_hold(asked: list[Request], total: int) -> None:
    filled = fill(asked, total=total)
    printed = [
        request.units[index].key for request, result in zip(asked, filled, strict=True) for index in result.units
    ]
    assert len(printed) == len(set(printed)), "nothing is said twice"
    left = total - sum(result.tokens for result in filled)
    for request, result in zip(asked, filled, strict=True):
        for unit in request.units:
            if unit.key not in printed:
                new = sum(request.headings[heading] for heading in unit.headings if heading not in result.headings)
                assert unit.tokens + new > left


@given(requests)
def test_everything_is_in_when_everything_fits(asked: list[Request]) -> None:
    total = sum(demands(asked))
    filled = fill(asked, total=total)
    printed = {
        request.units[index].key for request, result in zip(asked, filled, strict=True) for index in result.units
    }
    assert printed == {unit.key for request in asked for unit in request.units}


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 5000)), min_size=1, max_size=6), st.integers(0, 9000))
def test_allotments_use_the_whole_budget_or_satisfy_everybody(tiers: list[tuple[int, int]], total: int) -> None:
    shares, demanded = [share for share, _ in tiers], [demand for _, demand in tiers]
    granted = allot(shares, demanded, total=total)
    assert all(0 <= given <= demand for given, demand in zip(granted, demanded, strict=True))
    assert sum(granted) == min(total, sum(demanded))
