"""LangChain's many ways of writing a message, as the memory's blocks, and shortened back."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from pkg_pipeline.adapters.langgraph.conversion import id_of, parts_of, role_of, shortened, text_in
from pkg_pipeline.memory.message.blocks import checked_parts
from pkg_pipeline.memory.window.records import Shown

CALL: Any = {"name": "find", "args": {"q": "x"}, "id": "c1"}
USE = {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "x"}}


@pytest.mark.parametrize(
    ("message", "role", "text", "parts"),
    [
        (HumanMessage("hello"), "user", "hello", None),
        (SystemMessage("be brief"), "system", "be brief", None),
        (ChatMessage("note", role="developer"), "system", "note", None),
        (AIMessage("", tool_calls=[CALL]), "assistant", "", (USE,)),
        (
            AIMessage([{"type": "thinking", "thinking": "hm"}, "yes", USE], tool_calls=[CALL]),
            "assistant",
            "yes",
            ({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}, USE),
        ),
        (
            AIMessage([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "because"}]}, "so"]),
            "assistant",
            "so",
            ({"type": "thinking", "thinking": "because"}, {"type": "text", "text": "so"}),
        ),
        (
            AIMessage("so", additional_kwargs={"reasoning_content": "because"}),
            "assistant",
            "so",
            ({"type": "thinking", "thinking": "because"}, {"type": "text", "text": "so"}),
        ),
        (
            ToolMessage("42", tool_call_id="c1", status="error"),
            "tool",
            "42",
            ({"type": "tool_result", "tool_use_id": "c1", "content": "42", "is_error": True},),
        ),
        (
            HumanMessage([{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "look"}]),
            "user",
            "look",
            ({"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "look"}),
        ),
        (HumanMessage([{"odd": {1}}]), "user", "", ({"type": "other", "value": {"odd": "{1}"}},)),
    ],
)  # fmt: skip
def test_a_message_as_blocks(message: BaseMessage, role: str, text: str, parts: Any) -> None:
    found = parts_of(message)
    assert found == parts
    assert (role_of(message), text_in(message, found)) == (role, text)
    if found is not None:
        assert checked_parts(found) == list(found)


def test_a_message_without_an_id_gets_one_of_its_words() -> None:
    seen: dict[str, int] = {}
    first, second = id_of(HumanMessage("ok"), seen), id_of(HumanMessage("ok"), seen)
    assert first[0] != second[0]
    assert not first[1]
    assert id_of(HumanMessage("ok"), {}) == first
    assert id_of(HumanMessage("ok", id="m1"), seen) == ("m1", True)


def shown(message: BaseMessage, *parts: dict[str, Any], text: str = "") -> Shown:
    return Shown("0", role_of(message), text, parts or None, "condensed", 1, is_changed=True)


def test_shortening_takes_out_what_the_window_left_out() -> None:
    thought = AIMessage(
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}, USE], tool_calls=[CALL], id="a"
    )
    short = shortened(thought, shown(thought, {"type": "text", "text": "yes"}, USE, text="yes"))
    assert short.content == [{"type": "text", "text": "yes"}, USE]
    assert (short.id, short.tool_calls) == ("a", thought.tool_calls)  # type: ignore[attr-defined]
    alone = shortened(thought, shown(thought, {"type": "text", "text": "yes"}, text="yes"))
    assert (alone.content, alone.tool_calls) == ([{"type": "text", "text": "yes"}], [])  # type: ignore[attr-defined]
    result = ToolMessage("x" * 500, tool_call_id="c1", name="find")
    cut = {"type": "tool_result", "tool_use_id": "c1", "content": "x... (truncated)"}
    assert shortened(result, shown(result, cut)).content == "x... (truncated)"
    assert len(str(result.content)) == 500, "what the thread keeps is not touched"
    kwargs = AIMessage("so", additional_kwargs={"reasoning_content": "because", "other": 1})
    assert shortened(kwargs, shown(kwargs, {"type": "text", "text": "so"})).additional_kwargs == {"other": 1}
