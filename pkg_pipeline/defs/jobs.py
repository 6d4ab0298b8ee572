"""The jobs that schedules, sensors and the command line start: one asset each, so that one failing stops no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

MESSAGES_JOB = "import_inbox"
INTERACTIONS_JOB = "build_interactions"
FOLDS_JOB = "fold_sessions"
SUMMARIES_JOB = "summarize_days"
CHUNKS_JOB = "chunk_days"
PROFILES_JOB = "profile_weeks"
ARCHIVE_JOB = "archive_months"
MARTS, MARTS_JOB = "marts", "build_marts"

JOB_OF = {
    "messages": MESSAGES_JOB,
    "interactions": INTERACTIONS_JOB,
    "session_summaries": FOLDS_JOB,
    "interaction_summaries": SUMMARIES_JOB,
    "memory_chunks": CHUNKS_JOB,
    "entity_relationship_profiles": PROFILES_JOB,
    "archived_messages": ARCHIVE_JOB,
    MARTS: MARTS_JOB,
}
"""Assets in the order of the flow, with the job that makes each."""


def build() -> list[UnresolvedAssetJobDefinition]:
    said = {
        MESSAGES_JOB: "Import what lies in the inbox.",
        INTERACTIONS_JOB: "Cut touched chats into interactions and complete the silent ones.",
        FOLDS_JOB: "Fold the live sessions that are due.",
        SUMMARIES_JOB: "Summarise days; a run holds a range of them.",
        CHUNKS_JOB: "Make days searchable; a run holds a range of them.",
        PROFILES_JOB: "Build the profiles of weeks; a run holds a few of them.",
        ARCHIVE_JOB: "Move the texts of old months aside; a run holds a range of them.",
    }
    return [
        dg.define_asset_job(job, selection=[asset], description=said[job], executor_def=dg.in_process_executor)
        for asset, job in JOB_OF.items()
        if job in said
    ]
