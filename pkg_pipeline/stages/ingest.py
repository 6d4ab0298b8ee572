"""The first hop: one export file → chats, entities and messages, cleaned, counted and scored.

Reading formats is the exports' business, what an upsert means the store's, who I am ``owner``'s. Here: batching and
the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.cleaning import clean_json, clean_text_counted, text_refusal
from pkg_pipeline.memory.importance import REASONS, score_many
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected
from pkg_pipeline.stages.message_stores import (
    ChatRow,
    EntityRow,
    ExportSource,
    IngestBatch,
    IngestCounts,
    IngestStore,
    MessageRow,
)
from pkg_pipeline.stages.owner import is_surely_me
from pkg_pipeline.stages.ports import TokenCounter

BATCH_MESSAGES = 5_000
BATCH_CHARACTERS = 4_000_000
"""Whichever comes first ends a batch: its transaction stays short and its memory bounded."""

REPORTED_REJECTIONS = 1_000
"""More are counted but not listed."""

LONGEST_ID = 500
"""Characters of an external id; longer ones could not be indexed."""

NEVER = datetime(1, 1, 1, tzinfo=UTC)
"""``name_at`` of a name that no message carried: every real name replaces it."""


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
            rejected=[Rejected(where, reason) for file, where, reason in report.rejected if file == export.name],
        )
    report.files += 1
    if on_progress is not None:
        on_progress(export)


@dataclass(slots=True)
class _Intake:
    """The state of one file being read: what is known already, the batch being filled."""

    export: ExportSource
    store: IngestStore
    counter: TokenCounter
    selves: frozenset[tuple[str, str]]
    report: ImportReport
    sources: set[str] = field(default_factory=set[str])
    taken: int = 0
    characters: int = 0
    batch: IngestBatch = field(default_factory=IngestBatch)
    waiting: list[tuple[ParsedMessage, str, UUID, UUID | None, bool]] = field(
        default_factory=list[tuple[ParsedMessage, str, UUID, UUID | None, bool]]
    )
    chats: dict[str, tuple[ParsedChat, UUID]] = field(default_factory=dict[str, tuple[ParsedChat, UUID]])
    known: dict[tuple[str, str], tuple[UUID, bool]] = field(default_factory=dict[tuple[str, str], tuple[UUID, bool]])
    members: set[tuple[UUID, UUID]] = field(default_factory=set[tuple[UUID, UUID]])
    titles: dict[UUID, tuple[str, datetime]] = field(default_factory=dict[UUID, tuple[str, datetime]])
    names: dict[UUID, tuple[datetime, str]] = field(default_factory=dict[UUID, tuple[datetime, str]])

    def take(self, item: ParsedOwner | ParsedChat | ParsedMessage | Rejected) -> bool:
        """Add one item; True when a batch was written."""
        if isinstance(item, ParsedMessage):
            self._message(item)
        elif isinstance(item, ParsedChat):
            self._chat(item)
        elif isinstance(item, Rejected):
            self.report.reject(self.export.name, item)
        else:
            self._entity(item.source, item.external_id, item.name, is_self=True)
        if len(self.waiting) < BATCH_MESSAGES and self.characters < BATCH_CHARACTERS:
            return False
        self.flush()
        return True

    def _chat(self, chat: ParsedChat) -> None:
        chat_id = hashing.chat_id(chat.source, chat.external_id)
        self.chats[chat.external_id] = (chat, chat_id)
        if chat.source not in self.sources:
            # whoever was me in an earlier import still is
            self.sources.add(chat.source)
            self.selves |= {(chat.source, known) for known in self.store.known_selves(chat.source)}
        if chat_id not in self.titles:
            self.report.chats.add(chat_id)
            metadata, _ = clean_json(dict(chat.metadata))
            title = clean_text_counted(chat.title)[0] if chat.title else None
            self.batch.chats.append(
                ChatRow(chat_id, chat.source, chat.external_id, chat.kind, chat.category, title, metadata)
            )
            self.titles[chat_id] = (title or "", NEVER)
        if chat.peer_external_id is not None:
            peer = self._entity(chat.source, chat.peer_external_id, chat.peer_name, is_self=False)
            self._member(chat_id, peer)

    def _entity(self, source: str, external_id: str, name: str | None, *, is_self: bool) -> UUID:
        key = (source, external_id)
        entity_id, was_self = self.known.get(key, (None, False))
        is_self = is_self or was_self or key in self.selves
        if entity_id is None:
            entity_id = hashing.entity_id(source, external_id)
            self.report.entities.add(entity_id)
        if key not in self.known or is_self != was_self:
            self.known[key] = (entity_id, is_self)
            shown = clean_text_counted(name)[0].strip() if name else ""
            self.batch.entities.append(EntityRow(entity_id, source, external_id, shown or external_id, NEVER, is_self))
        return entity_id

    def _member(self, chat_id: UUID, entity_id: UUID) -> None:
        if (chat_id, entity_id) not in self.members:
            self.members.add((chat_id, entity_id))
            self.batch.members.append((chat_id, entity_id))

    def _message(self, message: ParsedMessage) -> None:
        chat, chat_id = self.chats[message.chat_external_id]
        text, replaced = clean_text_counted(message.text)
        if (refusal := _refusal(message, text)) is not None:
            self.report.reject(self.export.name, Rejected(message.where, refusal))
            return
        self.report.replaced_characters += replaced
        sender: UUID | None = None
        outgoing = False
        if message.sender_external_id:
            key = (chat.source, message.sender_external_id)
            sender = self._entity(*key, message.sender_name, is_self=is_surely_me(message, chat))
            outgoing = self.known[key][1]
            self._named(sender, message)
            if message.kind == "message":
                self._member(chat_id, sender)
        title = chat.title or ""
        if message.sent_at > self.titles[chat_id][1]:
            self.titles[chat_id] = (title, message.sent_at)
        self.waiting.append((message, text, chat_id, sender, outgoing))
        self.characters += len(text)
        self.taken += 1

    def _named(self, entity_id: UUID, message: ParsedMessage) -> None:
        if message.sender_name:
            seen = (message.sent_at, message.sender_name)
            if entity_id not in self.names or seen > self.names[entity_id]:
                self.names[entity_id] = seen

    def flush(self) -> None:
        """Score, count and write the batch in one transaction."""
        if not (self.waiting or self.batch.chats or self.batch.entities or self.batch.members):
            return
        texts = [entry[1] for entry in self.waiting]
        scores = score_many(texts)
        tokens = self.counter.count_many(texts)
        self.batch.messages = [
            _row(*entry, tokens=count, score=value, reason=REASONS[code])
            for entry, count, value, code in zip(
                self.waiting, tokens, scores.values.tolist(), scores.reasons.tolist(), strict=True
            )
        ]
        self.report.counts += self.store.write(self.batch, exported_at=self.export.exported_at)
        self.batch, self.waiting, self.characters = IngestBatch(), [], 0

    def name_all(self) -> None:
        """The latest names last: they need the whole file."""
        names = {entity: (clean_text_counted(name)[0], at) for entity, (at, name) in self.names.items()}
        titles: Mapping[UUID, tuple[str, datetime]] = {
            chat: (clean_text_counted(title)[0], at) for chat, (title, at) in self.titles.items() if title
        }
        self.store.name(titles=titles, names=names)


def _refusal(message: ParsedMessage, text: str) -> str | None:
    if len(message.external_id) > LONGEST_ID or len(message.sender_external_id or "") > LONGEST_ID:
        return f"an id is longer than {LONGEST_ID} characters"
    return text_refusal(text)


def _row(
    message: ParsedMessage,
    text: str,
    chat_id: UUID,
    sender: UUID | None,
    outgoing: bool,
    *,
    tokens: int,
    score: float,
    reason: str | None,
) -> MessageRow:
    is_service = message.kind == "service"
    return MessageRow(
        chat_id=chat_id,
        external_id=clean_text_counted(message.external_id)[0],
        sender_entity_id=sender,
        sent_at=message.sent_at,
        edited_at=message.edited_at,
        is_deleted=message.is_deleted,
        is_outgoing=outgoing,
        is_time_assumed=message.time_assumed,
        kind=message.kind,
        role=message.role,
        content=text,
        content_hash=hashing.content_hash(text),
        token_count=tokens,
        importance_score=0.0 if is_service else round(score, 2),
        importance_reason=None if is_service else reason,
        reply_to=message.reply_to,
        topic=clean_text_counted(message.topic)[0] if message.topic else None,
        forwarded_from=clean_text_counted(message.forwarded_from)[0] if message.forwarded_from else None,
        parts=clean_json(message.parts)[0] if message.parts else None,
        metadata=clean_json(dict(message.metadata))[0] if message.metadata else None,
    )
