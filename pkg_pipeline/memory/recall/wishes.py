"""What a question wants to be told, read from its words (``languages/*/questions.toml``): no model is asked."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.periods.words import compiled

Wish = Literal["newest", "amount", "contact", "time", "first", "last", "list", "preference", "instruction", "summary"]

_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千万两]{2,}")
_DAY_OR_HOUR = re.compile(
    r"\d{1,4}(?:[:/-]\d|\.\d\d\b|\s?[ap]\.?m\b|(?:st|nd|rd|th)\b|\s?[年月号號日点點时時])"
    r"|\d{1,2}(?:-?го)?\s(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|янв|фев|мар|апр|ма[яй]|июн|июл|авг|сен|окт|ноя|дек)"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december)\s\d{1,2}\b",
    re.IGNORECASE,
)
_CONTACT = re.compile(r"(?:\d[\s().–-]{0,2}){6,}|\S@\S")


def wishes(question: str) -> frozenset[Wish]:
    """All that a question may ask for; none for one that only asks what somebody said."""
    return frozenset(wish for wish, pattern in _wishes().items() if pattern.search(question))


def answers(wish: Wish, text: str) -> bool:
    """Whether a text looks like an answer to such a wish; never for one whose answers have no look of their own."""
    pattern = _answers().get(wish)
    text = _DAY_OR_HOUR.sub(" ", text) if wish == "amount" else text
    return pattern is not None and pattern.search(text) is not None


@cache
def _wishes() -> dict[Wish, re.Pattern[str]]:
    found: dict[Wish, list[str]] = {}
    for _, table in entries("questions", "wishes"):
        for wish, sources in table.items():
            found.setdefault(wish, []).extend(sources)
    return {wish: compiled("|".join(sources)) for wish, sources in found.items()}


@cache
def _answers() -> dict[Wish, re.Pattern[str]]:
    found: dict[Wish, list[str]] = {}
    for _, table in entries("questions", "answers"):
        for wish, source in table.items():
            found.setdefault(wish, []).append(source)
    looks: dict[Wish, re.Pattern[str]] = {"amount": _NUMBER, "time": _NUMBER, "contact": _CONTACT}
    for wish, sources in found.items():
        looks[wish] = compiled("|".join(sources))
    return looks
