"""The archive's store: monthly partitions, interactions moved out and restored, months dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of
from pkg_pipeline.memory.message.archiving import KEPT_FROM, MARK, HeldBack, Ready
from pkg_pipeline.stages.archive.records import ArchiveAge, KeptMonth, MonthLeft, Moved, Restored, RestoreScope

SQL = Statements("archive")
PARTITION = "archived_messages_{month:%Y_%m}"


class ArchiveBusy(Exception):
    """Other connections use the messages now; the message is one line."""


class PostgresArchiveStore:
    """Every call may be repeated."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    # ── out ───────────────────────────────────────────────────────────────────────────────────

    def unattempted(self, age: ArchiveAge) -> list[date]:
        """Months with interactions old enough that no run has looked at yet."""
        return SQL.values(self._connections, "unattempted", ended_before=age.ended_before)

    def ready(self, month: date, age: ArchiveAge) -> list[Ready]:
        """Interactions of the month with texts to move, oldest first."""
        return SQL.rows(self._connections, "ready", Ready, month=month, **_aged(age))

    def move(self, month: date, batch: Sequence[Ready], age: ArchiveAge) -> Moved:
        """Copy, verify, mark and blank; interactions that are no longer ready stay as they are."""
        given: dict[str, Any] = {
            "month": month,
            "partition": _partition(month),
            "interactions": [one.interaction_id for one in batch],
            "chats": list({one.chat_id for one in batch}),
            "mark": MARK,
            **_aged(age),
        }
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock_month", **given)
            _make_partition(connection, given)
            SQL.run(connection, "lock_chats", **given)
            (copied,) = SQL.rows(connection, "copy", **given)
            if not copied.messages:
                return Moved()
            (gone,) = SQL.rows(connection, "blank", **given)
            wrong = SQL.values(connection, "drop_unverified", **given) if gone.messages < copied.messages else []
            SQL.run(connection, "count_moved", month=month, messages=gone.messages, bytes=gone.bytes)
            SQL.run(connection, "end_holds", **given)
        return Moved(
            interactions=gone.interactions,
            messages=gone.messages,
            bytes=gone.bytes,
            kept_important=copied.kept,
            mismatched=tuple(sorted(wrong)),
        )

    def waiting(self) -> list[date]:
        """Months of which the last run left something."""
        return [date.fromisoformat(key) for key in SQL.values(self._connections, "waiting")]

    def left_of(self, months: Sequence[date], age: ArchiveAge) -> dict[date, MonthLeft]:
        """What each month holds back; months that hold back nothing are missing."""
        after = (age.now - age.ended_before).total_seconds()
        given = {"months": list(months), "minimum": age.minimum_messages, "after": after, **_aged(age)}
        counts: dict[date, dict[HeldBack, int]] = {}
        due = dict[date, Any]()
        for row in SQL.rows(self._connections, "left", **given):
            counts.setdefault(row.month, {})[row.reason] = row.count
            if row.due_at is not None:
                due[row.month] = min(row.due_at, due.get(row.month, row.due_at))
        return {month: MonthLeft(held_back, due.get(month)) for month, held_back in counts.items()}

    def vacuum(self) -> None:
        """Outside of any transaction."""
        SQL.run(self._connections, "vacuum")

    # ── months as wholes ──────────────────────────────────────────────────────────────────────

    def months(self) -> list[KeptMonth]:
        """Oldest first."""
        return SQL.rows(self._connections, "months", KeptMonth)

    def drop(self, month: date) -> int | None:
        """Drop a month and its earlier versions for good; returns how many messages, None while it is being read."""
        given = {"month": month, "partition": _partition(month), "mark": MARK}
        try:
            with transaction(self._connections) as connection:
                SQL.run(connection, "wait_briefly")
                SQL.run(connection, "lock_month_alone", **given)
                dropped = SQL.value(connection, "drop_month", **given)
                connection.execute(SQL.value(connection, "drop_ddl", **given).encode())
        except psycopg.errors.LockNotAvailable:
            return None
        return dropped or 0

    # ── what was deleted ──────────────────────────────────────────────────────────────────────

    def blank_deleted(self, before: datetime, *, limit: int) -> int:
        """Blank text, parts, metadata, copies and revisions of at most ``limit`` deleted messages, in one transaction;
        hashes stay.
        """
        with transaction(self._connections) as connection:
            if ids := SQL.values(connection, "deleted", before=before, limit=limit):
                SQL.run(connection, "lock_chats_of", ids=ids)
                SQL.run(connection, "remove_archived", ids=ids)
                SQL.run(connection, "blank_deleted", ids=ids)
        return len(ids)

    # ── back ──────────────────────────────────────────────────────────────────────────────────

    def archived(self, scope: RestoreScope) -> list[int] | None:
        """Ids of the archived messages, chat by chat; None where the scope does not exist."""
        if scope.month is not None:
            return SQL.values(self._connections, "archived_of_month", month=scope.month)
        if scope.message is not None:
            source, chat, message = scope.message
            found = SQL.rows(self._connections, "archived_message", source=source, chat=chat, message=message)
        elif scope.chat is not None:
            found = SQL.rows(self._connections, "archived_of_chat", source=scope.chat[0], chat=scope.chat[1])
        else:
            found = SQL.rows(self._connections, "archived_of_interaction", interaction=scope.interaction_id)
        return [key for key, is_archived in found if is_archived] if found else None

    def give_back(self, ids: Sequence[int], *, held_until: datetime) -> Restored:
        """Restore texts, delete the copies and hold the interactions; copies with a wrong hash stay."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock_chats_of", ids=list(ids))
            rows = SQL.rows(connection, "give_back", ids=list(ids))
            if not rows:
                return Restored()
            interactions = list({row.interaction_id for row in rows if row.interaction_id is not None})
            SQL.run(connection, "remove_copies", **columns_of(rows, "id", "month"))
            SQL.run(connection, "hold", interactions=interactions, held_until=held_until)
        return Restored(messages=len(rows), bytes=sum(row.bytes for row in rows), interactions=len(interactions))

    def still_archived(self, ids: Sequence[int]) -> tuple[list[int], int]:
        """Which of these have a copy with a wrong hash, and how many have no copy."""
        rows = SQL.rows(self._connections, "still_archived", ids=list(ids))
        return [key for key, has_copy in rows if has_copy], sum(not has_copy for _, has_copy in rows)

    # ── the disk ──────────────────────────────────────────────────────────────────────────────

    def compact(self) -> tuple[int, int]:
        """VACUUM FULL of messages and archive; bytes before and after. Raises ArchiveBusy."""
        with self._connections.connection() as connection:
            before = SQL.value(connection, "sizes")
            try:
                SQL.run(connection, "limit_waiting")
                SQL.run(connection, "compact")
            except psycopg.errors.LockNotAvailable as error:
                raise ArchiveBusy(
                    "somebody else is using the memory; stop dev, serve or run, then try again"
                ) from error
            finally:
                SQL.run(connection, "unlimit_waiting")
            return before, SQL.value(connection, "sizes")


def _make_partition(connection: Connection, given: Mapping[str, Any]) -> None:
    """Concurrent archivers: one creates the table, the others wait and find it."""
    if not SQL.value(connection, "partition_missing", **given):
        return
    SQL.run(connection, "lock_partitions")
    if SQL.value(connection, "partition_missing", **given):
        for step in ("partition_made", "partition_attached"):
            connection.execute(SQL.value(connection, step, **given).encode())


def _aged(age: ArchiveAge) -> dict[str, Any]:
    return {"now": age.now, "ended_before": age.ended_before, "kept_from": KEPT_FROM}


def _partition(month: date) -> str:
    return PARTITION.format(month=month)
