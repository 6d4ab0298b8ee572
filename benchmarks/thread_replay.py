"""A thread played into a memory: appended message by message, folded when it is due, a window served at every turn.

The memory's clock follows the messages, so that what is due between two of them is folded between them. Every window
is checked; what breaks a promise is told by name, never by what was said. Which threads there are is ``threads``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.threads import Row, Thread
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.memory.hashing import chat_id, parse_message_key
from pkg_pipeline.memory.session.records import Policy, Strategy
from pkg_pipeline.memory.window.records import LiveTurnTooLong
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.window.records import WindowResult
from pkg_pipeline.wiring import Memory

INDEXED_DAYS = 40
START = datetime(2020, 1, 1, tzinfo=UTC)


class MovingClock:
    """The memory's clock, set by who plays."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at


@dataclass(slots=True)
class Played:
    """What became of a thread. ``broken`` names each promise that a window broke, with the message before it.

    ``too_long`` counts turns that were refused because what the user said alone is more than the budget.
    """

    thread: str
    messages: int = 0
    folds: int = 0
    turns: int = 0
    prompt_tokens: int = 0
    hypothetical_tokens: int = 0
    most_unfolded: int = 0
    too_long: int = 0
    warnings: set[str] = field(default_factory=set[str])
    broken: list[str] = field(default_factory=list[str])

    @property
    def mean_prompt(self) -> float:
        return self.prompt_tokens / max(self.turns, 1)

    @property
    def mean_hypothetical(self) -> float:
        return self.hypothetical_tokens / max(self.turns, 1)

    @property
    def saved_percent(self) -> float:
        return 100 * (1 - self.prompt_tokens / self.hypothetical_tokens) if self.hypothetical_tokens else 0.0

    @property
    def folds_per_hundred(self) -> float:
        return 100 * self.folds / max(self.messages, 1)


def opened(url: str, folder: Path, **settings: Any) -> tuple[Memory, MovingClock]:
    """A memory over a migrated database with the offline model. Close it."""
    clock = MovingClock()
    given = Settings.model_validate({"home": folder / "home", "llm": "offline", "receipts": False, **settings})
    return Memory(given, url=url, connections=engine.pool(url, size=4), clock=clock), clock


