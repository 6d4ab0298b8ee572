"""Conversations in, tiered memory out; docs/architecture.md describes the layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkg_pipeline.session_api import append, event, fold, open, set_session, window  # noqa: A004

__all__ = ["append", "event", "fold", "open", "set_session", "window"]


def __getattr__(name: str) -> Any:
    """Live sessions from Python, imported on use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("pkg_pipeline.session_api"), name)
