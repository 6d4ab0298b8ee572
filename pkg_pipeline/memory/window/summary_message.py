"""The summary message (L5, tier 1) and how it is shortened: recalled pieces, topics, then oldest sentences go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pkg_pipeline.memory.text.normalise import sentences

HINT: Final = "Use the recall_memory tool to retrieve details about any topic above."
BETWEEN_SUMMARIES: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Head:
    """Tier 1. ``summary_chars``: characters of the summary kept, from its end; ``recalled``, ``topics``: how many."""

    text: str = ""
    tokens: int = 0
    summary_chars: int = 0
    recalled: int = 0
    topics: int = 0


def head_text(summary: str, recalled: Sequence[str], topics: Sequence[str]) -> str:
    said: list[str] = []
    if summary:
        said.append(f"[Conversation Summary]\n{summary}")
    if recalled:
        said.append("\n".join(["[Relevant Memory]", *(f"- {' '.join(one.split())}" for one in recalled)]))
    if topics:
        said.append(f"[Recallable Topics]: {', '.join(topics)}\n{HINT}")
    return "\n\n".join(said)


def fitting_head(
    summary: str, recalled: Sequence[str], topics: Sequence[str], *, room: int, count: Callable[[str], int]
) -> Head:
    """As much of it as fits ``room`` tokens."""
    for pieces in range(len(recalled), 0, -1):
        if found := _counted(summary, recalled[:pieces], topics, room=room, count=count):
            return found
    named = len(topics)
    while named:
        if found := _counted(summary, (), topics[:named], room=room, count=count):
            return found
        named //= 2
    if found := _counted(summary, (), (), room=room, count=count):
        return found
    return _shortened(summary, room=room, count=count)


def _counted(
    summary: str, recalled: Sequence[str], topics: Sequence[str], *, room: int, count: Callable[[str], int]
) -> Head | None:
    text = head_text(summary, recalled, topics)
    tokens = count(text)
    if tokens > room:
        return None
    return Head(text, tokens, len(summary), len(recalled), len(topics))


def _shortened(summary: str, *, room: int, count: Callable[[str], int]) -> Head:
    """The newest sentences that fit, by bisection, then one by one since counts are not monotonic."""
    starts = _starts(summary)
    low, high = 1, len(starts)
    while low < high:
        middle = (low + high) // 2
        if count(head_text(summary[starts[middle] :], (), ())) <= room:
            high = middle
        else:
            low = middle + 1
    for start in starts[low:]:
        if found := _counted(summary[start:], (), (), room=room, count=count):
            return found
    return Head()


def _starts(summary: str) -> list[int]:
    starts: list[int] = []
    at = 0
    for line in summary.splitlines():
        for sentence in sentences(line):
            at = summary.index(sentence, at)
            starts.append(at)
            at += len(sentence)
    return starts
