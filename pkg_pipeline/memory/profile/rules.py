"""Rules of relationship profiles (P20–P23): weeks, minimum age, frequency, what fits a prompt."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile.records import Frequency, ProfileAggregate, ProfileInput
from pkg_pipeline.memory.records import Language

DAY_SECONDS = 86_400

FREQUENCIES: tuple[tuple[float, Frequency], ...] = ((1, "daily"), (7, "weekly"), (30, "monthly"), (90, "quarterly"))
"""P21: at most so many days between starts of consecutive interactions on average; more is rare."""

MEANINGFUL_MESSAGES = 3
"""P22: messages of each side that make a contact meaningful without decisions or open items."""

SUMMARY_TOKENS = 4_000
"""Tokens of summaries in a prompt, about fifty."""

NEWEST_SHARE = 0.5
"""Share of these tokens for the newest summaries; the rest is for older ones with decisions."""

LINE_TOKENS = 30
"""Tokens of number, day and tone beside a summary."""

ITEMS_IN_PROMPT = 60
"""Most decisions, open items and facts in a prompt, of each, newest first."""


@dataclass(frozen=True, slots=True)
class Week:
    """One local week, named by its Sunday; moments are UTC.

    ``ends_at``: the next Sunday's midnight; ``last_day``: Saturday. ``covers_until``: summaries of interactions that
    ended by then are included (P22). ``known_before``: latest first contact (P20).
    """

    sunday: date
    ends_at: datetime
    covers_until: datetime
    known_before: datetime

    @property
    def key(self) -> str:
        return self.sunday.isoformat()

    @property
    def last_day(self) -> date:
        return self.sunday + timedelta(days=6)


def week_of(moment: datetime, zone: ZoneInfo) -> date:
    local = moment.astimezone(zone).date()
    return local - timedelta(days=(local.weekday() + 1) % 7)


def week(sunday: date, zone: ZoneInfo, *, lag_days: float, min_age_days: float) -> Week:
    """The week that begins on ``sunday``. Lag and age are counted in wall-clock days. ``ValueError``: not a Sunday."""
    if sunday.weekday() != 6:
        raise ValueError(f"a week begins on a Sunday, and {sunday.isoformat()} is none")
    end = datetime.combine(sunday + timedelta(days=7), time.min)
    return Week(
        sunday=sunday,
        ends_at=_moment(end, zone),
        covers_until=_moment(end - timedelta(days=lag_days), zone),
        known_before=_moment(end - timedelta(days=min_age_days), zone),
    )


def newest_complete_week(now: datetime, zone: ZoneInfo) -> date:
    return week_of(now, zone) - timedelta(days=7)


def _moment(local: datetime, zone: ZoneInfo) -> datetime:
    # a skipped wall time is the moment of the clock change; of a repeated one the first counts
    return local.replace(tzinfo=zone).astimezone(UTC)


def mean_gap_days(first_start: datetime, last_start: datetime, count: int) -> float | None:
    """Mean days between the starts of ``count`` consecutive interactions; None for a single one."""
    if count < 2:
        return None
    return (last_start - first_start).total_seconds() / DAY_SECONDS / (count - 1)


def frequency_of_gap(gap_days: float | None) -> Frequency:
    """P21: daily ≤ 1, weekly ≤ 7, monthly ≤ 30, quarterly ≤ 90 days, else rare; None is rare."""
    if gap_days is None:
        return "rare"
    found: list[Frequency] = [name for most, name in FREQUENCIES if gap_days <= most]
    return found[0] if found else "rare"


def language_of(spoken: Sequence[tuple[Language, int]]) -> Language:
    """The language of most messages, of (language, messages) per interaction."""
    messages: Counter[Language] = Counter()
    for language, count in spoken:
        messages[language] += count
    ordered: list[Language] = sorted(messages, key=lambda language: (-messages[language], language))
    return ordered[0] if ordered else "en"


@dataclass(frozen=True, slots=True)
class SummarySize:
    """One summary's size in a prompt, before its text is loaded."""

    summary_id: UUID
    tokens: int
    has_decisions: bool


def fitting(newest_first: Sequence[SummarySize], *, budget_tokens: int = SUMMARY_TOKENS) -> tuple[UUID, ...]:
    """The summaries that fit a prompt, newest first, never empty: the newest for half the budget, older ones with
    decisions for the rest, then the newest of the others.
    """
    if not newest_first:
        return ()
    chosen = {newest_first[0].summary_id}
    left = budget_tokens - newest_first[0].tokens - LINE_TOKENS
    kept_back = int(budget_tokens * (1 - NEWEST_SHARE))
    for floor, only_decisions in ((kept_back, False), (0, True), (0, False)):
        for one in newest_first:
            size = one.tokens + LINE_TOKENS
            if one.summary_id in chosen or (only_decisions and not one.has_decisions):
                continue
            if left - size < floor:
                if floor:
                    break  # newest without gaps; later rounds may skip
                continue
            chosen.add(one.summary_id)
            left -= size
    return tuple(one.summary_id for one in newest_first if one.summary_id in chosen)


def halved(source: ProfileInput) -> ProfileInput | None:
    """``source`` with the newer half of its summaries (P19); None where there is only one."""
    count = len(source.summaries)
    if count < 2:
        return None
    kept = source.summaries[count // 2 :]
    return replace(
        source,
        summaries=tuple(replace(summary, number=number) for number, summary in enumerate(kept, 1)),
        omitted_summaries=source.omitted_summaries + count - len(kept),
    )


def shortened(aggregate: ProfileAggregate) -> ProfileAggregate:
    """``aggregate`` with the newest decisions and open items that fit a prompt."""
    decisions = sorted(aggregate.key_decisions, key=lambda item: (item.decided_on, item.id), reverse=True)
    items = sorted(aggregate.open_action_items, key=lambda item: (item.since, item.id), reverse=True)
    return replace(
        aggregate,
        key_decisions=tuple(decisions[:ITEMS_IN_PROMPT]),
        open_action_items=tuple(items[:ITEMS_IN_PROMPT]),
    )


def words_hash(source: ProfileInput) -> str:
    """sha256 over everything a profile's words depend on; equal hashes allow reuse of the words (P23).

    ``source`` must be as of its newest summary, not of its week. Prompt version, model and schema version are compared
    separately.
    """
    parts = asdict(source)
    del parts["profile_id"], parts["input_hash"]
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
