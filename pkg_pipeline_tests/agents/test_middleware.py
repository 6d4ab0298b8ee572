"""The middleware in a real agent: every prompt fits, below the budget nothing changes, no memory stops no call."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.agents.middleware import LiveTurnTooLong, MemoryMiddleware, system_tokens, window_messages
from pkg_pipeline.agents.recall_tool import recall_memory
from pkg_pipeline.memory.message.blocks import prompt_text
from pkg_pipeline.stages.ingest.threads import chat_of
from pkg_pipeline_tests.agents.rig import (
    ScriptedModel,
    agent_of,
    filled,
    look_up,
    opened,
    pairs_are_whole,
    place,
    saver_at,
    say,
)

COUNTER = TiktokenCounter()


def tokens_of(shown: list[Any]) -> int:
    """Of a call as the model saw it, the system prompt and the tool's description with it."""
    messages = window_messages(shown[1:])
    return system_tokens(shown[0], [look_up], COUNTER.count_many) + sum(
        COUNTER.count_many([prompt_text(one.text, one.parts) for one in messages])
    )


def test_a_long_conversation_fits_at_every_call(database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path) as memory, saver_at(database_url) as saver:
        model = ScriptedModel(words=6)
        agent = agent_of(saver, model, middleware=[MemoryMiddleware(memory, model_window=1600, output_tokens=300)])
        for number in range(24):
            words = f"Please look up invoice {number}" if number % 3 == 0 else f"And what of invoice {number}?"
            messages = say(agent, "t1", words)
        assert len(model.shown) == 24 + 8
        room = 1600 - 160 - 300
        for number, shown in enumerate(model.shown):
            assert tokens_of(shown) <= room, number
            assert pairs_are_whole(shown[1:])
        assert max(len(shown) for shown in model.shown) < len(messages), "later calls were trimmed"
        assert len(messages) == 24 * 2 + 8 * 2, "the thread keeps everything"
        assert isinstance(model.shown[-1][-1], HumanMessage)
        tools = [one for shown in model.shown for one in shown if isinstance(one, ToolMessage)]
        assert any(str(one.content).endswith("... (truncated)") for one in tools)
        with memory.connections.connection() as connection:
            served = connection.execute(
                "SELECT prompt_tokens, hypothetical_tokens, reported_prompt_tokens, completion_tokens, model"
                " FROM served_windows ORDER BY served_at"
            ).fetchall()
        assert len(served) == len(model.shown)
        assert all(row[2] is not None and row[3] > 0 for row in served), "counted here where the model tells nothing"
        assert {row[4] for row in served} == {None}
        assert served[-1][1] > served[-1][0]


def test_below_the_budget_nothing_is_touched() -> None:
    seen: list[Any] = []
    middleware = MemoryMiddleware(model_window=100_000)

    class Request:
        def __init__(self) -> None:
            self.messages = [HumanMessage("hello"), AIMessage([{"type": "thinking", "thinking": "hm"}, "hi"])]
            self.system_message, self.tools, self.model = None, [], ScriptedModel()

    request: Any = Request()
    before = list(request.messages)
    middleware.wrap_model_call(request, lambda one: seen.append(one) or AIMessage("so"))  # type: ignore[arg-type, return-value]
    assert seen == [request]
    assert all(one is other for one, other in zip(request.messages, before, strict=True))


def test_tier_one_comes_from_the_memory_and_the_tool_finds_the_rest(database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path) as memory, saver_at(database_url) as saver:
        filled(saver, "t2", 40)
        memory.threads.take_in(["t2"])
        memory.build_interactions()
        memory.folding.fold_session(chat_of("t2"))
        today = datetime.now(UTC).date()
        memory.chunks.build((today - timedelta(days=1), today + timedelta(days=1)))
        model = ScriptedModel(words=2, calls="recall_memory")
        tools = [recall_memory(memory)]
        middleware = MemoryMiddleware(memory, model_window=1800, output_tokens=200)
        agent = agent_of(saver, model, middleware=[middleware], tools=tools)
        say(agent, "t2", "Please look up invoice 3 of the harbour")
        first, second = model.shown
        assert str(first[1].content).startswith("[Conversation Summary]\n")
        assert "Use the recall_memory tool" in str(first[1].content)
        assert first[-1].content == "Please look up invoice 3 of the harbour"
        found = second[-1]
        assert isinstance(found, ToolMessage)
        assert "langgraph:t2/t2-" in str(found.content)
        assert "invoice 3" in str(found.content)
        assert pairs_are_whole(first[1:])
        assert pairs_are_whole(second[1:])


def test_a_live_turn_that_is_too_long_is_a_clear_error() -> None:
    agent = agent_of(InMemorySaver(), ScriptedModel(), middleware=[MemoryMiddleware(model_window=400)])
    with pytest.raises(LiveTurnTooLong, match="the live turn takes"):
        say(agent, "t3", "word " * 600)


def test_what_the_model_reports_makes_the_budget_smaller() -> None:
    model = ScriptedModel(words=4, tells_usage=2.0)
    middleware = MemoryMiddleware(model_window=900, output_tokens=100)
    agent = agent_of(InMemorySaver(), model, middleware=[middleware])
    for number in range(14):
        say(agent, "t4", f"What of invoice {number}?")
    factor = middleware._calibrations["scripted-1"].factor
    assert 1.2 < factor <= 3
    assert (
        tokens_of(model.shown[-1]) * factor
        <= 900 - 90 - 100 + system_tokens(model.shown[-1][0], [look_up], COUNTER.count_many) * (factor - 1) + 1
    )


def test_it_works_in_async_and_without_a_memory(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedModel(words=6)
    agent = agent_of(InMemorySaver(), model, middleware=[MemoryMiddleware(model_window=1200, output_tokens=100)])

    async def talk() -> None:
        for number in range(12):
            await agent.ainvoke({"messages": [HumanMessage(f"Please look up invoice {number}")]}, place("t5"))

    asyncio.run(talk())
    assert len(model.shown) == 24
    assert all(tokens_of(shown) <= 1200 - 120 - 100 and pairs_are_whole(shown[1:]) for shown in model.shown)
    assert len(model.shown[-1]) < 40


def test_a_memory_out_of_reach_stops_no_call(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(database_url, tmp_path) as memory:
        model = ScriptedModel(words=6)
        middleware = MemoryMiddleware(memory, model_window=900, output_tokens=100)
        agent = agent_of(InMemorySaver(), model, middleware=[middleware], tools=[look_up, recall_memory(memory)])
        memory.connections.close()
        with caplog.at_level(logging.WARNING):
            for number in range(10):
                say(agent, "t6", f"What of invoice {number}?")
        assert len(model.shown) == 10
        assert "goes without a summary" in caplog.text
        assert "invoice" not in caplog.text
