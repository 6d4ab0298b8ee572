"""What was forgotten, and the rows of messages and people, with the statements of ``forgetting.sql``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.rows import scalar_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import SCHEMA, Connection, transaction
from pkg_pipeline.adapters.postgres.ingest.deletions import change
from pkg_pipeline.adapters.postgres.ingest.forgotten import forgotten_in, salt_of
from pkg_pipeline.adapters.postgres.items.fact_rows import forget_facts
from pkg_pipeline.adapters.postgres.items.store import ALL_TALKS, mark, refolded
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.message.attribution import named_in
from pkg_pipeline.memory.message.forgotten import Forgotten, Salted, Tombstone
from pkg_pipeline.stages.archive.forgetting import (
    ErasureKind,
    ErasureUnknown,
    ImportRuns,
    NotForgotten,
    Plan,
    Receipt,
    Residue,
    Surveyed,
)

SQL, ERASING, INGEST = Statements("forgetting"), Statements("erasing"), Statements("ingest")

_MADE = (
    "forget_batched",
    "forget_calls",
    "delete_summaries",
    "delete_attempts",
    "delete_profiles",
    "delete_profile_attempts",
    "delete_receipts",
    "delete_served",
    "delete_holds",
    "mark_people",
)
"""Of ``erasing.sql``: what was made of the conversations."""

_PERSON = (
    "leave_chats",
    "unname_messages",
    "leave_talks",
    "unname_forwards",
    "delete_fact_verdicts_of",
    "delete_facts_of",
    "unname_items",
    "delete_profiles_of",
    "delete_profile_attempts_of",
    "delete_receipts_of",
    "delete_marks_of",
    "delete_identities_of",
    "delete_versions_of",
    "delete_person",
    "delete_organizations",
)


MOST_LOG_FILES = 200
"""Of 16 MB each that a server keeps at most for later."""


class PostgresForgetting:
    """``counters``: of the sessions whose messages go."""

    def __init__(self, connections: ConnectionPool, counters: SessionCounters | None = None) -> None:
        self._connections, self._counters = connections, counters or SessionCounters()

    # ── what is kept out ──────────────────────────────────────────────────────────────────────

    def forgotten(self) -> Forgotten:
        """All tombstones."""
        return forgotten_in(self._connections)

    # ── what is meant ─────────────────────────────────────────────────────────────────────────

    def person(self, person_id: UUID, *, with_mentions: bool) -> Surveyed:
        """Somebody with all their accounts: chats with them alone, what they wrote elsewhere, what is known of them.
        ``with_mentions``: also messages of others that say their name. Raises NotForgotten for oneself.
        """
        known = SQL.one(self._connections, "person", person=person_id)
        if known is None or known.is_self:
            raise NotForgotten("oneself is in every conversation: forget chats, or uninstall the memory")
        people = list(known.accounts)
        chats = SQL.values(self._connections, "own_chats", people=people)
        said = SQL.rows(self._connections, "said_elsewhere", people=people, chats=chats)
        naming = self._naming(people, known.names, chats)
        by_chat: dict[UUID, list[int]] = {}
        for chat, message in sorted({*((row.chat_id, row.id) for row in said), *(naming if with_mentions else ())}):
            by_chat.setdefault(chat, []).append(message)
        plan = Plan("entity", tuple(chats), {chat: tuple(ids) for chat, ids in by_chat.items()}, tuple(people))
        mentions = 0 if with_mentions else len(naming)
        salted = self._salted()
        accounts = SQL.rows(self._connections, "identities", people=people)
        gone = [salted.person(one.source, one.external_id) for one in accounts]
        return self._surveyed(plan, gone, mentions)

    def _naming(self, people: list[UUID], names: Sequence[str], chats: list[UUID]) -> set[tuple[UUID, int]]:
        """(chat, message) of others that say the person's name: in full anywhere, and in groups where the person took
        part also a first name that nobody else there has.
        """
        full = [f"%{_escaped(name)}%" for name in names if name]
        given: dict[str, Any] = {"people": people, "chats": chats}
        named = SQL.rows(self._connections, "naming", naming=full, **given)
        found = {(row.chat_id, row.id) for row in named}
        for chat, rows in groupby(SQL.rows(self._connections, "near", **given), key=lambda row: row.chat_id):
            near = list(rows)
            others = SQL.rows(self._connections, "members", chat=chat, people=people)
            called = {people[0]: names, **{other.entity_id: other.names for other in others}}
            found |= {(chat, near[place].id) for place in named_in([row.text for row in near], called)[people[0]]}
        return found

    def chat(self, kind: ErasureKind, chat_id: UUID) -> Surveyed:
        return self._surveyed(Plan(kind, (self._chat(chat_id).id,)))

    def message(self, chat_id: UUID, external_id: str) -> Surveyed:
        ids = SQL.values(self._connections, "of_key", chat=self._chat(chat_id).id, message=external_id)
        return self._surveyed(Plan("message", messages={chat_id: tuple(ids)} if ids else {}))

    def range(self, chat_id: UUID, from_at: datetime, to_at: datetime) -> Surveyed:
        """Both ends included; what a later import knows of that time is kept out too."""
        chat = self._chat(chat_id)
        ids = SQL.values(self._connections, "in_range", chat=chat_id, from_at=from_at, to_at=to_at)
        span = self._salted().range(chat.source, chat.external_id, from_at, to_at)
        return self._surveyed(Plan("range", messages={chat_id: tuple(ids)} if ids else {}), [span])

    def _chat(self, chat_id: UUID) -> Any:
        chat = SQL.one(self._connections, "chat", chat=chat_id)
        if chat is None:
            raise NotForgotten("there is no such chat in the memory")
        return chat

    def _salted(self) -> Salted:
        return Salted(salt_of(self._connections))

    def _surveyed(self, plan: Plan, tombstones: Sequence[Tombstone] = (), mentions: int = 0) -> Surveyed:
        salted = self._salted()
        given = {"chats": list(plan.chats), "ids": plan.ids}
        keys = SQL.rows(self._connections, "keys", **given)
        whole = [self._chat(chat) for chat in plan.chats]
        kept = [
            *tombstones,
            *(salted.chat(chat.source, chat.external_id) for chat in whole),
            *(salted.message(key.source, key.chat, key.message) for key in keys),
        ]
        (counts,) = SQL.rows(self._connections, "count", **given, people=list(plan.people))
        return Surveyed(plan, counts._asdict(), tuple(kept), mentions)

    # ── the journal ───────────────────────────────────────────────────────────────────────────

    def begin(
        self,
        erasure_id: UUID,
        plan: Plan,
        *,
        counts: Mapping[str, int],
        tombstones: Sequence[Tombstone],
        digest: str,
        by: str,
        at: datetime,
    ) -> UUID:
        """From here on nothing of it comes in. Raises ImportRuns."""
        with transaction(self._connections) as connection:
            INGEST.run(connection, "end_dead_batches")
            SQL.run(connection, "lock_imports")
            if SQL.value(connection, "importing"):
                raise ImportRuns("an import is running; try again when it has ended")
            SQL.run(
                connection,
                "begin",
                id=erasure_id,
                kind=plan.kind,
                plan=json.dumps(plan.to_json()),
                counts=json.dumps(dict(counts)),
                digest=digest,
                by=by,
                at=at,
            )
            columns = {name: [getattr(one, name) for one in tombstones] for name in Tombstone._fields}
            SQL.run(connection, "keep_out", id=erasure_id, **columns)
        return erasure_id

    def unfinished(self) -> list[tuple[Receipt, Plan]]:
        return [
            (_receipt(row, state="running", finished_at=None), Plan.of(row.kind, row.plan))
            for row in SQL.rows(self._connections, "unfinished")
        ]

    def finish(self, erasure_id: UUID, *, counts: Mapping[str, int], at: datetime) -> None:
        SQL.run(self._connections, "finish", id=erasure_id, counts=json.dumps(dict(counts)), at=at)

    def receipts(self) -> list[Receipt]:
        """Newest first."""
        return [_receipt(row, state=row.state, finished_at=row.finished_at) for row in self._rows()]

    def receipt(self, erasure_id: UUID) -> Receipt:
        """Raises ErasureUnknown."""
        row = SQL.one(self._connections, "receipt", id=erasure_id)
        if row is None:
            raise ErasureUnknown(f"there is no receipt {erasure_id}")
        return _receipt(row, state=row.state, finished_at=row.finished_at)

    def lift(self, erasure_id: UUID) -> int:
        """A later import may bring it in again; returns how many tombstones went. Raises ErasureUnknown."""
        self.receipt(erasure_id)
        return SQL.run(self._connections, "lift", id=erasure_id)

    def kept_out(self, erasure_id: UUID) -> int:
        return SQL.value(self._connections, "kept_out", id=erasure_id)

    def _rows(self) -> list[Any]:
        return SQL.rows(self._connections, "receipts")

    # ── erasing ───────────────────────────────────────────────────────────────────────────────

    def erase_messages(self, chat_id: UUID, ids: Sequence[int], *, now: datetime) -> None:
        """Messages, and all that was made of the conversations which hold them, in one transaction; the rest of these
        is marked to be made anew.
        """
        with transaction(self._connections) as connection:
            ERASING.run(connection, "lock_items")
            chat = ERASING.one(connection, "lock_chat", chat=chat_id)
            if chat is None:
                return
            key = hashing.chat_key(chat.source, chat.external_id)
            given: dict[str, Any] = {"chat": chat_id, "ids": list(ids)}
            given["keys"] = SQL.values(connection, "external_ids", ids=given["ids"])
            # conversations that were cut otherwise once may still have summaries
            possible = {hashing.interaction_id(key, one) for one in ERASING.values(connection, "message_keys", **given)}
            former = possible.difference(SQL.values(connection, "standing_talks", chat=chat_id))
            given["interactions"] = sorted(former.union(SQL.values(connection, "talks_of", ids=given["ids"])))
            given["people"] = sorted(ERASING.values(connection, "people", **given))
            given["resting"] = SQL.values(connection, "items_on", chat=chat_id, keys=given["keys"])
            of_talks = SQL.values(connection, "items_of", interactions=given["interactions"])
            given["items"] = sorted({*given["resting"], *of_talks})
            change(connection, [chat_id], given["ids"], [], counters=self._counters, now=now)
            for step in _MADE:
                ERASING.run(connection, step, **given)
            for step in ("delete_readings", "delete_reading_attempts", "delete_fact_verdicts"):
                SQL.run(connection, step, **given)
            refolded(connection, given["items"], after=ALL_TALKS)
            mark(connection, forget_facts(connection, given["interactions"])[1])
            if SQL.run(connection, "empty_folds", **given):
                SQL.run(connection, "empty_session", **given)
                SQL.run(connection, "delete_topics", **given)
            ERASING.run(connection, "delete_versions", **given)
            for step in ("delete_verdicts", "delete_copies", "delete_messages", "mark_chat"):
                SQL.run(connection, step, **given)

    def mark_days(self, chat_id: UUID) -> None:
        """What is left of a chat is summarised and searched anew."""
        SQL.run(self._connections, "mark_days", chat=chat_id)

    def erase_person(self, person_id: UUID) -> None:
        """Who no longer says anything: names, accounts, facts, profiles, and where they took part."""
        with transaction(self._connections) as connection:
            ERASING.run(connection, "lock_selves")
            ERASING.run(connection, "lock_items")
            ERASING.run(connection, "delete_served")
            for step in _PERSON:
                SQL.run(connection, step, person=person_id)

    # ── proof ─────────────────────────────────────────────────────────────────────────────────

    def rows_with(self, word: str) -> Iterator[Residue]:
        """Tables of the whole database with the word in any column, in whatever case."""
        wanted = f"%{_escaped(word)}%"
        with self._connections.connection() as connection:
            for table in SQL.rows(connection, "tables"):
                asked = sql.SQL("SELECT count(*) FROM {} AS t WHERE t::text ILIKE %s OR t::text ILIKE %s").format(
                    sql.Identifier(table.schema, table.name)
                )
                with connection.cursor(row_factory=scalar_row) as cursor:
                    count = cursor.execute(asked, [wanted, f"%{word.encode().hex()}%"]).fetchone()
                if count:
                    yield Residue(f"{table.schema}.{table.name}", count)

    def sweep(self, *, rewrite: bool) -> None:
        """Free what erased rows took: by rewriting the tables without them, or by a plain vacuum. The planner's samples
        of them hold words too, also of a table that is empty now. Then the log of changes begins anew, and where the
        server lets us, its old files are deleted rather than used again.
        """
        with self._connections.connection() as connection:
            owns_server = SQL.value(connection, "owns_server")
            if owns_server:
                SQL.run(connection, "drop_samples", schema=SCHEMA)
            options = sql.SQL("FULL, ANALYZE" if rewrite else "ANALYZE")
            for table in SQL.rows(connection, "tables"):
                if table.schema == SCHEMA:
                    name = sql.Identifier(table.schema, table.name)
                    connection.execute(sql.SQL("VACUUM ({}) {}").format(options, name))
            if owns_server:
                connection.execute("VACUUM (FULL) pg_catalog.pg_statistic")
                _begin_log_anew(connection)


def _begin_log_anew(connection: Connection) -> None:
    """Files that were set aside for later hold old changes too: each round uses one of them up, and it is deleted."""
    connection.execute("ALTER SYSTEM SET wal_recycle = off")
    try:
        connection.execute("SELECT pg_reload_conf()")
        for _ in range(MOST_LOG_FILES):
            for step in ("switch_log", "checkpoint"):
                SQL.run(connection, step)
            if not SQL.value(connection, "log_files_ahead"):
                break
        # what the last checkpoint but one still needed goes with this one
        for step in ("switch_log", "checkpoint"):
            SQL.run(connection, step)
    finally:
        connection.execute("ALTER SYSTEM RESET wal_recycle")
        connection.execute("SELECT pg_reload_conf()")


def _receipt(row: Any, *, state: Any, finished_at: datetime | None) -> Receipt:
    return Receipt(row.id, row.kind, state, row.counts, row.digest, row.requested_by, row.requested_at, finished_at)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
