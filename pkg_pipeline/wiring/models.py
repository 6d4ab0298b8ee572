"""Language models and embedders. A provider is an adapter, a row in ``PROVIDERS``, its settings and prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from psycopg_pool import ConnectionPool
from pydantic import SecretStr

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL, OPENAI_PREFIX, openai_space
from pkg_pipeline.adapters.llm.prices import PRICES, PriceRow, with_own_price
from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.offline import MODEL as OFFLINE_LLM
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.llm.batch_ports import LlmBatches
from pkg_pipeline.stages.llm.stores import Caps, Period
from pkg_pipeline.stages.ports import Embedder, Lane, Llm, LlmAttempt, TokenCounter

if TYPE_CHECKING:
    from pkg_pipeline.adapters.llm.remote import RemoteOptions

OnAttempt = Callable[[LlmAttempt], None]


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeout of one try, and number of tries; None: the adapter's default."""

    timeout_seconds: float
    max_tries: int | None = None


@dataclass(frozen=True, slots=True)
class Provider:
    """One kind of language model. ``model`` is its exact name, ``is_configured`` whether ``auto`` takes it, ``missing``
    what the settings lack, ``endpoint`` where texts are sent (None: nowhere), ``own_url`` the address of a server of
    one's own, which needs no key, ``batches`` its message batches, None if its protocol has none.
    ``build`` may raise ``LlmMisconfigured``.
    """

    name: str
    build: Callable[[Settings, TokenCounter, OnAttempt, Patience], Llm]
    model: Callable[[Settings], str] = lambda settings: settings.llm_model
    is_paid: bool = True
    is_configured: Callable[[Settings], bool] = lambda _: False
    missing: Callable[[Settings], str | None] = lambda _: None
    endpoint: Callable[[Settings], str | None] = lambda _: None
    own_url: Callable[[Settings], str | None] = lambda _: None
    batches: Callable[[Settings, Llm], LlmBatches | None] | None = None


def price_table(settings: Settings) -> tuple[PriceRow, ...]:
    """The known prices, with that of the settings for their model (P14); a model of one's own server without one is
    free.
    """
    if settings.llm_price is not None:
        return with_own_price(settings.llm_model, *map(float, settings.llm_price.split("/")))
    return with_own_price(settings.llm_model, 0.0, 0.0) if is_own_server(settings) else PRICES


def is_own_server(settings: Settings) -> bool:
    """Whether the model runs on a server without a key."""
    provider = provider_of(settings)
    return provider.own_url(settings) is not None


def _remote_options(
    settings: Settings, on_attempt: OnAttempt, patience: Patience, *, default_tries: int
) -> RemoteOptions:
    return {
        "on_attempt": on_attempt,
        "max_tries": patience.max_tries or default_tries,
        "window_tokens": settings.llm_window_tokens,
        "prices": price_table(settings),
    }


def _anthropic(settings: Settings, counter: TokenCounter, on_attempt: OnAttempt, patience: Patience) -> Llm:
    from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm
    from pkg_pipeline.adapters.llm.remote import MAX_TRIES

    return AnthropicLlm(
        api_key=settings.anthropic_api_key,
        base_url=settings.anthropic_base_url,
        model=settings.llm_model,
        counter=counter,
        timeout_seconds=patience.timeout_seconds,
        **_remote_options(settings, on_attempt, patience, default_tries=MAX_TRIES),
    )


def _anthropic_batches(settings: Settings, llm: Llm) -> LlmBatches | None:
    from pkg_pipeline.adapters.llm.anthropic_batches import AnthropicBatches
    from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm

    # any other server is asked whether it has them
    known = settings.anthropic_base_url is None
    return AnthropicBatches(llm, is_known=known) if isinstance(llm, AnthropicLlm) else None


def _openai_chat(settings: Settings, counter: TokenCounter, on_attempt: OnAttempt, patience: Patience) -> Llm:
    from pkg_pipeline.adapters.llm.openai_llm import OpenAiLlm
    from pkg_pipeline.adapters.llm.remote import MAX_TRIES

    return OpenAiLlm(
        api_key=settings.openai_api_key,
        base_url=settings.openai_base_url,
        model=settings.llm_model,
        counter=counter,
        timeout_seconds=patience.timeout_seconds,
        **_remote_options(settings, on_attempt, patience, default_tries=MAX_TRIES),
    )


def _offline(settings: Settings, counter: TokenCounter, on_attempt: OnAttempt, patience: Patience) -> Llm:
    from pkg_pipeline.offline.llm import OfflineLlm

    del on_attempt, patience
    return OfflineLlm(counter, embedder_named(OFFLINE_MODEL, settings).embed)


def _missing_key(key: SecretStr | None, base_url: str | None, name: str) -> str | None:
    if base_url is not None and not _is_web_address(base_url):
        return f"a web address in {name}_BASE_URL, such as http://127.0.0.1:8080/v1"
    return None if key or base_url else f"{name}_API_KEY, or {name}_BASE_URL for a server without keys"


def _missing_openai(settings: Settings) -> str | None:
    if (missing := _missing_key(settings.openai_api_key, settings.openai_base_url, "OPENAI")) is not None:
        return missing
    return "PKG_LLM_MODEL" if settings.llm_model == Settings.model_fields["llm_model"].default else None


