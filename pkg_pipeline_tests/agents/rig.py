"""A real agent of LangChain over a real saver, with a model that says what it is told to; a memory beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row
from pydantic import Field

from pkg_pipeline import wiring
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory


class ScriptedModel(BaseChatModel):
    """Answers by rule: a question with "look up" is answered by a call of the tool first. Keeps what it was shown."""

    shown: list[list[BaseMessage]] = Field(default_factory=list)
    tells_usage: float | None = None
    calls: str = "look_up"
    words: int = 12

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def model(self) -> str:
        return "scripted-1"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        self.shown.append(list(messages))
        last = messages[-1]
        answer = AIMessage(content=f"Answer {len(self.shown)}: " + "we settled the invoices of the yard. " * self.words)
        if isinstance(last, HumanMessage) and "look up" in str(last.content):
            call = {"name": self.calls, "args": {"query": str(last.content)}, "id": f"call_{len(self.shown)}"}
            answer = AIMessage(content="", tool_calls=[call])
        if self.tells_usage is not None:
            told = int(self.tells_usage * sum(len(str(one.content)) for one in messages) / 4) + 1
            answer.usage_metadata = {"input_tokens": told, "output_tokens": 7, "total_tokens": told + 7}
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def look_up(query: str) -> str:
    """Looks something up."""
    return f"Found for {query}: " + "a long row of figures 1 2 3 4 5. " * 30


@contextmanager
def opened(database_url: str, folder: Any, **given: Any) -> Iterator[Memory]:
    settings = Settings.model_validate(
        {
            "home": folder,
            "database_url": database_url,
            "llm": "offline",
            "embedder": "none",
            "langgraph_url": database_url,
        }
        | given
    )
    with wiring.open_memory(settings) as memory:
        yield memory


@contextmanager
def saver_at(database_url: str) -> Iterator[PostgresSaver]:
    """As its user sets it up."""
    with psycopg.connect(database_url, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
        saver = PostgresSaver(connection)  # type: ignore[arg-type]
        saver.setup()
        yield saver


def agent_of(
    saver: Any, model: BaseChatModel, *, middleware: Sequence[Any] = (), tools: Sequence[Any] = (look_up,)
) -> Any:
    return create_agent(
        model, tools=list(tools), middleware=list(middleware), checkpointer=saver, system_prompt="Be brief."
    )


def place(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


def say(agent: Any, thread_id: str, words: str) -> list[BaseMessage]:
    return agent.invoke({"messages": [HumanMessage(words)]}, place(thread_id))["messages"]


def filled(saver: Any, thread_id: str, turns: int, *, word: str = "harbour", every: int = 5) -> Any:
    """A thread of so many turns, put in by a few updates of a real agent's state; tools are called now and then."""
    agent = agent_of(saver, ScriptedModel())
    for start in range(0, turns, 20):
        batch: list[BaseMessage] = []
        for number in range(start, min(start + 20, turns)):
            batch.append(
                HumanMessage(
                    f"Question {number}: what about the {word} and invoice {number}?", id=f"{thread_id}-h{number}"
                )
            )
            if number % every == 0:
                call = {"name": "look_up", "args": {"query": f"invoice {number}"}, "id": f"c{number}"}
                batch.append(AIMessage("", tool_calls=[call], id=f"{thread_id}-c{number}"))
                batch.append(
                    ToolMessage(f"invoice {number}: 40 euros", tool_call_id=f"c{number}", id=f"{thread_id}-t{number}")
                )
            batch.append(
                AIMessage(
                    f"Reply {number}: we agreed to pay invoice {number} of the {word} by Friday, {number * 10} euros.",
                    id=f"{thread_id}-a{number}",
                )
            )
        agent.update_state(place(thread_id), {"messages": batch}, as_node="model")
    return agent


def pairs_are_whole(messages: Sequence[BaseMessage]) -> bool:
    """Every result right behind its call, every call with its result."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
        elif waiting:
            return False
        elif isinstance(message, AIMessage):
            waiting = [str(call["id"]) for call in message.tool_calls]
    return not waiting
