"""Signals of a language from ``signals.toml`` and ``phrases.toml``: general phrases with weights in log-odds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import in_any, pattern, table

Giver = Literal["speaker", "addressee", "both", "none"]
"""Who has the duty that a phrase speaks of."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One phrase; ``weight`` is added to the sentence's score, ``who`` has the duty.

    ``chats_only``: says nothing in meetings and letters.
    """

    name: str
    pattern: re.Pattern[str]
    weight: float
    who: Giver = "none"
    chats_only: bool = False


@dataclass(frozen=True, slots=True)
class Phrases:
    actions: tuple[Signal, ...]
    decisions: tuple[Signal, ...]
    stopwords: frozenset[str]
    templates: Mapping[str, str]
    proposal: re.Pattern[str]
    acceptance: re.Pattern[str]
    refusal: re.Pattern[str]
    done: re.Pattern[str]
    obligation: re.Pattern[str]
    filler: re.Pattern[str]
    opener: re.Pattern[str]
    prelude: re.Pattern[str]
    promise: re.Pattern[str]
    consent: re.Pattern[str]
    ahead: re.Pattern[str]
    work_product: re.Pattern[str]
    idle: re.Pattern[str]
    positive: re.Pattern[str]
    negative: re.Pattern[str]
    formal: re.Pattern[str]
    informal: re.Pattern[str]


def _signals(rows: list[dict[str, Any]]) -> tuple[Signal, ...]:
    return tuple(
        Signal(row["name"], pattern(row["pattern"]), row["weight"], row.get("who", "none"), "chats_only" in row)
        for row in rows
    )


@cache
def phrases(language: Language) -> Phrases:
    words, signals = table("offline", language, "phrases"), table("offline", language, "signals")
    return Phrases(
        actions=_signals(signals["actions"]),
        decisions=_signals(signals["decisions"]),
        stopwords=frozenset(words["stopwords"].split()),
        templates=words["templates"],
        **{name: pattern(text) for name, text in words["patterns"].items()},
    )


def mark(name: str) -> re.Pattern[str]:
    """A pattern of ``marks.toml`` in any of the languages."""
    return in_any("offline", "marks", name)
