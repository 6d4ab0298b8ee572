"""P27: when a summary is updated and when it is made anew, and what an update is shown."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SummaryContent
from pkg_pipeline.memory.summary import increments
from pkg_pipeline.memory.summary.increments import KnownSummary, Versions, plan

EMPTY = SummaryContent("They talked.", (), "neutral", ())
IN_FORCE = Versions(frozenset({"p/1", "u/1"}), "m", 1)
Texts = list[tuple[str, str]]


def texts(*said: str) -> Texts:
    """``"a b:x"`` is message a as it was and message b edited to x."""
    pairs = (word.partition(":") for word in said)
    return [(key, hashing.content_hash(text or key)) for key, _, text in pairs]


def known(*covered: str, **fields: object) -> KnownSummary:
    given_fields: dict[str, object] = {
        "id": UUID(int=1), "content": EMPTY, "message_ids": covered,
        "input_hash": hashing.input_hash(texts(*covered)), "prompt_version": "p/1", "model": "m", "schema_version": 1,
        "is_dirty": False, **fields,
    }  # fmt: skip
    return KnownSummary(**given_fields)  # type: ignore[arg-type]


# what was known, what is said now → (method, reason)
PLANS = [
    (None, ["a", "b"], "whole", increments.FIRST),
    (known("a", "b"), ["a", "b", "c"], "update", increments.FEW_NEW),
    (known("a", "b", prompt_version="u/1"), ["a", "b", "c"], "update", increments.FEW_NEW),
    (known("a", "b"), ["n", "a", "x", "b", "c"], "update", increments.FEW_NEW),
    (known("a", "b"), ["a", "b", "1", "2", "3"], "update", increments.FEW_NEW),
    (known("a", "b"), ["a", "b", "1", "2", "3", "4"], "whole", increments.MANY_NEW),
    (known("a", "b"), ["a", "b:x", "c"], "whole", increments.CHANGED),
    (known("a", "b"), ["a", "c"], "whole", increments.CHANGED),
    (known("a", "b"), ["b", "a", "c"], "whole", increments.CHANGED),
    (known("a", "b", is_dirty=True), ["a", "b", "c"], "whole", increments.CHANGED),
    (known("a", "b", prompt_version="p/0"), ["a", "b", "c"], "whole", increments.OTHER_VERSION),
    (known("a", "b", model="other"), ["a", "b", "c"], "whole", increments.OTHER_VERSION),
    (known("a", "b", schema_version=0), ["a", "b", "c"], "whole", increments.OTHER_VERSION),
    (known("a", "b"), ["a", "b"], "whole", increments.NOTHING_NEW),
]


@pytest.mark.parametrize(("before", "said", "method", "reason"), PLANS)
def test_the_decision_comes_with_its_reason(before, said, method, reason) -> None:
    found = plan(before, iter(texts(*said)), most_new=3, versions=IN_FORCE)
    assert (found.method, found.reason) == (method, reason)


def test_each_new_message_is_shown_with_those_before_it() -> None:
    covered = [str(number) for number in range(30)]
    said = [*covered[:10], "late", *covered[10:], "last"]
    found = plan(known(*covered), texts(*said), most_new=3, versions=IN_FORCE)
    assert found.new_ids == ("late", "last")
    assert found.shown_ids == ("6", "7", "8", "9", "late", "26", "27", "28", "29", "last")


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_new_messages_are_all_shown_in_order_and_few_others(is_new: list[bool]) -> None:
    said = [str(number) for number in range(len(is_new))]
    covered = [key for key, new in zip(said, is_new, strict=True) if not new]
    found = plan(known(*covered), texts(*said), most_new=10, versions=IN_FORCE)
    fresh = tuple(key for key, new in zip(said, is_new, strict=True) if new)
    if not 0 < len(fresh) <= 10:
        assert found.method == "whole"
        return
    assert found.new_ids == fresh
    assert [key for key in said if key in found.shown_ids] == list(found.shown_ids)
    assert set(fresh) <= set(found.shown_ids)
    assert len(found.shown_ids) <= len(fresh) * (increments.MESSAGES_BEFORE + 1)
