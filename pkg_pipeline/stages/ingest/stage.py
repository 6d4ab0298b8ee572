"""One export file → chats, entities and messages, written in batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.deletions import Verdict
from pkg_pipeline.memory.message.forgotten import Forgotten
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected
from pkg_pipeline.memory.text.cleaning import (
    UNEXPECTED_ERRORS,
    clean_json,
    clean_text,
    clean_text_counted,
    unexpected_error,
)
from pkg_pipeline.stages.ingest.echoes import own_of
from pkg_pipeline.stages.ingest.owner import is_open, is_surely_me
from pkg_pipeline.stages.ingest.parsed_rows import FORGOTTEN, Taken, key_refusal, refusal_of, rows_of, shown
from pkg_pipeline.stages.ingest.records import (
    ChatNames,
    ChatRow,
    EntityRow,
    Evidence,
    ExportSource,
    ImportReport,
    IngestBatch,
    IngestCounts,
    SeenNumbers,
    Unstorable,
)
from pkg_pipeline.stages.ports import TokenCounter

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore

BATCH_MESSAGES = 5_000
BATCH_CHARACTERS = 4_000_000
"""Whichever limit comes first ends a batch."""

NAMELESS, UNDATED = datetime(1, 1, 1, tzinfo=UTC), datetime(2, 1, 1, tzinfo=UTC)
"""``name_at`` of an id used as a name, and of a name without a message; any other name replaces them."""


def import_export(
    export: ExportSource,
    *,
    store: PostgresIngestStore,
    counter: TokenCounter,
    selves: frozenset[tuple[str, str]],
    report: ImportReport,
    batch_id: UUID,
    missing: Verdict = "open",
    on_progress: Callable[[ExportSource], None] | None = None,
) -> None:
    """Import one file and add to ``report``. Batches are committed one by one; a killed import can be repeated.

    ``missing`` is the person's verdict on messages that an older file has and this one lacks.
    """
    store.begin(batch_id=batch_id, file=export.name, format_name=export.format)
    before, before_rejected = report.counts, report.rejected_count
    listed = len(report.rejected)
    forgotten = store.forgotten()
    intake = _Intake(export=export, store=store, counter=counter, selves=selves, report=report, forgotten=forgotten)
    failed = True
    try:
        for item in export.items():
            if intake.take(item) and on_progress is not None:
                on_progress(export)
        intake.flush()
        intake.name_all()
        intake.compare(missing)
        failed = intake.taken == 0 and report.rejected_count > before_rejected
    finally:
        done = report.counts
        store.finish(
            batch_id=batch_id,
            failed=failed,
            sha256=export.sha256,
            counts={
                "new": done.new - before.new,
                "updated": done.updated - before.updated,
                "unchanged": done.unchanged - before.unchanged,
                "deleted": done.deleted - before.deleted,
                "rejected": report.rejected_count - before_rejected,
            },
            rejected=[Rejected(where, reason) for _, where, reason in report.rejected[listed:]],
        )
    report.files += 1
    if on_progress is not None:
        on_progress(export)


@dataclass(slots=True)
class _Person:
    id: UUID
    is_self: bool
    name: str = ""
    name_at: datetime = NAMELESS


@dataclass(slots=True)
class _Chat:
    """A chat of this file. ``refusal``: why nothing of it is stored; ``people``: senders of its source by id."""

    id: UUID
    source: str
    refusal: str | None
    may_say_self: bool
    people: dict[str, _Person]
    parsed: ParsedChat
    shown: str = ""
    row: ChatRow | None = None
    members: set[str] = field(default_factory=set[str])
    title: str = ""
    title_at: datetime = UNDATED
    described: ParsedChat | None = None
    seen_at: datetime = NAMELESS
    seen: SeenNumbers = field(default_factory=SeenNumbers)

    def at(self, moment: datetime) -> None:
        """Record that a message of ``moment`` was exported under the present title and metadata."""
        if moment >= self.title_at and self.shown and (moment, self.shown) > (self.title_at, self.title):
            self.title, self.title_at = self.shown, moment
        if moment > self.seen_at:
            self.described, self.seen_at = self.parsed, moment

    @property
    def shows_all(self) -> bool:
        """False if a group has one single sender: then the file exports only one's own messages."""
        return not self.seen.has_unnumbered and (self.parsed.kind == "direct" or len(self.members) > 1)

    def names(self) -> ChatNames:
        metadata, _ = clean_json(dict((self.described or self.parsed).metadata))
        return ChatNames(self.title or self.shown, self.title_at, metadata, max(self.seen_at, UNDATED))


