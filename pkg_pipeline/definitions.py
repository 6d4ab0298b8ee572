"""The entry point for Dagster's tools: one lazy function. Nothing is read or connected when this is imported."""

from __future__ import annotations

import dagster as dg

from pkg_pipeline.defs.build import build_definitions


@dg.definitions
def definitions() -> dg.Definitions:
    """What ``dagster dev -m pkg_pipeline.definitions``, code servers and our own commands load."""
    return build_definitions()
