"""From settings to an embedder: the one in force, or the one of a named vector space. The adapters load when asked."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL, OPENAI_PREFIX, openai_space
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.ports import Embedder

OnUsage = Callable[[int | None, float], None]
"""Told of every answered request: tokens (None where the service says nothing) and seconds."""


def embedder_name(settings: Settings) -> str | None:
    """The vector space that the settings name, without loading anything; None without an embedder."""
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
    """The embedder in force; None for ``none``. Raises SettingsError where ``openai`` has neither address nor key.

    ``deadline_seconds`` bounds one call of a remote one; without it the adapter's own holds, which suits batches.
    """
    name = embedder_name(settings)
    return (
        None if name is None else embedder_named(name, settings, on_usage=on_usage, deadline_seconds=deadline_seconds)
    )


def embedder_named(
    name: str, settings: Settings, *, on_usage: OnUsage | None = None, deadline_seconds: float | None = None
) -> Embedder:
    """The embedder of one vector space, whatever the settings prefer (B4). Raises SettingsError."""
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
