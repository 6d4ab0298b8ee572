"""Threads of a Postgres saver with all messages and their times (L1): a message is dated by the first checkpoint with
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph.message import add_messages

from pkg_pipeline.adapters.langgraph import pruning
from pkg_pipeline.adapters.langgraph.checkpoints import (
    MESSAGES,
    config_of,
    connected,
    id_of,
    is_delta,
    readable,
    saver_on,
)
from pkg_pipeline.adapters.langgraph.conversion import id_of as message_id
from pkg_pipeline.adapters.langgraph.conversion import parts_of, role_of, text_in
from pkg_pipeline.memory.records import ParsedMessage
from pkg_pipeline.stages.ingest.threads import (
    ThreadHistory,
    ThreadState,
    ThreadSummary,
    ThreadUnknown,
    ThreadUnreadable,
)
from pkg_pipeline.stages.sessions.parsing import NAMES

PAGE_CHECKPOINTS = 50
MOST_CHECKPOINTS = 2_000
"""Per thread and import; older messages get the time of the oldest one read."""

_LIST = """
SELECT thread_id, count(*) AS checkpoints, max(checkpoint_id) AS last_id,
       (array_agg(checkpoint->>'ts' ORDER BY checkpoint_id DESC))[1] AS last_at
FROM checkpoints WHERE checkpoint_ns = '' GROUP BY thread_id ORDER BY last_id DESC, thread_id
"""
_DELETED = "SELECT count(*) AS there FROM checkpoints WHERE thread_id = %s"


class PostgresThreads:
    """Implements ``Threads``. Raises ThreadsUnavailable."""

    def __init__(self, url: str) -> None:
        self._url = url

    def list(self) -> list[ThreadSummary]:
        with connected(self._url, readonly=True) as connection:
            saver_on(connection)
            rows = connection.execute(_LIST).fetchall()
        return [ThreadSummary(row["thread_id"], row["checkpoints"], _moment(row["last_at"])) for row in rows]

    def state(self, thread_id: str) -> ThreadState:
        with connected(self._url, readonly=True) as connection:
            saver = saver_on(connection)
            newest = _newest(saver, thread_id)
            return _state(saver, thread_id, newest)[0]

    def history(self, thread_id: str, *, since: str | None) -> ThreadHistory:
        with connected(self._url, readonly=True) as connection:
            saver = saver_on(connection)
            newest = _newest(saver, thread_id)
            state, rejected = _state(saver, thread_id, newest)
            walk = _Walk(thread_id)
            if is_delta(newest):
                walk.add(_at(newest), _delta_messages(saver, newest))
                _date_delta(saver, thread_id, walk)
            else:
                _look_back(saver, thread_id, newest, since, walk)
            return ThreadHistory(state, tuple(walk.told()), tuple(walk.notes), rejected)

    def remove(self, state: ThreadState, message_ids: Sequence[str]) -> bool:
        with connected(self._url, readonly=False) as connection:
            return pruning.remove(saver_on(connection), state.thread_id, state.checkpoint_id, frozenset(message_ids))

    def delete(self, thread_id: str) -> bool:
        with connected(self._url, readonly=False) as connection:
            saver = saver_on(connection)
            found: Any = connection.execute(_DELETED, [thread_id]).fetchone()
            saver.delete_thread(thread_id)
            return bool(found["there"])


# ── one checkpoint ───────────────────────────────────────────────────────────────────────────


def _newest(saver: PostgresSaver, thread_id: str) -> CheckpointTuple:
    with readable():
        found = saver.get_tuple(config_of(thread_id))
    if found is None:
        raise ThreadUnknown(f"there is no thread {thread_id!r}")
    if MESSAGES not in found.checkpoint["channel_versions"] and MESSAGES not in found.checkpoint["channel_values"]:
        raise ThreadUnreadable(f"it has no channel {MESSAGES!r}")
    return found


def _state(
    saver: PostgresSaver, thread_id: str, newest: CheckpointTuple
) -> tuple[ThreadState, tuple[tuple[str, str], ...]]:
    with readable():
        given = _delta_messages(saver, newest) if is_delta(newest) else newest.checkpoint["channel_values"][MESSAGES]
    at, seen = _at(newest), dict[str, int]()
    told = [_told(thread_id, message, at, seen) for message in _messages(given)]
    rejected = tuple(
        (f"message {place}", f"of a kind that is not read ({type(one).__name__})")
        for place, one in enumerate(given, 1)
        if not isinstance(one, BaseMessage) and _as_message(one) is None
    )
    refusal = pruning.refusal(newest, is_complete=not rejected, has_ids=all(has_id for _, has_id in told))
    return ThreadState(thread_id, id_of(newest), at, tuple(message for message, _ in told), refusal), rejected


def _delta_messages(saver: PostgresSaver, found: CheckpointTuple) -> list[Any]:
    """The list rebuilt from differences; missing ids are derived from the position."""
    with readable():
        history: Any = saver.get_delta_channel_history(config=found.config, channels=[MESSAGES])[MESSAGES]
        messages: Any = list(getattr(history.get("seed"), "value", history.get("seed")) or [])
        for place, (task, _, value) in enumerate(history["writes"]):
            added = convert_to_messages(value if isinstance(value, list) else [value])
            for number, message in enumerate(added):
                message.id = message.id or f"{task}-{place}-{number}"
            messages = add_messages(messages, added)  # type: ignore[arg-type]
    return list(messages)


def _messages(given: Any) -> Iterator[BaseMessage]:
    for one in given if isinstance(given, list) else []:
        message = one if isinstance(one, BaseMessage) else _as_message(one)
        if message is not None and not isinstance(message, RemoveMessage):
            yield message


def _as_message(given: Any) -> BaseMessage | None:
    """Graphs may store messages as plain objects."""
    try:
        return convert_to_messages([given])[0]
    except (ValueError, NotImplementedError, TypeError, KeyError, AttributeError):
        return None


def _told(thread_id: str, message: BaseMessage, at: datetime, seen: dict[str, int]) -> tuple[ParsedMessage, bool]:
    """The message as ours, and whether LangChain gave its id."""
    parts, role, (external_id, has_id) = parts_of(message), role_of(message), message_id(message, seen)
    told = ParsedMessage(
        chat_external_id=thread_id,
        external_id=external_id,
        sent_at=at,
        text=text_in(message, parts),
        sender_external_id=role,
        sender_name=NAMES[role],
        is_self=role == "user",
        role=role,
        parts=None if parts is None else list(parts),
        metadata={"name": message.name} if message.name else {},
    )
    return told, has_id


# ── all of them ──────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Walk:
    """Messages from the newest checkpoint back: versions by id, newest first, with position and time."""

    thread_id: str
    versions: dict[str, list[tuple[ParsedMessage, int, datetime]]] = field(
        default_factory=dict[str, list[tuple[ParsedMessage, int, datetime]]]
    )
    notes: list[str] = field(default_factory=list[str])

    def add(self, at: datetime, given: Any) -> None:
        """Add the next older checkpoint."""
        seen = dict[str, int]()
        for place, message in enumerate(_messages(given)):
            told, _ = _told(self.thread_id, message, at, seen)
            known = self.versions.setdefault(told.external_id, [])
            if known and _is_same(known[-1][0], told):
                known[-1] = (told, place, at)
            else:
                known.append((told, place, at))

    def told(self) -> Iterator[ParsedMessage]:
        """In order of arrival; those of one checkpoint in list order, a microsecond apart."""
        first = sorted(self.versions.values(), key=lambda known: (known[-1][2], known[-1][1]))
        last: datetime | None = None
        for known in first:
            came_at = known[-1][2]
            at = came_at if last is None else max(came_at, last + timedelta(microseconds=1))
            last = at
            for number, (message, _, changed_at) in enumerate(reversed(known)):
                yield replace(message, sent_at=at, edited_at=changed_at if number else None)


def _is_same(one: ParsedMessage, other: ParsedMessage) -> bool:
    return (one.text, one.parts, one.role) == (other.text, other.parts, other.role)


def _look_back(saver: PostgresSaver, thread_id: str, newest: CheckpointTuple, since: str | None, walk: _Walk) -> None:
    """From the newest checkpoint back to ``since``, or to one that cannot be read."""
    walk.add(_at(newest), newest.checkpoint["channel_values"][MESSAGES])
    before, looked_at = id_of(newest), 1
    while since is None or before > since:
        try:
            with readable():
                page = list(
                    saver.list(config_of(thread_id), before=config_of(thread_id, before), limit=PAGE_CHECKPOINTS)
                )
        except ThreadUnreadable as error:
            walk.notes.append(f"older checkpoints are passed over: {error}")
            return
        for found in page:
            walk.add(_at(found), found.checkpoint["channel_values"].get(MESSAGES))
            before = id_of(found)
            if since is not None and before <= since:
                return
        looked_at += len(page)
        if len(page) < PAGE_CHECKPOINTS:
            return
        if looked_at >= MOST_CHECKPOINTS:
            walk.notes.append(f"checkpoints before the newest {looked_at:,} were not looked at")
            return


def _date_delta(saver: PostgresSaver, thread_id: str, walk: _Walk) -> None:
    """A difference written at one checkpoint is in the next; dates come from the kept writes."""
    following, before, looked_at = None, None, 0
    while looked_at < MOST_CHECKPOINTS:
        with readable():
            place = None if before is None else config_of(thread_id, before)
            page = list(saver.list(config_of(thread_id), before=place, limit=PAGE_CHECKPOINTS))
        for found in page:
            at = following or _at(found)
            for _, channel, value in found.pending_writes or ():
                if channel == MESSAGES:
                    for one in value if isinstance(value, list) else [value]:
                        known = walk.versions.get(str(getattr(one, "id", None)))
                        if known:
                            known[-1] = (known[-1][0], known[-1][1], at)
            following, before = _at(found), id_of(found)
        looked_at += len(page)
        if len(page) < PAGE_CHECKPOINTS:
            return


def _at(found: CheckpointTuple) -> datetime:
    moment = _moment(found.checkpoint["ts"])
    if moment is None:
        raise ThreadUnreadable("a checkpoint has no time")
    return moment


def _moment(given: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(given or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
