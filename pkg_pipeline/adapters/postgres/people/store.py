"""A person's decisions about who is who: kept, undone, and in force at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.people.settling import chats_of, settle
from pkg_pipeline.adapters.postgres.statements import Statements, fields_of
from pkg_pipeline.memory.hashing import key_spellings
from pkg_pipeline.memory.people.persons import Verdict
from pkg_pipeline.memory.people.suggestions import KnownPerson
from pkg_pipeline.stages.people.records import Account, Decision, DecisionUnknown, Kept, kind_of

SQL, INGEST = Statements("people"), Statements("ingest")


class PostgresPeopleStore:
    """One decision at a time; imports wait for it, as for an account that becomes oneself."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def decide(
        self, people: Sequence[UUID], verdicts: Callable[[Sequence[Account]], list[Verdict]], *, now: datetime
    ) -> Kept:
        """Keep what ``verdicts`` makes of these people's accounts (the first person's first), and settle it."""
        with transaction(self._connections) as connection:
            INGEST.run(connection, "lock_selves")
            accounts = SQL.rows(connection, "accounts", Account, ids=list(people))
            made, decision = verdicts(accounts), uuid4()
            last = SQL.value(connection, "last_at")
            for one in made:
                last = now if last is None else max(now, last + timedelta(microseconds=1))
                SQL.run(connection, "keep", decision=decision, at=last, **fields_of(one))
            # what a killed process left is finished by the same words again
            chats = settle(connection) or chats_of(connection, people)
        return Kept(decision if made else None, chats)

    def undo(self, decision: UUID, *, now: datetime) -> Kept:
        with transaction(self._connections) as connection:
            INGEST.run(connection, "lock_selves")
            about = SQL.values(connection, "about", decision=decision)
            undone = SQL.run(connection, "undo", decision=decision, at=now)
            chats = settle(connection) or chats_of(connection, about)
        return Kept(decision if undone else None, chats)

    def accounts(self, person: UUID) -> list[Account]:
        """All of the person, the one that stands for them first."""
        return SQL.rows(self._connections, "accounts", Account, ids=[person])

    def accounts_named(self, asked: Sequence[str]) -> list[UUID]:
        """Those of these keys (source:external-id, as given or percent-decoded) and ids that there are."""
        keys = [":".join(spelt) for one in asked for spelt in key_spellings(one)]
        return SQL.values(self._connections, "accounts_named", keys=keys, ids=[one.lower() for one in asked])

    # ── history ───────────────────────────────────────────────────────────────────────────────

    def decisions(self, *, person: UUID | None = None, limit: int) -> list[Decision]:
        """Newest first; None: of everybody."""
        rows = SQL.rows(self._connections, "decisions", decision=None, entity=person, limit=limit)
        return list(map(_decision, rows))

    def decision(self, decision: UUID) -> Decision:
        """Raises DecisionUnknown."""
        rows = SQL.rows(self._connections, "decisions", decision=decision, entity=None, limit=1)
        if not rows:
            raise DecisionUnknown(f"there is no decision {decision}")
        return _decision(rows[0])

    def decisions_between(self, first: UUID, last: UUID) -> list[UUID]:
        """At most two."""
        return SQL.values(self._connections, "decisions_between", first=first, last=last)

    # ── suggestions ───────────────────────────────────────────────────────────────────────────

    def known_people(self) -> list[KnownPerson]:
        """Everybody but oneself."""
        return SQL.rows(self._connections, "candidates", KnownPerson)

    def dismissed(self) -> frozenset[frozenset[UUID]]:
        """Pairs of accounts that are not one."""
        return frozenset(frozenset((row.entity, row.other)) for row in SQL.rows(self._connections, "dismissals"))


def _decision(row: Any) -> Decision:
    about = dict(zip(row.entity_ids, row.called, strict=True))
    about |= {one: name for one, name in zip(row.other_ids, row.others, strict=True) if one is not None}
    kind, accounts = kind_of(tuple(row.actions)), row.accounts or {}
    whom = tuple((one, name, accounts.get(str(one))) for one, name in about.items())
    return Decision(row.id, kind, whom, row.name, row.decided_at, row.undone_at)
