"""Threads played into a real memory, a window before every answer: what each prompt holds, how often it is folded.

A small part of the real threads; the whole of them is played by the benchmark ``sessions_savings``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import psycopg
import pytest

from benchmarks.thread_replay import Played, Replay, opened, wrong_pairs
from benchmarks.threads import Thread, made, threads
from pkg_pipeline.memory.session.records import Policy, Strategy

PARTS = {"chatgpt": 42, "claude": 24, "irc": 50, "locomo": 40}
"""So many messages of each real thread."""

Play = Callable[..., Played]
Looked = list[tuple[Any, ...]]


@pytest.fixture
def play(database_url: str, tmp_path: Path) -> Iterator[Play]:
    """Plays a thread; vectors are not needed for it."""
    memory, clock = opened(database_url, tmp_path, embedder="none")

    def played(thread: Thread, *, strategy: Strategy = "hybrid", policy: Policy = "hysteresis", window: int = 8000,
               **options: Any) -> Played:  # fmt: skip
        replay = Replay(memory, clock, database_url, strategy=strategy, policy=policy, model_window=window)
        try:
            return replay.play(thread, **options)
        finally:
            replay.close()

    yield played
    memory.close()


def looked(database_url: str, statement: str) -> Looked:
    with psycopg.connect(database_url, options="-csearch_path=pkg,public") as connection:
        return connection.execute(statement).fetchall()  # type: ignore[arg-type]


def assert_covered_once(database_url: str) -> None:
    """Every message up to the HWM is in exactly one fold, none behind it; the counters are those of a recount."""
    wrong = looked(
        database_url,
        """WITH covered AS (SELECT f.session_id, unnest(f.message_ids) id FROM session_summaries f
                            WHERE f.status <> 'superseded')
           SELECT s.id, m.id, count(c.id) FROM conversation_sessions s JOIN messages m ON m.chat_id = s.id
           LEFT JOIN covered c ON c.id = m.id AND c.session_id = s.id
           GROUP BY s.id, m.id HAVING count(c.id) <> (CASE WHEN m.id <= s.hwm_message_id THEN 1 ELSE 0 END)""",
    )
    assert wrong == []
    counted = looked(
        database_url,
        """SELECT s.message_count, s.token_count, s.messages_since_hwm, s.tokens_since_hwm,
                  count(*), sum(m.token_count), count(*) FILTER (WHERE m.id > s.hwm_message_id),
                  coalesce(sum(m.token_count) FILTER (WHERE m.id > s.hwm_message_id), 0)
           FROM conversation_sessions s JOIN messages m ON m.chat_id = s.id
           WHERE m.kind = 'message' AND m.deleted_at IS NULL GROUP BY s.id""",
    )
    assert counted
    assert all(row[:4] == row[4:] for row in counted)


@pytest.mark.shared
@pytest.mark.parametrize(("window", "strategy"), [(8000, "hybrid"), (2000, "rolling")])
def test_real_threads_keep_every_promise_at_every_turn(
    play: Play, database_url: str, shared_folder: Path, window: int, strategy: Strategy
) -> None:
    found = [
        play(Thread(one.source, one.external_id, one.rows[: PARTS[one.source]]), window=window, strategy=strategy)
        for one in threads(shared_folder / "samples", shared_folder / "eval" / "locomo_dev.json")
    ]
    assert [(one.thread, one.broken) for one in found if one.broken] == []
    assert len(found) == 8
    assert all(one.turns > 0 for one in found)
    assert sum(one.folds for one in found) >= 10
    assert sum(one.prompt_tokens for one in found) < sum(one.hypothetical_tokens for one in found)
    assert_covered_once(database_url)


@pytest.mark.parametrize("policy", [one for one in get_args(Policy) if one != "thread_size"])
def test_a_thread_is_folded_as_seldom_as_its_policy_says(play: Play, database_url: str, policy: Policy) -> None:
    thread = made(55)
    found = play(thread, policy=policy, every=5)
    assert found.broken == []
    assert found.folds > 0
    [(messages, tokens)] = looked(database_url, "SELECT message_count, token_count FROM conversation_sessions")
    minutes = 55 + 24 * 60  # a turn a minute, and the day after the last one
    most = {
        # H2, H3: 20 messages or 2,000 tokens, or 120 minutes; what the last turn left counts for the next fold too
        "hysteresis": messages / 16 + tokens / 1600 + minutes / 120,
        # W3: windows of 12 before the tail of 40, or what there is every 900 s
        "sliding": (messages - 40) / 12 + 1 + minutes / 15,
        # T1: every 20; a turn of up to 4 messages may stay for the next one
        "interval": messages / 16,
    }[policy]
    assert found.folds <= most
    assert found.folds <= {"hysteresis": 8, "sliding": 8, "interval": 8}[policy], "of about 125 messages"
    assert found.most_unfolded <= {"hysteresis": 24, "sliding": 40 + 12, "interval": 24}[policy]
    assert_covered_once(database_url)


def test_a_tight_window_drops_no_live_turn_and_breaks_no_pair(play: Play) -> None:
    """600 tokens: 390 are left for messages, less than what is not folded yet."""
    found = play(made(30, tools_every=3), window=600)
    assert found.broken == []
    assert found.turns > 25
    assert found.prompt_tokens / found.turns <= 390


def test_thinking_long_results_and_a_call_without_an_end(play: Play) -> None:
    """An agent thinks, gets a long result, once never gets any, and people write on while it works."""
    rows: list[dict[str, Any]] = []

    def add(role: str, *parts: dict[str, Any]) -> None:
        minute = len(rows)
        rows.append(
            {"id": f"{minute}", "role": role, "parts": list(parts), "sent_at": f"2026-01-05T09:{minute:02}:00Z"}
        )

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    def call(name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": name, "name": "search", "input": {"query": name}}

    def result(name: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": name, "content": f"Found for {name}: " + "a line of words " * 200}

    for turn in range(8):
        add("user", text(f"What does part {turn} of the contract with the harbour say?"))
        if turn % 2:
            add("assistant", {"type": "thinking", "thinking": "I should search for it.", "signature": "s"},
                call(f"c{turn}"), call(f"d{turn}"))  # fmt: skip
            if turn != 5:
                add("user", result(f"c{turn}"), result(f"d{turn}"))
            else:
                add("user", text("Are you still there?"))
        add("assistant", text(f"Part {turn} says that the harbour pays the yard for the work of that month."))
    for window in (8000, 1200):
        assert play(Thread("agent", f"w{window}", tuple(rows)), window=window).broken == []


@pytest.mark.parametrize(
    ("messages", "problems"),
    [
        ([{"role": "user", "content": "hello"}], 0),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
          {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}], 0),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}], 1),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}], 1),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}, {"role": "user", "content": "well"}], 1),
    ],
)  # fmt: skip
def test_the_checker_of_pairs_sees_what_is_wrong(messages: list[dict[str, Any]], problems: int) -> None:
    assert len(wrong_pairs(messages)) == problems
