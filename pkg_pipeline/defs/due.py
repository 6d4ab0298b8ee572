"""Whether there is work, told by a few index lookups. Without Dagster: nothing due must cost nothing."""

from __future__ import annotations

from pkg_pipeline.defs.pipeline_memory import PipelineMemory

ASSETS = ("messages", "interactions", "interaction_summaries")
"""In the order of the flow."""


def has_work(memory: PipelineMemory, asset: str) -> bool:
    """Whether a run of ``asset`` would find something to do now."""
    if asset == "messages":
        return bool(memory.inbox.ready())
    if memory.partitions.due(asset, now=memory.clock.now(), limit=1):
        return True
    return asset == "interactions" and memory.silent_interactions() > 0
