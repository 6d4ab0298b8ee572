"""``ports.Llm`` over the Anthropic API, or any server that speaks its protocol."""

from __future__ import annotations

from typing import Any, Unpack

from anthropic import Anthropic, AnthropicError, APIConnectionError, APIStatusError, transform_schema
from anthropic.types import Message
from pydantic import SecretStr

from pkg_pipeline.adapters.llm.errors import Status, of_connection, of_other, of_status
from pkg_pipeline.adapters.llm.own_servers import NO_KEY, WithoutSchema, bare_answer, refuses_schema, with_schema
from pkg_pipeline.adapters.llm.remote import TIMEOUT_SECONDS, Answer, Ending, RemoteLlm, RemoteOptions
from pkg_pipeline.adapters.llm.retrying import Transient
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import LlmError, LlmMisconfigured, LlmRequest, TokenCounter

DEFAULT_MODEL = "claude-haiku-5-5"

CHECK = "ANTHROPIC_API_KEY, the account and PKG_LLM_MODEL"

_ENDINGS: dict[str | None, Ending] = {
    "max_tokens": "truncated",
    "refusal": "refused",
    "model_context_window_exceeded": "too_long",
}


class AnthropicLlm(RemoteLlm):
    """A model of the Messages API. Without ``api_key`` a server of one's own at ``base_url``: it is shown the schema in
    the prompt too, since some ignore the parameter. Raises ``LlmMisconfigured`` for an empty key or a model without a
    price.
    """

    errors = (AnthropicError, ValueError, TypeError, AttributeError)

    def __init__(
        self,
        *,
        api_key: SecretStr | None,
        counter: TokenCounter,
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        **options: Unpack[RemoteOptions],
    ) -> None:
        key = "" if api_key is None else api_key.get_secret_value().strip()
        self._is_own_server = api_key is None and base_url is not None
        if not key and not self._is_own_server:
            raise LlmMisconfigured("ANTHROPIC_API_KEY is empty; set it, or PKG_LLM=offline")
        super().__init__(model=model, counter=counter, **options)
        self._takes_schema = True
        self.client = Anthropic(api_key=key or NO_KEY, base_url=base_url, timeout=timeout_seconds, max_retries=0)

    def close(self) -> None:
        self.client.close()

    def _call(self, request: LlmRequest, room: int) -> Answer | None:
        return self.answer_of(self.client.messages.create(**self.params(request, room)))

    def params(self, request: LlmRequest, room: int) -> dict[str, Any]:
        """Of a call, single or in a batch."""
        params = request_params(request, model=self._model, max_tokens=room)
        if self._is_own_server:
            params["system"] = with_schema(request)
            if not self._takes_schema:
                del params["output_config"], params["thinking"]
        return params

    def answer_of(self, message: Message) -> Answer | None:
        """None for a success without an answer in it."""
        if not _has_shape(message):
            return None
        text = "".join(block.text for block in message.content if block.type == "text" and isinstance(block.text, str))
        return Answer(
            text=bare_answer(text) if self._is_own_server else text,
            ending=_ENDINGS.get(message.stop_reason, "whole"),
            stop_reason=str(message.stop_reason),
            usage=_usage(message),
            request_id=getattr(message, "_request_id", None),  # the SDK's documented way to it
            category=getattr(message.stop_details, "category", None),
        )

    def _failure(self, error: Exception, request: LlmRequest) -> LlmError | Transient:
        match error:
            case APIStatusError():
                if self._is_own_server and self._takes_schema and refuses_schema(error.status_code, error.message):
                    self._takes_schema = False
                    return WithoutSchema()
                return of_status(told_by(error), request=request, now=self._now(), check=CHECK)
            case APIConnectionError():
                return of_connection(error)
            case _:
                return of_other(error)


def told_by(error: APIStatusError) -> Status:
    words = error.api_message if isinstance(error.api_message, str) else ""
    headers = error.response.headers
    return Status(error.status_code, error.type or "", error.error_code or "", words, headers, error.request_id)


def request_params(request: LlmRequest, *, model: str, max_tokens: int) -> dict[str, Any]:
    """Parameters of a call, single or batched; the stable part first (prompt cache)."""
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": request.user}],
        "output_config": {"format": {"type": "json_schema", "schema": transform_schema(dict(request.schema))}},
        "thinking": {"type": "disabled"},
    }


def _has_shape(message: object) -> bool:
    """The SDK returns any body of a 200: text for HTML, incomplete messages for other JSON."""
    return isinstance(message, Message) and isinstance(message.content, list)  # pyright: ignore[reportUnnecessaryIsInstance]


def _usage(message: Message) -> Usage | None:
    reported: Any = message.usage
    counts = [
        count if isinstance(count := getattr(reported, name, None), int) else None
        for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    match counts:
        case [int(read), int(written), cache_read, cache_written]:
            return Usage(read, written, cache_read or 0, cache_written or 0)
        case _:
            return None
