"""The entry point for Dagster's tools: one lazy function. Nothing is read or connected when this is imported.

When it is called the memory is asked once in which month it begins, if it answers.
"""

from __future__ import annotations

import dagster as dg

from pkg_pipeline.defs.build import build_definitions


@dg.definitions
def definitions() -> dg.Definitions:
    """What ``dagster dev -m pkg_pipeline.definitions``, code servers and our own commands load."""
    from pkg_pipeline import settings
    from pkg_pipeline.defs.pipeline_memory import begin_if_known

    chosen = settings.load()
    return build_definitions(settings=chosen, start=begin_if_known(chosen))
