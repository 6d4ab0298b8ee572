"""Worlds: months of chats of the same people with what they promised and settled, and what became of it.

The form of ``worlds/*.json`` is told in ``worlds/README.md``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.message.attachments import described
from pkg_pipeline.memory.message.importance import score_many
from pkg_pipeline.memory.records import Attachment, Language, Person, SourceMessage, SummaryInput
from training import talks
from training.talks import LANGUAGES
from training.told_worlds import worlds_of

FOLDER = Path(__file__).parent / "worlds"
HARD = Path(__file__).parent / "hard_worlds"
PAUSE = timedelta(hours=4)
"""A longer silence in a chat begins another talk."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Label:
    """A labelled item. Messages by their external ids; ``renewed``: ids of each renewal with its new day."""

    ref: str
    kind: str
    text: str
    owner: Person | None
    due: date | None
    messages: tuple[str, ...]
    closed_by: frozenset[str]
    cancelled_by: frozenset[str]
    renewed: tuple[tuple[frozenset[str], date | None], ...]
    superseded_by: str | None
    is_optional: bool = False
    proposed_by: frozenset[str] = frozenset()
    agreed_by: frozenset[str] = frozenset()
    agreed_in: frozenset[str] = frozenset()
    """Messages that only agree to it."""
    lasts: str | None = None
    """Of a decision: ``stays``, ``pends`` (a matter not over at the account's end), or the last day it is of use."""


@dataclass(frozen=True)
class FactLabel:
    """What a message says of somebody. ``who``: a name as the chat has it; ``is_ended``: that it no longer holds."""

    who: str
    type: str
    value: str
    message: str
    is_ended: bool = False


