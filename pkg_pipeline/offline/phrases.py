"""What a language's phrase table holds and how it is compiled. The tables are signals_* and phrases_*.

A signal is a general turn of phrase with a weight in log-odds; none names a product, a person or a subject matter.
Patterns are kept as text and compiled on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from pkg_pipeline.memory.records import Language

Giver = Literal["speaker", "addressee", "both", "none"]
"""Whose duty a turn of phrase speaks of: the speaker's, that of who is addressed, everybody's, nobody's."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One turn of phrase. ``weight`` is added to the sentence's score; ``who`` is the duty's bearer."""

    name: str
    pattern: str
    weight: float
    who: Giver = "none"


@dataclass(frozen=True, slots=True)
class Phrases:
    """All phrase tables of one language. Every string is a regular expression, matched without regard to case."""

    actions: tuple[Signal, ...]
    decisions: tuple[Signal, ...]
    proposal: str
    acceptance: str
    refusal: str
    done: str
    obligation: str
    contact_facts: tuple[tuple[str, str, float], ...]
    filler: str
    opener: str
    promise: str
    consent: str
    ahead: str
    work_product: str
    idle: str
    stopwords: frozenset[str]
    positive: str
    negative: str
    formal: str
    informal: str
    templates: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Compiled:
    """A language's tables, ready to match."""

    source: Phrases
    actions: tuple[tuple[Signal, re.Pattern[str]], ...]
    decisions: tuple[tuple[Signal, re.Pattern[str]], ...]
    proposal: re.Pattern[str]
    acceptance: re.Pattern[str]
    refusal: re.Pattern[str]
    done: re.Pattern[str]
    obligation: re.Pattern[str]
    facts: tuple[tuple[str, re.Pattern[str], float], ...]
    filler: re.Pattern[str]
    opener: re.Pattern[str]
    promise: re.Pattern[str]
    consent: re.Pattern[str]
    ahead: re.Pattern[str]
    work_product: re.Pattern[str]
    idle: re.Pattern[str]
    positive: re.Pattern[str]
    negative: re.Pattern[str]
    formal: re.Pattern[str]
    informal: re.Pattern[str]

    @property
    def stopwords(self) -> frozenset[str]:
        return self.source.stopwords

    @property
    def templates(self) -> Mapping[str, str]:
        return self.source.templates


def _table(language: Language) -> Phrases:
    if language == "ru":
        from pkg_pipeline.offline.phrases_ru import PHRASES
    elif language == "zh":
        from pkg_pipeline.offline.phrases_zh import PHRASES
    else:
        from pkg_pipeline.offline.phrases_en import PHRASES
    return PHRASES


@cache
def phrases(language: Language) -> Compiled:
    """The compiled tables of a language; made once per process."""
    table = _table(language)

    def made(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return Compiled(
        source=table,
        actions=tuple((signal, made(signal.pattern)) for signal in table.actions),
        decisions=tuple((signal, made(signal.pattern)) for signal in table.decisions),
        proposal=made(table.proposal),
        acceptance=made(table.acceptance),
        refusal=made(table.refusal),
        done=made(table.done),
        obligation=made(table.obligation),
        facts=tuple((kind, made(pattern), sure) for kind, pattern, sure in table.contact_facts),
        filler=made(table.filler),
        opener=made(table.opener),
        promise=made(table.promise),
        consent=made(table.consent),
        ahead=made(table.ahead),
        work_product=made(table.work_product),
        idle=made(table.idle),
        positive=made(table.positive),
        negative=made(table.negative),
        formal=made(table.formal),
        informal=made(table.informal),
    )
