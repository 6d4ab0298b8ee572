"""What prompts of talks share: their words, people and messages, in local time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.records import Language
from pkg_pipeline.prompts import lines
from pkg_pipeline.prompts.answers import Words, words_of
from pkg_pipeline.prompts.lines import Talk

RULED_IN = ("en", "ru")
"""Other languages take the English rules and an order to answer in their own."""


def rules_language(language: Language) -> str:
    return language if language in RULED_IN else "en"


def all_words(prompt: str) -> dict[str, Any]:
    """All that ``prompt`` can say, in every language that it has rules in; for its digest."""
    return {language: [words_of(prompt, language), words_of("conversation", language)] for language in RULED_IN}


def system(words: Words, shared: Words, language: Language, *more: str, has_talks: bool = True) -> str:
    """The system turn: the task, how to take quoted lines, the rules, ``more``, and the language to answer in."""
    answer_in = shared["answer_chinese" if language == "zh" else "answer_language"]
    parts = (words["task"], shared["quoted"], *((shared["lines"],) if has_talks else ()), words["rules"].strip())
    return "\n".join(("\n\n".join(parts), *more, answer_in))


def people(talks: Sequence[Talk], *, timezone: str, words: Words, seed: str) -> tuple[str, str]:
    """Who takes part, with a heading."""
    return words["people"].format(timezone=timezone), lines.people(talks, seed=seed)


def talks(talks: Sequence[Talk], *, timezone: str, words: Words, seed: str) -> tuple[str, str]:
    """What was said, with a heading."""
    told = lines.talks(talks, timezone=timezone, weekdays=words["weekdays"], seed=seed)
    return words["talks"].format(count=len(talks)), told


def local_time(moment: datetime, zone: ZoneInfo, words: Words) -> str:
    local = moment.astimezone(zone)
    return f"{words['weekdays'][local.weekday()]} {local:%Y-%m-%d %H:%M}"
