"""The current prompts of summaries; results of any other are stale (B5)."""

from __future__ import annotations

from pkg_pipeline.prompts import summary, summary_update

CURRENT_VERSIONS = frozenset({summary.VERSION, summary_update.VERSION})
"""Full and updated summaries are equally current."""
