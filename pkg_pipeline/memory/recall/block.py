"""Builds the recall block from ranked chunks within a budget, without repeating a statement.

Lines are taken best first, printed in order of time under a heading per day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.recall.records import SPOKEN, Candidate, Ranked, RecallBlock, RecallLine
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.lines import bullet, fit, one_line
from pkg_pipeline.memory.text.marks import named
from pkg_pipeline.memory.text.phrases import phrases, source_name

CountMany = Callable[[Sequence[str]], list[int]]

SAID_SHARE = 0.7
"""A derived text is left out if this share of its word trigrams is printed already."""
RUN_WORDS = 3
SHORTEST_REPEAT_CHARS = 20
"""Equal texts of one speaker from this length on count as one."""
SMALLEST_CUT_TOKENS = 24
SMALLEST_LINE_TOKENS = 3
"""No line takes fewer tokens."""
KEPT_TEXTS = 8_192
"""Pieces that many questions find are cut into words once."""
FEW_MESSAGES = 3
"""A derived text that rests on more than these never stands for a single message."""


@dataclass(frozen=True, slots=True)
class RecallRules:
    """``max_tokens`` of text, ``top_k`` lines (None: no limit)."""

    max_tokens: int | None
    top_k: int | None
    zone: ZoneInfo
    language: Language


@dataclass(slots=True)
class _Chosen:
    line: RecallLine
    heading: str


def recall_block(ranked: Sequence[Ranked], rules: RecallRules, count_many: CountMany) -> RecallBlock:
    """The block of at most ``max_tokens``; ``count_many`` counts printed lines with their newline."""
    ranked = _in_their_own_words(ranked)
    names_chats = len({_chat_key(entry.candidate) for entry in ranked}) > 1
    said = _Said()
    chosen: list[_Chosen] = []
    headings: dict[str, int] = {}
    tokens = 0
    for entry in ranked:
        left = None if rules.max_tokens is None else rules.max_tokens - tokens
        if len(chosen) == rules.top_k or (left is not None and left < SMALLEST_LINE_TOKENS):
            break
        text = _line(entry.candidate, rules)
        if not text or said.before(entry.candidate):
            continue
        heading = _heading(entry.candidate, rules, names_chats=names_chats)
        new = [] if heading in headings else [heading]
        size, *heading_size = count_many([bullet(text), *new])
        is_short = left is not None and size + sum(heading_size) > left
        if is_short:
            if chosen or (shorter := _shortened(text, (left or 0) - sum(heading_size), count_many)) is None:
                continue
            text, size = shorter, count_many([bullet(shorter)])[0]
        chosen.append(_Chosen(RecallLine(entry, text, is_shortened=is_short), heading))
        headings[heading] = sum(heading_size) or headings.get(heading, 0)
        tokens += size + sum(heading_size)
        said.add(entry.candidate)
    return RecallBlock(_printed(chosen), tokens, tuple(one.line for one in chosen))


def _in_their_own_words(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Replaces a derived text by the few messages it rests on where it only repeats them."""
    spoken = {
        key: one for one in reversed(ranked) if one.candidate.source in SPOKEN for key in one.candidate.message_ids
    }
    order: dict[UUID, Ranked] = {}
    for entry in ranked:
        one = entry.candidate
        sources = [spoken[key] for key in one.message_ids if key in spoken]
        if (
            one.source not in SPOKEN
            and 0 < len(one.message_ids) <= FEW_MESSAGES
            and len(sources) == len(one.message_ids)
        ):
            said = {run for source in sources for run in _runs(source.candidate.text)}
            runs = _runs(one.text)
            if runs and len(runs & said) >= SAID_SHARE * len(runs):
                for source in sources:
                    order.setdefault(source.candidate.id, source)
                continue
        order.setdefault(one.id, entry)
    return list(order.values())


def _printed(chosen: Sequence[_Chosen]) -> str:
    order = sorted(chosen, key=lambda one: (one.line.ranked.candidate.at, one.line.ranked.candidate.no))
    days: dict[str, list[str]] = {}
    for one in order:
        days.setdefault(one.heading, []).append(bullet(one.line.text))
    return "".join("".join((heading, *lines)) for heading, lines in days.items())


def _chat_key(candidate: Candidate) -> tuple[str, str]:
    return candidate.chat.source, candidate.chat.external_id


def _heading(candidate: Candidate, rules: RecallRules, *, names_chats: bool) -> str:
    day = _day(candidate.at, rules.zone)
    if not names_chats:
        return f"## {day}\n"
    title = named(candidate.chat.title or "")
    return f"## {day} · {title or source_name(candidate.chat.source)}\n"


@lru_cache(KEPT_TEXTS)
def _day(at: datetime, zone: ZoneInfo) -> str:
    return at.astimezone(zone).date().isoformat()


def _line(candidate: Candidate, rules: RecallRules) -> str:
    text = one_line(candidate.text)
    if not text:
        return ""
    words = phrases(rules.language)
    if candidate.source in SPOKEN and candidate.source != "tool_result":
        speaker = words.me if candidate.is_self else named(candidate.speaker or "") or words.unknown
        return f"{speaker}{words.colon}{text}"
    note = words.bracket.format(text=words.edited) if candidate.is_stale else ""
    return f"{words.label(candidate.source)}{note}{words.colon}{text}"


def _shortened(text: str, limit: int, count_many: CountMany) -> str | None:
    """``text`` cut to ``limit`` tokens, or None where that is too short to be useful."""
    if limit < SMALLEST_CUT_TOKENS:
        return None
    return fit(text, limit=limit, count=lambda line: count_many([line])[0])


class _Said:
    def __init__(self) -> None:
        self._texts: set[tuple[str, str]] = set()
        self._runs: set[tuple[str, ...]] = set()

    def before(self, candidate: Candidate) -> bool:
        if _same(candidate) in self._texts:
            return True
        if candidate.source in SPOKEN:
            return False
        runs = _runs(candidate.text)
        return bool(runs) and len(runs & self._runs) >= SAID_SHARE * len(runs)

    def add(self, candidate: Candidate) -> None:
        text = _same(candidate)
        if len(text[1]) >= SHORTEST_REPEAT_CHARS:
            self._texts.add(text)
        self._runs |= _runs(candidate.text)


def _same(candidate: Candidate) -> tuple[str, str]:
    return candidate.speaker or "", _plain(candidate.text)


@lru_cache(KEPT_TEXTS)
def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


@lru_cache(KEPT_TEXTS)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Word trigrams; character trigrams of Chinese."""
    words = re.findall(rf"[{HAN}]|[^\W{HAN}]+", text.casefold())
    length = min(RUN_WORDS, len(words))
    return frozenset(tuple(words[start : start + length]) for start in range(len(words) - length + 1) if words)
