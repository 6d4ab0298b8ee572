"""Live sessions: append messages, change settings, read. A session is its chat; messages follow the import rules."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, get_args
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.forgotten import Forgotten
from pkg_pipeline.memory.records import Rejected, Usage
from pkg_pipeline.memory.session.records import Policy, SessionEvent, SessionState, Strategy
from pkg_pipeline.memory.session.triggers import asks_for_summary
from pkg_pipeline.memory.text.cleaning import clean_text
from pkg_pipeline.stages.ingest.echoes import own_of
from pkg_pipeline.stages.ingest.parsed_rows import FORGOTTEN, Taken, key_refusal, rows_of, shown
from pkg_pipeline.stages.ports import Clock, TokenCounter
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, Page, activity_position, number_position, page_of
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline.stages.sessions.parsing import NewMessage, NothingRead, parse_many
from pkg_pipeline.stages.sessions.records import (
    AppendBatch,
    Appended,
    AppendReport,
    Newcomers,
    SessionChat,
    SessionStart,
    SessionUnknown,
    message_json,
    row_json,
    source_json,
)
from pkg_pipeline.stages.sessions.senders import LONGEST_SHOWN, KnownChat, Sender, dated, entity_of, taken_of

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.sessions.append import PostgresAppendStore
    from pkg_pipeline.adapters.postgres.sessions.store import PostgresSessionStore

KNOWN_CHATS = 4_096
"""Chats with cached senders in one process (LRU)."""

RECENT_MESSAGES = 12
"""H16."""

LONGEST_INTERVAL = 1_000_000


class Sessions:
    """Operations on live sessions; one per process, thread-safe.

    ``session`` is an id or a chat key ``source:external-id``. Raises SessionUnknown for an unknown id; a key creates
    its chat (a ``thread``) in ``append``, ``set`` and ``ensure``. ``zone`` applies to times without an offset;
    ``record_usage`` receives tokens reported with an answer (T3).
    """

    def __init__(
        self,
        appending: PostgresAppendStore,
        store: PostgresSessionStore,
        *,
        counter: TokenCounter,
        clock: Clock,
        zone: tzinfo,
        policy: Policy,
        strategy: Strategy,
        record_usage: Callable[[UUID, Usage], None] | None = None,
    ) -> None:
        self.store, self.record_usage = store, record_usage
        self._appending, self._counter, self._clock, self._zone = appending, counter, clock, zone
        self._policy: Policy = policy
        self._strategy: Strategy = strategy
        self._lock = threading.Lock()
        self._known: OrderedDict[UUID, KnownChat] = OrderedDict()

    # ── writing ───────────────────────────────────────────────────────────────────────────────

    def append(self, session: str, given: Iterable[tuple[str, Any]]) -> AppendReport:
        """Store (place, JSON value) messages in order, once each by id, in one transaction; safe to repeat.

        A known id with another text is an edit (H15). A known message without a time keeps its stored time. A person's
        ``/summary`` asks for a fold (H7). Raises NothingRead if every message is rejected.
        """
        now = self._clock.now()
        messages, rejected = parse_many(given, now=now, zone=self._zone)
        if rejected and not messages:
            raise NothingRead(rejected)
        known = self._known_chat(self._named(session))
        report = AppendReport(known.chat, rejected)
        dated_messages, untimed = self._dated(known, messages)
        taken, people = self._taken(known, dated_messages, report)
        done = self._append(known, taken, people, untimed, now)
        if done is None:  # the chat or somebody in it was erased since
            known.is_there = False
            known.people.clear()
            known.last = None
            again = AppendReport(known.chat)
            taken, people = self._taken(known, dated_messages, again)
            report.rejected += [one for one in again.rejected if one.reason == FORGOTTEN]
            done = self._append(known, taken, people, untimed, now)
        if done is None:
            raise SessionUnknown(f"{known.chat.key} is being removed")
        report.counts, report.state, report.next_due_at = done.counts, done.state, done.next_due_at
        self._report_usage(known.chat.id, messages, done.new_ids)
        if any(asks_for_summary(one.message) for one in messages):  # asked again by a repeated append, to no effect
            report.state = self.store.event(known.chat.id, "manual", source=known.chat.source, now=now)
            report.next_due_at = now
        return report

    def _taken(
        self, known: KnownChat, messages: Sequence[NewMessage], report: AppendReport
    ) -> tuple[list[Taken], dict[UUID, Sender]]:
        """As ``taken_of``, without what was forgotten (B3). Right after another append no look is needed:
        an erasure changes the session's version. Raises SessionUnknown for a forgotten chat.
        """
        if known.last is not None:
            return taken_of(known, messages, report)
        forgotten = self._not_forgotten(known.chat, {one.message.sender_external_id or "" for one in messages})
        place, kept = (known.chat.source, known.chat.external_id), list[NewMessage]()
        known.is_thinned = forgotten.is_thinned(*place)
        for one in messages:
            message = one.message
            is_gone = forgotten.has_person(place[0], clean_text(message.sender_external_id or "")) or (
                known.is_thinned and forgotten.has_message(*place, clean_text(message.external_id), message.sent_at)
            )
            if is_gone:
                report.rejected.append(Rejected(message.where, FORGOTTEN))
            else:
                kept.append(one)
        return taken_of(known, kept, report)

    def _not_forgotten(self, chat: SessionChat, people: Iterable[str] = ()) -> Forgotten:
        """What of a chat and these people was forgotten. Raises SessionUnknown if the chat as a whole was."""
        forgotten = self._appending.forgotten(chat, map(clean_text, people))
        if forgotten.has_chat(chat.source, chat.external_id):
            raise SessionUnknown(f"{chat.key} was forgotten on request: nothing of it is taken in")
        return forgotten

    def _dated(self, known: KnownChat, messages: Sequence[NewMessage]) -> tuple[Sequence[NewMessage], frozenset[str]]:
        """The messages, and ids of those without a time; stored times are read only if a sender's name may change."""
        told = {one.message.external_id: one.message for one in messages if one.is_time_told}
        untold = [one.message for one in messages if not one.is_time_told and one.message.external_id not in told]
        if len(told) + len(untold) < len(messages):
            messages = dated(messages, {key: (one.sent_at, one.time_assumed) for key, one in told.items()})
        untimed = frozenset(one.external_id for one in untold)
        if any(map(known.learns_from, untold)):
            messages = dated(messages, self._appending.times(known.chat.id, untimed))
        return messages, untimed

    def _append(
        self,
        known: KnownChat,
        taken: Sequence[Taken],
        people: Mapping[UUID, Sender],
        untimed: frozenset[str],
        now: datetime,
    ) -> Appended | None:
        strangers = [person for person in people.values() if person.is_stranger]
        newcomers = None
        if strangers or not known.is_there:
            newcomers = Newcomers(
                start=self._start(known.chat),
                entities=[entity_of(known.chat.source, person) for person in strangers],
                names={person.id: (person.name_at, person.name) for person in strangers if person.name},
            )
        own = own_of([text for _, text, _, _ in taken], self._appending.served)
        batch = AppendBatch(known.chat, rows_of(taken, self._counter, own), own, now, newcomers, known.last, untimed)
        done = self._appending.append(batch)
        known.last = None if known.is_thinned else done
        if done is not None and newcomers is not None:
            for person in strangers:
                person.is_stored, person.stored = True, newcomers.names.get(person.id, person.stored)
            self._remember(known)
        return done

    def _report_usage(self, session_id: UUID, messages: Sequence[NewMessage], new_ids: frozenset[str] | None) -> None:
        """Only for newly stored messages, so that a repeated append reports nothing twice."""
        if self.record_usage is None:
            return
        for message, usage, _ in messages:
            is_new = new_ids is None or message.external_id in new_ids
            if usage is not None and message.role == "assistant" and is_new:
                self.record_usage(session_id, usage)

    def ensure(self, session: str, *, policy: Policy | None = None, strategy: Strategy | None = None) -> SessionState:
        """The session's state; created if missing, with this policy and strategy (default: the settings')."""
        return self._ensured(self._named(session), policy=policy, strategy=strategy)

    def event(self, session: str, event: SessionEvent) -> dict[str, Any]:
        """H7: request a fold now, whatever the policy. Raises SessionUnknown for a key without a chat."""
        chat, now = self._there(session), self._clock.now()
        if self.store.event(chat.id, event, source=chat.source, now=now) is None:
            self._ensured(chat)
            self.store.event(chat.id, event, source=chat.source, now=now)
        return self._row(chat)

    def set(
        self,
        session: str,
        *,
        policy: Policy | None = None,
        strategy: Strategy | None = None,
        summary_interval: int | None = None,
        label: str | None = None,
    ) -> dict[str, Any]:
        """Change the given settings and recompute the due time. Raises BadRequest.

        ``summary_interval`` 0 restores the default, an empty ``label`` removes it.
        """
        _check(policy, strategy, summary_interval)
        called = None if label is None else shown(label)
        changes = {"policy": policy, "strategy": strategy, "interval": summary_interval, "label": called}
        chat = self._named(session)
        self._ensured(chat)
        self.store.change(chat.id, changes, source=chat.source, now=self._clock.now())
        return self._row(chat)

    # ── reading ───────────────────────────────────────────────────────────────────────────────

    def list(self, *, limit: int = DEFAULT_ROWS, cursor: str | None = None) -> Page:
        """Sessions, latest activity first. Raises BadCursor."""
        found = self.store.page(after=activity_position(cursor), limit=limit + 1)
        return page_of(found, limit, row_json, key=lambda row: (row.state.last_message_at or "", row.state.id))

    def show(self, session: str) -> dict[str, Any]:
        """One session with counters, settings and last messages (H16). Raises SessionUnknown."""
        chat = self._there(session)
        found = self.store.recent(chat.id, limit=RECENT_MESSAGES)
        if found is None:
            raise SessionUnknown(f"{chat.key} is no session yet: append to it or set its policy")
        row, recent = found
        return {**row_json(row), "recent": [message_json(message, chat) for message in recent]}

    def messages(self, session: str, *, limit: int = DEFAULT_ROWS, cursor: str | None = None) -> Page:
        """Messages of any chat with their parts, newest first. Raises SessionUnknown, BadCursor."""
        chat = self._there(session)
        found = self.store.messages(chat.id, before_id=number_position(cursor), limit=limit + 1)
        return page_of(found, limit, lambda one: message_json(one, chat), key=lambda one: (str(one.id), chat.id))

    def sources(self, session: str, fold_id: UUID) -> tuple[dict[str, Any], ...] | None:
        """T6: the messages covered by a fold, archived ones too; None if the session has no such fold."""
        chat = self._there(session)
        found = self.store.sources(chat.id, fold_id)
        return None if found is None else tuple(source_json(one, chat) for one in found)

    def state(self, session: str) -> SessionState | None:
        """The counters, or None if the chat is no session yet. Raises SessionUnknown."""
        return self.store.state(self._there(session).id)

    # ── what this process knows ───────────────────────────────────────────────────────────────

    def _known_chat(self, chat: SessionChat) -> KnownChat:
        with self._lock:
            known = self._known.get(chat.id)
            if known is not None:
                self._known.move_to_end(chat.id)
                return known
        return KnownChat(chat)

    def _named(self, session: str) -> SessionChat:
        """The chat of an id or key; a key's chat need not exist. Raises SessionUnknown."""
        try:
            given = UUID(session)
        except ValueError:
            return _of_key(session)
        with self._lock:
            known = self._known.get(given)
        chat = known.chat if known is not None else self.store.chat(given)
        if chat is None:
            raise SessionUnknown(f"there is no chat {given}")
        return chat

    def _there(self, session: str) -> SessionChat:
        """The chat, which exists. Raises SessionUnknown."""
        chat = self._named(session)
        if self.store.chat(chat.id) is None:
            raise SessionUnknown(f"there is no chat {chat.key}")
        return chat

    def _start(self, chat: SessionChat, policy: Policy | None = None, strategy: Strategy | None = None) -> SessionStart:
        return SessionStart(chat, policy or self._policy, strategy or self._strategy, self._clock.now())

    def _ensured(
        self, chat: SessionChat, policy: Policy | None = None, strategy: Strategy | None = None
    ) -> SessionState:
        self._not_forgotten(chat)
        return self.store.ensure(self._start(chat, policy, strategy))

    def _row(self, chat: SessionChat) -> dict[str, Any]:
        if (found := self.store.recent(chat.id, limit=1)) is None:
            raise SessionUnknown(f"{chat.key} is being removed")
        return row_json(found[0])

    def _remember(self, known: KnownChat) -> None:
        known.is_there = True
        with self._lock:
            self._known[known.chat.id] = known
            self._known.move_to_end(known.chat.id)
            while len(self._known) > KNOWN_CHATS:
                self._known.popitem(last=False)


def _of_key(session: str) -> SessionChat:
    try:
        source, external_id = hashing.parse_chat_key(session)
    except ValueError:
        raise SessionUnknown(
            f"{session[:LONGEST_SHOWN]!r} is neither an id nor a chat key (source:external-id)"
        ) from None
    refusal = key_refusal(source, external_id)
    if clean_text(session) is not session:
        refusal = "it has characters that cannot be stored"
    if refusal is not None:
        raise SessionUnknown(f"{session[:LONGEST_SHOWN]!r} can be no chat: {refusal}")
    return SessionChat(hashing.chat_id(source, external_id), source, external_id)


def _check(policy: str | None, strategy: str | None, summary_interval: int | None) -> None:
    for name, value, allowed in (("policy", policy, get_args(Policy)), ("strategy", strategy, get_args(Strategy))):
        if value is not None and value not in allowed:
            raise BadRequest(name, f"{name} is one of {', '.join(allowed)}")
    if summary_interval is not None and summary_interval != 0 and not 2 <= summary_interval <= LONGEST_INTERVAL:
        raise BadRequest("summary_interval", "summary_interval is at least 2 messages, or 0 for that of the settings")
