"""Which prompts count as current. What was made by any other is stale (B5)."""

from __future__ import annotations

from pkg_pipeline.prompts import interaction_summary, interaction_summary_update

CURRENT_VERSIONS = frozenset({interaction_summary.VERSION, interaction_summary_update.VERSION})
"""A summary made whole and one updated since are both as good as the prompts in force make them."""
