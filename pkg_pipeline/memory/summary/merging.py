"""Merges summaries of a long interaction's windows, and known with new key points (P18, P28)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    Person,
    SourceMessage,
    SummaryContent,
    SummaryInput,
)
from pkg_pipeline.memory.summary.reconciliation import NEAR_SHARE
from pkg_pipeline.memory.text.normalise import comparable, sentences, stems, word_count

MAX_KEY_POINTS = 15
"""P13: over all windows."""

MAX_WORDS = 200
MAX_SENTENCES = 4
"""P13, merged."""

MERGED_AT_ONCE = 20
"""Summaries merged by one question; more are merged in several rounds."""

_IMPORTANCE = {"high": 0, "medium": 1, "low": 2}

_Item = TypeVar("_Item", DecisionItem, ActionItem, FactCandidate)
_Part = TypeVar("_Part")


def merge_parts(parts: Sequence[SummaryContent], source: SummaryInput) -> SummaryContent:
    """One content from those of consecutive windows of ``source``; at least one.

    Text and key points are taken from the windows in turn up to four sentences, 200 words and 15 points, in order of
    the conversation; too many windows are sampled evenly. Items closed later are closed.
    """
    if len(parts) == 1:
        return parts[0]
    tones = [part.tone for part in parts]
    return SummaryContent(
        summary=_joined([part.summary for part in parts], "" if source.language == "zh" else " "),
        key_points=_points([part.key_points for part in parts]),
        tone=max(parts, key=lambda part: tones.count(part.tone)).tone,
        decisions=_united([part.decisions for part in parts], _decision_key, _same_decision),
        action_items=_closed_later(_united([part.action_items for part in parts], _action_key, _later_state)),
        extracted_facts=_united([part.extracted_facts for part in parts], _fact_key, _same_fact),
        important_messages=_important(parts, source),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """The summary of one window or of several, and the time it covers."""

    content: SummaryContent
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class MergeInput:
    """Summaries of consecutive windows to merge; ``source`` holds one message per part."""

    source: SummaryInput
    parts: tuple[Part, ...]


def merge_input(source: SummaryInput, parts: Sequence[Part]) -> MergeInput:
    nobody = Person(UUID(int=0), "?", is_self=False)
    texts = ["\n".join((part.content.summary, *part.content.key_points)) for part in parts]
    messages = tuple(
        SourceMessage(number, f"part {number}", nobody, part.started_at, text)
        for number, (part, text) in enumerate(zip(parts, texts, strict=True), 1)
    )
    input_hash = hashing.input_hash(enumerate(map(hashing.content_hash, texts)), "merge")
    return MergeInput(replace(source, messages=messages, input_hash=input_hash), tuple(parts))


def in_groups(parts: Sequence[Part]) -> list[Sequence[Part]]:
    """``parts`` in the fewest nearly equal groups of at most ``MERGED_AT_ONCE``."""
    count = -(-len(parts) // MERGED_AT_ONCE)
    bounds = [round(index * len(parts) / count) for index in range(count + 1)]
    return [parts[bounds[index] : bounds[index + 1]] for index in range(count)]


def united_points(known: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """P28: key points without duplicates, at most 15, new ones first; and how many known ones were dropped."""
    seen = {comparable(point) for point in known}
    fresh = list({comparable(point): point for point in new if comparable(point) not in seen}.values())[
        -MAX_KEY_POINTS:
    ]
    kept = tuple(dict.fromkeys(known))
    room = MAX_KEY_POINTS - len(fresh)
    return (*kept[:room], *fresh), max(0, len(kept) - room)


def whole_texts(content: SummaryContent, texts: Mapping[str, str]) -> SummaryContent:
    """Important messages with their whole text (P16)."""
    whole = tuple(
        replace(message, content=texts.get(message.message_id, message.content))
        for message in content.important_messages
    )
    return replace(content, important_messages=whole)


def _in_turn(parts: Sequence[Sequence[_Part]], fits: Callable[[_Part], bool]) -> list[_Part]:
    """Round robin over the parts, filtered by ``fits``, in the order of the parts."""
    chosen: set[tuple[int, int]] = set()
    for depth in range(max((len(part) for part in parts), default=0)):
        chosen |= {(index, depth) for index, part in enumerate(parts) if depth < len(part) and fits(part[depth])}
    return [parts[index][depth] for index, depth in sorted(chosen)]


def _spread(parts: Sequence[Sequence[_Part]], most: int) -> Sequence[Sequence[_Part]]:
    """At most ``most`` parts: the first, the last and evenly between."""
    said = [part for part in parts if part]
    if len(said) <= most:
        return said
    return [said[round(index * (len(said) - 1) / (most - 1))] for index in range(most)]


def _joined(texts: Sequence[str], space: str) -> str:
    words = 0
    seen: set[str] = set()

    def fits(sentence: str) -> bool:
        nonlocal words
        count = word_count(sentence)
        key = comparable(sentence)
        if key in seen or words + count > MAX_WORDS or len(seen) == MAX_SENTENCES:
            return False
        seen.add(key)
        words += count
        return True

    told = _in_turn(_spread([sentences(text) for text in texts], MAX_SENTENCES), fits)
    return space.join(sentence.strip() for sentence in told)


def _points(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    seen: set[str] = set()

    def fits(point: str) -> bool:
        key = comparable(point)
        if key in seen or len(seen) == MAX_KEY_POINTS:
            return False
        seen.add(key)
        return True

    return tuple(_in_turn(_spread(parts, MAX_KEY_POINTS), fits))


def _united(
    parts: Sequence[Sequence[_Item]], key_of: Callable[[_Item], Hashable], merge: Callable[[_Item, _Item], _Item]
) -> tuple[_Item, ...]:
    kept: dict[Hashable, _Item] = {}
    for part in parts:
        for item in part:
            key = key_of(item)
            if key in kept:
                ids = tuple(dict.fromkeys((*kept[key].message_ids, *item.message_ids)))
                kept[key] = replace(merge(kept[key], item), message_ids=ids)
            else:
                kept[key] = item
    return tuple(kept.values())


def _decision_key(item: DecisionItem) -> Hashable:
    return comparable(item.description)


def _action_key(item: ActionItem) -> Hashable:
    return (comparable(item.description), item.owner, item.owner_entity_id)


def _fact_key(item: FactCandidate) -> Hashable:
    return (comparable(item.fact_type), comparable(item.value), item.entity_id)


def _same_decision(earlier: DecisionItem, later: DecisionItem) -> DecisionItem:
    return replace(
        earlier,
        date=min(earlier.date, later.date),
        importance=min(earlier.importance, later.importance, key=_IMPORTANCE.__getitem__),
    )


def _later_state(earlier: ActionItem, later: ActionItem) -> ActionItem:
    closed = next((item for item in (earlier, later) if item.status == "closed"), later)
    return replace(
        earlier,
        status=closed.status,
        closed_at=closed.closed_at,
        closed_by=closed.closed_by,
        closed_quote=closed.closed_quote,
        due_date=later.due_date or earlier.due_date,
    )


def _closed_later(items: tuple[ActionItem, ...]) -> tuple[ActionItem, ...]:
    """Merges an open item with a later one that says it is done."""
    kept: list[ActionItem] = []
    still_open: dict[Hashable, dict[int, frozenset[str]]] = {}
    for item in items:
        said = stems(item.description)
        mine = still_open.setdefault((item.owner, item.owner_entity_id), {})
        if item.status == "open":
            mine[len(kept)] = said
            kept.append(item)
            continue
        twin = next((at for at in reversed(mine) if _is_near(mine[at], said)), None)
        if twin is None:
            kept.append(item)
            continue
        opened = kept[twin]
        ids = tuple(dict.fromkeys((*opened.message_ids, *item.message_ids)))
        closed_by = tuple(key for key in item.message_ids if key not in opened.message_ids)
        kept[twin] = replace(
            _later_state(opened, item),
            message_ids=ids,
            closed_by=closed_by,
            closed_quote=item.quote if closed_by else "",
        )
        del mine[twin]
    return tuple(kept)


def _is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= NEAR_SHARE * len(one | other)


def _same_fact(earlier: FactCandidate, later: FactCandidate) -> FactCandidate:
    return replace(earlier, confidence=max(earlier.confidence, later.confidence))


def _important(parts: Sequence[SummaryContent], source: SummaryInput) -> tuple[ImportantMessage, ...]:
    """Each once, with its whole text (P16)."""
    chosen: dict[str, ImportantMessage] = {}
    for part in parts:
        for message in part.important_messages:
            chosen.setdefault(message.message_id, message)
    texts = {message.external_id: message.text for message in source.messages}
    return tuple(replace(message, content=texts.get(key, message.content)) for key, message in chosen.items())
