"""Histories of sessions for the tests of windows: words are counted, so that every figure can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from pkg_pipeline.memory.window.records import Part, WindowHistory, WindowMessage


def count_many(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def words(number: int, word: str = "w") -> str:
    return " ".join([word] * number)


def user(key: str, tokens: int, *, is_folded: bool = False) -> WindowMessage:
    return WindowMessage(key, "user", words(tokens), is_folded=is_folded)


def ai(key: str, tokens: int, *, is_folded: bool = False) -> WindowMessage:
    return WindowMessage(key, "assistant", words(tokens), is_folded=is_folded)


def thought(tokens: int) -> Part:
    return {"type": "thinking", "thinking": words(tokens), "signature": "s"}


def said(tokens: int) -> Part:
    return {"type": "text", "text": words(tokens)}


def call(key: str) -> Part:
    """Two words in a prompt: its name and its empty input."""
    return {"type": "tool_use", "id": key, "name": "look", "input": {}}


def result(key: str, text: str) -> Part:
    return {"type": "tool_result", "tool_use_id": key, "content": text}


def of_parts(key: str, role: Any, *parts: Part, is_folded: bool = False) -> WindowMessage:
    return WindowMessage(key, role, "", parts, is_folded=is_folded)


class _Telling:
    """Messages as they are drawn, each with a key of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.messages: list[WindowMessage] = []

    def size(self) -> int:
        return self.draw(st.integers(1, 30))

    def say(self, role: Any, text: str = "", *parts: Part, name: str = "") -> None:
        key = f"m{len(self.messages)}"
        self.messages.append(WindowMessage(key, role, text, parts or None, name))

    def tools(self, turn: int) -> None:
        """Calls in one message or several, results in any order, some of them lost."""
        calls = [f"c{turn}.{one}" for one in range(self.draw(st.integers(1, 3)))]
        if self.draw(st.booleans()):
            self.say("assistant", "", thought(self.size()), *map(call, calls))
        else:
            for one in calls:
                self.say("assistant", "", call(one))
        for one in self.draw(st.permutations(calls)):
            if self.draw(st.integers(0, 9)):
                text = self.draw(st.sampled_from(["ok", "x y " * 40, "long " * 90]))
                self.say(self.draw(st.sampled_from(["tool", "user"])), "", result(one, text))

    def turn(self, number: int) -> None:
        kind = self.draw(st.sampled_from(["plain", "tools", "system", "person", "empty", "orphan", "unanswered"]))
        match kind:
            case "person":
                self.say(None, words(self.size()), name="Ann")
            case "system":
                self.say("system", words(self.size()))
            case "empty":
                self.say(self.draw(st.sampled_from(["user", "assistant"])), " ")
            case "orphan":
                self.say("tool", "", result(f"gone{number}", words(self.size())))
            case _:
                self.say("user", words(self.size()))
                if kind == "tools":
                    self.tools(number)
                if kind != "unanswered":
                    self.say("assistant", "", thought(self.size()), said(self.size()))


@st.composite
def histories(draw: st.DrawFn) -> WindowHistory:
    """Turns with tool calls (parallel ones, pending ones, lost results), thinking, people, a folded beginning."""
    telling = _Telling(draw)
    for number in range(draw(st.integers(0, 8))):
        telling.turn(number)
    if draw(st.booleans()):
        telling.say("user", words(telling.size()))
    folded = draw(st.integers(0, len(telling.messages)))
    messages = tuple(replace(one, is_folded=at < folded) for at, one in enumerate(telling.messages))
    if not folded:
        return WindowHistory(messages, is_whole=draw(st.booleans()))
    return WindowHistory(
        messages,
        summaries=("One fold.", "Another one."),
        running=" ".join(f"Sentence {at} tells {words(at)}." for at in range(draw(st.integers(0, 6)))),
        topics=tuple(f"topic{at}" for at in range(draw(st.integers(0, 4)))),
        recalled=tuple(words(at + 1, "r") for at in range(draw(st.integers(0, 3)))),
        is_whole=draw(st.booleans()),
    )
