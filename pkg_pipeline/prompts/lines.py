"""Talks as fenced lines of few tokens: people by letter, each message ``number letter HH:MM: text``, the time only
where some went by (B15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.message.importance import MARKED_ABOVE
from pkg_pipeline.memory.records import Person, SourceMessage
from pkg_pipeline.prompts import fencing


class Talk(Protocol):
    """What conversations and stretches of sessions have in common."""

    @property
    def chat_key(self) -> str: ...
    @property
    def started_at(self) -> datetime: ...
    @property
    def participants(self) -> tuple[Person, ...]: ...
    @property
    def messages(self) -> tuple[SourceMessage, ...]: ...


PEOPLE_BLOCK = "PEOPLE"
TALKS_BLOCK = "TALKS"

A_WHILE = timedelta(minutes=30)
"""A message that comes so long after the last time told has its own."""

Letters = Mapping[UUID, str]
"""What each person is called in the lines of one prompt; namesakes have letters of their own."""

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letters(people: Sequence[Person]) -> dict[UUID, str]:
    """A … Z, then AA … in the order of ``people``; a person who comes twice has one letter."""
    found: dict[UUID, str] = {}
    for person in people:
        found.setdefault(person.entity_id, _letter(len(found)))
    return found


def people_of(talks: Sequence[Talk]) -> tuple[Person, ...]:
    """All who take part or speak, each once, in order of appearance."""
    found: dict[UUID, Person] = {}
    for talk in talks:
        for person in (*talk.participants, *(message.sender for message in talk.messages)):
            found.setdefault(person.entity_id, person)
    return tuple(found.values())


def people(talks: Sequence[Talk], *, seed: str) -> str:
    """The people of ``talks``, fenced."""
    everybody = people_of(talks)
    named = letters(everybody)
    return fencing.fence(PEOPLE_BLOCK, (_person(person, named[person.entity_id]) for person in everybody), seed=seed)


def talks(talks: Sequence[Talk], *, timezone: str, weekdays: Sequence[str], seed: str) -> str:
    """``talks`` in time order, fenced; messages keep their numbers."""
    everybody = people_of(talks)
    named, zone = letters(everybody), ZoneInfo(timezone)
    chats = _chats(talks)

    def lines() -> Iterator[str]:
        told: dict[str, Any] = {"who": list(named.values())}
        for place, talk in enumerate(talks, 1):
            first = talk.messages[0].sent_at if talk.messages else talk.started_at
            where: dict[str, Any] = {"chat": chats[talk.chat_key]} if len(chats) > 1 else {}
            where["who"] = [named[person.entity_id] for person in people_of((talk,))]
            news = {name: said for name, said in where.items() if told.get(name) != said}
            told |= where
            yield fencing.heading(_day(first.astimezone(zone), weekdays), talk=place, **news)
            yield from _messages(talk.messages, named, zone, weekdays)

    return fencing.fence(TALKS_BLOCK, lines(), seed=seed)


def _messages(
    messages: Sequence[SourceMessage], named: Letters, zone: ZoneInfo, weekdays: Sequence[str]
) -> Iterator[str]:
    told: datetime | None = None
    for message in messages:
        local, said = message.sent_at.astimezone(zone), named[message.sender.entity_id]
        if told is not None and local.date() != told.date():
            yield fencing.heading(_day(local, weekdays))
            told = None
        if told is None or abs(local - told) >= A_WHILE:
            told, said = local, f"{said} {local:%H:%M}"
        mark = "!" if message.importance_score > MARKED_ABOVE else ""
        files = [file.name or file.type or "?" for file in message.attachments]
        yield fencing.said(message.number, f"{said}{mark}", message.text, files)


def _person(person: Person, letter: str) -> str:
    record: dict[str, Any] = {"id": letter, "name": person.name}
    if person.is_self:
        record["me"] = True
    if person.type != "person":
        record["type"] = person.type
    if person.organization:
        record["from"] = person.organization
    return fencing.encode(record)


def _chats(talks: Sequence[Talk]) -> dict[str, str]:
    """Source and a number for each chat: chats are told apart, their ids say nothing."""
    found: dict[str, str] = {}
    for talk in talks:
        found.setdefault(talk.chat_key, f"{talk.chat_key.split(':', 1)[0]} {len(found) + 1}")
    return found


def _day(local: datetime, weekdays: Sequence[str]) -> str:
    return f"{weekdays[local.weekday()]} {local:%Y-%m-%d}"


def _letter(place: int) -> str:
    more, last = divmod(place, len(_ALPHABET))
    return (_letter(more - 1) if more else "") + _ALPHABET[last]
