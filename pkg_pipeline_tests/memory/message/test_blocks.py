"""Content blocks: what is taken, what is refused with its place, what they say and what they take in a prompt."""

from __future__ import annotations

from typing import Any

import pytest

from pkg_pipeline.memory.message.blocks import (
    WrongPart,
    call_ids,
    checked_parts,
    prompt_text,
    result_ids,
    text_of,
)

TEXT = {"type": "text", "text": "hello"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
CALL = {"type": "tool_use", "id": "t1", "name": "look", "input": {"город": "Псков"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "rain"}
BLOCKS = {
    "type": "tool_result",
    "tool_use_id": "t2",
    "content": [TEXT, {"type": "image", "source": {"data": "x" * 9_000}}],
}
PICTURE = {"type": "image", "source": {"type": "base64", "data": "x" * 9_000}}


def test_blocks_of_their_form_are_taken_as_they_came() -> None:
    parts = [TEXT, THOUGHT, CALL, RESULT, BLOCKS, PICTURE, {"type": "redacted_thinking", "data": "x"}]
    assert checked_parts(parts) == parts


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("hello", "parts[1] is not an object"),
        ({"text": "x"}, "parts[1] has no type"),
        ({"type": ""}, "parts[1] has no type"),
        ({"type": "text"}, "parts[1] is a text without text"),
        ({"type": "text", "text": 3}, "parts[1] is a text without text"),
        ({"type": "tool_use", "id": "", "name": "n", "input": {}}, "parts[1] is a tool_use without id"),
        ({"type": "tool_use", "id": "a", "name": "n", "input": "{}"}, "parts[1] is a tool_use without input"),
        ({"type": "tool_result", "content": "x"}, "parts[1] is a tool_result without tool_use_id"),
        ({"type": "tool_result", "tool_use_id": "a", "content": 3}, "neither a text nor blocks"),
        ({"type": "tool_result", "tool_use_id": "a", "content": ["x"]}, "neither a text nor blocks"),
    ],
)
def test_a_wrong_block_is_refused_with_its_place(part: Any, said: str) -> None:
    with pytest.raises(WrongPart, match=r"parts\[1\]") as refused:
        checked_parts([TEXT, part])
    assert said in str(refused.value)


def test_what_blocks_say_and_what_they_take() -> None:
    parts: list[dict[str, Any]] = [THOUGHT, TEXT, CALL, RESULT, BLOCKS]
    assert text_of(parts) == "hello\nrain\nhello"
    assert prompt_text("ignored", parts) == 'hm\nhello\nlook {"город": "Псков"}\nrain\nhello'
    assert prompt_text("plain", None) == "plain"
    assert (call_ids(parts), result_ids(parts), call_ids(None)) == (("t1",), ("t1", "t2"), ())


def test_the_bytes_of_a_picture_are_not_counted_letter_by_letter() -> None:
    assert len(prompt_text("", [PICTURE])) < 100
