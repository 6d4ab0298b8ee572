"""The items stage's store: due talks, what they are shown, readings and the items that follow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.items.fact_rows import Known as FactOwner
from pkg_pipeline.adapters.postgres.items.fact_rows import save_facts, settle_facts
from pkg_pipeline.adapters.postgres.items.folding import Folded, refold
from pkg_pipeline.adapters.postgres.json_rows import record_of, rows_of
from pkg_pipeline.adapters.postgres.llm.leases import Leasing
from pkg_pipeline.adapters.postgres.profiles.marks import mark_newest_week
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.adapters.postgres.summaries.sources import inputs_of, pages_of
from pkg_pipeline.memory.items.fact_rules import ConfirmRules
from pkg_pipeline.memory.items.records import ShownItem, TalkReading
from pkg_pipeline.memory.items.shown import SETTLED_WITHIN, SILENT_WITHIN, SPOKEN_WITHIN, Known, choose
from pkg_pipeline.memory.items.states import TalkKey
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.stages.items.stores import MEMORY, Due, DueTalk, Pass, PendingItems, ReadingRow, Saved
from pkg_pipeline.stages.llm.stores import Failure

SQL, ITEMS, VERDICTS = Statements("readings"), Statements("items"), Statements("fact_verdicts")


ALL_TALKS: TalkKey = (datetime.min.replace(tzinfo=UTC), MEMORY)


class PassLost(Exception):
    """Another pass took the lease over; nothing was saved."""


class PostgresItemStore(Leasing):
    """``timezone`` resolves words such as "tomorrow"; ``fact_rules``: which facts are confirmed unasked (B2)."""

    _lease_kind = "items"

    def __init__(self, connections: ConnectionPool, *, timezone: str, fact_rules: ConfirmRules) -> None:
        self._connections = connections
        self._timezone = timezone
        self._fact_rules = fact_rules

    def begin(self, *, holder: str, lease_seconds: float) -> Pass | None:
        """None: another pass is under way."""
        tokens = self.take(self._connections, [MEMORY], holder=holder, lease_seconds=lease_seconds)
        return Pass(tokens[MEMORY]) if tokens else None

    def due(
        self, due: Due, *, after: TalkKey | None = None, only: Collection[UUID] | None = None, limit: int
    ) -> list[DueTalk]:
        """Talks to read in time order, those put off among them."""
        given = {
            **_given(due),
            "after_at": None if after is None else after[0],
            "after": None if after is None else after[1],
            "ids": None if only is None else list(only),
            "limit": limit,
        }
        return SQL.rows(self._connections, "due", DueTalk, **given)

    def pending(self, due: Due) -> PendingItems:
        found = SQL.one(self._connections, "waiting", PendingItems, **_given(due))
        assert found is not None, "an aggregate always gives a row"
        return found

    def revive(self, due: Due) -> int:
        """What was given up under another prompt or model is due again (P19); returns how many."""
        return SQL.run(self._connections, "revive", prompt_version=due.prompt_version, model=due.model)

    def interrupted(self, batches: Sequence[Sequence[DueTalk]]) -> frozenset[UUID]:
        """First talks of those batches between whose talks another one with their people was read before."""
        return frozenset(
            batch[0].id
            for batch in batches
            if SQL.value(
                self._connections,
                "interrupted",
                people=list({person for talk in batch for person in talk.people}),
                chat=batch[0].chat_id,
                ids=[talk.id for talk in batch],
                from_at=batch[0].ended_at,
                to_at=batch[-1].ended_at,
            )
        )

    def pages(self, source: SummaryInput, chat_id: UUID) -> Iterator[list[SourceMessage]]:
        """All messages of a long talk."""
        return pages_of(self._connections, source, chat_id)

    @contextmanager
    def work(self, held: Pass) -> Iterator[ItemWork]:
        """One transaction of a pass. Raises ``PassLost``."""
        with transaction(self._connections) as connection:
            if not self.holds(connection, held):
                raise PassLost
            ITEMS.run(connection, "lock")
            ITEMS.run(connection, "by_index")
            work = ItemWork(connection, timezone=self._timezone, fact_rules=self._fact_rules)
            yield work
            work.finish()


class ItemWork:
    """What a pass does in one transaction."""

    def __init__(self, connection: Connection, *, timezone: str, fact_rules: ConfirmRules) -> None:
        self._connection = connection
        self._timezone = timezone
        self._fact_rules = fact_rules
        self._touched: frozenset[UUID] = frozenset()

    def talks(self, talks: Sequence[DueTalk]) -> dict[UUID, SummaryInput]:
        """Their messages and people; long ones without messages."""
        return inputs_of(self._connection, talks, timezone=self._timezone)

    def shown(self, talk: DueTalk, *, with_silent: bool = False) -> tuple[ShownItem, ...]:
        """The items that a reading of the talk is shown: as they stood before it; ``with_silent``: and the silent ones
        of its chat.
        """
        given = {
            "people": list(talk.people),
            "chat": talk.chat_id,
            "ended_at": talk.ended_at,
            "id": talk.id,
            "spoken_within": SPOKEN_WITHIN,
            "settled_within": 2 * SETTLED_WITHIN,
        }
        known = SQL.rows(self._connection, "shown", _known, **given)
        if not with_silent:
            return choose(known, talk.ended_at)
        where = {name: given[name] for name in ("chat", "ended_at", "id")} | {"silent_within": SILENT_WITHIN}
        make = partial(ShownItem, ref="", kind="action_item", status="open")
        return choose(known, talk.ended_at, SQL.rows(self._connection, "silent", make, **where))

    def checked(self, talks: Sequence[DueTalk]) -> None:
        """Their readings stand: they were shown what they would be shown now."""
        SQL.run(self._connection, "checked", ids=[talk.id for talk in talks])

    def save(self, row: ReadingRow, due: Due) -> Saved:
        """A reading, and what follows from it for items and facts."""
        before = SQL.value(self._connection, "save", **_row(row, due)) or ()
        SQL.run(self._connection, "settle_edits", chats=[row.talk.chat_id])
        self._state(row.reading, row.talk.id, row.talk.chat_id)
        saved = self.settled(refold(self._connection, row.reading.item_ids.union(before)), after=row.talk.key)
        if not row.reading.silent and row.reading.item_ids.issuperset(before):
            return saved
        later = uncheck(self._connection, (), [row.talk.chat_id], after=row.talk.key)
        return replace(saved, unchecked=tuple(dict.fromkeys((*saved.unchecked, *later))))

    def _state(self, reading: TalkReading, interaction: UUID, chat: UUID) -> None:
        """What a conversation states of people."""
        given = {"interaction": interaction, "chat": chat, "rules": self._fact_rules}
        self._touched |= save_facts(self._connection, reading.facts, **given)

    def catch_up(self) -> Saved:
        """Follow the conversations: those that vanished, became empty or are of chats now left out say nothing any
        more; those that end at another time are folded there; what is said by others, or of others, is theirs. Facts
        that a person added are there.
        """
        unmade = VERDICTS.values(self._connection, "unmade")
        self._touched |= settle_facts(self._connection, [FactOwner(person, None, None) for person in unmade])
        SQL.run(self._connection, "drop_unwanted")
        items = set(SQL.values(self._connection, "orphans"))
        for row in SQL.rows(self._connection, "move"):
            items |= {*row.item_ids}
            uncheck(self._connection, row.people, [row.chat_id], after=(row.ended_at, MEMORY))
        marks = SQL.rows(self._connection, "regrouped")
        SQL.run(self._connection, "uncheck", ids=[mark.interaction_id for mark in marks])
        SQL.run(self._connection, "drop_marks", ids=[key for mark in marks for key in mark.ids])
        items |= {item for mark in marks for item in mark.item_ids or ()}
        for mark in marks:
            if mark.content is not None:
                self._state(record_of(TalkReading, mark.content), mark.interaction_id, mark.chat_id)
        return self.settled(refold(self._connection, items))

    def fail(self, talks: Sequence[DueTalk], failure: Failure, due: Due) -> int:
        """Record an attempt at each talk (P19), or put them off if it does not count; returns how many are given up."""
        attempts = [talk.attempts + failure.counts for talk in talks]
        states = ["failed" if tried >= due.attempt_limit else "waiting" for tried in attempts]
        if failure.counts or failure.retry_after_seconds > 0:
            SQL.run(
                self._connection,
                "attempt",
                id=[talk.id for talk in talks],
                input_hash=[talk.input_hash for talk in talks],
                attempts=attempts,
                deferrals=[0 if failure.counts else talk.deferrals + 1 for talk in talks],
                state=states,
                prompt_version=due.prompt_version,
                model=due.model,
                retry_after=failure.retry_after_seconds,
                error=failure.error[:1000],
            )
        return states.count("failed")

    def finish(self) -> None:
        """Marks what the changed items mean for others: what is searched by day, and the newest profiles."""
        if self._touched:
            mark(self._connection, self._touched)

    def settled(self, folded: Folded, *, after: TalkKey | None = None) -> Saved:
        """``after``: later talks are to be compared; None: those after the beginning of the changed items."""
        if folded.first_at is None:
            return Saved()
        self._touched |= folded.interactions
        unchecked = uncheck(self._connection, folded.people, folded.chats, after=after or (folded.first_at, MEMORY))
        return Saved(folded.new, folded.changed, tuple(unchecked))


def refolded(connection: Connection, ids: Collection[UUID], *, after: TalkKey) -> Saved:
    """Items after a person decided something about them, in the caller's transaction."""
    work = ItemWork(connection, timezone="UTC", fact_rules=ConfirmRules(1.0))
    saved = work.settled(refold(connection, ids), after=after)
    work.finish()
    return saved


