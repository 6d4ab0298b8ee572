"""Windows as the libraries take them: validated by their own types, and by the rules that no type can tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage, convert_to_messages
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from pkg_pipeline.memory.window.formats import in_form
from pkg_pipeline.memory.window.groups import condensed
from pkg_pipeline.memory.window.records import Budget, LiveTurnTooLong, WindowHistory, WindowMessage, WindowRules
from pkg_pipeline.memory.window.rendering import OPENING, Form, prepared
from pkg_pipeline.memory.window.selection import assemble
from pkg_pipeline_tests.memory.window.histories import call, count_many, histories, of_parts, result, said, thought

ANTHROPIC = TypeAdapter(list[MessageParam])
OPENAI = TypeAdapter(list[ChatCompletionMessageParam])
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}


def shown(
    messages: Sequence[WindowMessage], form: Form, *, available: int = 10_000
) -> tuple[list[dict[str, Any]], int]:
    rules = WindowRules(opening=OPENING if form == "anthropic" else "")
    history = WindowHistory(tuple(prepared(message, form) for message in messages))
    window = assemble(history, Budget(available, 0, 0, 0, available), rules, count_many)
    return in_form(window.messages, form), window.tokens


THREAD = (
    WindowMessage("s", "system", "Be brief."),
    WindowMessage("u", "user", "What is it?"),
    of_parts(
        "a", "assistant", {**thought(2), "cache_control": None}, {**thought(9), "signature": ""}, said(1), call("x:1")
    ),
    of_parts("r", "tool", {**result("x:1", ""), "content": [said(2), PICTURE], "is_error": True}),
    of_parts("p", "user", {**said(3), "citations": []}, PICTURE, {"type": "token_budget"}),
    WindowMessage("e", "assistant", "So."),
)
EXPECTED: dict[Form, list[dict[str, Any]]] = {
    "anthropic": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "[System] Be brief."}, {"type": "text", "text": "What is it?"}],
        },
        {"role": "assistant", "content": [thought(2), said(1), call("x_1")]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "x_1", "content": [said(2), PICTURE], "is_error": True},
                said(3),
                PICTURE,
                {"type": "text", "text": "[token_budget]"},
            ],
        },
        {"role": "assistant", "content": "So."},
    ],
    "openai": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is it?"},
        {
            "role": "assistant",
            "content": "w",
            "tool_calls": [{"id": "x:1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "x:1", "content": "w w\n[image]"},
        {
            "role": "user",
            "content": [
                said(3),
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                {"type": "text", "text": "[token_budget]"},
            ],
        },
        {"role": "assistant", "content": "So."},
    ],
    "langchain": [
        {"type": "system", "content": "Be brief.", "id": "s"},
        {"type": "human", "content": "What is it?", "id": "u"},
        {
            "type": "ai",
            "content": [thought(2), said(1)],
            "id": "a",
            "tool_calls": [{"name": "look", "args": {}, "id": "x:1", "type": "tool_call"}],
        },
        {"type": "tool", "content": "w w\n[image]", "tool_call_id": "x:1", "id": "r"},
        {
            "type": "human",
            "content": [
                said(3),
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                {"type": "text", "text": "[token_budget]"},
            ],
            "id": "p",
        },
        {"type": "ai", "content": "So.", "id": "e"},
    ],
}


@pytest.mark.parametrize("form", list(EXPECTED))
def test_a_thread_in_each_form(form: Form) -> None:
    messages, _ = shown(THREAD, form)
    assert messages == EXPECTED[form]
    check(messages, form)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (WindowMessage("k", None, "hello", sender_name="Ann"), "Ann: hello"),
        (WindowMessage("k", None, "hello"), "hello"),
        (WindowMessage("k", "tool", "42", sender_name="browser"), "[Tool: browser] 42"),
        (WindowMessage("k", None, "hello", sender_name="Ann", is_self=True), "Ann (me): hello"),
        (WindowMessage("k", "tool", "42"), "[Tool] 42"),
    ],
)
def test_what_no_library_has_a_role_for_is_the_users(message: WindowMessage, text: str) -> None:
    for form in EXPECTED:
        (found,), tokens = shown([message], form)
        assert (found.get("role", "user"), found["content"]) == ("user", text)
        assert tokens == len(text.split()), "what is said in a form is what is counted"


def test_results_follow_their_call_whatever_came_between() -> None:
    messages = (
        WindowMessage("u", "user", "go"),
        of_parts("a1", "assistant", call("1")),
        of_parts("a2", "assistant", call("2")),
        of_parts("r2", "tool", result("2", "two")),
        WindowMessage("n", "user", "hurry"),
        of_parts("r1", "user", result("1", "one"), said(1)),
    )
    found, _ = shown(messages, "openai")
    assert [one.get("tool_call_id") or one["content"] for one in found] == ["go", None, "1", None, "2", "hurry", "w"]
    for form in EXPECTED:
        check(shown(messages, form)[0], form)


def test_condensing() -> None:
    """L6: 200 characters of a result and its mark; people and system whole; calls stay."""
    parts = [thought(5), said(2), call("c"), result("c", "x" * 201), result("d", "y" * 200)]
    short = condensed("assistant", "", parts, tool_max=200)
    assert short.parts == (said(2), call("c"), result("c", "x" * 200 + "... (truncated)"), result("d", "y" * 200))
    assert short.changes == ("thinking removed", "tool result cut")
    for role in ("user", "system", "assistant", None):
        assert condensed(role, "x" * 900, None, tool_max=200).changes == ()
    assert condensed("tool", "x" * 900, None, tool_max=200).text == "x" * 200 + "... (truncated)"
    mixed = {"type": "tool_result", "tool_use_id": "c", "content": [said(1), PICTURE, {"type": "text", "text": "end"}]}
    assert condensed("tool", "", [mixed], tool_max=200).parts == (result("c", "w\nend\n[image]"),)
    blocks = {"type": "tool_result", "tool_use_id": "c", "content": [said(150)]}
    assert condensed("tool", "", [blocks], tool_max=200).changes == ("tool result cut",)
    nothing = {"type": "tool_result", "tool_use_id": "c"}
    assert condensed("tool", "", [nothing], tool_max=200).parts == (nothing,)


# ── any history ──────────────────────────────────────────────────────────────────────────────


@settings(max_examples=80, deadline=None)
@given(histories(), st.integers(60, 900), st.sampled_from(list(EXPECTED)))
def test_any_window_is_taken_by_the_library(history: WindowHistory, available: int, form: Form) -> None:
    try:
        messages, tokens = shown(history.messages, form, available=available)
    except LiveTurnTooLong:
        return
    check(messages, form)
    assert words_of(messages) == tokens <= available, "what is served is what was counted"


def check(messages: list[dict[str, Any]], form: Form) -> None:
    json.dumps(messages)
    {"anthropic": _anthropic, "openai": _openai, "langchain": _langchain}[form](messages)


def _anthropic(messages: list[dict[str, Any]]) -> None:
    ANTHROPIC.validate_python(messages, strict=True)
    roles = [one["role"] for one in messages]
    assert roles == ["user" if at % 2 == 0 else "assistant" for at in range(len(roles))]
    waiting: set[str] = set()
    for message in messages:
        blocks = [{"type": "text"}] if isinstance(message["content"], str) else message["content"]
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert blocks
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        assert set(results) <= waiting
        assert not waiting or message is messages[-1] or set(results) == waiting
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}
        assert not [block for block in blocks if block["type"] == "text" and not block.get("text", "x").strip()]


def _openai(messages: list[dict[str, Any]]) -> None:
    OPENAI.validate_python(messages, strict=True)
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting or "tool_calls" in message, "only calls that are being worked on wait"
            waiting += [one["id"] for one in message.get("tool_calls", ())]
            assert all(
                isinstance(json.loads(one["function"]["arguments"]), dict) for one in message.get("tool_calls", ())
            )


def _langchain(messages: list[dict[str, Any]]) -> None:
    found = convert_to_messages(messages)
    called: set[str] = set()
    for message in found:
        if isinstance(message, AIMessage):
            called |= {str(one["id"]) for one in message.tool_calls}
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in called


def words_of(messages: Any) -> int:
    """Words of every text in a form, those of calls and thinking among them."""
    if isinstance(messages, list):
        return sum(map(words_of, messages))
    if isinstance(messages, str):
        return len(messages.split())
    own = sum(
        words_of(messages.get(name)) for name in ("text", "content", "thinking", "tool_calls") if messages.get(name)
    )
    named = messages.get("function") or messages
    if "name" in named:
        own += 2  # a call: its name and {}
    return own
