"""Some rows of what an asset wrote, as materialisation metadata: ids, counts, times, states."""

from datetime import datetime

import dagster as dg

from pkg_pipeline.defs.pipeline_memory import PipelineMemory


def preview(memory: PipelineMemory, asset: str, partition: str | None = None) -> dict[str, dg.MetadataValue]:
    """A Markdown table under ``preview``; empty where there are no rows."""
    rows = memory.preview(asset, partition)
    if not rows:
        return {}
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([_shown(value) for value in row.values()] for row in rows)]
    return {"preview": dg.MetadataValue.md("\n".join(f"| {' | '.join(line)} |" for line in lines))}


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return "" if value is None else str(value)
