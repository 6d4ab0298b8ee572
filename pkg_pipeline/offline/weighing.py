"""Scores of single sentences as duty or decision: a hand-weighted linear model over general features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.phrases import Giver, Signal, mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence

# Weights in log-odds, set by hand, checked by benchmarks/extraction_quality.
DATE_WEIGHT = 0.8
DEADLINE_WEIGHT = 0.6
MONEY_WEIGHT = 0.4
SHORT_WEIGHT = -1.2
EMPTY_WEIGHT = -1.0
LONG_WEIGHT = -0.5
CONDITION_WEIGHT = -0.7
HEDGE_WEIGHT = -0.5
NEGATION_WEIGHT = -0.9
PAST_WEIGHT = -0.8
AHEAD_WEIGHT = 0.8
DONE_WEIGHT = -1.5
WORK_PRODUCT_WEIGHT = 0.4
SECOND_SIGNAL_SHARE = 0.5
"""Share of further signals beside the strongest, since they overlap."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A score and the phrases that fired, strongest first."""

    sentence: Sentence
    score: float
    signals: tuple[Signal, ...]

    @property
    def giver(self) -> Giver:
        bearers: list[Giver] = [signal.who for signal in self.signals if signal.who != "none"]
        return bearers[0] if bearers else "none"

    def only(self, *names: str) -> bool:
        return all(signal.name in names for signal in self.signals)

    def has(self, *names: str) -> bool:
        return any(signal.name in names for signal in self.signals)


@lru_cache(maxsize=4096)
def is_question(text: str) -> bool:
    return mark("question").search(text) is not None


def asks_for_facts(sentence: Sentence) -> bool:
    """Whether a question asks for facts (when, what, who) and proposes nothing."""
    text = plain(sentence.text, sentence.language)
    return is_question(sentence.text) and mark("fact_question").search(text) is not None


def has_money(text: str) -> bool:
    return mark("money").search(text) is not None


def _strength(signals: list[Signal]) -> float:
    signals.sort(key=lambda s: -s.weight)
    return sum(s.weight * (1.0 if i == 0 else SECOND_SIGNAL_SHARE) for i, s in enumerate(signals))


def _emptiness(sentence: Sentence) -> float:
    short = 4 if sentence.language == "zh" else 3
    return SHORT_WEIGHT * (sentence.words < short) + EMPTY_WEIGHT * (not sentence.terms)


def _form(sentence: Sentence) -> float:
    text = sentence.text
    return (
        LONG_WEIGHT * (sentence.words > (90 if sentence.language == "zh" else 50))
        + CONDITION_WEIGHT * (mark("condition").search(text) is not None)
        + HEDGE_WEIGHT * (mark("hedge").search(text) is not None)
        + PAST_WEIGHT * (mark("past").search(text) is not None)
        + MONEY_WEIGHT * has_money(text)
    )


def plain(text: str, language: Language) -> str:
    table = phrases(language)
    return table.opener.sub("", table.filler.sub("", text)).strip(" ,，、-–—")


def weigh_action(sentence: Sentence, line: Line, *, in_chat: bool = False) -> Weighed | None:
    """How much a sentence assigns or accepts a duty; None without any signal."""
    table = phrases(sentence.language)
    text = plain(sentence.text, sentence.language)
    fired = [one for one in table.actions if (in_chat or not one.chats_only) and one.pattern.search(text)]
    if not fired:
        return None
    dates = [d for d in find_dates(sentence.text, sentence.language, line.day) if d.day >= line.day]
    score = _strength(fired) + _form(sentence) + _emptiness(sentence)
    score += DATE_WEIGHT * bool(dates) + DEADLINE_WEIGHT * any(d.is_deadline for d in dates)
    score += DONE_WEIGHT * (table.done.search(text) is not None)
    score += AHEAD_WEIGHT * (table.ahead.search(text) is not None)
    score += WORK_PRODUCT_WEIGHT * (table.work_product.search(text) is not None)
    if mark("negation").search(text) and not is_question(text) and not any(s.name == "do_not_forget" for s in fired):
        score += NEGATION_WEIGHT
    return Weighed(sentence, score, tuple(fired))


def weigh_decision(sentence: Sentence, line: Line, *, in_chat: bool = False) -> Weighed | None:
    table = phrases(sentence.language)
    fired = [one for one in table.decisions if (in_chat or not one.chats_only) and one.pattern.search(sentence.text)]
    if not fired:
        return None
    score = _strength(fired) + _form(sentence) - 1.2 * is_question(sentence.text)
    score += 0.5 * any(d.day >= line.day for d in find_dates(sentence.text, sentence.language, line.day))
    return Weighed(sentence, score, tuple(fired))


def late_bonus(reading: Reading, line: int, weight: float) -> float:
    """Long talks decide near their end: grows with the squared position and the length."""
    size = min(1.0, max(0.0, math.log2(max(1, len(reading.lines)) / 40) / 3))
    return weight * size * reading.position(line) ** 3
