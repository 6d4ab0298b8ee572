"""The sessions' part of the composition root: appending and reading, with the policies of the settings in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.sessions.append import PostgresAppendStore
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.adapters.postgres.sessions.store import PostgresSessionStore
from pkg_pipeline.memory.records import Rejected
from pkg_pipeline.memory.session import triggers
from pkg_pipeline.memory.session.records import Policy, SessionEvent, SessionState, Strategy
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, Page
from pkg_pipeline.stages.sessions.stage import AppendReport, NewMessage, Sessions, parse_many
from pkg_pipeline.wiring.embedders import embedder_name
from pkg_pipeline.wiring.fold_rules import fold_rules

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


class SessionWork:
    """What ``Memory`` does with sessions; ``now`` is the memory's clock where nothing else is given.

    ``session`` is an id or a chat key. See ``stages.sessions`` for what each does and raises.
    """

    def __init__(self, memory: Memory, *, appending: ConnectionPool | None = None) -> None:
        """``appending``: connections for that alone, where many append all the time."""
        self._memory = memory
        self._rules = fold_rules(memory.settings)
        self._has_embedder = embedder_name(memory.settings) is not None
        self.counters = SessionCounters(self.due_at)
        self.store = PostgresSessionStore(memory.connections, self.counters)
        self.sessions = Sessions(
            PostgresAppendStore(appending or memory.connections, self.counters),
            self.store,
            counter=memory.counter,
            policy=memory.settings.session_policy,
            strategy=memory.settings.session_strategy,
            record_usage=lambda session_id, usage: memory.windows.reported(session_id, usage),
        )

    def due_at(self, state: SessionState, source: str, now: datetime) -> datetime | None:
        """When the policy of a session is asked next."""
        return triggers.due_at(state, self._rules, now=now, has_embedder=self._has_embedder, source=source)

    def parse(self, given: Sequence[tuple[str, Any]]) -> tuple[list[NewMessage], list[Rejected]]:
        """Messages of (where, JSON value) pairs, and what of them is refused."""
        return parse_many(given, now=self._memory.clock.now(), zone=self._memory.settings.zone)

    def append(
        self,
        session: str,
        messages: Sequence[NewMessage],
        *,
        now: datetime | None = None,
        rejected: Sequence[Rejected] = (),
    ) -> AppendReport:
        report = self.sessions.append(session, messages, now=self._at(now), rejected=rejected)
        if report.counts.deleted:
            self._memory.archive.blank_deleted()
        return report

    def append_json(self, session: str, given: Sequence[tuple[str, Any]]) -> AppendReport:
        """Parse and append in one: what a program or a file of lines sends."""
        messages, rejected = self.parse(given)
        return self.append(session, messages, rejected=rejected)

    def ensure(
        self,
        session: str,
        *,
        policy: Policy | None = None,
        strategy: Strategy | None = None,
        now: datetime | None = None,
    ) -> SessionState:
        return self.sessions.ensure(session, policy=policy, strategy=strategy, now=self._at(now))

    def event(self, session: str, event: SessionEvent, *, now: datetime | None = None) -> SessionState:
        return self.sessions.event(session, event, now=self._at(now))

    def set(
        self,
        session: str,
        *,
        policy: Policy | None = None,
        strategy: Strategy | None = None,
        summary_interval: int | None = None,
        label: str | None = None,
        now: datetime | None = None,
    ) -> SessionState:
        return self.sessions.set(
            session,
            policy=policy,
            strategy=strategy,
            summary_interval=summary_interval,
            label=label,
            now=self._at(now),
        )

    def list(self, *, limit: int = DEFAULT_ROWS, cursor: str | None = None) -> Page:
        return self.sessions.list(limit=limit, cursor=cursor)

    def show(self, session: str) -> Mapping[str, Any]:
        return self.sessions.show(session)

    def messages(self, session: str, *, limit: int = DEFAULT_ROWS, cursor: str | None = None) -> Page:
        return self.sessions.messages(session, limit=limit, cursor=cursor)

    def sources(self, session: str, fold_id: UUID) -> tuple[dict[str, Any], ...] | None:
        return self.sessions.sources(session, fold_id)

    def state(self, session: str) -> SessionState | None:
        return self.sessions.state(session)

    def _at(self, now: datetime | None) -> datetime:
        return self._memory.clock.now() if now is None else now
