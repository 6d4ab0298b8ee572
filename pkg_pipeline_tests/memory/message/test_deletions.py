"""The rule of what exports lack: by what they tell of, in whichever order they are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.message.deletions import KnownExport, allowance, find_deletions

START = datetime(2026, 1, 1, tzinfo=UTC)


def export(day: int, *missing: int, last: int = 100, **more: Any) -> KnownExport:
    given: dict[str, Any] = {"owner": None, "is_whole": True, "verdict": "open", "known": 100, **more}
    return KnownExport(
        id=UUID(int=1000 * day + last),
        evidence_at=START + timedelta(days=day),
        first=1,
        last=last,
        missing=frozenset(missing),
        **given,
    )


def gone(*exports: KnownExport) -> set[int]:
    return find_deletions(exports).gone


def test_what_an_older_export_has_and_a_newer_one_lacks_is_gone() -> None:
    assert gone(export(1), export(2, 5, 6)) == {5, 6}
    assert gone(export(1, 5, 6), export(2)) == set(), "the older one lacks it"
    assert gone(export(1), export(1, 5)) == {5}, "nothing was said in between, so that it was deleted"


def test_a_still_newer_export_that_has_them_again_brings_them_back() -> None:
    assert gone(export(1), export(2, 5), export(3)) == set()
    assert gone(export(1), export(2, 5), export(3), export(4, 5)) == {5}


def test_what_lies_behind_its_last_message_is_not_missing_in_an_export() -> None:
    assert gone(export(2), export(3, last=50)) == set()


@pytest.mark.parametrize("more", [{"is_whole": False}, {"verdict": "kept"}])
def test_an_export_that_does_not_show_all_or_was_said_to_keep_takes_nothing_out(more: Any) -> None:
    assert gone(export(1), export(2, 5, **more)) == set()


def test_what_only_another_account_saw_is_not_missing() -> None:
    assert gone(export(1, owner="user1"), export(2, 5, owner="user2")) == set()
    assert gone(export(1, owner="user1"), export(2, 5, owner="user1")) == {5}
    assert gone(export(1), export(2, 5, owner="user1")) == {5}


@pytest.mark.parametrize(
    ("known", "allowed"), [(2, 1), (10, 5), (40, 20), (100, 20), (400, 20), (1000, 50), (10_000, 500)]
)
def test_how_many_may_go_unasked(known: int, allowed: int) -> None:
    assert allowance(known) == allowed


def test_too_many_wait_for_a_word() -> None:
    many = range(1, 22)
    found = find_deletions([export(1), export(2, *many)])
    assert (found.gone, [(one.missing, one.known) for one in found.held]) == (set(), [(21, 100)])
    assert gone(export(1), export(2, *many, verdict="accepted")) == set(many)
    assert gone(export(1), export(2, *range(1, 21))) == set(range(1, 21))


def test_what_went_with_one_export_is_not_counted_again_with_the_next() -> None:
    first, second = range(1, 20), range(20, 40)
    assert gone(export(1), export(2, *first), export(3, *first, *second)) == {*first, *second}


EXPORTS = st.lists(
    st.builds(
        lambda day, missing, last, is_whole, owner, verdict: export(
            day, *missing, last=last, is_whole=is_whole, owner=owner, verdict=verdict, known=30
        ),
        st.integers(1, 4),
        st.frozensets(st.integers(1, 30), max_size=18),
        st.integers(5, 40),
        st.booleans(),
        st.sampled_from([None, "a", "b"]),
        st.sampled_from(["open", "accepted", "kept"]),
    ),
    max_size=6,
    unique_by=lambda one: one.id,
)


@given(EXPORTS, st.randoms(use_true_random=False))
def test_the_order_makes_no_difference(exports: list[KnownExport], chance: Any) -> None:
    shuffled = list(exports)
    chance.shuffle(shuffled)
    assert find_deletions(exports) == find_deletions(shuffled)