PROVIDERS = {
    one.name: one
    for one in (
        Provider(
            "anthropic",
            _anthropic,
            is_configured=lambda settings: settings.anthropic_api_key is not None,
            missing=lambda settings: _missing_key(settings.anthropic_api_key, settings.anthropic_base_url, "ANTHROPIC"),
            endpoint=lambda settings: settings.anthropic_base_url or "api.anthropic.com",
            own_url=lambda settings: None if settings.anthropic_api_key else settings.anthropic_base_url,
            batches=_anthropic_batches,
        ),
        # never by ``auto``: a key in the environment is no wish to send conversations there
        Provider(
            "openai",
            _openai_chat,
            missing=_missing_openai,
            endpoint=lambda settings: settings.openai_base_url or "api.openai.com",
            own_url=lambda settings: None if settings.openai_api_key else settings.openai_base_url,
        ),
        Provider("offline", _offline, model=lambda _: OFFLINE_LLM, is_paid=False),
    )
}


def provider_of(settings: Settings) -> Provider:
    """The provider in the settings; ``auto`` takes the first configured one, else offline."""
    if settings.llm != "auto":
        return PROVIDERS[settings.llm]
    found = (one for one in PROVIDERS.values() if one.is_configured(settings))
    return next(found, PROVIDERS["offline"])


def language_model(
    settings: Settings, counter: TokenCounter, on_attempt: OnAttempt, patience: Patience | None = None
) -> Llm:
    """The configured model. Raises ``SettingsError``, ``LlmMisconfigured``."""
    provider = provider_of(settings)
    if (missing := provider.missing(settings)) is not None:
        raise SettingsError(f"PKG_LLM: {provider.name} needs {missing}; set it, or PKG_LLM=offline")
    return provider.build(settings, counter, on_attempt, patience or Patience(settings.llm_timeout_seconds))


CALLS: dict[str, tuple[Callable[[Settings], int], Period]] = {
    "conversation_reading": (lambda settings: settings.live_summaries_per_day, "day"),
    "interaction_summary": (lambda settings: settings.live_summaries_per_day, "day"),
    "relationship_profile": (lambda settings: settings.live_profiles_per_week, "week"),
    "session_fold": (lambda settings: settings.live_folds_per_day, "day"),
    "session_compress": (lambda settings: settings.live_folds_per_day, "day"),
    "question_rewrite": (lambda settings: settings.recall_rewrites_per_day, "day"),
    "context_brief": (lambda settings: settings.live_briefs_per_day, "day"),
}
"""Task → call cap of the live lane (P12, P32)."""


def due_after_seconds(settings: Settings) -> float:
    """P12: minimum age after the end, at least the gap."""
    return max(settings.summary_min_age_days * 86_400, settings.gap_hours * 3_600)


def caps(settings: Settings, task: str, lane: Lane) -> Caps:
    """Caps of one task on a lane: USD per day over all tasks, calls on the live lane."""
    if lane == "backfill":
        return Caps(settings.backfill_usd_per_day)
    calls, period = CALLS[task]
    return Caps(settings.live_usd_per_day, calls(settings), period)


def caps_of(settings: Settings) -> Callable[[str, Lane], Caps]:
    return partial(caps, settings)


def budget_store(settings: Settings, connections: ConnectionPool) -> PostgresBudgetStore:
    return PostgresBudgetStore(connections, timezone=settings.timezone, unanswered_limit=settings.llm_unanswered_limit)


OnUsage = Callable[[int | None, float], None]
"""Callback per answered request: (tokens or None, seconds)."""


def embedder_name(settings: Settings) -> str | None:
    """Name of the configured vector space; None without an embedder."""
    match settings.embedder_kind:
        case "offline":
            return OFFLINE_MODEL
        case "openai":
            return openai_space(settings.embedding_model)
        case "none":
            return None


def embedder_of(
    settings: Settings, *, on_usage: OnUsage | None = None, deadline_seconds: float | None = None
) -> Embedder | None:
    """The configured embedder; None for ``none``. Raises SettingsError for ``openai`` without address and key.

    ``deadline_seconds`` limits one remote call; the default suits batches.
    """
    name = embedder_name(settings)
    return (
        None if name is None else embedder_named(name, settings, on_usage=on_usage, deadline_seconds=deadline_seconds)
    )


def embedder_named(
    name: str, settings: Settings, *, on_usage: OnUsage | None = None, deadline_seconds: float | None = None
) -> Embedder:
    """The embedder of a named space (B4). Raises SettingsError."""
    if name == OFFLINE_MODEL:
        from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder

        return OfflineEmbedder(cache=settings.cache)
    if name.startswith(OPENAI_PREFIX) and name != OPENAI_PREFIX:
        return _openai(name.removeprefix(OPENAI_PREFIX), settings, on_usage, deadline_seconds)
    raise SettingsError(f"{name!r} is no known embedder; known are {OFFLINE_MODEL} and {OPENAI_PREFIX}MODEL")


def _openai(model: str, settings: Settings, on_usage: OnUsage | None, deadline_seconds: float | None) -> Embedder:
    url, key = settings.embedding_url_in_force, settings.embedding_key_in_force
    if url is None and key is None:
        raise SettingsError(
            f"{OPENAI_PREFIX}{model} needs MEMORY_EMBEDDING_API_KEY, or MEMORY_EMBEDDING_BASE_URL for a server without "
            "keys; set one, or PKG_EMBEDDER=offline"
        )
    if url is not None and not _is_web_address(url):
        named = "MEMORY_EMBEDDING_BASE_URL" if settings.embedding_base_url else "API_BASE_URL"
        raise SettingsError(f"{named}: no web address, such as https://api.example.com/v1")
    from pkg_pipeline.adapters.embedders.openai_compatible import DEADLINE_SECONDS, OpenAiEmbedder

    return OpenAiEmbedder(
        model=model,
        base_url=url,
        api_key=key,
        on_usage=on_usage,
        deadline_seconds=DEADLINE_SECONDS if deadline_seconds is None else deadline_seconds,
    )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False
