"""Validation of summary answers (B9, P17). Deterministic.

A bad summary quarantines the whole answer, which is asked for again (P19); a bad item is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pkg_pipeline.memory.gate.checker import MAX_TEXT_CHARS, Checker, DropLog
from pkg_pipeline.memory.gate.foreign import Known, known
from pkg_pipeline.memory.gate.instructions import ordering_numbers
from pkg_pipeline.memory.gate.records import CandidateSummary, GateResult
from pkg_pipeline.memory.message.importance import IMPORTANT_FROM, important_reason
from pkg_pipeline.memory.records import (
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    SummaryContent,
    SummaryInput,
)
from pkg_pipeline.memory.text.normalise import comparable, sentences, stems, word_count

MAX_WORDS = 200
"""P13."""

MIN_WORDS = 3

MAX_SENTENCES = 4
"""P13 asks for 2–4; one is accepted too."""

MAX_KEY_POINTS = 7
"""P13, per answer."""

GROUNDED_SHARE = 0.1
"""Least share of a summary's content words that occurs in the conversation; good ones reach a third or more."""

GROUNDED_FROM_STEMS = 6
"""The share is checked from this many content words on."""

_IMPORTANCE_ORDER = {"high": 0, "medium": 1, "low": 2}

_Item = TypeVar("_Item")
_Candidate = TypeVar("_Candidate")


def check(candidate: CandidateSummary, source: SummaryInput, *, held: Known | None = None) -> GateResult:
    """The publishable part of an answer about ``source``, or the reason for its quarantine.

    ``held``: content the words may draw on beyond ``source`` (updates). Published items cite existing messages, quote
    one verbatim, and no text holds a foreign link, long number, name or key.
    """
    checker = Checker(source, held=known(source) if held is None else held, ordering=ordering_numbers(source.messages))
    log = DropLog()
    reason = _summary_reason(candidate, checker)
    if reason is not None:
        return GateResult(None, (), reason)
    key_points = _key_points(candidate.key_points, checker, log)
    if not key_points:
        return GateResult(None, tuple(log.entries), "key_points: none is left that may be published")
    content = SummaryContent(
        summary=" ".join(candidate.summary.split()),
        key_points=key_points,
        tone=candidate.tone,
        important_messages=_important_messages(candidate.important_numbers, checker, log),
    )
    return GateResult(content, tuple(log.entries), None)


def _summary_reason(candidate: CandidateSummary, checker: Checker) -> str | None:
    if len(candidate.key_points) > MAX_KEY_POINTS:
        return f"key_points: {len(candidate.key_points)}, at most {MAX_KEY_POINTS} are allowed"
    return summary_reason(candidate.summary, checker, checker.held.stems)


def summary_reason(
    summary: str, checker: Checker, talked_of: frozenset[str], *, most_sentences: int = MAX_SENTENCES
) -> str | None:
    """Why a summary of ``talked_of`` (stems) may not be published, or None; names no content."""
    if len(summary) > MAX_TEXT_CHARS:
        return f"summary: has {len(summary)} characters, at most {MAX_TEXT_CHARS} are allowed"
    words = word_count(summary)
    if words < MIN_WORDS:
        return "summary: is empty or says nothing"
    if words > MAX_WORDS:
        return f"summary: has {words} words, at most {MAX_WORDS} are allowed"
    parts = sentences(summary)
    if len(parts) > most_sentences:
        return f"summary: has {len(parts)} sentences, at most {most_sentences} are allowed"
    reason = checker.words(summary)
    if reason is not None:
        return f"summary: {reason}"
    content = stems(summary)
    if len(content) >= GROUNDED_FROM_STEMS and len(content & talked_of) < GROUNDED_SHARE * len(content):
        return "summary: has almost no word in common with the conversation"
    return None


def _key_points(points: Sequence[str], checker: Checker, log: DropLog) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for index, point in enumerate(points):
        reason = checker.words(point)
        if reason is not None:
            log.note(f"key_points[{index}]", reason)
        else:
            kept.setdefault(comparable(point), " ".join(point.split()))
    return tuple(kept.values())


def checked(
    items: Iterable[_Candidate],
    name: str,
    check_one: Callable[[_Candidate, str, Checker, DropLog], _Item | None],
    checker: Checker,
    log: DropLog,
) -> list[tuple[str, _Item]]:
    """The valid items of an answer's list ``name``, with their places."""
    judged = [
        (f"{name}[{index}]", check_one(item, f"{name}[{index}]", checker, log)) for index, item in enumerate(items)
    ]
    return [(part, item) for part, item in judged if item is not None]


def merged(
    items: list[tuple[str, _Item]], merge: Callable[[_Item, _Item], _Item | None], log: DropLog
) -> tuple[_Item, ...]:
    """Items without duplicates; ``merge`` gives the union of two, or None if they differ."""
    kept: list[_Item] = []
    for part, item in items:
        for index, earlier in enumerate(kept):
            union = merge(earlier, item)
            if union is not None:
                kept[index] = union
                log.note(part, "is said twice; the two were merged")
                break
        else:
            kept.append(item)
    return tuple(kept)


def _union(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *second]))


def same_decision(first: DecisionItem, second: DecisionItem) -> DecisionItem | None:
    if comparable(first.description) != comparable(second.description):
        return None
    return replace(
        first,
        importance=min(first.importance, second.importance, key=_IMPORTANCE_ORDER.__getitem__),
        date=min(first.date, second.date),
        message_ids=_union(first.message_ids, second.message_ids),
    )


def same_fact(first: FactCandidate, second: FactCandidate) -> FactCandidate | None:
    same = (comparable(first.fact_type), comparable(first.value), first.entity_id) == (
        comparable(second.fact_type),
        comparable(second.value),
        second.entity_id,
    )
    if not same:
        return None
    return replace(
        first,
        confidence=max(first.confidence, second.confidence),
        message_ids=_union(first.message_ids, second.message_ids),
    )


def _important_messages(numbers: Sequence[int], checker: Checker, log: DropLog) -> tuple[ImportantMessage, ...]:
    """P16: by score or the model's choice, in order; messages that give orders only by score."""
    chosen: set[int] = set()
    for index, number in enumerate(numbers):
        if number not in checker.by_number:
            log.note(f"important_message_ids[{index}]", "is no message of this conversation")
        elif number in checker.ordering:
            log.note(f"important_message_ids[{index}]", "gives orders to its reader")
        else:
            chosen.add(number)
    return tuple(
        ImportantMessage(
            message_id=message.external_id,
            content=message.text,
            timestamp=message.sent_at,
            reason=important_reason(message.importance_reason),
        )
        for message in checker.source.messages
        if message.text.strip() and (message.importance_score >= IMPORTANT_FROM or message.number in chosen)
    )
