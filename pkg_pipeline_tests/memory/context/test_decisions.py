"""Which decisions are told as what holds, and which as what was (P4, B17)."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import UUID

import pytest

from pkg_pipeline.memory.context.assembly import assemble
from pkg_pipeline.memory.context.records import ContextRows, KnownItem
from pkg_pipeline.memory.text.phrases import phrases
from pkg_pipeline_tests.memory.context.test_assembly import NOW, count_many, entity, rules


@pytest.mark.parametrize(
    ("days_ago", "until", "found_with", "is_current"),
    [
        (400, None, 1.0, True),
        (400, date(2025, 3, 1), 1.0, False),
        (20, date(2026, 3, 14), 1.0, False),
        (20, date(2026, 3, 15), 1.0, True),
        (20, None, 0.5, True),
        (100, None, 0.5, False),
    ],
)
def test_what_was_decided_for_a_day_that_is_past_stands_with_earlier_decisions(
    days_ago: int, until: date | None, found_with: float, is_current: bool
) -> None:
    said_at = NOW - timedelta(days=days_ago)
    decision = KnownItem(
        id=UUID(int=700),
        kind="decision",
        status="open",
        interaction_id=UUID(int=100),
        first_at=said_at,
        at=said_at,
        text="The rent is 652",
        quote="652",
        message_ids=("x",),
        importance="high",
        due_date=until,
        found_with=found_with,
    )
    block = assemble(ContextRows(entity=entity(language="en"), decisions=(decision,)), rules(400), count_many)
    words = phrases("en")
    before = block.text[: block.text.index("The rent is 652")]
    assert before.count("## ") == 1
    assert (words.permanent if is_current else words.key_decisions) in before
