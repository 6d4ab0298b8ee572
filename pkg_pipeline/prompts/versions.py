"""The current prompts; results of any other are stale (B5)."""

from __future__ import annotations

from pkg_pipeline.prompts import interaction_summary, interaction_summary_update

CURRENT_VERSIONS = frozenset({interaction_summary.VERSION, interaction_summary_update.VERSION})
"""Full and updated summaries are equally current."""
