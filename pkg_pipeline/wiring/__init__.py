"""Composition root: builds the adapters that the settings name. No rules, no SQL, no Dagster."""

from pkg_pipeline.adapters.clock import PinnedClock, SystemClock
from pkg_pipeline.wiring.memory import ImportFailed, Memory
from pkg_pipeline.wiring.opening import clock_of, database, database_url, migrate, open_memory, reconcile

__all__ = [
    "ImportFailed",
    "Memory",
    "PinnedClock",
    "SystemClock",
    "clock_of",
    "database",
    "database_url",
    "migrate",
    "open_memory",
    "reconcile",
]