class Replay:
    """One thread in one memory. ``url`` is for looking past the memory at what is stored."""

    def __init__(
        self, memory: Memory, clock: MovingClock, url: str, *, strategy: Strategy, policy: Policy, model_window: int
    ) -> None:
        self._memory, self._clock = memory, clock
        self._looks = psycopg.connect(url, autocommit=True, options="-csearch_path=pkg,public")
        self._strategy, self._policy, self._model_window = strategy, policy, model_window

    def close(self) -> None:
        self._looks.close()

    def play(self, thread: Thread, *, every: int = 1, index_every: int = 0) -> Played:
        """All messages of ``thread``; a window before every ``every``th answer, or where nobody answers message.

        ``index_every``: after so many messages what is folded becomes searchable; 0 never.
        """
        played, session = Played(thread.key), chat_id(thread.source, thread.external_id)
        memory, turn = self._memory, 0
        self._clock.at = datetime.fromisoformat(thread.rows[0]["sent_at"])
        memory.sessions.ensure(thread.key, policy=self._policy, strategy=self._strategy)
        has_roles = any(row.get("role") == "assistant" for row in thread.rows)
        for place, row in enumerate(thread.rows):
            answers = row["role"] == "assistant" and place > 0 if has_roles else place > 0
            if answers and thread.rows[place - 1].get("role") != "assistant":
                turn += 1
                if turn % every == 0:
                    self._served(session, played, thread.rows[:place])
            self._until(session, datetime.fromisoformat(row["sent_at"]), played)
            report = memory.sessions.append(thread.key, [(f"message {place}", row)])
            assert not report.rejected, report.rejected[0].reason
            played.messages += 1
            if index_every and played.messages % index_every == 0:
                self._index()
        self._until(session, self._clock.at + timedelta(days=1), played)
        return played

    def _index(self) -> None:
        """Interactions and chunks of the days that something was said on, as the pipeline makes them."""
        self._memory.build_interactions()
        today = self._clock.at.date()
        self._memory.chunks.build((today - timedelta(days=INDEXED_DAYS), today + timedelta(days=1)))

    def _until(self, session: UUID, moment: datetime, played: Played) -> None:
        """Fold what falls due by then, at the time at which it does."""
        while (due := self._due(session)) is not None and due <= moment:
            self._clock.at = max(self._clock.at, due)
            report = self._memory.folding.fold_due()
            played.folds += report.folds
            played.warnings.update(report.warnings)
            if self._due(session) == due:
                played.broken.append(f"it stays due at {due.isoformat()}")
                break
        self._clock.at = max(self._clock.at, moment)

    def _due(self, session: UUID) -> datetime | None:
        found = self._looks.execute("SELECT next_due_at FROM conversation_sessions WHERE id = %s", (session,))
        row = found.fetchone()
        return None if row is None else row[0]

    def _served(self, session: UUID, played: Played, said: Sequence[Row]) -> None:
        try:
            answer = self._memory.windows.window(session, model_window=self._model_window)
        except LiveTurnTooLong as error:
            played.too_long += 1
            if error.tokens <= error.available:
                played.broken.append(f"before message {len(said)}: refused though it fits")
            return
        played.turns += 1
        played.prompt_tokens += answer.window.tokens
        played.hypothetical_tokens += answer.hypothetical_tokens
        played.warnings.update(answer.warnings)
        unfolded = self._unfolded(session)
        played.most_unfolded = max(played.most_unfolded, len(unfolded))
        played.broken += [f"before message {len(said)}: {one}" for one in self._broken(answer, said, unfolded)]

    def _unfolded(self, session: UUID) -> list[str]:
        """External ids of live messages that no fold covers, oldest first."""
        found = self._looks.execute(
            "SELECT m.external_id FROM messages m JOIN conversation_sessions s ON s.id = m.chat_id"
            " WHERE m.chat_id = %s AND m.id > s.hwm_message_id AND m.kind = 'message' AND m.deleted_at IS NULL"
            " ORDER BY m.id",
            (session,),
        )
        return [external_id for (external_id,) in found.fetchall()]

    def _broken(self, answer: WindowResult, said: Sequence[Row], unfolded: Sequence[str]) -> list[str]:
        budget, window = answer.window.budget, answer.window
        shown = [_external(one.key) for one in window.messages if one.key is not None]
        named = {_external(one.id) for one in answer.left_out if one.kind == "message" and one.id is not None}
        limit = self._memory.settings.raw_history_limit
        found: list[str] = []
        if window.tokens > budget.available:
            found.append(f"{window.tokens} tokens are more than {budget.available}")
        if window.tokens != sum(one.tokens for one in window.messages):
            found.append("its tokens are not the sum of its messages'")
        if (live := _last_asked(said)) is not None and live not in shown:
            found.append("the last user turn is missing")
        if lost := [one for one in unfolded[-limit:] if one not in named and one not in shown]:
            found.append(f"{len(lost)} messages that no fold covers are neither there nor named as left out")
        if len(shown) != len(set(shown)):
            found.append("a message stands there twice")
        return found + wrong_pairs(answer.messages)


def wrong_pairs(messages: Sequence[dict[str, Any]]) -> list[str]:
    """What Anthropic's API would refuse: a call without its result right behind it, a result without its call."""
    found: list[str] = []
    open_calls: set[str] = set()
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = {one["tool_use_id"] for one in blocks if one["type"] == "tool_result"}
        if results - open_calls:
            found.append("a tool's result has no call before it")
        if open_calls - results:
            found.append("a tool call has no result behind it")
        open_calls = {one["id"] for one in blocks if one["type"] == "tool_use"}
    if open_calls:
        found.append("the prompt ends with a tool call")
    return found


def _last_asked(said: Sequence[Row]) -> str | None:
    """The external id of the user's last words; where nobody has a role, of the last message."""
    if not any(row.get("role") for row in said):
        return said[-1]["id"]
    asked = (row for row in reversed(said) if row.get("role") == "user" and not _is_result(row))
    return next((row["id"] for row in asked), None)


def _is_result(row: Row) -> bool:
    return any(part["type"] == "tool_result" for part in row.get("parts") or ())


def _external(key: str) -> str:
    return parse_message_key(key).message_external_id
