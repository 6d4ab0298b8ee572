"""Printed phrases per language, from ``languages/*/phrases.toml``.

Month and day names are CLDR's; a test compares them, since loading CLDR costs more than a read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache

from pkg_pipeline.memory.languages import COMMON, LANGUAGES, table
from pkg_pipeline.memory.records import Language


class Phrases:
    """The phrases of one language; ``[words]`` are attributes, filled by ``str.format``."""

    def __init__(self, language: Language) -> None:
        self._data = table(language, "phrases")
        self._words: Mapping[str, str] = self._data["words"]
        self._months: list[str] = self._data["months"].split()
        self._weekdays: list[str] = self._data["weekdays"].split()

    def __getattr__(self, name: str) -> str:
        try:
            return self._words[name]
        except KeyError:
            raise AttributeError(name) from None

    def day(self, value: date) -> str:
        """``13 March 2026``, ``13 марта 2026``, ``2026年3月13日``."""
        return self._data["date"].format(day=value.day, month=self._months[value.month - 1], year=value.year)

    def day_of_year(self, month: int, day: int) -> str:
        return self._data["day_of_year"].format(day=day, month=self._months[month - 1])

    def weekday(self, value: date) -> str:
        return self._data["weekday"].format(date=self.day(value), weekday=self._weekdays[value.weekday()])

    def number(self, value: int) -> str:
        """With the language's thousands separator."""
        return f"{value:,}".replace(",", self._data["thousands"])

    def ago(self, value: date, today: date) -> str:
        """Relative to ``today``: today, yesterday, N days ago."""
        days = (today - value).days
        if days <= 0:
            return self.today
        return self.yesterday if days == 1 else self.days_ago.format(days=self.number(days))

    def owner(self, value: str, *, name: str) -> str:
        """The owner of an item; ``name`` stands for anybody but me."""
        return {"self": self.me, "both": self.both}.get(value, name)

    def label(self, source: str) -> str:
        return self._data["labels"][source]

    def relationship_type(self, kind: str) -> str:
        return self._data["relationships"][kind]

    def frequency(self, value: str) -> str:
        return self._data["frequencies"][value]

    def language(self, code: str) -> str:
        """The language talks are in."""
        return self._data["languages"].get(code, code)

    def fact_name(self, fact_type: str) -> str:
        """The fact type's name; of a compound key that of its last part known; else as extracted, in words."""
        names: Mapping[str, str] = self._data["facts"]
        parts = fact_type.casefold().replace("-", "_").replace(" ", "_").split("_")
        tails = ("_".join(parts[start:]) for start in range(len(parts)))
        return next((names[tail] for tail in tails if tail in names), fact_type.replace("_", " "))


@cache
def _conversations_only() -> re.Pattern[str]:
    said = [re.escape(phrases(language).conversations_only) for language in LANGUAGES]
    blanks = [re.sub(r"\\{\w+\\}", ".{1,40}", text) for text in said]
    return re.compile("|".join(blanks))


def is_conversations_only(text: str) -> bool:
    """Whether a text only counts conversations, in whichever language."""
    return _conversations_only().fullmatch(text.strip()) is not None


@cache
def phrases(language: Language) -> Phrases:
    return Phrases(language)


def marks() -> list[str]:
    """Every label before a colon, in all languages."""
    found: list[str] = []
    for one in LANGUAGES:
        words = phrases(one)
        found += [
            *table(one, "phrases")["labels"].values(),
            words.me,
            words.both,
            words.unknown,
            words.decided,
            words.to_do,
            # names are looked through part by part
            words.perhaps_done.partition(",")[0],
        ]
    return found


def clock(value: datetime) -> str:
    return f"{value.hour:02}:{value.minute:02}"


def source_name(source: str) -> str:
    return table(COMMON, "phrases")["sources"].get(source, source)