@dataclass(frozen=True)
class World:
    """``talks`` of all chats in the order in which they end. ``is_of_tasks``: only some decisions are labelled.

    ``facts``: labelled in accounts only, in their order; ``types``: what each person of a direct chat is to me.
    """

    name: str
    language: Language
    talks: tuple[SummaryInput, ...]
    items: tuple[Label, ...]
    is_of_tasks: bool = False
    facts: tuple[FactLabel, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def text_of(self) -> dict[str, str]:
        """The words of every message by its id."""
        return {message.external_id: message.text for talk in self.talks for message in talk.messages}

    def shown(self, label: Label, *, due: date | None, quoted: SourceMessage) -> ShownItem:
        """A labelled item as a reading is shown it; ``quoted``: the message that opened it."""
        owner = label.owner
        return ShownItem(
            ref=label.ref,
            id=uuid5(NAMESPACE_URL, f"{self.name}/{label.ref}"),
            kind="action_item" if label.kind == "action_item" else "decision",
            status="open",
            text=label.text,
            owner="both" if owner is None else "self" if owner.is_self else "them",
            owner_name=None if owner is None or owner.is_self else owner.name,
            due_date=due,
            said_at=quoted.sent_at,
            quote=quoted.text,
            said="\n".join(self.text_of[key] for key in label.messages),
            owner_entity_id=None if owner is None else owner.entity_id,
        )


def load(folder: Path = FOLDER) -> list[World]:
    """Every world of a folder, by name."""
    rows = {path.stem: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
    for path in folder.glob("*.txt"):
        rows |= worlds_of(path)
    return [told(name, rows[name]) for name in sorted(rows)]


def checksum(of: Iterable[World]) -> int:
    """Another one where a message or a label has changed."""
    found = 0
    for world in of:
        said = [message.text for talk in world.talks for message in talk.messages]
        for one in world.items:
            ends = sorted(one.closed_by), sorted(one.cancelled_by), [sorted(keys) for keys, _ in one.renewed]
            said.append(f"{one.ref} {one.kind} {one.messages} {ends} {one.superseded_by} {one.is_optional}")
        found = zlib.crc32("\n".join([world.name, *said]).encode(), found)
    return found


def hard() -> list[World]:
    """Worlds full of other matters told in the words of a promise: to be learned from, not what people's chats hold."""
    return load(HARD)


def of_talks() -> list[World]:
    """The single talks of ``training.talks`` as a world a language: what is promised and kept within an hour."""
    return [_of_language(language) for language in LANGUAGES]


def _of_language(language: Language) -> World:
    told = talks.load(language)
    sources = tuple(_renamed(talk) for talk in told)
    items = [
        _told_label(talk, source, number, label)
        for talk, source in zip(told, sources, strict=True)
        for number, label in enumerate(talk.labels)
        if label.kind == "task" and not label.is_optional
    ]
    return World(f"talks_{language}", language, sources, tuple(items))


def _renamed(talk: talks.Talk) -> SummaryInput:
    """Its messages by ids that are unique over all talks."""
    given = talk.source.messages
    messages = tuple(replace(one, external_id=f"{talk.name}/{one.external_id}") for one in given)
    return replace(talk.source, messages=messages)


def _told_label(talk: talks.Talk, source: SummaryInput, number: int, label: talks.Label) -> Label:
    me, others = source.self_person, source.others
    owner = me if label.owner == "me" else others[0] if label.owner == "them" and len(others) == 1 else None
    ended = frozenset[str]() if label.ended_at is None else frozenset({source.messages[label.ended_at - 1].external_id})
    opened = [source.messages[one - 1] for one in sorted(label.numbers)]
    return Label(
        ref=f"{talk.name}/{number}",
        kind="action_item",
        text=opened[0].text if opened else "",
        owner=owner,
        due=label.due,
        messages=tuple(one.external_id for one in opened),
        closed_by=ended if label.ended == "done" else frozenset(),
        cancelled_by=ended if label.ended == "cancelled" else frozenset(),
        renewed=(),
        superseded_by=None,
    )


def told(name: str, told: Row) -> World:
    """A world of a file's words."""
    people = {row["id"]: Person(_id(name, row["id"]), row["name"], row["is_self"]) for row in told["people"]}
    held = [talk for chat in told["chats"] for talk in _talks(name, told["language"], chat, people)]
    return World(
        name,
        told["language"],
        tuple(sorted(held, key=lambda talk: (talk.ended_at, talk.chat_key))),
        tuple(_label(number, row, people) for number, row in enumerate(told["items"])),
        told.get("is_of_tasks", False),
        tuple(FactLabel(**row) for row in told.get("facts", ())),
        told.get("types", {}),
    )


def _id(name: str, key: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"{name}/{key}")


def _talks(name: str, language: Language, chat: Row, people: dict[str, Person]) -> list[SummaryInput]:
    parts: list[list[Row]] = []
    last: datetime | None = None
    for row in sorted(chat["messages"], key=lambda row: row["at"]):
        at = datetime.fromisoformat(row["at"])
        if last is None or at - last > PAUSE:
            parts.append([])
        parts[-1].append(row)
        last = at
    both = {row["from"] for row in chat["messages"]} | {key for key, one in people.items() if one.is_self}
    participants = tuple(one for key, one in people.items() if key in both)
    return [_talk(f"{name}/{chat['id']}/{n}", language, rows, people, participants) for n, rows in enumerate(parts, 1)]


def _talk(
    key: str, language: Language, rows: list[Row], people: dict[str, Person], participants: tuple[Person, ...]
) -> SummaryInput:
    files = [
        tuple(Attachment(file.get("name"), file.get("type"), file.get("size")) for file in row.get("attachments", ()))
        for row in rows
    ]
    texts = [row["text"] or described(attached) for row, attached in zip(rows, files, strict=True)]
    scores = score_many(texts)
    messages = tuple(
        SourceMessage(
            number=number,
            external_id=row["id"],
            sender=people[row["from"]],
            sent_at=datetime.fromisoformat(row["at"]),
            text=text,
            importance_score=score.value,
            importance_reason=score.reason,
            attachments=attached,
        )
        for number, (row, text, attached, score) in enumerate(zip(rows, texts, files, scores, strict=True), 1)
    )
    return SummaryInput(
        interaction_id=uuid5(NAMESPACE_URL, key),
        chat_key=f"world:{key.rpartition('/')[0]}",
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        participants=participants,
        messages=messages,
        language=language,
        timezone="UTC",
        input_hash=key,
    )


def _label(number: int, row: Row, people: dict[str, Person]) -> Label:
    later = row.get("superseded_by")
    return Label(
        ref=_ref(number),
        kind=row["kind"],
        text=row["text"],
        owner=people.get(row["owner"]),
        due=_day(row["due_date"]),
        messages=tuple(row["messages"]),
        closed_by=frozenset(row["closed_by"]),
        cancelled_by=frozenset(row["cancelled_by"]),
        renewed=tuple((frozenset(one["messages"]), _day(one["due_date"])) for one in row["renewed"]),
        superseded_by=None if later is None else _ref(later),
        is_optional=row.get("is_optional", False),
        proposed_by=frozenset(row.get("proposed_by") or ()),
        agreed_by=frozenset(row.get("agreed_by") or ()),
        agreed_in=frozenset(row.get("agreed_in") or ()),
        lasts=row.get("lasts"),
    )


def _ref(number: int) -> str:
    return f"i{number}"


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
