"""The Messages protocol: validation of requests and form of responses. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pkg_pipeline.fake_llm.answers import answer_text
from pkg_pipeline.fake_llm.faults import Fault

Record = dict[str, Any]
REMOVED = ("temperature", "top_p", "top_k", "output_format")
"""Refused since the API of 2026-10-21, even at their defaults."""

KNOWN = frozenset(
    {"model", "max_tokens", "messages", "system", "output_config", "thinking", "cache_control", "metadata"}
    | {"service_tier", "inference_geo", "stop_sequences", "tools", "tool_choice", "container"}
)
MODELS = ("claude-haiku-5-5", "claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-sonnet-5-5", "claude-opus-5-5")
UNSUPPORTED_SCHEMA_KEYS = frozenset(
    {"minLength", "maxLength", "maxItems", "minimum", "maximum", "pattern", "default", "exclusiveMinimum"}
)
LONGEST_PROMPT_TOKENS = 200_000
BYTES_PER_TOKEN = 3.5

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Refused(Exception):
    """A request that the real service rejects."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def error_body(
    status: int, message: str, *, request_id: str, error_type: str | None = None, code: str | None = None
) -> Record:
    error: Record = {"type": error_type or ERROR_TYPES.get(status, "api_error"), "message": message}
    if code is not None:
        error["details"] = {"error_code": code}
    return {"type": "error", "error": error, "request_id": request_id}


def check_headers(headers: Mapping[str, str], *, api_key: str | None) -> None:
    """Checks Bearer key and protocol version. ``Refused``."""
    authorization = headers.get("authorization", "")
    if not authorization.startswith("Bearer ") or len(authorization) <= len("Bearer "):
        raise Refused(401, "authorization: a Bearer key is required")
    if api_key is not None and authorization != f"Bearer {api_key}":
        raise Refused(401, "invalid key")
    if not headers.get("anthropic-version"):
        raise Refused(400, "anthropic-version: header is required")


def check_request(body: Any, *, counting: bool = False) -> Record:
    """The validated parameters of one message. ``Refused``."""
    if not isinstance(body, dict):
        raise Refused(400, "the body is no JSON object")
    for name in REMOVED:
        if name in body:
            raise Refused(400, f"{name}: this parameter is no longer supported")
    for name in body:
        if name not in KNOWN:
            raise Refused(400, f"{name}: Extra inputs are not permitted")
    if body.get("model") not in MODELS:
        raise Refused(404, f"model: {body.get('model')}")
    if not counting and (not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1):
        raise Refused(400, "max_tokens: must be a positive integer")
    _check_messages(body.get("messages"))
    schema = schema_of(body)
    if schema is not None:
        _check_schema(schema)
    if prompt_tokens(body) > LONGEST_PROMPT_TOKENS:
        raise Refused(400, f"prompt is too long: {prompt_tokens(body)} tokens > {LONGEST_PROMPT_TOKENS} maximum")
    return body


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "messages: at least one message is required")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in {"user", "assistant"}:
            raise Refused(400, f"messages.{index}.role: must be user or assistant")
        if not message.get("content"):
            raise Refused(400, f"messages.{index}.content: must not be empty")
    if messages[-1]["role"] != "user":
        raise Refused(400, "messages: prefilling the answer is not supported by this model")


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise Refused(400, "output_config.format.schema: must be an object")
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise Refused(400, "output_config.format.schema: additionalProperties must be false")
    unsupported = UNSUPPORTED_SCHEMA_KEYS & set(schema)
    if unsupported:
        raise Refused(400, f"output_config.format.schema: {sorted(unsupported)[0]} is not supported")
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]
    for part in [*inner, *([schema["items"]] if "items" in schema else [])]:
        _check_schema(part)


def schema_of(body: Mapping[str, Any]) -> Record | None:
    form = (body.get("output_config") or {}).get("format") or {}
    return form.get("schema") if form.get("type") == "json_schema" else _schema_in(_content_text(body.get("system")))


def _schema_in(system: str) -> Record | None:
    """The schema that a prompt ends with, as a model would heed it."""
    try:
        found = json.loads(system.rpartition("\n")[2])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def text_of(body: Mapping[str, Any]) -> str:
    """The system turn and all messages."""
    parts = [_content_text(body.get("system"))]
    parts += [_content_text(message.get("content")) for message in body.get("messages", [])]
    return "\n".join(part for part in parts if part)


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def tokens_of(text: str) -> int:
    """An estimate: bytes by 3.5, at least one."""
    return max(1, round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN))


def prompt_tokens(body: Mapping[str, Any]) -> int:
    return tokens_of(text_of(body)) + (tokens_of(json.dumps(schema_of(body))) if schema_of(body) else 0)


def message(body: Mapping[str, Any], fault: Fault) -> Record:
    """The response to one request, bent by the fault."""
    mode = fault.answer or "good"
    text = answer_text(mode, schema_of(body), _content_text(body["messages"][-1]["content"]))
    stop_reason = fault.stop_reason or "end_turn"
    allowed = int(body["max_tokens"] * BYTES_PER_TOKEN)
    if fault.stop_reason == "max_tokens":
        text = text[: len(text) // 2]
    elif len(text.encode()) > allowed:
        text, stop_reason = text.encode()[:allowed].decode("utf-8", "ignore"), "max_tokens"
    if fault.stop_reason in {"refusal", "model_context_window_exceeded"} and mode == "good":
        text = ""
    content: list[Record] = [{"type": "text", "text": text}] if text else []
    if mode == "thinking_only":
        content = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]
    answer: Record = {
        "id": f"msg_{_digest(text_of(body))}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": dict(fault.stop_details) if fault.stop_details else None,
        "usage": {
            "input_tokens": prompt_tokens(body),
            "output_tokens": tokens_of(text) if text else 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "service_tier": "standard",
        },
    }
    return answer


def told(answer: Any, fault: Fault) -> Any:
    """The answer with the fault's usage."""
    if not isinstance(answer, dict):
        return answer
    if fault.without_usage:
        return {name: value for name, value in answer.items() if name != "usage"}
    return answer if fault.usage is None else {**answer, "usage": {**answer.get("usage", {}), **fault.usage}}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
