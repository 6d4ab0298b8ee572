"""A database with sessions over it: appended to, imported into, recounted. No expectations are here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.adapters.postgres.sessions.append import PostgresAppendStore
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.adapters.postgres.sessions.store import PostgresSessionStore
from pkg_pipeline.memory.session import triggers
from pkg_pipeline.memory.session.records import SessionState
from pkg_pipeline.stages.sessions.parsing import listed
from pkg_pipeline.stages.sessions.stage import AppendReport, Sessions
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, Rig

CHAT = "jsonl:talk"
RULES = triggers.FoldRules()

RECOUNT = """
    SELECT count(m.id), coalesce(sum(m.token_count), 0), count(m.id) FILTER (WHERE m.id > s.hwm_message_id),
           coalesce(sum(m.token_count) FILTER (WHERE m.id > s.hwm_message_id), 0),
           (array_agg(m.sent_at ORDER BY m.id) FILTER (WHERE m.id > s.hwm_message_id))[1],
           coalesce(max(m.id), 0), (array_agg(m.sent_at ORDER BY m.id DESC))[1],
           (SELECT count(*) FROM session_summaries f WHERE f.session_id = s.id AND f.status = 'dirty')
    FROM conversation_sessions s
    LEFT JOIN messages m ON m.chat_id = s.id AND m.kind = 'message' AND m.deleted_at IS NULL
    WHERE s.id = %s GROUP BY s.id"""


class RigClock:
    """The clock of a rig, which tests set."""

    def __init__(self, rig: SessionRig) -> None:
        self._rig = rig

    def now(self) -> datetime:
        return self._rig.now


class SessionRig(Rig):
    """One database; ``now`` is the memory's clock."""

    def __init__(self, url: str, *, now: datetime = NOW) -> None:
        super().__init__(url)
        self.now = now
        self.counters = SessionCounters(due_at)
        self.store = PostgresIngestStore(self.pool, counters=self.counters, now=lambda: self.now)
        self.session_store = PostgresSessionStore(self.pool, self.counters)
        self.sessions = self.process()

    def process(self) -> Sessions:
        """Sessions as another process would have them: nothing is known yet."""
        return Sessions(
            PostgresAppendStore(self.pool, self.counters),
            self.session_store,
            counter=self.counter,
            clock=RigClock(self),
            zone=UTC,
            policy="hysteresis",
            strategy="hybrid",
        )

    def append(self, *given: Mapping[str, Any], session: str = CHAT, sessions: Sessions | None = None) -> AppendReport:
        return (sessions or self.sessions).append(session, listed(given))

    def state(self, session: str = CHAT) -> SessionState:
        found = self.sessions.state(session)
        assert found is not None
        return found

    def due(self, session: str = CHAT) -> datetime | None:
        return self.value("SELECT next_due_at FROM conversation_sessions WHERE id = %s", self.state(session).id)

    def run(self, statement: str, *parameters: Any) -> None:
        with self.connection() as connection:
            connection.execute(statement, parameters)  # type: ignore[arg-type]

    def recount(self, session_id: UUID) -> tuple[Any, ...]:
        return self.rows(RECOUNT, session_id)[0]

    def fold(self, to: int, *, start: int = 1, session: str = CHAT) -> UUID:
        """A fold over the messages ``start`` to ``to`` of all that arrived, written as its stage leaves it."""
        state = self.state(session)
        rows = self.rows("SELECT id, sent_at FROM messages WHERE chat_id = %s ORDER BY id", state.id)[start - 1 : to]
        found = self.rows(
            "INSERT INTO session_summaries (id, session_id, from_message_id, to_message_id, from_at, to_at, status,"
            " trigger, input_hash, prompt_version, model_version, language, summary, message_ids, message_count,"
            " source_token_count, summary_token_count, cost_usd, generation_seconds)"
            " VALUES (gen_random_uuid(), %s, %s, %s, %s, %s, 'completed', 'turns', 'h', 'p', 'm', 'en', 's', %s, %s,"
            " 1, 1, 0, 0) RETURNING id",
            state.id,
            rows[0][0],
            rows[-1][0],
            rows[0][1],
            rows[-1][1],
            [row[0] for row in rows],
            len(rows),
        )
        self.move(rows[-1][0], session=session)
        return found[0][0]

    def move(self, message_id: int, *, session: str = CHAT) -> None:
        """The high-water mark, as publishing moves it."""
        state = self.state(session)
        self.run("UPDATE conversation_sessions SET hwm_message_id = %s WHERE id = %s", message_id, state.id)
        count = self.recount(state.id)
        self.run(
            "UPDATE conversation_sessions SET messages_since_hwm = %s, tokens_since_hwm = %s, first_since_at = %s,"
            " messages_since_fold = 0, last_fold_at = %s WHERE id = %s",
            count[2],
            count[3],
            count[4],
            self.now,
            state.id,
        )


def due_at(state: SessionState, source: str, now: datetime) -> datetime | None:
    return triggers.due_at(state, RULES, now=now, source=source)


def counted(state: SessionState) -> tuple[Any, ...]:
    """What ``RECOUNT`` counts, as the session says it."""
    return (
        state.message_count,
        state.token_count,
        state.messages_since_hwm,
        state.tokens_since_hwm,
        state.first_since_at,
        state.last_message_id,
        state.last_message_at,
        state.dirty_folds,
    )


def said(number: int | str, text: str | None = None, *, role: str | None = "user", **more: Any) -> dict[str, Any]:
    """One message to append; ``text`` is made up where nothing is given."""
    given: dict[str, Any] = {"id": str(number), "role": role, **more}
    if text is not None or not more.keys() & {"parts", "content"}:
        given["text"] = f"{role} says {number}" if text is None else text
    return given


def turns(numbers: Sequence[int]) -> list[dict[str, Any]]:
    """User and assistant in turn."""
    return [said(number, role="assistant" if number % 2 else "user") for number in numbers]
