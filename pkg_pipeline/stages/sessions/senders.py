"""Cache of the senders in the chats this process appends to; the store detects when it is outdated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import ParsedMessage, Rejected
from pkg_pipeline.memory.text.cleaning import clean_text, clean_text_counted
from pkg_pipeline.stages.ingest.parsed_rows import Taken, refusal_of, shown
from pkg_pipeline.stages.ingest.records import EntityRow
from pkg_pipeline.stages.sessions.parsing import NewMessage
from pkg_pipeline.stages.sessions.records import Appended, AppendReport, MessageTimes, SessionChat

NAME_LAG = timedelta(hours=1)
"""Allowed lag of a stored name's time, so that not every append writes to every sender."""

UNNAMED = datetime(1, 1, 1, tzinfo=UTC)
LONGEST_SHOWN = 200


@dataclass(slots=True)
class Sender:
    """A sender in one chat, with the latest name and its message's time. ``stored`` is the (time, name) in the
    database; ``is_stored``: a member of the chat, marked self if so.
    """

    id: UUID
    external_id: str
    is_self: bool
    name: str = ""
    name_at: datetime = UNNAMED
    is_stored: bool = False
    stored: tuple[datetime, str] = (UNNAMED, "")

    @property
    def is_stranger(self) -> bool:
        return not self.is_stored or self.name != self.stored[1] or self.name_at - self.stored[0] > NAME_LAG


@dataclass(slots=True)
class KnownChat:
    """A chat and its senders. ``is_there``: chat and session are stored; ``last``: this process's last append, kept
    unless messages of the chat were forgotten, which each append has to leave out.
    """

    chat: SessionChat
    is_there: bool = False
    people: dict[str, Sender] = field(default_factory=dict[str, Sender])
    last: Appended | None = None
    is_thinned: bool = False

    def learns_from(self, message: ParsedMessage) -> bool:
        person = self.people.get(message.sender_external_id or "")
        return (
            person is None
            or not person.is_stored
            or (message.sender_name is not None and message.sender_name != person.stored[1])
            or message.sent_at - person.stored[0] > NAME_LAG
        )

    def person(self, message: ParsedMessage) -> Sender:
        sender_id = message.sender_external_id or ""
        person = self.people.get(sender_id)
        if person is None:
            clean_id = clean_text(sender_id)
            person = Sender(hashing.entity_id(self.chat.source, clean_id), clean_id, message.is_self is True)
            self.people[sender_id] = person
        elif message.is_self and not person.is_self:
            person.is_self, person.is_stored = True, False
        name = message.sender_name
        if name and message.sent_at >= person.name_at:
            called = name if name == person.name else shown(name)
            if called and (message.sent_at, called) > (person.name_at, person.name):
                person.name, person.name_at = called, message.sent_at
        return person


def dated(messages: Sequence[NewMessage], times: MessageTimes) -> Sequence[NewMessage]:
    """The messages, with ``times`` for those without a time of their own."""
    if not times:
        return messages
    return [
        one
        if one.is_time_told or (known := times.get(one.message.external_id)) is None
        else one._replace(message=replace(one.message, sent_at=known[0], time_assumed=known[1]))
        for one in messages
    ]


def taken_of(
    known: KnownChat, messages: Sequence[NewMessage], report: AppendReport
) -> tuple[list[Taken], dict[UUID, Sender]]:
    """The messages to store and their senders; the rejected ones go into ``report``."""
    taken, people = list[Taken](), dict[UUID, Sender]()
    chat = known.chat
    for message, *_ in messages:
        text, replaced = clean_text_counted(message.text)
        if (refusal := refusal_of(message, chat.source, text)) is not None:
            report.rejected.append(Rejected(message.where, refusal))
            continue
        report.replaced_characters += replaced
        person = known.person(message)
        people[person.id] = person
        taken.append((message, text, chat.id, person.id))
    return taken, people


def entity_of(source: str, person: Sender) -> EntityRow:
    called = person.name or shown(person.external_id)
    return EntityRow(person.id, source, person.external_id, called, UNNAMED, person.is_self)
