"""Conversations in, tiered memory out.

Read the package in the order of the flow: ``adapters/exports`` parse a file, ``stages/ingest/stage`` stores its
messages, ``stages/interactions/stage`` cuts them into interactions, ``stages/summaries/stage`` summarises what is due,
``stages/reads/context`` answers a read. The rules they follow are in ``memory/``, the SQL in ``adapters/postgres``,
and ``defs/`` tells Dagster when to do what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkg_pipeline.session_api import append, event, fold, open, set_session, window  # noqa: A004

__all__ = ["append", "event", "fold", "open", "set_session", "window"]


def __getattr__(name: str) -> Any:
    """Live sessions from Python, loaded when first used: importing the package loads nothing else."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("pkg_pipeline.session_api"), name)