def mark(connection: Connection, interactions: Collection[UUID]) -> None:
    ITEMS.run(connection, "mark_days", ids=list(interactions))
    mark_newest_week(connection, list(interactions), reason="items changed", of_items=True)


def uncheck(connection: Connection, people: Collection[UUID], chats: Collection[UUID], *, after: TalkKey) -> list[UUID]:
    """Later readings of talks with these people, or in these chats, are to be compared; returns the talks."""
    given = {"people": list(people), "chats": list(chats), "ended_at": after[0], "id": after[1]}
    return SQL.values(connection, "uncheck_later", **given)


def _given(due: Due) -> dict[str, Any]:
    return {
        "now": due.now,
        "gap": due.gap_seconds,
        "prompt_version": due.prompt_version,
        "model": due.model,
        "schema": due.schema_version,
        "is_free": due.is_free,
        "stale": due.stale,
    }


def _known(*, at: Any, importance: Any, **columns: Any) -> Known:
    return Known(ShownItem(ref="", **columns), at, importance)


def _row(row: ReadingRow, due: Due) -> dict[str, Any]:
    (content,) = rows_of([row.reading])
    return {
        "interaction": row.talk.id,
        "ended_at": row.talk.ended_at,
        "input_hash": row.talk.input_hash,
        "shown_hash": row.shown_hash,
        "prompt_version": due.prompt_version,
        "model": due.model,
        "schema": due.schema_version,
        "content": Jsonb(content),
        "item_ids": sorted(row.reading.item_ids),
        "quarantined": Jsonb([asdict(entry) for entry in row.dropped]),
        "cost_usd": row.cost_usd,
    }
