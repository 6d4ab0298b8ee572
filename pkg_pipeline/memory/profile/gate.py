"""Validation of a profile's worded part (B9, B15, P21) against everything that its prompt held.

A bad summary or timeline quarantines the answer, which is asked for again (P19); a bad milestone is dropped. Reasons
hold no words of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Final, Literal, get_args
from uuid import UUID

from pkg_pipeline.memory.gate.checker import (
    GROUNDED_MIN_STEMS,
    MAX_TEXT_CHARS,
    Checker,
    DropLog,
    content,
    does_not_follow,
)
from pkg_pipeline.memory.gate.foreign import known
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.items import parse_date
from pkg_pipeline.memory.gate.records import Gated
from pkg_pipeline.memory.profile.records import DatedSummary, Milestone, ProfileContent, ProfileInput, RelationshipType
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import comparable, sentences, stems, word_count

MAX_SUMMARY_WORDS: Final = 150
MAX_SUMMARY_SENTENCES: Final = 4
MAX_TIMELINE_WORDS: Final = 250
MAX_TITLE_WORDS: Final = 25
"""The prompt asks for 15."""
MAX_MILESTONES: Final = 10
MIN_WORDS: Final = 3
DOUBTED_SHARE: Final = 0.6
"""Of a doubted item's words: a sentence with as many tells of it."""

_TYPES: Final = frozenset(get_args(RelationshipType))
_ISO = r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"
_DAYS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\d){_ISO}(?!\d)",
        r"(?<!\d)(?P<d>\d{1,2})[./](?P<m>\d{1,2})[./](?P<y>\d{4})(?!\d)",
        r"(?<!\d)(?P<y>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})日",
    )
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class CandidateMilestone:
    """A milestone as answered; ``date`` should be ISO, ``numbers`` are those of summaries in the prompt."""

    date: str
    title: str
    importance: Literal["high", "medium"]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CandidateDoubt:
    """An open item that the answer holds for settled or stale; ``ref`` as in ``ProfileInput.open_items``."""

    ref: str
    why: str


@dataclass(frozen=True, slots=True)
class CandidateProfile:
    """An answer about a relationship, not yet validated."""

    relationship_type: str
    summary: str
    timeline: str
    milestones: tuple[CandidateMilestone, ...] = ()
    doubts: tuple[CandidateDoubt, ...] = ()


ProfileGateResult = Gated[ProfileContent]


@dataclass(frozen=True, slots=True)
class _Known:
    """The input prepared for validation: a checker over all texts; days and years that may be named."""

    checker: Checker
    days: frozenset[date]
    years: frozenset[int]


def check_profile(candidate: CandidateProfile, source: ProfileInput) -> ProfileGateResult:
    """The publishable part of an answer about ``source``, or the reason for its quarantine.

    What it doubts is left out of its text; the items themselves stay as they are.
    """
    prepared = _prepared(source)
    log = DropLog()
    candidate = replace(candidate, summary=_undoubted(candidate, source, log))
    reason = _whole_reason(candidate, prepared)
    if reason is not None:
        return ProfileGateResult(None, (), reason)
    milestones = _milestones(candidate.milestones, source, prepared, log)
    content = ProfileContent(
        relationship_type=_type(candidate.relationship_type) or "other",
        summary=" ".join(candidate.summary.split()),
        timeline=" ".join(candidate.timeline.split()),
        milestones=milestones,
    )
    return ProfileGateResult(content, tuple(log.entries), None)


@dataclass(frozen=True, slots=True)
class Publishable:
    """Whether single texts may stand in a profile, lengths aside."""

    part: Callable[[str], bool]
    """A part need not share a word with the input."""
    whole: Callable[[str], bool]


def publishable(source: ProfileInput) -> Publishable:
    prepared = _prepared(source)
    subjects = (source.entity.name, *(topic.name for topic in source.aggregate.top_topics))
    subject = next((f"{name}: " for name in subjects if _words(name, prepared) is None), "")

    def whole(text: str) -> bool:
        return _words(text, prepared) is None

    return Publishable(part=lambda text: whole(text) or whole(f"{subject}{text}"), whole=whole)


