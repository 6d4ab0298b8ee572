"""The first hop: one export file → chats, entities and messages, cleaned, counted and scored.

Reading formats is the exports' business, what an upsert means the store's, who I am ``owner``'s. Here: batching and
the report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.cleaning import clean_json, clean_text, clean_text_counted
from pkg_pipeline.memory.importance import REASONS, score_many
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected
from pkg_pipeline.stages.message_stores import (
    ChatNames,
    ChatRow,
    EntityRow,
    ExportSource,
    IngestBatch,
    IngestCounts,
    IngestStore,
)
from pkg_pipeline.stages.owner import is_open, is_surely_me
from pkg_pipeline.stages.parsed_rows import key_refusal, refusal_of, row_of, shown
from pkg_pipeline.stages.ports import TokenCounter

BATCH_MESSAGES = 5_000
BATCH_CHARACTERS = 4_000_000
"""Whichever comes first ends a batch: its transaction stays short and its memory bounded."""

REPORTED_REJECTIONS = 1_000
"""More are counted but not listed."""

NAMELESS, UNDATED = datetime(1, 1, 1, tzinfo=UTC), datetime(2, 1, 1, tzinfo=UTC)
"""``name_at`` of an id that stands in for a name, and of a name that no message carried: every other replaces them."""


@dataclass(slots=True)
class ImportReport:
    """What one import did. ``rejected`` lists (file, where, reason); ``rejected_count`` counts all of them."""

    files: int = 0
    chats: set[UUID] = field(default_factory=set[UUID])
    entities: set[UUID] = field(default_factory=set[UUID])
    counts: IngestCounts = field(default_factory=IngestCounts)
    replaced_characters: int = 0
    rejected: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    rejected_count: int = 0
    warnings: list[str] = field(default_factory=list[str])

    def reject(self, file: str, rejected: Rejected) -> None:
        self.rejected_count += 1
        if len(self.rejected) < REPORTED_REJECTIONS:
            self.rejected.append((file, rejected.where, rejected.reason))

    def to_json(self) -> dict[str, Any]:
        """The shape of INTERFACES.md."""
        return {
            "files": self.files,
            "chats": len(self.chats),
            "entities": len(self.entities),
            "messages_new": self.counts.new,
            "messages_updated": self.counts.updated,
            "messages_unchanged": self.counts.unchanged,
            "messages_deleted": self.counts.deleted,
            "rejected": [{"file": file, "where": where, "reason": reason} for file, where, reason in self.rejected],
            "rejected_count": self.rejected_count,
            "replaced_characters": self.replaced_characters,
            "warnings": self.warnings,
        }


def import_export(
    export: ExportSource,
    *,
    store: IngestStore,
    counter: TokenCounter,
    selves: frozenset[tuple[str, str]],
    report: ImportReport,
    batch_id: UUID,
    on_progress: Callable[[ExportSource], None] | None = None,
) -> None:
    """Take one file in and add to ``report``. Batches are committed one by one: a killed import is run again."""
    store.begin(batch_id=batch_id, file=export.name, format_name=export.format)
    before, before_rejected = report.counts, report.rejected_count
    listed = len(report.rejected)
    intake = _Intake(export=export, store=store, counter=counter, selves=selves, report=report)
    failed = True
    try:
        for item in export.items():
            if intake.take(item) and on_progress is not None:
                on_progress(export)
        intake.flush()
        intake.name_all()
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
class _Chat:
    """A chat of this file. ``refusal`` is why nothing of it is taken."""

    parsed: ParsedChat
    id: UUID
    source: str
    title: str
    refusal: str | None


@dataclass(slots=True)
class _Intake:
    """The state of one file being read: what is known already, the batch being filled. Grows with people and chats."""

    export: ExportSource
    store: IngestStore
    counter: TokenCounter
    selves: frozenset[tuple[str, str]]
    report: ImportReport
    told: frozenset[tuple[str, str]] = field(init=False)
    sources: set[str] = field(default_factory=set[str])
    taken: int = 0
    characters: int = 0
    batch: IngestBatch = field(default_factory=IngestBatch)
    waiting: list[tuple[ParsedMessage, str, UUID, UUID | None]] = field(
        default_factory=list[tuple[ParsedMessage, str, UUID, UUID | None]]
    )
    chats: dict[str, _Chat] = field(default_factory=dict[str, _Chat])
    described: dict[UUID, ChatRow] = field(default_factory=dict[UUID, ChatRow])
    known: dict[tuple[str, str], tuple[UUID, bool]] = field(default_factory=dict[tuple[str, str], tuple[UUID, bool]])
    members: set[tuple[UUID, UUID]] = field(default_factory=set[tuple[UUID, UUID]])
    called: dict[UUID, ChatNames] = field(default_factory=dict[UUID, ChatNames])
    names: dict[UUID, tuple[datetime, str]] = field(default_factory=dict[UUID, tuple[datetime, str]])

    def __post_init__(self) -> None:
        self.told = self.selves

    def take(self, item: ParsedOwner | ParsedChat | ParsedMessage | Rejected) -> bool:
        """Add one item; True when a batch was written."""
        if isinstance(item, ParsedMessage):
            self._message(item)
        elif isinstance(item, ParsedChat):
            self._chat(item)
        elif isinstance(item, Rejected):
            self.report.reject(self.export.name, item)
        elif key_refusal(item.source, item.external_id) is None:
            self._entity(item.source, item.external_id, item.name, None, is_self=is_open(self.told, item.source))
        if len(self.waiting) < BATCH_MESSAGES and self.characters < BATCH_CHARACTERS:
            return False
        self.flush()
        return True

    def _chat(self, chat: ParsedChat) -> None:
        source, external_id = clean_text(chat.source), clean_text(chat.external_id)
        chat_id = hashing.chat_id(source, external_id)
        refusal = key_refusal(source, external_id)
        known = self.chats[chat.external_id] = _Chat(chat, chat_id, source, shown(chat.title), refusal)
        if refusal is not None:
            return
        if source not in self.sources:
            # whoever was me in an earlier import still is
            self.sources.add(source)
            self.selves |= {(source, external) for external in self.store.known_selves(source)}
        row = ChatRow(chat_id, source, external_id, chat.kind, chat.category)
        if self.described.get(chat_id) != row:
            self.report.chats.add(chat_id)
            self.batch.chats.append(row)
            self.described[chat_id] = row
        if chat_id not in self.called:
            metadata, _ = clean_json(dict(chat.metadata))
            self.called[chat_id] = ChatNames(known.title, UNDATED, metadata, UNDATED)
        if chat.peer_external_id is not None and key_refusal(source, chat.peer_external_id) is None:
            peer = self._entity(source, chat.peer_external_id, chat.peer_name, None, is_self=False)
            self._member(chat_id, peer)

    def _entity(self, source: str, external_id: str, name: str | None, at: datetime | None, *, is_self: bool) -> UUID:
        """The entity behind an identity, called ``name`` in a message of ``at`` (None: outside of any message)."""
        key = (source, external_id)
        found = self.known.get(key)
        if found is None or (is_self and not found[1]):
            clean_id = clean_text(external_id)
            entity_id = hashing.entity_id(source, clean_id)
            is_self = is_self or (source, clean_id) in self.selves
            called = shown(name) or shown(clean_id)
            self.known[key] = found = (entity_id, is_self)
            self.report.entities.add(entity_id)
            self.batch.entities.append(EntityRow(entity_id, source, clean_id, called, NAMELESS, is_self))
        if name:
            known, seen_at = self.names.get(found[0]), at or UNDATED
            # a name is cleaned only where it could be the latest
            if (
                (known is None or seen_at >= known[0])
                and (best := shown(name))
                and (not known or (seen_at, best) > known)
            ):
                self.names[found[0]] = (seen_at, best)
        return found[0]

    def _member(self, chat_id: UUID, entity_id: UUID) -> None:
        if (chat_id, entity_id) not in self.members:
            self.members.add((chat_id, entity_id))
            self.batch.members.append((chat_id, entity_id))

    def _message(self, message: ParsedMessage) -> None:
        chat = self.chats[message.chat_external_id]
        text, replaced = clean_text_counted(message.text)
        if (refusal := chat.refusal or refusal_of(message, chat.source, text)) is not None:
            self.report.reject(self.export.name, Rejected(message.where, refusal))
            return
        self.report.replaced_characters += replaced
        sent_at, sender = message.sent_at, None
        if message.sender_external_id:
            is_self = is_surely_me(message, chat.parsed) and is_open(self.told, chat.source)
            sender = self._entity(
                chat.source, message.sender_external_id, message.sender_name, sent_at, is_self=is_self
            )
            if message.kind == "message":
                self._member(chat.id, sender)
        self._title(chat, sent_at)
        self.waiting.append((message, text, chat.id, sender))
        self.characters += len(text)
        self.taken += 1

    def _title(self, chat: _Chat, sent_at: datetime) -> None:
        before = self.called[chat.id]
        if sent_at < before.title_at and sent_at <= before.seen_at:
            return
        title, title_at, metadata, seen_at = chat.title, before.title_at, before.metadata, before.seen_at
        if title and (sent_at, title) > (title_at, before.title):
            title_at = sent_at
        else:
            title = before.title
        if sent_at > seen_at:
            metadata, seen_at = clean_json(dict(chat.parsed.metadata))[0], sent_at
        if (title, title_at, seen_at) != (before.title, before.title_at, before.seen_at):
            self.called[chat.id] = ChatNames(title, title_at, metadata, seen_at)

    def flush(self) -> None:
        """Score, count and write the batch in one transaction."""
        if not (self.waiting or self.batch.chats or self.batch.entities or self.batch.members):
            return
        texts = [entry[1] for entry in self.waiting]
        scores = score_many(texts)
        tokens = self.counter.count_many(texts)
        codes: list[int] = scores.reasons.tolist()
        self.batch.messages = [
            row_of(*entry, tokens=count, score=value, reason=REASONS[code])
            for entry, count, value, code in zip(self.waiting, tokens, scores.values.tolist(), codes, strict=True)
        ]
        self.report.counts += self.store.write(self.batch, exported_at=self.export.exported_at)
        self.batch, self.waiting, self.characters = IngestBatch(), [], 0

    def name_all(self) -> None:
        """The latest names last: they need the whole file."""
        self.store.name(chats=self.called, entities=self.names)
