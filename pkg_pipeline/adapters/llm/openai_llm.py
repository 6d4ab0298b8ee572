"""``ports.Llm`` over any endpoint with OpenAI's chat completions: local model servers, gateways, OpenAI itself."""

from __future__ import annotations

from typing import Any, Unpack

from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAI, OpenAIError
from openai.types.chat import ChatCompletion
from pydantic import SecretStr

from pkg_pipeline.adapters.llm.errors import Status, of_connection, of_other, of_status
from pkg_pipeline.adapters.llm.own_servers import NO_KEY, WithoutSchema, bare_answer, refuses_schema, with_schema
from pkg_pipeline.adapters.llm.remote import TIMEOUT_SECONDS, Answer, Ending, RemoteLlm, RemoteOptions
from pkg_pipeline.adapters.llm.retrying import Transient
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import LlmError, LlmRequest, LlmUnanswered, TokenCounter

OPENAI_URL = "https://api.openai.com/v1"
CHECK = "OPENAI_API_KEY, OPENAI_BASE_URL and PKG_LLM_MODEL"

_ENDINGS: dict[str | None, Ending] = {"length": "truncated", "content_filter": "refused"}


class OpenAiLlm(RemoteLlm):
    """A model behind ``base_url``, by default OpenAI's. The schema is a parameter and stands in the prompt as well,
    since not every server keeps to it; one that refuses the parameter is asked without. Raises ``LlmMisconfigured`` for
    a model without a price.
    """

    errors = (OpenAIError, ValueError, TypeError, AttributeError)

    def __init__(
        self,
        *,
        api_key: SecretStr | None,
        counter: TokenCounter,
        model: str,
        base_url: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(model=model, counter=counter, **options)
        self._takes_schema = True
        # servers know the older name, OpenAI's newer models only the other
        self._room_name = "max_completion_tokens" if base_url is None else "max_tokens"
        key = "" if api_key is None else api_key.get_secret_value().strip()
        self._client = OpenAI(
            api_key=key or NO_KEY, base_url=base_url or OPENAI_URL, timeout=timeout_seconds, max_retries=0
        )

    def close(self) -> None:
        self._client.close()

    def _call(self, request: LlmRequest, room: int) -> Answer | None:
        params: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": with_schema(request)},
                {"role": "user", "content": request.user},
            ],
            self._room_name: room,
        }
        if self._takes_schema:
            schema = {"name": request.task, "schema": dict(request.schema), "strict": False}
            params["response_format"] = {"type": "json_schema", "json_schema": schema}
        found: Any = self._client.chat.completions.create(**params)
        choice = _choice(found)
        if choice is None:
            return None
        text = choice.message.content
        refusal = getattr(choice.message, "refusal", None)
        return Answer(
            text=bare_answer(text) if isinstance(text, str) else "",
            ending="refused" if refusal else _ENDINGS.get(choice.finish_reason, "whole"),
            stop_reason=str(choice.finish_reason),
            usage=_usage(found),
            request_id=found._request_id,  # noqa: SLF001 - the SDK's documented way to it
        )

    def _failure(self, error: Exception, request: LlmRequest) -> LlmError | Transient:
        match error:
            case APIStatusError():
                if self._takes_schema and refuses_schema(error.status_code, error.message):
                    self._takes_schema = False
                    return WithoutSchema()
                return of_status(_told(error), request=request, now=self._now(), check=CHECK)
            case APITimeoutError() if error.__cause__ is None:
                return LlmUnanswered("the service did not answer in time (PKG_LLM_TIMEOUT_SECONDS)")
            case APIConnectionError():
                return of_connection(error)
            case _:
                return of_other(error)


def _told(error: APIStatusError) -> Status:
    """The words are the service's own, without the SDK's dump of the body."""
    body: Any = error.body
    words = body.get("message") if isinstance(body, dict) else None
    return Status(
        status=error.status_code,
        kind=error.type if isinstance(error.type, str) else "",
        code=str(error.code or ""),
        words=words if isinstance(words, str) else "",
        headers=error.response.headers,
        request_id=error.request_id,
    )


def _choice(found: Any) -> Any:
    """The SDK returns any body of a 200: text for HTML, incomplete objects for other JSON."""
    choices = getattr(found, "choices", None) if isinstance(found, ChatCompletion) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if getattr(choice, "message", None) is not None else None


def _usage(found: ChatCompletion) -> Usage | None:
    told: Any = found.usage
    read, written = getattr(told, "prompt_tokens", None), getattr(told, "completion_tokens", None)
    if not isinstance(read, int) or not isinstance(written, int):
        return None
    cached = getattr(getattr(told, "prompt_tokens_details", None), "cached_tokens", None)
    cached = min(max(cached, 0), max(read, 0)) if isinstance(cached, int) else 0
    return Usage(read - cached, written, cached)
