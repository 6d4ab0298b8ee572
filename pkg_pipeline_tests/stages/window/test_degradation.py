"""What a session still gives when a part of it is really broken (L10): a warning, less, and never no window.

Broken are a model that is not there or answers with faults, an embedder whose server is gone, a tokenizer that sees
less than half of the tokens.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.thread_replay import MovingClock, opened
from benchmarks.threads import Row, made
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.hashing import chat_id
from pkg_pipeline.memory.window.formats import in_form
from pkg_pipeline.stages.window.stage import WindowResult
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY

SESSION = "made:talk"
ID = chat_id("made", "talk")
SUMMARY = "[Conversation Summary]"


def nobody() -> str:
    """An address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


class Talk:
    """One session, its clock, and a memory that can be closed and opened with other parts."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.rows = list(made(60, tools_every=0).rows)
        self.said = 0

    @contextmanager
    def memory(self, **settings: Any) -> Iterator[tuple[Memory, MovingClock]]:
        memory, clock = opened(self.url, self.folder, **{"embedder": "none", **settings})
        if self.said:
            clock.at = datetime.fromisoformat(self.rows[self.said - 1]["sent_at"])
        try:
            yield memory, clock
        finally:
            memory.close()

    def go_on(self, memory: Memory, clock: MovingClock, messages: int) -> None:
        """Say so many messages more, the last of them the user's."""
        rows = self.rows[self.said : self.said + messages]
        self.said += messages
        clock.at = datetime.fromisoformat(rows[-1]["sent_at"])
        report = memory.sessions.append(SESSION, [(row["id"], row) for row in rows])
        assert not report.rejected

    def look(self, statement: str) -> Sequence[Any]:
        with psycopg.connect(self.url, options="-csearch_path=pkg,public") as connection:
            return connection.execute(statement).fetchone() or ()  # type: ignore[arg-type]


@pytest.fixture
def talk(database_url: str, tmp_path: Path) -> Talk:
    return Talk(database_url, tmp_path)


def paid(url: str, **more: Any) -> dict[str, Any]:
    """Settings of the real adapter, sent there."""
    return {"llm": "anthropic", "anthropic_api_key": KEY, "anthropic_base_url": url, **more}


def text_of(answer: WindowResult) -> str:
    return "\n".join(one.text for one in answer.window.messages)


def assert_serves(answer: WindowResult, asked: Row) -> None:
    """There is a prompt within its budget, and it ends with what the user asked."""
    assert answer.window.tokens <= answer.window.budget.available
    assert answer.messages[-1]["role"] == "user"
    assert asked["text"] in str(answer.messages[-1]["content"])


def refused() -> Iterator[str]:
    yield nobody()


def overloaded() -> Iterator[str]:
    with FakeAnthropic(rules=[Fault(status=529)]) as fake:
        yield fake.url


def garbled() -> Iterator[str]:
    with FakeAnthropic(rules=[Fault(answer="prose")]) as fake:
        yield fake.url


# ── the language model ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("broken", [refused, overloaded, garbled])
def test_without_a_model_the_old_summary_stays(talk: Talk, broken: Callable[[], Iterator[str]]) -> None:
    with talk.memory() as (memory, clock):
        talk.go_on(memory, clock, 31)
        assert memory.folding.fold_due().folds == 1
        before = memory.windows.window(ID, strategy="rolling")
        [running] = talk.look("SELECT running_summary FROM conversation_sessions")
    assert running
    assert running in text_of(before)
    assert before.warnings == ()
    for url in broken():
        with talk.memory(**paid(url)) as (memory, clock):
            talk.go_on(memory, clock, 30)
            clock.at += timedelta(hours=3)
            report = memory.folding.fold_due()
            after = memory.windows.window(ID, strategy="rolling")
    assert report.folds == 0
    assert report.failed + report.deferred >= 1
    assert_serves(after, talk.rows[talk.said - 1])
    assert running in text_of(after)
    assert talk.look("SELECT count(*) FROM session_summaries") == (1,)

    with talk.memory() as (memory, clock):  # the model is there again
        with psycopg.connect(talk.url, options="-csearch_path=pkg,public") as connection:
            connection.execute("UPDATE conversation_sessions SET retry_at = NULL")  # the wait is the database clock's
        assert memory.folding.fold_due().folds >= 1
        healed = memory.windows.window(ID, strategy="rolling")
    assert healed.warnings == ()
    assert healed.window.tokens < after.window.tokens


def test_without_a_model_from_the_start_there_is_no_summary_but_a_window(talk: Talk) -> None:
    with talk.memory(**paid(nobody())) as (memory, clock):
        talk.go_on(memory, clock, 41)
        assert memory.folding.fold_due().folds == 0
        for window, is_everything in ((200_000, True), (1000, False)):
            answer = memory.windows.window(ID, model_window=window, strategy="rolling")
            assert_serves(answer, talk.rows[40])
            assert SUMMARY not in text_of(answer)
            assert (len(answer.window.messages) == 41) == is_everything
            named = {one.reason for one in answer.left_out}
            assert (not named) == is_everything


