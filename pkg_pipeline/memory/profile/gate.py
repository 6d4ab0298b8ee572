"""Validation of a profile's worded part (B9, B15, P21) against everything that its prompt held.

A false sentence or milestone is dropped; an empty summary or timeline quarantines the answer, which is asked for again
(P19). Reasons hold no words of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Final, Literal, get_args
from uuid import UUID

from pkg_pipeline.memory.gate.checker import GROUNDED_MIN_STEMS, Checker, DropLog
from pkg_pipeline.memory.gate.foreign import known
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.items import parse_date
from pkg_pipeline.memory.gate.records import Gated
from pkg_pipeline.memory.gate.telling import true_text, untrue_point
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.gate.wording import said_elsewhere
from pkg_pipeline.memory.profile.records import (
    DatedSummary,
    Milestone,
    OpenItem,
    ProfileContent,
    ProfileInput,
    RelationshipType,
)
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.content_words import content
from pkg_pipeline.memory.text.normalise import comparable, sentences, stems, word_count

MAX_SUMMARY_WORDS: Final = 150
MAX_SUMMARY_SENTENCES: Final = 4
"""What our own writers keep to; a longer answer is no fault."""
MAX_TIMELINE_WORDS: Final = 250
MAX_TITLE_WORDS: Final = 25
"""The prompt asks for 15."""
MAX_MILESTONES: Final = 10
FREE_TITLE_WORDS: Final = 3
"""Of a milestone's title: content words that nobody need have said."""
DOUBTED_SHARE: Final = 0.6
"""Of a doubted item's words: a sentence with as many tells of it."""


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
    """The input prepared for validation: a checker over all texts, and what they say with the days that are known."""

    checker: Checker
    whole: Testimony
    days: str


def check_profile(candidate: CandidateProfile, source: ProfileInput) -> ProfileGateResult:
    """The publishable part of an answer about ``source``, or the reason for its quarantine.

    What it doubts is left out of its text; the items themselves stay open.
    """
    prepared = _prepared(source)
    log = DropLog()
    doubted = _doubted(candidate, source, log)
    candidate = replace(candidate, summary=_undoubted(candidate, doubted, source, log))
    kind = _type(candidate.relationship_type)
    if kind is None:
        return ProfileGateResult(None, (), "relationship_type: is none of the known ones")
    texts: list[str] = []
    for text, part, most in (
        (candidate.summary, "summary", MAX_SUMMARY_WORDS),
        (candidate.timeline, "timeline", MAX_TIMELINE_WORDS),
    ):
        told = true_text(text, part, prepared.checker, prepared.whole, log, most_words=most)
        if isinstance(told, Fault):
            return ProfileGateResult(None, tuple(log.entries), f"{part}: {told.reason}", tuple(log.hints))
        texts.append(told)
    milestones = _milestones(candidate.milestones, source, prepared, log)
    content = ProfileContent(kind, texts[0], texts[1], milestones, tuple(item.id for item in doubted))
    return ProfileGateResult(content, tuple(log.entries), None, tuple(log.hints))


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


def _doubted(candidate: CandidateProfile, source: ProfileInput, log: DropLog) -> list[OpenItem]:
    """The open items that it names, each once."""
    found: dict[str, OpenItem] = {}
    for index, doubt in enumerate(candidate.doubts):
        if (item := source.open_items.get(doubt.ref)) is None:
            log.note(f"doubts[{index}]", "names no open item")
        else:
            found[doubt.ref] = item
    return list(found.values())


def _undoubted(candidate: CandidateProfile, items: Sequence[OpenItem], source: ProfileInput, log: DropLog) -> str:
    """The summary without sentences that tell of a doubted item; whole if none would be left."""
    doubted = [content(item.description) for item in items]
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


def _words(text: str, prepared: _Known) -> Fault | None:
    reason = prepared.checker.words(text)
    return untrue_point(text, prepared.checker, prepared.whole) if reason is None else Fault(reason, "")


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
    told = [message for message in prepared.checker.source.messages if message.number in {one.number for one in cited}]
    people, also = prepared.checker.source.participants, (*_beside(cited, source, prepared.checker), prepared.days)
    testimony = prepared.checker.testimony(told, people, also, is_digest=True)
    reason = prepared.checker.words(item.title)
    if reason is None and said_elsewhere(item.title, testimony.texts, testimony.around):
        reason = "does not follow from the summaries that it cites"
    fault = testimony.figures(item.title) if reason is None else Fault(reason, "")
    if fault is None and len(content(item.title)) >= GROUNDED_MIN_STEMS:
        fault = testimony.invented(item.title, most=FREE_TITLE_WORDS)
    if fault is not None:
        return log.note(part, *fault)
    day = parse_date(item.date)
    days = sorted(summary.day for summary in cited)
    if day is None or not days[0] <= day <= days[-1]:
        return log.note(part, "its date is not that of what it cites")
    if day not in days:
        log.note(f"{part}.date", "is no day of what it cites; the one before it is taken")
        day = max(known_day for known_day in days if known_day < day)
    return Milestone(day, " ".join(item.title.split()), item.importance, _distinct(one.interaction_id for one in cited))


def _beside(cited: Sequence[DatedSummary], source: ProfileInput, checker: Checker) -> list[str]:
    """What the talks of cited summaries hold beside them, as far as it is known: decisions, tasks and messages."""
    of_these, days = {summary.interaction_id for summary in cited}, {summary.day for summary in cited}
    items = (*source.aggregate.key_decisions, *source.aggregate.open_action_items)
    told = [one.description for one in items if one.interaction_id in of_these]
    said = () if source.signals is None or source.signals.is_met_in_groups else source.signals.said
    heard = [one.text for one in said if one.at.astimezone(checker.zone).date() in days]
    return [*told, *(one for one in heard if not gives_orders(one))]


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
    years = range(min(days).year, source.week.year + 1)
    named = " ".join((*(day.isoformat() for day in sorted(days)), *map(str, years)))
    return _Known(checker, checker.whole((named,), is_digest=True), named)


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
