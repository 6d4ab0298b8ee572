"""Merges summaries of a long interaction's windows, and known with new key points (P18, P28)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import (
    ImportantMessage,
    Person,
    SourceMessage,
    SummaryContent,
    SummaryInput,
)
from pkg_pipeline.memory.text.normalise import comparable, sentences, word_count

MAX_KEY_POINTS = 15
"""P13: over all windows."""

MAX_WORDS = 200
MAX_SENTENCES = 4
"""P13, merged."""

MERGED_AT_ONCE = 20
"""Summaries merged by one question; more are merged in several rounds."""

_Part = TypeVar("_Part")


def merge_parts(parts: Sequence[SummaryContent], source: SummaryInput) -> SummaryContent:
    """One content from those of consecutive windows of ``source``; at least one.

    Text and key points are taken from the windows in turn up to four sentences, 200 words and 15 points, in order of
    the conversation; too many windows are sampled evenly.
    """
    if len(parts) == 1:
        return parts[0]
    tones = [part.tone for part in parts]
    return SummaryContent(
        summary=_joined([part.summary for part in parts], "" if source.language == "zh" else " "),
        key_points=_points([part.key_points for part in parts]),
        tone=max(parts, key=lambda part: tones.count(part.tone)).tone,
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


def still_important(
    known: Sequence[SummaryContent], made: Sequence[ImportantMessage], texts: Mapping[str, str]
) -> tuple[ImportantMessage, ...]:
    """P16: those of ``made`` and, while their text is unchanged, those of ``known``, in order of time."""
    kept = {message.message_id: message for message in made}
    for message in (message for one in known for message in one.important_messages):
        if texts.get(message.message_id) == message.content:
            kept.setdefault(message.message_id, message)
    return tuple(sorted(kept.values(), key=lambda message: (message.timestamp, message.message_id)))


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


def _important(parts: Sequence[SummaryContent], source: SummaryInput) -> tuple[ImportantMessage, ...]:
    """Each once, with its whole text (P16)."""
    chosen: dict[str, ImportantMessage] = {}
    for part in parts:
        for message in part.important_messages:
            chosen.setdefault(message.message_id, message)
    texts = {message.external_id: message.text for message in source.messages}
    return tuple(replace(message, content=texts.get(key, message.content)) for key, message in chosen.items())
