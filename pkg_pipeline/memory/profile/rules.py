"""The rules of relationship profiles (P20–P23): weeks, who is old enough, how often is often, what a prompt holds."""

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
"""P21: at most so many days between the starts of consecutive interactions, on average; more is rare."""

MEANINGFUL_MESSAGES = 3
"""P22: so many messages of each side make a contact meaningful without a decision or an open item."""

SUMMARY_TOKENS = 4_000
"""Of summaries in one prompt, by the size they are stored with: about fifty of the usual length."""

NEWEST_SHARE = 0.5
"""Of these tokens: taken by the newest summaries, whatever is in them; then come older ones with decisions."""

LINE_TOKENS = 30
"""Number, day and tone around a summary of the prompt."""

ITEMS_IN_PROMPT = 60
"""Decisions, open items and facts that the synthesis reads of each, newest first; the row holds all of them."""


# ── weeks ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Week:
    """One week by the local calendar, named by the Sunday on which it begins; moments are UTC.

    ``ends_at`` is the next Sunday's midnight and ``last_day`` the Saturday before it. ``covers_until``: summaries of
    interactions that ended by then go in (P22). ``known_before``: who was met first before it is old enough (P20).
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
    """The Sunday that names the week in which ``moment`` lies."""
    local = moment.astimezone(zone).date()
    return local - timedelta(days=(local.weekday() + 1) % 7)


def week(sunday: date, zone: ZoneInfo, *, lag_days: float, min_age_days: float) -> Week:
    """The week that begins on ``sunday``. Days before its end are reckoned by the wall clock, so that with a lag of
    seven days a week covers exactly up to its own beginning, whatever the clocks do in it. ``ValueError`` for a day
    that is no Sunday.
    """
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
    """The last week whose end is not after ``now``."""
    return week_of(now, zone) - timedelta(days=7)


def _moment(local: datetime, zone: ZoneInfo) -> datetime:
    # a wall time that the clocks skip is the moment of the leap; of one that comes twice the first counts
    return local.replace(tzinfo=zone).astimezone(UTC)


# ── what is counted ───────────────────────────────────────────────────────────────────────────


def mean_gap_days(first_start: datetime, last_start: datetime, count: int) -> float | None:
    """Mean days between the starts of ``count`` consecutive interactions; None for a single one.

    The gaps add up to the way from the first start to the last, so that no other start is needed.
    """
    if count < 2:
        return None
    return (last_start - first_start).total_seconds() / DAY_SECONDS / (count - 1)


def frequency_of_gap(gap_days: float | None) -> Frequency:
    """P21: daily ≤ 1, weekly ≤ 7, monthly ≤ 30, quarterly ≤ 90 days, else rare; a single interaction is rare."""
    if gap_days is None:
        return "rare"
    found: list[Frequency] = [name for most, name in FREQUENCIES if gap_days <= most]
    return found[0] if found else "rare"


def language_of(spoken: Sequence[tuple[Language, int]]) -> Language:
    """The language of most messages among (language, messages) of each summarised interaction."""
    messages: Counter[Language] = Counter()
    for language, count in spoken:
        messages[language] += count
    ordered: list[Language] = sorted(messages, key=lambda language: (-messages[language], language))
    return ordered[0] if ordered else "en"


# ── what the synthesis reads ──────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SummarySize:
    """One summary before its text is loaded: ``tokens`` is what all of it takes when printed."""

    summary_id: UUID
    tokens: int
    has_decisions: bool


def fitting(newest_first: Sequence[SummarySize], *, budget_tokens: int = SUMMARY_TOKENS) -> tuple[UUID, ...]:
    """The summaries that fit a prompt, newest first: the newest for half the budget, older ones with decisions for the
    rest, and what is left over goes to the newest of the others. The newest one is always among them.
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
                    break  # newest without a gap; the later rounds may pick
                continue
            chosen.add(one.summary_id)
            left -= size
    return tuple(one.summary_id for one in newest_first if one.summary_id in chosen)


def halved(source: ProfileInput) -> ProfileInput | None:
    """``source`` with the newer half of its summaries (P19, the last rung); None where nothing can be left out."""
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
    """``aggregate`` with the newest of its decisions and open items only, as a prompt can hold them."""
    decisions = sorted(aggregate.key_decisions, key=lambda item: (item.decided_on, item.id), reverse=True)
    items = sorted(aggregate.open_action_items, key=lambda item: (item.since, item.id), reverse=True)
    return replace(
        aggregate,
        key_decisions=tuple(decisions[:ITEMS_IN_PROMPT]),
        open_action_items=tuple(items[:ITEMS_IN_PROMPT]),
    )


def words_hash(source: ProfileInput) -> str:
    """sha256 over all that the words of a profile can depend on; equal hashes mean words that may be carried over.

    The row's own id and this hash itself are left out, nothing else is: so ``source`` must be made as of the newest
    summary in it and not as of the week it is made for (P23). A week in which nothing new was summarised gives the
    same input, although its totals grew. Prompt version, model and schema version are compared beside it.
    """
    parts = asdict(source)
    del parts["profile_id"], parts["input_hash"]
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
