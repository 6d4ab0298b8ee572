"""The paid language model that the settings name. The SDK is loaded only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.ports import LlmAttempt, TokenCounter

if TYPE_CHECKING:
    from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm


def anthropic_llm(
    settings: Settings, counter: TokenCounter, *, on_attempt: Callable[[LlmAttempt], None], **patience: Any
) -> AnthropicLlm:
    """``patience`` is the adapter's ``timeout_seconds`` and ``max_tries``. Raises LlmMisconfigured or SettingsError."""
    if settings.anthropic_api_key is None:
        raise SettingsError("PKG_LLM: anthropic needs ANTHROPIC_API_KEY; set it, or PKG_LLM=offline")
    from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm

    return AnthropicLlm(
        api_key=settings.anthropic_api_key,
        base_url=settings.anthropic_base_url,
        model=settings.llm_model,
        counter=counter,
        on_attempt=on_attempt,
        **{"timeout_seconds": settings.llm_timeout_seconds, **patience},
    )
