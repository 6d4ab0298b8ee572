"""The archive's store: partitions by month, batches of whole interactions moved out and given back, months dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, cast
from uuid import UUID

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.message.archiving import KEPT_FROM, MARK, HeldBack, Ready
from pkg_pipeline.stages.archive.stores import ArchiveAge, KeptMonth, MonthLeft, Moved, Restored, RestoreScope

PARTITION = "archived_messages_{month:%Y_%m}"


class ArchiveBusy(Exception):
    """Somebody reads or writes the messages now; the message is one line."""


class PostgresArchiveStore:
    """Texts out and back, months as wholes; every call may be repeated."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    # ── out ───────────────────────────────────────────────────────────────────────────────────

    def unattempted(self, age: ArchiveAge) -> list[date]:
        """Months with something old enough that no run has looked at yet."""
        return [row[0] for row in self._rows("unattempted", {"ended_before": age.ended_before})]

    def ready(self, month: date, age: ArchiveAge) -> list[Ready]:
        """Interactions of the month with texts to move, oldest first."""
        return [Ready(*row) for row in self._rows("ready", {"month": month, **_aged(age)})]

    def move(self, month: date, batch: Sequence[Ready], age: ArchiveAge) -> Moved:
        """Copy, verify, mark and blank; what is no longer ready stays as it is."""
        given: dict[str, Any] = {
            "month": month,
            "partition": _partition(month),
            "interactions": [one.interaction_id for one in batch],
            "chats": list({one.chat_id for one in batch}),
            "mark": MARK,
            **_aged(age),
        }
        with transaction(self._connections) as connection:
            self._step(connection, "lock_month", given)
            self._make_partition(connection, given)
            self._step(connection, "lock_chats", given)
            copied, kept = self._step(connection, "copy", given).fetchone() or (0, 0)
            if not copied:
                return Moved()
            interactions, messages, size = self._step(connection, "blank", given).fetchone() or (0, 0, 0)
            wrong: list[int] = []
            if messages < copied:
                wrong = [row[0] for row in self._step(connection, "drop_unverified", given)]
            self._step(connection, "count_moved", {"month": month, "messages": messages, "bytes": size})
            self._step(connection, "end_holds", given)
        return Moved(
            interactions=interactions,
            messages=messages,
            bytes=int(size),
            kept_important=kept,
            mismatched=tuple(sorted(wrong)),
        )

    def _make_partition(self, connection: Connection, given: Mapping[str, Any]) -> None:
        """Several archivers may come to a new month at once: one makes its table, the others wait and find it."""
        if not _first(self._step(connection, "partition_missing", given)):
            return
        self._step(connection, "lock_partitions", given)
        if _first(self._step(connection, "partition_missing", given)):
            for step in ("partition_made", "partition_attached"):
                connection.execute(cast(str, _first(self._step(connection, step, given))).encode())

    def waiting(self) -> list[date]:
        """Months of which the last run left something."""
        return [date.fromisoformat(row[0]) for row in self._rows("waiting", {})]

    def left_of(self, months: Sequence[date], age: ArchiveAge) -> dict[date, MonthLeft]:
        """What each of the months holds back; those that hold back nothing are missing."""
        after = (age.now - age.ended_before).total_seconds()
        rows = self._rows(
            "left", {"months": list(months), "minimum": age.minimum_messages, "after": after, **_aged(age)}
        )
        counts: dict[date, dict[HeldBack, int]] = {}
        due: dict[date, datetime] = {}
        for month, reason, count, due_at in rows:
            counts.setdefault(month, {})[reason] = count
            if due_at is not None:
                due[month] = min(due_at, due.get(month, due_at))
        return {month: MonthLeft(held_back, due.get(month)) for month, held_back in counts.items()}

    def vacuum(self) -> None:
        """What was blanked can be written over. Outside of any transaction."""
        with self._connections.connection() as connection:
            connection.execute(query("archive", "vacuum"))

    # ── months as wholes ──────────────────────────────────────────────────────────────────────

    def months(self) -> list[KeptMonth]:
        """All that the archive ever held, oldest first."""
        return [KeptMonth(*row) for row in self._rows("months", {})]

    def drop(self, month: date) -> int | None:
        """Drop a month with its earlier versions, for good; how many messages. None where somebody reads it now."""
        given = {"month": month, "partition": _partition(month), "mark": MARK}
        try:
            with transaction(self._connections) as connection:
                self._step(connection, "wait_briefly", {})
                self._step(connection, "lock_month_alone", given)
                dropped = self._step(connection, "drop_month", given).fetchone()
                connection.execute(cast(str, _first(self._step(connection, "drop_ddl", given))).encode())
        except psycopg.errors.LockNotAvailable:
            return None
        return dropped[0] if dropped else 0

    # ── what was deleted ──────────────────────────────────────────────────────────────────────

    def blank_deleted(self, before: datetime, *, limit: int) -> int:
        """Blank at most ``limit`` of those deleted by then: text, parts, metadata, copies, earlier versions. All else
        of a row stays, and all hashes. One transaction; how many.
        """
        with transaction(self._connections) as connection, connection.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(query("archive", "deleted"), {"before": before, "limit": limit}).fetchall()
            given = {"ids": [row["id"] for row in found]}
            if found:
                self._step(connection, "lock_chats_of", given)
                copies = cursor.execute(query("archive", "where_archived"), given).fetchall()
                gone = {"ids": [row["id"] for row in copies], "months": [row["archived_month"] for row in copies]}
                self._step(connection, "remove_copies", gone)
                self._step(connection, "blank_deleted", given)
        return len(found)

    # ── back ──────────────────────────────────────────────────────────────────────────────────

    def archived(self, scope: RestoreScope) -> list[int] | None:
        """Ids of the archived messages, chat by chat; None where there is no such message, interaction or chat."""
        if scope.month is not None:
            return [row[0] for row in self._rows("archived_of_month", {"month": scope.month})]
        if scope.message is not None:
            source, chat, message = scope.message
            found = self._rows("archived_message", {"source": source, "chat": chat, "message": message})
        elif scope.chat is not None:
            found = self._rows("archived_of_chat", {"source": scope.chat[0], "chat": scope.chat[1]})
        else:
            found = self._rows("archived_of_interaction", {"interaction": scope.interaction_id})
        return [key for key, is_archived in found if is_archived] if found else None

    def give_back(self, ids: Sequence[int], *, held_until: datetime) -> Restored:
        """Texts back into their rows, copies out of the archive, their interactions held; mismatches stay."""
        given: dict[str, Any] = {"ids": list(ids), "held_until": held_until}
        with transaction(self._connections) as connection:
            self._step(connection, "lock_chats_of", given)
            rows = self._step(connection, "give_back", given).fetchall()
            if not rows:
                return Restored()
            interactions: list[UUID] = list({row[2] for row in rows if row[2] is not None})
            gone = {"ids": [row[0] for row in rows], "months": [row[1] for row in rows]}
            self._step(connection, "remove_copies", gone)
            self._step(connection, "hold", {"interactions": interactions, "held_until": held_until})
        return Restored(messages=len(rows), bytes=sum(row[3] for row in rows), interactions=len(interactions))

    def still_archived(self, ids: Sequence[int]) -> tuple[list[int], int]:
        """Of these: those whose copy has not their hash, and how many have no copy any more."""
        rows = self._rows("still_archived", {"ids": list(ids)})
        return [key for key, has_copy in rows if has_copy], sum(not has_copy for _, has_copy in rows)

    # ── the disk ──────────────────────────────────────────────────────────────────────────────

    def compact(self) -> tuple[int, int]:
        """Rewrite messages and archive without their holes: bytes before and after. Nobody else may use them.

        Raises ArchiveBusy.
        """
        with self._connections.connection() as connection:
            before = _first(connection.execute(query("archive", "sizes")))
            try:
                connection.execute(query("archive", "limit_waiting"))
                connection.execute(query("archive", "compact"))
            except psycopg.errors.LockNotAvailable as error:
                raise ArchiveBusy(
                    "somebody else is using the memory; stop dev, serve or run, then try again"
                ) from error
            finally:
                connection.execute(query("archive", "unlimit_waiting"))
            return before, _first(connection.execute(query("archive", "sizes")))

    def _rows(self, name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self._connections.connection() as connection:
            return connection.execute(query("archive", name), parameters).fetchall()

    def _step(self, connection: Connection, name: str, parameters: Mapping[str, Any]) -> psycopg.Cursor[Any]:
        """One statement of a transaction, by its name: where it can be killed, in tests."""
        return connection.execute(query("archive", name), parameters)


def _aged(age: ArchiveAge) -> dict[str, Any]:
    return {"now": age.now, "ended_before": age.ended_before, "kept_from": KEPT_FROM}


def _partition(month: date) -> str:
    return PARTITION.format(month=month)


def _first(cursor: psycopg.Cursor[Any]) -> Any:
    found = cursor.fetchone()
    return found[0] if found else None
