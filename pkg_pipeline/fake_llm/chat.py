"""The chat route of the local server (OpenAI's protocol): the same answers and faults as those of Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.protocol import BYTES_PER_TOKEN, Record, Refused, message, told

CHAT_PATH = "/v1/chat/completions"
KNOWN = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "response_format", "temperature", "stream", "stop"}
)
_FINISHED = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}


def chat_answer(body: Any, fault: Fault, *, takes_schema: bool, reads_tokens: int | None) -> Record:
    """The response to one request, bent by the fault. ``Refused``."""
    asked = _checked(body, takes_schema=takes_schema)
    if reads_tokens is not None:
        last = asked["messages"][-1]
        last["content"] = last["content"][-int(reads_tokens * BYTES_PER_TOKEN) :]
    made = told(message(asked, fault), fault)
    text = "".join(block.get("text", "") for block in made["content"])
    stop = made["stop_reason"]
    answer: Record = {
        "id": made["id"].replace("msg_", "chatcmpl-"),
        "object": "chat.completion",
        "created": 1_763_000_000,
        "model": asked["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text or None, "refusal": None},
                "finish_reason": _FINISHED.get(stop, stop),
                "logprobs": None,
            }
        ],
    }
    if "usage" in made:
        usage = made["usage"]
        read, written = usage.get("input_tokens"), usage.get("output_tokens")
        cached = usage.get("cache_read_input_tokens")
        answer["usage"] = {
            "prompt_tokens": read + cached if isinstance(read, int) and isinstance(cached, int) else read,
            "completion_tokens": written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    return answer


def _checked(body: Any, *, takes_schema: bool) -> Record:
    """The request in the form of Messages."""
    if not isinstance(body, dict):
        raise Refused(400, "We could not parse the JSON body of your request.")
    if unknown := sorted(set(body) - KNOWN):
        raise Refused(400, f"Unrecognized request argument supplied: {unknown[0]}")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refused(400, "you must provide a model parameter")
    form = body.get("response_format")
    if form is not None and not takes_schema:
        raise Refused(400, "response_format of type json_schema is not supported")
    turns = body.get("messages")
    if not isinstance(turns, list) or not turns:
        raise Refused(400, "'messages' must hold one at least")
    system = "\n".join(_words(turn) for turn in turns if turn.get("role") == "system")
    said = [{"role": turn["role"], "content": _words(turn)} for turn in turns if turn.get("role") != "system"]
    schema = None if form is None else form["json_schema"]["schema"]
    asked: Record = {
        "model": body["model"],
        "max_tokens": body.get("max_completion_tokens") or body.get("max_tokens") or 4096,
        "system": system,
        "messages": said,
    }
    if schema is not None:
        asked["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return asked


def _words(turn: Mapping[str, Any]) -> str:
    if not isinstance(turn.get("content"), str):
        raise Refused(400, "'content' must be a string")
    return turn["content"]
