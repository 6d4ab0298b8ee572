"""How parts become one: summaries of windows into the summary of their interaction (P18, P28).

Pure: what is said twice becomes one, nothing known is lost, and every item keeps its evidence. Making the windows'
summaries is the stage's business, checking them the gate's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from pkg_pipeline.memory.gate_text import fold, sentences, word_count
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    SourceMessage,
    SummaryContent,
    SummaryInput,
)

MAX_KEY_POINTS = 15
"""P13: at most this many are kept over all windows."""

MAX_WORDS = 200
"""P13."""

_Item = TypeVar("_Item", DecisionItem, ActionItem, FactCandidate)


def windows(source: SummaryInput, *, count: int, hash_of: Callable[[str, int], str]) -> tuple[SummaryInput, ...]:
    """``source`` cut into ``count`` windows of equal numbers of messages, each numbered from 1 (P18).

    ``hash_of(input_hash, index)`` names each window's input, so that its answer can be replayed.
    """
    total = len(source.messages)
    bounds = [round(index * total / count) for index in range(count + 1)]
    parts: list[SummaryInput] = []
    for index, (start, end) in enumerate(pairwise(bounds)):
        messages = tuple(_numbered(message, number) for number, message in enumerate(source.messages[start:end], 1))
        if messages:
            parts.append(
                replace(
                    source,
                    messages=messages,
                    started_at=messages[0].sent_at,
                    ended_at=messages[-1].sent_at,
                    input_hash=hash_of(source.input_hash, index),
                )
            )
    return tuple(parts)


def merge_windows(parts: Sequence[SummaryContent]) -> SummaryContent:
    """One content from those of consecutive windows; needs at least one.

    The text takes the sentences of all windows in turn, first sentences first, while 200 words last, and prints them
    in the order of the conversation. An action item closed in a later window is closed.
    """
    if len(parts) == 1:
        return parts[0]
    points: dict[str, str] = {}
    for part in parts:
        for point in part.key_points:
            points.setdefault(fold(point).text, point)
    tones = [part.tone for part in parts]
    return SummaryContent(
        summary=_joined([part.summary for part in parts]),
        key_points=tuple(points.values())[:MAX_KEY_POINTS],
        tone=max(tones, key=tones.count),
        decisions=_united([part.decisions for part in parts], lambda _, later: later),
        action_items=_united([part.action_items for part in parts], _later_state),
        extracted_facts=_united([part.extracted_facts for part in parts], lambda earlier, _: earlier),
        important_messages=tuple(
            {message.message_id: message for part in parts for message in part.important_messages}.values()
        ),
    )


def _numbered(message: SourceMessage, number: int) -> SourceMessage:
    return replace(message, number=number)


def _joined(texts: Sequence[str]) -> str:
    split = [sentences(text) for text in texts]
    chosen: set[tuple[int, int]] = set()
    words = 0
    for depth in range(max((len(part) for part in split), default=0)):
        for window, part in enumerate(split):
            if depth < len(part) and words + word_count(part[depth]) <= MAX_WORDS:
                chosen.add((window, depth))
                words += word_count(part[depth])
    return " ".join(split[window][depth].strip() for window, depth in sorted(chosen))


def _united(parts: Sequence[Sequence[_Item]], merge: Callable[[_Item, _Item], _Item]) -> tuple[_Item, ...]:
    kept: dict[str, _Item] = {}
    for part in parts:
        for item in part:
            key = fold(item.value if isinstance(item, FactCandidate) else item.description).text
            if key in kept:
                ids = tuple(dict.fromkeys((*kept[key].message_ids, *item.message_ids)))
                kept[key] = replace(merge(kept[key], item), id=kept[key].id, message_ids=ids)
            else:
                kept[key] = item
    return tuple(kept.values())


def _later_state(earlier: ActionItem, later: ActionItem) -> ActionItem:
    if later.status == "closed" or earlier.status == "open":
        return replace(later, due_date=later.due_date or earlier.due_date)
    return earlier