def test_a_fold_that_failed_is_said_until_one_is_made(talk: Talk) -> None:
    with talk.memory(**paid(nobody())) as (memory, clock):
        talk.go_on(memory, clock, 41)
        assert memory.windows.window(ID, strategy="rolling").warnings == ()
        memory.folding.fold_due()
        [said] = memory.windows.window(ID, strategy="rolling").warnings
    assert "fold failed" in said
    with talk.memory() as (memory, clock):
        assert memory.folding.fold_session(ID).folds >= 1
        assert memory.windows.window(ID, strategy="rolling").warnings == ()


# ── the embedder ─────────────────────────────────────────────────────────────────────────────────


def test_without_an_embedder_words_find_and_no_topic_shifts(talk: Talk) -> None:
    with FakeAnthropic() as fake:
        remote = {"embedder": "openai", "embedding_base_url": f"{fake.url}/v1", "embedding_api_key": KEY,
                  "embedding_model": "text-embedding-3-small"}  # fmt: skip
        with talk.memory(**remote) as (memory, clock):
            talk.go_on(memory, clock, 41)
            assert memory.folding.fold_due().folds >= 1
            memory.build_interactions()
            day = clock.at.date()
            memory.chunks.build((day - timedelta(days=1), day + timedelta(days=1)))
            query = str(talk.rows[2]["text"])
            with_vectors = memory.windows.window(ID, strategy="hybrid", query=query)
    assert with_vectors.recalled
    assert with_vectors.warnings == ()
    remote["embedding_base_url"] = nobody()
    with talk.memory(**remote) as (memory, clock):
        talk.go_on(memory, clock, 10)  # enough for a look at the topics, too little for a fold
        by_words = memory.windows.window(ID, strategy="hybrid", query=query)
        report = memory.folding.fold_due()
    assert by_words.recalled
    assert any("keywords only" in warning for warning in by_words.warnings), by_words.warnings
    assert_serves(by_words, talk.rows[talk.said - 1])
    assert report.folds == report.failed == 0
    assert any("drift" in warning for warning in report.warnings), report.warnings


# ── the tokenizer ────────────────────────────────────────────────────────────────────────────────


class ShortSighted:
    """Sees four tokens of ten."""

    name = "short-sighted"

    def __init__(self) -> None:
        self._true = TiktokenCounter()

    def count(self, text: str) -> int:
        return round(self._true.count(text) * 0.4)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [round(tokens * 0.4) for tokens in self._true.count_many(texts)]


def true_tokens(answer: WindowResult) -> int:
    """What a model would count: the words of all messages."""
    counter = TiktokenCounter()
    return sum(counter.count(str(one["content"])) for one in in_form(answer.window.messages, "openai"))


def test_a_tokenizer_that_sees_too_little_is_put_right_by_one_report(talk: Talk) -> None:
    window, output = 2000, 500
    with talk.memory(enable_summary=False) as (memory, clock):
        memory.counter = ShortSighted()  # type: ignore[misc]
        talk.go_on(memory, clock, 61)
        asked: dict[str, Any] = {"model_window": window, "model": "m-1"}
        first = memory.windows.window(ID, **asked)
        # before any report the margin alone stands against it, and that is too little for 60 %
        assert first.window.budget.calibration == 1.0
        reported = true_tokens(first)
        assert reported > window - output
        talk.rows[talk.said]["usage"] = {"input_tokens": reported, "output_tokens": 40}
        talk.go_on(memory, clock, 2)
        second = memory.windows.window(ID, **asked)
        other = memory.windows.window(ID, model_window=window, model="m-2")
    assert second.window.budget.calibration == pytest.approx(2.5, rel=0.05)
    assert second.window.budget.available < first.window.budget.available / 2.3
    assert_serves(second, talk.rows[talk.said - 1])
    assert true_tokens(second) <= window - output
    assert other.window.budget.calibration == 1.0, "each model counts for itself"
    kept = talk.look("SELECT reported_prompt_tokens, completion_tokens FROM served_windows ORDER BY served_at LIMIT 1")
    assert kept == (reported, 40)


def test_all_of_it_broken_at_once_and_still_a_window(talk: Talk) -> None:
    with talk.memory(**paid(nobody(), embedder="openai", embedding_base_url=nobody(), embedding_api_key=KEY)) as (
        memory,
        clock,
    ):
        memory.counter = ShortSighted()  # type: ignore[misc]
        talk.go_on(memory, clock, 41)
        clock.at += timedelta(hours=3)
        assert memory.folding.fold_due().folds == 0
        for strategy in ("rolling", "retrieval", "hybrid"):
            answer = memory.windows.window(ID, model_window=1500, strategy=strategy)
            assert_serves(answer, talk.rows[40])