def _undoubted(candidate: CandidateProfile, source: ProfileInput, log: DropLog) -> str:
    """The summary without sentences that tell of a doubted item; whole if none would be left."""
    doubted: list[frozenset[str]] = []
    for index, doubt in enumerate(candidate.doubts):
        item = source.open_items.get(doubt.ref)
        if item is None:
            log.note(f"doubts[{index}]", "names no open item")
        else:
            doubted.append(content(item.description))
    kept: list[str] = []
    for index, sentence in enumerate(told := sentences(candidate.summary)):
        words = content(sentence)
        if any(item and len(item & words) >= DOUBTED_SHARE * len(item) for item in doubted):
            log.note(f"summary[{index}]", "tells of an item that the answer doubts")
        else:
            kept.append(sentence)
    if not kept or len(kept) == len(told):
        return candidate.summary
    return ("" if source.language == "zh" else " ").join(kept)


def _type(answered: str) -> RelationshipType | None:
    return next((known_type for known_type in get_args(RelationshipType) if known_type == answered), None)


def _whole_reason(candidate: CandidateProfile, prepared: _Known) -> str | None:
    if candidate.relationship_type not in _TYPES:
        return "relationship_type: is none of the known ones"
    limits = ((candidate.summary, "summary", MAX_SUMMARY_WORDS), (candidate.timeline, "timeline", MAX_TIMELINE_WORDS))
    for text, part, most in limits:
        if len(text) > MAX_TEXT_CHARS:
            return f"{part}: has {len(text)} characters, at most {MAX_TEXT_CHARS} are allowed"
        words = word_count(text)
        if words < MIN_WORDS:
            return f"{part}: is empty or says nothing"
        if words > most:
            return f"{part}: has {words} words, at most {most} are allowed"
    count = len(sentences(candidate.summary))
    if count > MAX_SUMMARY_SENTENCES:
        return f"summary: has {count} sentences, at most {MAX_SUMMARY_SENTENCES} are allowed"
    for text, part, _ in limits:
        if (reason := _words(text, prepared)) is not None:
            return f"{part}: {reason}"
    return None


def _words(text: str, prepared: _Known) -> str | None:
    reason = prepared.checker.words(text)
    if reason is not None:
        return reason
    if not _named_days(text) <= prepared.days:
        return "holds a date that the conversations do not"
    if not {int(year) for year in _YEAR.findall(text)} <= prepared.years:
        return "holds a year that the conversations do not"
    return None


def _milestones(
    answered: Sequence[CandidateMilestone], source: ProfileInput, prepared: _Known, log: DropLog
) -> tuple[Milestone, ...]:
    """At most ten without duplicates, by importance, in order of time."""
    kept: dict[tuple[date, str], tuple[int, Milestone]] = {}
    for index, item in enumerate(answered):
        part = f"milestones[{index}]"
        made = _milestone(item, part, source, prepared, log)
        if made is None:
            continue
        key = (made.day, comparable(made.title))
        if key in kept:
            log.note(part, "is said twice; the first is taken")
        else:
            kept[key] = (index, made)
    by_weight = sorted(kept.values(), key=lambda pair: (pair[1].importance != "high", pair[0]))
    for index, _ in by_weight[MAX_MILESTONES:]:
        log.note(f"milestones[{index}]", f"is beyond the limit of {MAX_MILESTONES}")
    chosen = [made for _, made in by_weight[:MAX_MILESTONES]]
    return tuple(sorted(chosen, key=lambda made: (made.day, made.title)))


def _milestone(
    item: CandidateMilestone, part: str, source: ProfileInput, prepared: _Known, log: DropLog
) -> Milestone | None:
    by_number = {summary.number: summary for summary in source.summaries}
    if not item.numbers:
        return log.note(part, "cites no summary")
    if any(number not in by_number for number in item.numbers):
        return log.note(part, "cites a summary that does not exist")
    cited = [by_number[number] for number in sorted(set(item.numbers)) if number not in prepared.checker.ordering]
    if not cited:
        return log.note(part, "rests on a summary that gives orders to its reader")
    if word_count(item.title) > MAX_TITLE_WORDS:
        return log.note(part, f"its title has more than {MAX_TITLE_WORDS} words")
    if (reason := _words(item.title, prepared)) is not None:
        return log.note(part, reason)
    reason = len(content(item.title)) >= GROUNDED_MIN_STEMS and does_not_follow(
        item.title,
        _told(cited, source),
        [text for summary in source.summaries if summary not in cited for text in (summary.text, *summary.decisions)],
        allowed=content(source.entity.name),
    )
    if reason:
        return log.note(part, reason)
    day = parse_date(item.date)
    days = sorted(summary.day for summary in cited)
    if day is None or not days[0] <= day <= days[-1]:
        return log.note(part, "its date is not that of what it cites")
    if day not in days:
        log.note(f"{part}.date", "is no day of what it cites; the one before it is taken")
        day = max(known_day for known_day in days if known_day < day)
    return Milestone(day, " ".join(item.title.split()), item.importance, _distinct(one.interaction_id for one in cited))


