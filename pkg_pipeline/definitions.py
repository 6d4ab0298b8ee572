"""Entry point for Dagster's tools. Importing it reads nothing; the call asks the memory for its first month."""

from __future__ import annotations

import dagster as dg

from pkg_pipeline.defs.build import build_definitions


@dg.definitions
def definitions() -> dg.Definitions:
    """Loaded by ``dagster dev -m pkg_pipeline.definitions``, code servers and our commands."""
    from pkg_pipeline import settings
    from pkg_pipeline.defs.first_day import begin_if_known

    chosen = settings.load()
    return build_definitions(settings=chosen, start=begin_if_known(chosen))
