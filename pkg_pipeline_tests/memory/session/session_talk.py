"""Sessions for tests: a conversation written in short, a state of counters at a minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pkg_pipeline.memory.session.records import Policy, SessionEvent, SessionMessage, SessionState

START = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
SESSION = UUID(int=7)


def talk(script: str) -> list[SessionMessage]:
    """One message a word, from id 1 on.

    u user, a assistant, s system, v service entry, p a person without a role; c12 the assistant calls tools 1 and 2,
    r1 a tool message with the result of 1, R12 both results under the user's role, x1 the user brings result 1 and
    speaks, b1 the assistant's message holds call 1 and its result, k1 a call from nobody's role.
    """
    return [_message(number, word) for number, word in enumerate(script.split(), start=1)]


def _message(number: int, word: str) -> SessionMessage:
    letter, keys = word[0], word[1:]
    calls: list[dict[str, Any]] = [{"type": "tool_use", "id": key, "name": "look", "input": {}} for key in keys]
    results: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": key, "content": "found"} for key in keys]
    words: list[dict[str, Any]] = [{"type": "text", "text": "so"}]
    parts = {"c": calls, "k": calls, "r": results, "R": results, "x": results + words, "b": calls + results + words}
    roles = {"u": "user", "a": "assistant", "s": "system", "c": "assistant", "r": "tool", "R": "user", "x": "user"}
    return SessionMessage(
        id=number,
        external_id=f"m{number}",
        sent_at=START + timedelta(seconds=number),
        text=f"word {number}",
        role={**roles, "b": "assistant"}.get(letter),  # type: ignore[arg-type]
        kind="service" if letter == "v" else "message",
        parts=tuple(parts[letter]) if letter in parts else None,
        content_hash=f"{number:064x}",
        token_count=10,
    )


def state(
    messages: int = 0,
    tokens: int = 0,
    minutes: float | None = None,
    *,
    policy: Policy = "hysteresis",
    covered: int = 0,
    event: SessionEvent | None = None,
    folded_seconds_ago: float | None = None,
    since_fold: int | None = None,
    since_look: int | None = None,
    now: datetime = START,
    interval: int | None = None,
) -> SessionState:
    """Counters since the HWM at ``now``; ``minutes`` ago the first of them was said; ``covered`` lie before the HWM."""
    return SessionState(
        id=SESSION,
        policy=policy,
        strategy="hybrid",
        summary_interval=interval,
        hwm_message_id=covered,
        last_message_id=covered + messages,
        message_count=covered + messages,
        token_count=tokens,
        messages_since_hwm=messages,
        tokens_since_hwm=tokens,
        first_since_at=None if minutes is None else now - timedelta(minutes=minutes),
        last_message_at=now,
        messages_since_fold=messages if since_fold is None else since_fold,
        messages_since_look=messages if since_look is None else since_look,
        last_fold_at=None if folded_seconds_ago is None else now - timedelta(seconds=folded_seconds_ago),
        event=event,
    )
