"""Validation of summary answers (B9, P17). Deterministic.

A false sentence is dropped, as is a false key point or item; only where nothing is left is the whole answer asked for
again (P19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pkg_pipeline.memory.gate.as_said import as_said
from pkg_pipeline.memory.gate.checker import Checker, DropLog
from pkg_pipeline.memory.gate.foreign import Known, known
from pkg_pipeline.memory.gate.instructions import ordering_numbers
from pkg_pipeline.memory.gate.records import CandidateSummary, GateResult
from pkg_pipeline.memory.gate.telling import true_text, untrue_point
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.message.importance import IMPORTANT_FROM, important_reason
from pkg_pipeline.memory.records import (
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    SummaryContent,
    SummaryInput,
)
from pkg_pipeline.memory.text.normalise import comparable

MAX_WORDS = 200
"""P13."""

MAX_KEY_POINTS = 7
"""P13, per answer."""

_IMPORTANCE_ORDER = {"high": 0, "medium": 1, "low": 2}

_Item = TypeVar("_Item")
_Candidate = TypeVar("_Candidate")


def check(
    candidate: CandidateSummary, source: SummaryInput, *, held: Known | None = None, also: Sequence[str] = ()
) -> GateResult:
    """The publishable part of an answer about ``source``, or the reason for its quarantine.

    ``held``, ``also``: content and texts that the words may draw on beyond ``source`` (updates). Published items cite
    existing messages, quote one verbatim, and nothing holds a number, day, name, link or key that was not said.
    """
    checker = Checker(source, held=known(source) if held is None else held, ordering=ordering_numbers(source.messages))
    log = DropLog()
    whole = checker.whole(also)
    summary = true_text(
        candidate.summary, "summary", checker, whole, log, most_words=MAX_WORDS, talked_of=checker.held.stems
    )
    if isinstance(summary, Fault):
        return GateResult(None, tuple(log.entries), f"summary: {summary.reason}", tuple(log.hints))
    key_points = _key_points(candidate.key_points, checker, whole, log)
    if not key_points:
        reason = "key_points: none is left that may be published"
        return GateResult(None, tuple(log.entries), reason, tuple(log.hints))
    content = SummaryContent(
        summary=summary,
        key_points=key_points,
        tone=candidate.tone,
        important_messages=_important_messages(candidate.important_numbers, checker, log),
    )
    return GateResult(content, tuple(log.entries), None, tuple(log.hints))


def _key_points(points: Sequence[str], checker: Checker, whole: Testimony, log: DropLog) -> tuple[str, ...]:
    """At most seven, each true."""
    kept: dict[str, str] = {}
    for index, given in enumerate(points):
        fault = untrue_point(given, checker, whole)
        said = None if fault is None else as_said(given, "", whole, checker)
        point = said or given
        if fault is not None:
            log.note(f"key_points[{index}]", *(fault if said is None else fault.told_as_said()))
        if fault is not None and said is None:
            continue
        if len(kept) == MAX_KEY_POINTS:
            log.note(f"key_points[{index}]", f"is beyond {MAX_KEY_POINTS}")
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
