"""A session rig that serves windows; a token is a word. No expectations are here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.sessions.window import PostgresServedWindows, PostgresWindowStore
from pkg_pipeline.stages.window.records import (
    Recalled,
    RecalledPiece,
    Recaller,
    RecallQuestion,
    WindowQuery,
    WindowRows,
)
from pkg_pipeline.stages.window.stage import WindowParts, WindowRequest, WindowResult, WindowSettings, window
from pkg_pipeline_tests.stages.sessions.session_rig import SessionRig

SETTINGS = WindowSettings(context_window=8_000, margin_percent=0, output_tokens=0)


class WordCounter:
    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


class WatchedStore(PostgresWindowStore):
    """Windows read over connections that cannot write; remembers what was asked."""

    def __init__(self, connections: ConnectionPool) -> None:
        super().__init__(connections)
        self.asked: list[WindowQuery] = []

    def read_window(self, query: WindowQuery) -> WindowRows | None:
        self.asked.append(query)
        return super().read_window(query)


class WindowRig(SessionRig):
    """One database, windows of its sessions."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.reads = engine.pool(url, size=1, readonly=True)
        self.windows = WatchedStore(self.reads)
        self.served = PostgresServedWindows(self.pool, price=lambda model, given, out: 0.5 if model == "m" else None)

    def close(self) -> None:
        self.reads.close()
        super().close()

    def parts(self, *, settings: WindowSettings = SETTINGS, recall: Recaller | None = None) -> WindowParts:
        return WindowParts(self.windows, WordCounter(), settings, recall, self.served)

    def window(
        self, *, settings: WindowSettings = SETTINGS, recall: Recaller | None = None, **request: Any
    ) -> WindowResult:
        asked = WindowRequest(session_id=self.id(), now=self.now, **request)
        return window(self.parts(settings=settings, recall=recall), asked)

    def id(self) -> UUID:
        return self.state().id

    def settle(self, **columns: Any) -> None:
        """Columns of the session, as other stages leave them."""
        names = ", ".join(f"{name} = %s" for name in columns)
        self.run(f"UPDATE conversation_sessions SET {names} WHERE id = %s", *columns.values(), self.id())

    def told(self, fold: UUID, summary: str, **columns: Any) -> None:
        names = ", ".join(f"{name} = %s" for name in ("summary", *columns))
        self.run(f"UPDATE session_summaries SET {names} WHERE id = %s", summary, *columns.values(), fold)

    def topic(self, topic: str, mentions: int, day: int) -> None:
        self.run(
            "INSERT INTO memory_topics VALUES (%s, %s, %s, make_timestamptz(2026, 1, %s, 0, 0, 0, 'UTC'))",
            self.id(), topic, mentions, day,
        )  # fmt: skip


def external(keys: Sequence[str]) -> list[str]:
    """The external ids of message keys."""
    return [key.rpartition("/")[2] for key in keys]


def shown(answer: WindowResult) -> list[str]:
    return external([one.key for one in answer.window.messages if one.key is not None])


class Recall:
    """Recall that answers with what it is given, or fails."""

    def __init__(self, *pieces: RecalledPiece, warnings: Sequence[str] = (), error: Exception | None = None) -> None:
        self.asked: list[RecallQuestion] = []
        self._pieces, self._warnings, self._error = pieces, tuple(warnings), error

    def __call__(self, question: RecallQuestion) -> Recalled:
        self.asked.append(question)
        if self._error is not None:
            raise self._error
        return Recalled(tuple(self._pieces), self._warnings)


def piece(text: str, *message_ids: str, subject_id: UUID | None = None) -> RecalledPiece:
    return RecalledPiece(uuid4(), text, tuple(f"jsonl:talk/{one}" for one in message_ids), subject_id)
