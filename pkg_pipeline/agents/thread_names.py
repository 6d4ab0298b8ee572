"""Which thread an agent is running in, and which session of the memory that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.config import get_config

from pkg_pipeline.memory import hashing

SOURCE = "langgraph"


def running_thread(config: Mapping[str, Any] | None = None) -> str | None:
    """The thread's id by the run's configuration; None outside of a run, or in one without a saver."""
    if config is None:
        try:
            config = get_config()
        except RuntimeError:
            return None
    given = (config.get("configurable") or {}).get("thread_id")
    return None if given is None or str(given) == "" else str(given)


def session_key(thread_id: str) -> str:
    return hashing.chat_key(SOURCE, thread_id)
