"""Makes persons of accounts as the standing decisions say, and lets what is derived follow (B20).

Tables of imports stay as they are. Whose something is in readings and pieces is moved at once, chat by chat; everything
else is marked, and made anew from the accounts by the hops that make it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.ingest.names import name_entities
from pkg_pipeline.adapters.postgres.recall.vectors import count_codes
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.people.persons import Decided, Verdict, decided

SQL = Statements("people")

NEVER = datetime(1, 1, 1, tzinfo=UTC)


def hold_items(connection: Connection) -> bool:
    """The lock of items, which is taken before entities; not where nothing was ever decided and nothing follows: an
    append that corrects a message takes it behind its chat. Returns whether something was decided.
    """
    if SQL.value(connection, "is_quiet"):
        return False
    SQL.run(connection, "lock_items")
    return True


def settle(connection: Connection) -> frozenset[UUID]:
    """In the caller's transaction, which holds the lock of the selves. Returns the chats whose people are others now.

    The same again changes nothing.
    """
    if not hold_items(connection):
        return frozenset()
    people = _people(connection)
    accounts = {account: one for one in people for account in one.accounts}
    SQL.run(connection, "lock", accounts=list(accounts))
    moved = SQL.rows(
        connection,
        "point",
        accounts=list(accounts),
        persons=[one.id for one in accounts.values()],
        chosen=[one.name if one.id == account else None for account, one in accounts.items()],
    )
    changed = {account for row in moved for account in (row.id, row.old, row.new)} | _alias(connection, people)
    if not changed:
        return frozenset()
    before = _shown(connection, changed)
    name_entities(connection, dict.fromkeys(changed, (NEVER, "")))
    after = _shown(connection, changed)
    renamed = {account: name for account, name in before.items() if after[account] != name}
    SQL.run(connection, "outdate_summaries", accounts=list(renamed), names=list(renamed.values()))
    chats = SQL.values(connection, "mark_chats", accounts=sorted(changed.union(before)))
    if gone := [(row.id, row.old, row.new) for row in moved if row.old != row.new]:
        _move(connection, gone, chats)
    names = {*before.values(), *after.values(), *(alias for one in people for alias in one.aliases)}
    SQL.run(connection, "mark_readings", people=sorted(changed), names=sorted(name.lower() for name in names))
    return frozenset(chats)


def chats_of(connection: Connection, people: Sequence[UUID]) -> frozenset[UUID]:
    """All chats of these people."""
    return frozenset(SQL.values(connection, "chats", people=list(people)))


def _people(connection: Connection) -> list[Decided]:
    verdicts = SQL.rows(connection, "standing", Verdict)
    named = {one for verdict in verdicts for one in (verdict.entity, verdict.other) if one is not None}
    return decided(verdicts, SQL.values(connection, "selves", ids=sorted(named)))


def _shown(connection: Connection, people: Collection[UUID]) -> dict[UUID, str]:
    """What each of these, and each account of theirs, is called."""
    return {row.id: row.name for row in SQL.rows(connection, "shown_names", people=sorted(people))}


def _alias(connection: Connection, people: Iterable[Decided]) -> frozenset[UUID]:
    """Write the further names; returns whose changed."""
    pairs = [(one.id, name) for one in people for name in one.aliases]
    given = {"people": [person for person, _ in pairs], "names": [name for _, name in pairs]}
    dropped = SQL.values(connection, "drop_aliases", **given)
    return frozenset((*dropped, *SQL.values(connection, "add_aliases", **given)))


def _move(connection: Connection, moved: Collection[tuple[UUID, UUID, UUID]], chats: Collection[UUID]) -> None:
    """``moved``: accounts with whose they were and are; ``chats``: of all these people."""
    accounts, olds, news = (list(column) for column in zip(*moved, strict=True))
    SQL.run(connection, "create_moved", accounts=accounts, olds=olds)
    for pair in SQL.rows(connection, "pairs"):
        SQL.run(connection, "move_in_readings", old=pair.old, new=pair.new)
    SQL.run(connection, "read_again")
    SQL.run(connection, "read_apart", chats=list(chats))
    pieces = SQL.rows(connection, "move_pieces")
    scopes = sorted({*olds, *news})
    if numbers := [piece.no for piece in pieces]:
        SQL.run(connection, "outdate_pieces", interactions=list({piece.interaction_id for piece in pieces}))
        SQL.run(connection, "move_vectors", numbers=numbers)
        codes = Counter(SQL.rows(connection, "copy_codes", numbers=numbers))
        codes.subtract(SQL.rows(connection, "drop_codes", numbers=numbers, scopes=scopes))
        count_codes(connection, codes)
    SQL.run(connection, "move_terms", olds=olds, news=news)
    SQL.run(connection, "drop_terms")
    lost = sorted({old for account, old, _ in moved if account != old})
    SQL.run(connection, "outdate_profiles", people=scopes, accounts=accounts, lost=lost)
    SQL.run(connection, "mark_week")
