"""What prompts of talks share: their words, people and messages, in local time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.message.importance import MARKED_ABOVE
from pkg_pipeline.memory.records import Language, Person, SourceMessage
from pkg_pipeline.memory.text.normalise import plain
from pkg_pipeline.prompts import fencing, lines
from pkg_pipeline.prompts.answers import Words, words_of
from pkg_pipeline.prompts.lines import Talk

PARTICIPANTS_BLOCK = "PARTICIPANTS"
MESSAGES_BLOCK = "MESSAGES"
RULED_IN = ("en", "ru")
"""Other languages take the English rules and an order to answer in their own."""


class Conversation(Protocol):
    """What interactions and stretches of sessions have in common."""

    @property
    def started_at(self) -> datetime: ...
    @property
    def ended_at(self) -> datetime: ...
    @property
    def participants(self) -> tuple[Person, ...]: ...
    @property
    def messages(self) -> tuple[SourceMessage, ...]: ...
    @property
    def timezone(self) -> str: ...
    @property
    def input_hash(self) -> str: ...


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


def shared_words(language: Language) -> Words:
    """Shared words in the language, missing ones in English."""
    return {**words_of("interaction_summary", "en"), **words_of("interaction_summary", language)}


def answer_in(source: Language, words: Words) -> str:
    return words["answer_chinese" if source == "zh" else "answer_language"]


def opening(text: str, source: Conversation, words: Words, **places: int) -> str:
    """An opening sentence filled with time, place and ``places``."""
    zone = ZoneInfo(source.timezone)
    started, ended = (local_time(moment, zone, words) for moment in (source.started_at, source.ended_at))
    return text.format(started=started, ended=ended, timezone=source.timezone, **places)


def participants(source: Conversation, words: Words) -> list[str]:
    names_me = any(person.is_self for person in source.participants)
    heading = words["participants_with_me" if names_me else "participants_without_me"]
    return [heading, fencing.fence(PARTICIPANTS_BLOCK, map(person_line, source.participants), seed=source.input_hash)]


def messages(source: Conversation, words: Words, more: Mapping[int, Mapping[str, bool]] | None = None) -> str:
    """The messages, fenced; ``more``: further fields by message number.

    With a namesake of the owner, each message says whether it is the owner's.
    """
    zone = ZoneInfo(source.timezone)
    says_whose = has_namesake(source.participants)

    def line(message: SourceMessage) -> str:
        important = message.importance_score > MARKED_ABOVE
        record = {
            "n": message.number,
            "speaker": message.sender.name,
            "time": local_time(message.sent_at, zone, words),
            "important": important,
            **({"is_me": message.sender.is_self} if says_whose else {}),
            **(more or {}).get(message.number, {}),
            "text": message.text,
        }
        return f"[{message.number}] {'[!] ' if important else ''}{fencing.encode(record)}"

    return fencing.fence(MESSAGES_BLOCK, map(line, source.messages), seed=source.input_hash)


def person_line(person: Person) -> str:
    return fencing.encode(
        {"name": person.name, "is_me": person.is_self, "type": person.type, "organization": person.organization}
    )


def has_namesake(people: Sequence[Person]) -> bool:
    own = {plain(person.name) for person in people if person.is_self}
    return any(plain(person.name) in own for person in people if not person.is_self)


def local_time(moment: datetime, zone: ZoneInfo, words: Words) -> str:
    local = moment.astimezone(zone)
    return f"{words['weekdays'][local.weekday()]} {local:%Y-%m-%d %H:%M}"
