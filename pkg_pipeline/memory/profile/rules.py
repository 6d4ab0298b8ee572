"""Rules of relationship profiles (P20–P23): weeks, minimum age, frequency, what fits a prompt."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile.records import ProfileAggregate, ProfileInput
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.normalise import sentences

DAY_SECONDS = 86_400

MEANINGFUL_MESSAGES = 3
"""P22: messages of each side that make a contact meaningful without decisions or open items."""

SUMMARY_TOKENS = 4_000
"""Tokens of summaries in a prompt."""

NEWEST_SHARE = 0.5
"""Share of these tokens for whole summaries, newest first; older ones are shortened to the rest."""

FEWEST_TOKENS = 12
"""A shortened summary has as many at least."""

MOST_SUMMARIES = 300
"""In a prompt, newest first."""

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


def language_of(spoken: Sequence[tuple[Language, int]]) -> Language:
    """The language of most messages, of (language, messages) per interaction."""
    messages: Counter[Language] = Counter()
    for language, count in spoken:
        messages[language] += count
    ordered: list[Language] = sorted(messages, key=lambda language: (-messages[language], language))
    return ordered[0] if ordered else "en"


def shares(newest_first: Sequence[int], *, budget_tokens: int = SUMMARY_TOKENS) -> tuple[int, ...]:
    """How many of its tokens each summary may have: the newest all for half the budget, then all alike for the rest,
    what a short one leaves going to longer ones; never under ``FEWEST_TOKENS``.
    """
    whole, left = 0, budget_tokens
    while whole < len(newest_first) and newest_first[whole] <= left - budget_tokens * (1 - NEWEST_SHARE):
        left -= newest_first[whole]
        whole += 1
    older = newest_first[whole:]
    given: dict[int, int] = {}
    for done, place in enumerate(sorted(range(len(older)), key=lambda place: older[place])):
        given[place] = min(older[place], max(FEWEST_TOKENS, left // (len(older) - done)))
        left = max(0, left - given[place])
    return (*newest_first[:whole], *(given[place] for place in range(len(older))))


def cut(text: str, tokens: int, share: int) -> str:
    """``text`` of ``tokens`` at the length of ``share`` of them: whole sentences, or the first one's beginning."""
    if share >= tokens:
        return text
    most = max(1, len(text) * share // tokens)
    kept = ""
    for sentence in sentences(text):
        longer = text[: text.index(sentence, len(kept)) + len(sentence)]
        if len(longer) > most:
            break
        kept = longer
    if kept:
        return kept
    start = text[:most]
    return (start.rsplit(" ", 1)[0] if " " in start else start) + "…"


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

    ``source`` must be as of its newest summary, not of its week; its signals are of the same messages as the summaries.
    Prompt version, model and schema version are compared separately.
    """
    parts = asdict(source)
    del parts["profile_id"], parts["input_hash"], parts["signals"]
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
