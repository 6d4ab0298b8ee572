"""What a question wants to be told, read from its words (``languages/*/questions.toml``): no model is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from pkg_pipeline.memory.gate.amounts import unit_of
from pkg_pipeline.memory.gate.number_words import scale_of
from pkg_pipeline.memory.languages import entries, patterns
from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.periods.words import compiled

Wish = Literal[
    "newest",
    "amount",
    "number",
    "mail",
    "place",
    "work",
    "time",
    "first",
    "last",
    "list",
    "preference",
    "instruction",
    "summary",
]

KEPT_TEXTS = 8_192
"""Pieces that many questions find are looked at once."""

LITTLE_CHARS = 60
FEW_WORDS = 3
"""A text of three words, or three Chinese characters, says little."""

_CONTENT = re.compile(r"[\d@\[]|[一二三四五六七八九十百千万两]{2,}")
_WORDS = re.compile(rf"[^\W\d_{HAN}]+")
_HAN = re.compile(f"[{HAN}]")
_FIGURE = re.compile(r"\d|[一二三四五六七八九十百千万两]{2,}")
_LONG = re.compile(r"(?:\d[\s().–-]{0,2}){6,}")
_SUM = re.compile(
    r"(?P<grouped>\d{1,3}(?:[ ,.'’\u00a0]\d{2,3})*[ ,.'’\u00a0]\d{3})(?![-\d]|\s\d)"
    r"|(?P<name>(?:\d[\s().–-]{0,2}){6,}\d)|(?P<plain>\d+(?:[.,]\d+)?)"
)
_NEXT = re.compile(rf"\s?([{HAN}]|[^\W\d_{HAN}]+)")
_GROUP_NAME = re.compile(r"\?P<\w+>")


def wishes(question: str) -> frozenset[Wish]:
    """All that a question may ask for; none for one that only asks what somebody said."""
    return frozenset(wish for wish, pattern in _wishes().items() if pattern.search(question))


@lru_cache(KEPT_TEXTS)
def answers(wish: Wish, text: str) -> bool:
    """Whether a text looks like an answer to such a wish; never for one whose answers have no look of their own."""
    pattern = _answers().get(wish)
    if pattern is None or not pattern.search(text):
        return False
    return wish != "amount" or pattern.search(_look("date").sub(" ", text)) is not None


@lru_cache(KEPT_TEXTS)
def names_time(text: str) -> bool:
    """Whether a text names a day or an hour: more than a number, which may count anything."""
    return any(_look(key).search(text) for key in ("date", "day"))


def asks(text: str) -> bool:
    """Whether a text asks, so that it seldom answers."""
    return _look("asks").search(text) is not None


@lru_cache(KEPT_TEXTS)
def says_little(text: str) -> bool:
    """Whether a text has so few words, and no figure, address or file, that it tells nothing alone."""
    if len(text) > LITTLE_CHARS or _CONTENT.search(text):
        return False
    return len(_WORDS.findall(text)) + len(_HAN.findall(text)) <= FEW_WORDS


@lru_cache(KEPT_TEXTS)
def sums(text: str) -> frozenset[float]:
    """The numbers of a text that are no day, hour, length of time, phone or account, and number no flat or option."""
    found: set[float] = set()
    rest = _look("date").sub(" ; ", text) if _FIGURE.search(text) else ""
    for match in _SUM.finditer(rest):
        if match["name"] or _labels().search(rest, 0, match.start()):
            continue
        grouped = match["grouped"]
        value = float(re.sub(r"\D", "", grouped)) if grouped else float(match["plain"].replace(",", "."))
        behind = _NEXT.match(rest, match.end())
        word = behind[1].casefold() if behind else ""
        unit = unit_of(word)
        if unit is None or unit.dimension != "time":
            found.add(value * (scale_of(word) or 1.0))
    return frozenset(found - {0.0})


@cache
def _wishes() -> dict[Wish, re.Pattern[str]]:
    found: dict[Wish, list[str]] = {}
    for _, table in entries("questions", "wishes"):
        for wish, sources in table.items():
            found.setdefault(wish, []).extend(sources)
    return {wish: compiled("|".join(sources)) for wish, sources in found.items()}


@cache
def _answers() -> dict[Wish, re.Pattern[str]]:
    looks: dict[Wish, re.Pattern[str]] = {
        "amount": _FIGURE,
        "time": _FIGURE,
        "number": _LONG,
        "mail": re.compile(r"\S@\S"),
    }
    told: Sequence[Wish] = ("place", "work", "preference", "instruction", "newest")
    looks.update({wish: _look(wish) for wish in told})
    return looks


@cache
def _look(key: str) -> re.Pattern[str]:
    """The pattern of all languages under ``key``; months are those of their calendars."""
    sources = [
        source for language, table in entries("questions", "answers") for source in _filled(language, table.get(key))
    ]
    return compiled("|".join(sources))


@cache
def _labels() -> re.Pattern[str]:
    return re.compile(
        "(?:" + "|".join(source for _, source in entries("quantities", "labels")) + r")\s?№?$", re.IGNORECASE
    )


def _filled(language: str, source: str | None) -> list[str]:
    return [] if source is None else [_GROUP_NAME.sub("?:", one) for one in patterns(language, "calendar", [source])]