def _told(cited: Sequence[DatedSummary], source: ProfileInput) -> list[str]:
    of_these = {summary.interaction_id for summary in cited}
    made = [one.description for one in source.aggregate.key_decisions if one.interaction_id in of_these]
    return [*made, *(text for summary in cited for text in (summary.text, *summary.decisions))]


def _distinct(ids: Iterable[UUID]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(ids))


def _prepared(source: ProfileInput) -> _Known:
    talk = _as_talk(source)
    ordering = _ordering(talk.messages, {summary.number for summary in source.summaries})
    counted = source.aggregate
    moments = (counted.first_interaction_at, counted.last_interaction_at, counted.last_meaningful_contact_at)
    checker = Checker(talk, held=known(talk), ordering=ordering)
    days = {moment.astimezone(checker.zone).date() for moment in moments if moment is not None}
    days |= {source.week} | {summary.day for summary in source.summaries}
    days |= {topic.last_at.astimezone(checker.zone).date() for topic in counted.top_topics}
    days |= {made.decided_on for made in counted.key_decisions}
    days |= {day for item in counted.open_action_items for day in (item.since, item.due_date) if day is not None}
    texts = "\n".join(message.text for message in talk.messages)
    years = {day.year for day in days} | {int(year) for year in _YEAR.findall(texts)}
    years |= set(range(min(days).year, source.week.year + 1))
    return _Known(checker, frozenset(days) | _named_days(texts), frozenset(years))


def _ordering(messages: Sequence[SourceMessage], told: set[int]) -> frozenset[int]:
    """Numbers of texts that give orders or derive from such texts alone."""
    alone = {message.number for message in messages if gives_orders(message.text)}
    ordered = stems("\n".join(message.text for message in messages if message.number in alone))
    heard = stems("\n".join(one.text for one in messages if one.number in told and one.number not in alone))
    drawn = {
        one.number
        for one in messages
        if one.number not in told and stems(one.text) & ordered and not stems(one.text) & heard
    }
    return frozenset(alone | drawn)


def _named_days(text: str) -> set[date]:
    """The days that a text names in full by numbers; ``date.max`` for impossible ones."""
    found: set[date] = set()
    for pattern in _DAYS:
        for match in pattern.finditer(text):
            try:
                found.add(date(int(match["y"]), int(match["m"]), int(match["d"])))
            except ValueError:
                found.add(date.max)
    return found


def _as_talk(source: ProfileInput) -> SummaryInput:
    counted = source.aggregate
    texts = {summary.number: "\n".join((summary.text, *summary.decisions)) for summary in source.summaries}
    others = [
        *source.facts,
        *(topic.name for topic in counted.top_topics),
        *(made.description for made in counted.key_decisions),
        *(item.description for item in counted.open_action_items),
        *(
            str(count)
            for count in (counted.total_interactions, counted.total_messages, counted.summarized_interactions)
        ),
    ]
    first_free = max(texts, default=0) + 1
    texts |= dict(enumerate(others, start=first_free))
    people = tuple(person for person in (source.entity, source.self_person) if person is not None)
    at = datetime.combine(source.week, time(), UTC)
    return SummaryInput(
        interaction_id=source.profile_id,
        chat_key="",
        started_at=counted.first_interaction_at,
        ended_at=counted.last_interaction_at,
        participants=people,
        messages=tuple(_said(number, text, source.entity, at) for number, text in texts.items()),
        language=source.language,
        timezone=source.timezone,
        input_hash=source.input_hash,
    )


def _said(number: int, text: str, person: Person, at: datetime) -> SourceMessage:
    return SourceMessage(number=number, external_id=str(number), sender=person, sent_at=at, text=text)
