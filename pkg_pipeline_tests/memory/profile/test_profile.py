"""Weeks in any time zone, frequencies at their borders, what a prompt holds, and what words depend on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.profile import rules as rules
from pkg_pipeline.memory.profile.records import DatedSummary, KeyDecision, OpenItem, ProfileAggregate, ProfileInput
from pkg_pipeline.memory.records import Person
from pkg_pipeline_tests.memory.profile.profile_oracle import is_meaningful

SPACE = UUID("0f2a6b9e-5a56-4c4b-8f0c-0b7a0d9f6c11")
ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # the clocks leap at midnight, on Sundays
    "America/Havana",
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Apia",  # a Friday is missing
    "Asia/Kathmandu",
    "Pacific/Kiritimati",  # so is a Sunday
]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# ── weeks ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("zone", "sunday", "ends_at", "covers_until", "hours"),
    [
        ("UTC", "2026-06-14", "2026-06-21T00:00", "2026-06-14T00:00", 168),
        ("Europe/Berlin", "2026-06-14", "2026-06-20T22:00", "2026-06-13T22:00", 168),
        # clocks go forward on Sunday the 29th at 02:00: the week that begins then has 167 hours
        ("Europe/Berlin", "2026-03-29", "2026-04-04T22:00", "2026-03-28T23:00", 167),
        # and back on Sunday 25 October: 169
        ("Europe/Berlin", "2026-10-25", "2026-10-31T23:00", "2026-10-24T22:00", 169),
        ("America/New_York", "2026-03-08", "2026-03-15T04:00", "2026-03-08T05:00", 167),
        # over the end of the year
        ("Europe/Berlin", "2026-12-27", "2027-01-02T23:00", "2026-12-26T23:00", 168),
        ("UTC", "2023-12-31", "2024-01-07T00:00", "2023-12-31T00:00", 168),
        # a Sunday whose midnight the clocks skip begins at 01:00, which is 04:00 UTC
        ("America/Santiago", "2024-09-08", "2024-09-15T03:00", "2024-09-08T04:00", 167),
        # the hour before Sunday comes twice: that Sunday's midnight still is one moment
        ("America/Santiago", "2024-04-07", "2024-04-14T04:00", "2024-04-07T04:00", 168),
    ],
)
def test_weeks_end_at_local_midnight(zone: str, sunday: str, ends_at: str, covers_until: str, hours: int) -> None:
    week = rules.week(date.fromisoformat(sunday), ZoneInfo(zone), lag_days=7, min_age_days=90)
    assert (week.ends_at, week.covers_until) == (utc(ends_at), utc(covers_until))
    assert week.ends_at - week.covers_until == timedelta(hours=hours)
    assert (week.key, week.last_day) == (sunday, date.fromisoformat(sunday) + timedelta(days=6))


def test_ninety_days_before_the_end_are_days_of_the_wall() -> None:
    """21 June minus 90 days is 23 March, before the clocks went forward."""
    week = rules.week(date(2026, 6, 14), ZoneInfo("Europe/Berlin"), lag_days=7, min_age_days=90)
    assert week.known_before == utc("2026-03-22T23:00")


@pytest.mark.parametrize(
    ("now", "zone", "sunday"),
    [
        ("2026-06-20T23:59:59", "UTC", "2026-06-07"),
        ("2026-06-21T00:00", "UTC", "2026-06-14"),
        ("2026-06-20T22:00", "Europe/Berlin", "2026-06-14"),
        ("2026-06-20T21:59", "Europe/Berlin", "2026-06-07"),
        ("2027-01-01T12:00", "UTC", "2026-12-20"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-22"),
    ],
)
def test_the_newest_complete_week(now: str, zone: str, sunday: str) -> None:
    assert rules.newest_complete_week(utc(now), ZoneInfo(zone)) == date.fromisoformat(sunday)


def test_only_a_sunday_names_a_week() -> None:
    with pytest.raises(ValueError, match="2026-06-15 is none"):
        rules.week(date(2026, 6, 15), ZoneInfo("UTC"), lag_days=7, min_age_days=90)


@given(
    moment=st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2037, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    zone=st.sampled_from(ZONES),
)
def test_every_moment_lies_in_one_week_and_weeks_follow_without_a_gap(moment: datetime, zone: str) -> None:
    where = ZoneInfo(zone)
    sunday = rules.week_of(moment, where)
    week = rules.week(sunday, where, lag_days=7, min_age_days=90)
    before = rules.week(sunday - timedelta(days=7), where, lag_days=7, min_age_days=90)
    assert before.ends_at <= moment < week.ends_at
    # with a lag of seven days a week covers what the week before it ended with
    assert week.covers_until == before.ends_at
    assert rules.newest_complete_week(moment, where) == before.sunday
    assert rules.newest_complete_week(week.ends_at, where) == week.sunday
    assert timedelta(hours=141) <= week.ends_at - before.ends_at <= timedelta(hours=193)


# ── counted ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("decisions", "open_items", "own", "their", "expected"),
    [(0, 0, 3, 3, True), (0, 0, 2, 9, False), (0, 0, 9, 2, False), (1, 0, 0, 1, True), (0, 1, 0, 0, True)],
)
def test_a_meaningful_contact(decisions: int, open_items: int, own: int, their: int, expected: bool) -> None:
    found = is_meaningful(decisions=decisions, open_items=open_items, own_messages=own, their_messages=their)
    assert found is expected


def test_the_language_is_that_of_most_messages() -> None:
    assert rules.language_of([("en", 5), ("ru", 3), ("ru", 3)]) == "ru"
    assert rules.language_of([("ru", 3), ("en", 3)]) == "en"
    assert rules.language_of([]) == "en"


# ── what a prompt holds ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("tokens", "budget", "given"),
    [
        ([], 400, ()),
        ([100, 100], 400, (100, 100)),
        ([100] * 6, 400, (100, 100, 50, 50, 50, 50)),  # half for whole ones, the rest alike
        ([100, 100, 20, 100, 100], 400, (100, 100, 20, 90, 90)),  # what a short one leaves goes to longer ones
        ([900, 100], 400, (300, 100)),  # the newest is shortened too where it alone is over half
        ([100] * 40, 400, (100, 100, *[rules.FEWEST_TOKENS] * 38)),  # none is dropped
    ],
)
def test_older_summaries_are_shortened_and_none_is_dropped(
    tokens: list[int], budget: int, given: tuple[int, ...]
) -> None:
    assert rules.shares(tokens, budget_tokens=budget) == given


@given(tokens=st.lists(st.integers(1, 500), max_size=60), budget=st.integers(0, 3000))
def test_no_summary_has_more_than_its_own_and_all_stay_in_the_budget(tokens: list[int], budget: int) -> None:
    found = rules.shares(tokens, budget_tokens=budget)
    assert len(found) == len(tokens)
    assert all(0 < share <= size for share, size in zip(found, tokens, strict=True))
    assert sum(found) <= budget + rules.FEWEST_TOKENS * len(tokens)


@pytest.mark.parametrize(
    ("text", "share", "told"),
    [
        ("They met. They paid. They left.", 10, "They met. They paid. They left."),
        ("They met. They paid. They left.", 7, "They met. They paid."),
        ("They met. They paid. They left.", 4, "They met."),
        ("They met. They paid. They left.", 2, "They…"),
        ("他们见面了。他们付款了。", 6, "他们见面了。"),
        ("一二三四五六七八九十", 3, "一二三…"),
    ],
)
def test_a_summary_is_cut_at_its_sentences_or_words(text: str, share: int, told: str) -> None:
    assert rules.cut(text, 10, share) == told


AT = utc("2026-06-01T10:00")
AGGREGATE = ProfileAggregate(AT, AT, None, 1, 3, 1, "rare", None, (), (), ())


def source(count: int = 4) -> ProfileInput:
    return ProfileInput(
        profile_id=UUID(int=1),
        entity=Person(UUID(int=2), "Anna", is_self=False),
        self_person=None,
        week=date(2026, 5, 31),
        aggregate=AGGREGATE,
        summaries=tuple(
            DatedSummary(number, UUID(int=number), date(2026, 5, number), f"Talk {number}.", None, ())
            for number in range(1, count + 1)
        ),
        omitted_summaries=2,
        facts=(),
        language="en",
        timezone="UTC",
        input_hash="",
    )


def test_half_of_a_prompt_is_its_newer_half_numbered_anew() -> None:
    half = rules.halved(source(5))
    assert half is not None
    assert [(one.number, one.text) for one in half.summaries] == [(1, "Talk 3."), (2, "Talk 4."), (3, "Talk 5.")]
    assert half.omitted_summaries == 4
    assert rules.halved(source(1)) is None


def test_the_prompt_reads_the_newest_items_only() -> None:
    days = [date(2026, 1, 1) + timedelta(days=index) for index in range(rules.ITEMS_IN_PROMPT + 5)]
    decisions = tuple(KeyDecision(UUID(int=index), UUID(int=1), day, "d") for index, day in enumerate(days))
    items = tuple(OpenItem(UUID(int=index), UUID(int=1), day, "d", "them", None) for index, day in enumerate(days))
    short = rules.shortened(replace(AGGREGATE, key_decisions=decisions, open_action_items=items))
    assert [made.decided_on for made in short.key_decisions] == days[:4:-1]
    assert [item.since for item in short.open_action_items] == days[:4:-1]


def test_words_depend_on_everything_but_the_rows_own_name() -> None:
    base = source()
    same = rules.words_hash(base)
    assert rules.words_hash(replace(base, profile_id=UUID(int=9), input_hash="other")) == same
    others = [
        replace(base, week=date(2026, 6, 7)),
        replace(base, entity=replace(base.entity, name="Ann")),
        replace(base, aggregate=replace(AGGREGATE, total_messages=4)),
        replace(base, summaries=base.summaries[:-1]),
        replace(base, omitted_summaries=3),
        replace(base, facts=("city: Riga",)),
        replace(base, language="ru"),
        replace(base, timezone="Europe/Berlin"),
    ]
    assert len({same, *(rules.words_hash(one) for one in others)}) == len(others) + 1
