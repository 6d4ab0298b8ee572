"""What is said to be known of the showcase person is really said in the conversation, on that day, with that date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.demo.account import SHOWCASE, TIMEZONE, load_chats
from pkg_pipeline.demo.screenplay import Chat
from pkg_pipeline.demo.timing import said
from pkg_pipeline.demo.wording import in_words
from pkg_pipeline_tests.demo.showcase import CLOSED, EVERYTHING, HIGH_DECISIONS, OPEN_MINE, OPEN_THEIRS, Expected

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
HOT_DAYS = 7
COLD_DAYS = 90


@pytest.fixture(scope="module")
def showcase() -> Chat:
    return next(chat for chat in load_chats() if chat.title == SHOWCASE)


@pytest.mark.parametrize("expected", EVERYTHING, ids=lambda expected: f"{expected.day}: {expected.gist}")
def test_it_is_said_on_that_day_with_that_date(showcase: Chat, expected: Expected) -> None:
    that_day = [one for one in said(showcase, now=NOW, zone=ZoneInfo(TIMEZONE)) if one.line.day == expected.day]
    (message,) = [one for one in that_day if expected.quote in one.text]
    if expected.due is not None and "завтра" not in message.text and "вместе с чертежом" not in message.text:
        words = in_words("date", (NOW + timedelta(days=expected.due)).date(), "ru")
        assert any(words in one.text for one in that_day)


def test_decisions_lie_in_every_tier() -> None:
    ages = [-expected.day for expected in HIGH_DECISIONS]
    assert sum(age > COLD_DAYS for age in ages) >= 8
    assert sum(HOT_DAYS < age <= COLD_DAYS for age in ages) >= 4
    assert sum(age <= HOT_DAYS for age in ages) >= 2


def test_items_are_open_overdue_and_closed_on_both_sides() -> None:
    assert any(item.due is not None and item.due < 0 for item in OPEN_THEIRS)
    assert any(item.due is not None and item.due > 0 for item in OPEN_MINE)
    assert len(CLOSED) >= 5


def test_every_tier_has_something_to_serve(showcase: Chat) -> None:
    ages = [-line.day for line in showcase.lines if line.action is None]
    assert 20 <= sum(age < HOT_DAYS for age in ages) <= 50
    assert len({age for age in ages if HOT_DAYS <= age <= COLD_DAYS}) >= 8
    assert len({age for age in ages if age > COLD_DAYS}) >= 15