@dataclass(slots=True)
class _Intake:
    """The state of reading one file; grows with the number of people and chats."""

    export: ExportSource
    store: PostgresIngestStore
    counter: TokenCounter
    selves: frozenset[tuple[str, str]]
    report: ImportReport
    forgotten: Forgotten
    taken: int = 0
    characters: int = 0
    batch: IngestBatch = field(default_factory=IngestBatch)
    waiting: list[Taken] = field(default_factory=list[Taken])
    people: dict[str, dict[str, _Person]] = field(default_factory=dict[str, dict[str, _Person]])
    mine: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    all_chats: dict[tuple[str, str], _Chat] = field(default_factory=dict[tuple[str, str], _Chat])
    chats: dict[str, _Chat] = field(default_factory=dict[str, _Chat])
    owner: str | None = None
    evidence: Evidence = field(default_factory=Evidence)

    def take(self, item: ParsedOwner | ParsedChat | ParsedMessage | Rejected) -> bool:
        """Add one item; True when a batch was written."""
        if isinstance(item, ParsedMessage):
            try:
                self._message(item)
            except UNEXPECTED_ERRORS as error:
                self.report.reject(self.export.name, Rejected(item.where, unexpected_error(error)))
        elif isinstance(item, ParsedChat):
            self._chat(item)
        elif isinstance(item, Rejected):
            self.report.reject(self.export.name, item)
            if (chat := self.chats.get(item.chat_external_id or "")) is not None:
                chat.seen.add(item.external_id, is_taken=False)
        elif key_refusal(item.source, item.external_id) is None:
            self.owner = item.external_id
            is_self = is_open(self.selves, item.source)
            self._person(item.source, item.external_id, item.name, UNDATED, is_self=is_self)
        if len(self.waiting) < BATCH_MESSAGES and self.characters < BATCH_CHARACTERS:
            return False
        self.flush()
        return True

    def _chat(self, parsed: ParsedChat) -> None:
        source, external_id = clean_text(parsed.source), clean_text(parsed.external_id)
        chat = self.all_chats.get((source, external_id))
        if chat is None:
            chat = self.all_chats[source, external_id] = _Chat(
                id=hashing.chat_id(source, external_id),
                source=source,
                refusal=key_refusal(source, external_id) or self._forgotten_chat(source, external_id, parsed),
                may_say_self=is_open(self.selves, source),
                people=self.people.setdefault(source, {}),
                parsed=parsed,
            )
            self.report.chats |= {chat.id} if chat.refusal is None else set()
        self.chats[parsed.external_id] = chat
        chat.parsed, chat.shown = parsed, shown(parsed.title)
        row = ChatRow(chat.id, source, external_id, parsed.kind, parsed.category)
        if chat.refusal is None and chat.row != row:
            self.batch.chats.append(row)
            chat.row = row
        peer = parsed.peer_external_id
        if peer is not None and chat.refusal is None and key_refusal(source, peer) is None:
            self._member(chat, peer, self._person(source, peer, parsed.peer_name, UNDATED, is_self=False))

    def _forgotten_chat(self, source: str, external_id: str, parsed: ParsedChat) -> str | None:
        peer = parsed.peer_external_id
        is_gone = self.forgotten.has_chat(source, external_id) or (
            peer is not None and self.forgotten.has_person(source, clean_text(peer))
        )
        return FORGOTTEN if is_gone else None

    def _is_forgotten(self, message: ParsedMessage, chat: _Chat) -> bool:
        """Of a chat that is stored (B3)."""
        if self.forgotten.is_empty:
            return False
        sender, place = message.sender_external_id, (chat.source, clean_text(chat.parsed.external_id))
        if sender and self.forgotten.has_person(chat.source, clean_text(sender)):
            return True
        return self.forgotten.is_thinned(*place) and self.forgotten.has_message(
            *place, clean_text(message.external_id), message.sent_at
        )

    def _person(self, source: str, external_id: str, name: str | None, at: datetime, *, is_self: bool) -> _Person:
        """The person of an identity; ``at`` is the time of the message with this ``name`` (UNDATED: no message)."""
        people = self.people.setdefault(source, {})
        person = people.get(external_id)
        if person is None or (is_self and not person.is_self):
            clean_id = clean_text(external_id)
            known = person or _Person(hashing.entity_id(source, clean_id), is_self=False)
            known.is_self = is_self or clean_id in self._mine(source)
            person = people[external_id] = known
            self.report.entities.add(person.id)
            called = shown(name) or shown(clean_id)
            self.batch.entities.append(EntityRow(person.id, source, clean_id, called, NAMELESS, person.is_self))
        if name and at >= person.name_at:
            called = name if name == person.name else shown(name)  # the usual name is clean already
            if called and (at, called) > (person.name_at, person.name):
                person.name_at, person.name = at, called
        return person

    def _mine(self, source: str) -> set[str]:
        """External ids that are self on a source, from the command line or earlier imports."""
        if source not in self.mine:
            told = {external_id for known, external_id in self.selves if known == source}
            self.mine[source] = told | set(self.store.known_selves(source))
        return self.mine[source]

    def _member(self, chat: _Chat, external_id: str, person: _Person) -> None:
        if external_id not in chat.members:
            chat.members.add(external_id)
            self.batch.members.append((chat.id, person.id))

    def _message(self, message: ParsedMessage) -> None:
        chat = self.chats[message.chat_external_id]
        text, replaced = clean_text_counted(message.text)
        refusal = chat.refusal or (FORGOTTEN if self._is_forgotten(message, chat) else None)
        refusal = refusal or refusal_of(message, chat.source, text)
        if chat.parsed.is_whole:
            chat.seen.add(message.external_id, is_taken=refusal is None)
        if refusal is FORGOTTEN:
            self.report.forgotten += 1
            return
        if refusal is not None:
            self.report.reject(self.export.name, Rejected(message.where, refusal))
            return
        self.evidence.see(message)
        self.report.replaced_characters += replaced
        sender: UUID | None = None
        if external_id := message.sender_external_id:
            is_self = chat.may_say_self and is_surely_me(message, chat.parsed)
            person = self._person(chat.source, external_id, message.sender_name, message.sent_at, is_self=is_self)
            sender = person.id
            if message.kind == "message" and external_id not in chat.members:
                self._member(chat, external_id, person)
        chat.at(message.sent_at)
        self.waiting.append((message, text, chat.id, sender))
        self.characters += len(text)
        self.taken += 1

    def flush(self) -> None:
        """Write the batch in one transaction; where a message cannot be stored, split it to isolate the message."""
        if not (self.waiting or self.batch.chats or self.batch.entities or self.batch.members):
            return
        waiting = [self.waiting]
        while waiting:
            taken = waiting.pop()
            try:
                self.batch.own = own_of([text for _, text, _, _ in taken], self.store.served)
                self.batch.messages = rows_of(taken, self.counter, self.batch.own)
                self.report.counts += self.store.write(self.batch, exported_at=self.export.exported_at)
            except (Unstorable, *UNEXPECTED_ERRORS) as error:
                if len(taken) <= 1:
                    reason = str(error) if isinstance(error, Unstorable) else unexpected_error(error)
                    self.report.reject(self.export.name, Rejected(taken[0][0].where if taken else "", reason))
                    for message, *_ in taken:
                        self.chats[message.chat_external_id].seen.refuse(message.external_id)
                else:  # whichever of them it is, the others go in, in their order
                    waiting += [taken[len(taken) // 2 :], taken[: len(taken) // 2]]
            else:
                self.batch = IngestBatch()
        self.batch, self.waiting, self.characters = IngestBatch(), [], 0

    def compare(self, missing: Verdict) -> None:
        """Detect deletions by comparing with other exports; a damaged file shows no chat as whole."""
        is_whole = self.export.name not in self.report.damaged
        exports = [
            chat.seen.shown(chat.id, self.evidence.at, self.owner, is_whole=is_whole and chat.shows_all)
            for chat in self.all_chats.values()
            if chat.refusal is None and chat.parsed.is_whole and chat.seen.numbers
        ]
        if not exports:
            return
        found = self.store.compare(exports, verdict=missing)
        self.report.counts += IngestCounts(updated=found.restored, deleted=found.deleted)
        self.report.held += found.held

    def name_all(self) -> None:
        people = [person for source in self.people.values() for person in source.values()]
        self.store.name(
            chats={chat.id: chat.names() for chat in self.all_chats.values() if chat.refusal is None},
            entities={person.id: (person.name_at, person.name) for person in people if person.name},
        )
