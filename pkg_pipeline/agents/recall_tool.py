"""The ``recall_memory`` tool: searches parts of the thread no longer in the prompt (L7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from pkg_pipeline.agents.thread_memory import running_thread, session_key
from pkg_pipeline.memory import hashing
from pkg_pipeline.stages.reads.stores import BadRequest, ChatUnknown, StoreUnavailable
from pkg_pipeline.stages.recall.stage import MOST_TOP_K, RecallResult

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

NOTHING = "Nothing about that is in the memory of this conversation."
NO_THREAD = "There is no memory here: this run belongs to no thread."
OUT_OF_REACH = "The memory cannot be asked right now. Answer without it."

_SAID = """Search what was said earlier in this conversation and is no longer in front of you. Give a question or key
words, and one of the recallable topics to narrow it. Returns the pieces that fit with dates and message keys."""


class RecallArguments(BaseModel):
    """What a model may ask."""

    query: str = Field(description="A question or key words.")
    topic: str | None = Field(default=None, description="One of the recallable topics, to narrow the search.")
    top_k: int = Field(default=5, ge=1, le=MOST_TOP_K, description="The most pieces to return.")


def recall_memory(memory: Memory) -> BaseTool:
    """The tool over an open memory; it searches only the calling run's thread."""

    def recall_memory(query: str, config: RunnableConfig, topic: str | None = None, top_k: int = 5) -> str:
        thread_id = running_thread(config)
        if thread_id is None:
            return NO_THREAD
        return recalled(memory, thread_id, query, topic=topic, top_k=top_k)

    return StructuredTool.from_function(
        recall_memory, name="recall_memory", description=_SAID, args_schema=RecallArguments
    )


def recalled(memory: Memory, thread_id: str, query: str, *, topic: str | None = None, top_k: int = 5) -> str:
    """Results for ``query`` in a thread, as text for a model. Never raises for a model's arguments (L10)."""
    try:
        answer = memory.recall.search(
            query,
            chat_id=hashing.chat_id_of(session_key(thread_id)),
            topics=() if topic is None else (topic,),
            top_k=top_k,
        )
    except ChatUnknown:
        return NOTHING
    except BadRequest as error:
        return str(error)
    except StoreUnavailable:
        return OUT_OF_REACH
    said = _said(answer)
    memory.recall.served(said)
    return said


def _said(answer: RecallResult) -> str:
    if not answer.block.lines:
        return NOTHING
    in_time = sorted(answer.block.lines, key=lambda line: line.ranked.candidate.at)
    pieces: list[str] = []
    for line in in_time:
        one = line.ranked.candidate
        speaker = f" {one.speaker}" if one.speaker else ""
        keys = f" [{', '.join(one.message_ids)}]" if one.message_ids else ""
        pieces.append(f"- {one.at:%Y-%m-%d %H:%M}{speaker}: {line.text}{keys}")
    return "\n".join([*pieces, *(f"({warning})" for warning in answer.warnings)])
