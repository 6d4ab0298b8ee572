"""Tags of a run: the lane whose budget it uses (P12), whether it takes all days of its range or the due ones, and which
interactions of them (P31, B5).
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from pkg_pipeline.stages.ports import Billing, Lane
from pkg_pipeline.stages.summaries.stores import Scope

LANE_TAG = "pkg/lane"
ONLY_DUE_TAG = "pkg/only_due"
REASON_TAG = "pkg/reason"
BACKFILL_TAG = "pkg/backfill"
"""Id of a backfill: the run takes only what that backfill chose."""
STALE_TAG = "pkg/stale"
"""``true``: summaries by another prompt, model or schema are made anew too; for a backfill from the UI."""
BATCH_TAG = "pkg/batch"
"""``true``: in message batches, where the model's service has them; for a backfill from the UI."""
SCHEDULED_TAG = "pkg/scheduled"
"""On the nightly run over live sessions."""
MEMORY_TAG = "pkg/memory"
"""The named memory that a run is about; none: the own one."""
QUEUE_TAG, INBOX_QUEUE = "dagster-celery/queue", "inbox"
"""Of workers that share the inboxes, where runs are executed by workers."""
PRIORITY_TAG = "dagster/priority"
PRIORITY: Mapping[Lane, str] = {"live": "0", "backfill": "-1"}
"""Queued live runs start first."""
PARTITION_TAG = "dagster/partition"
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"

_AUTOMATIC = ("dagster/schedule_name", "dagster/sensor_name")


def lane_of(tags: Mapping[str, str]) -> Lane:
    """The tag's lane; without a tag, live for runs of a schedule or sensor and backfill for those a person started."""
    given = tags.get(LANE_TAG)
    if given == "live":
        return "live"
    if given == "backfill":
        return "backfill"
    return "live" if any(tag in tags for tag in _AUTOMATIC) else "backfill"


def billing_of(tags: Mapping[str, str], run_id: str) -> Billing:
    return Billing(lane_of(tags), run_id)


def wants_only_due(tags: Mapping[str, str]) -> bool:
    """Whether days of the range that are not due are skipped."""
    return tags.get(ONLY_DUE_TAG) == "true"


def asks_all(tags: Mapping[str, str]) -> bool:
    """Whether every live session with something to fold is taken, due or not (H7, ``scheduled``)."""
    return tags.get(SCHEDULED_TAG) == "true"


def scope_of(tags: Mapping[str, str]) -> Scope:
    """Which interactions of its days a run takes. Raises ValueError for an invalid backfill tag."""
    backfill = tags.get(BACKFILL_TAG)
    try:
        return Scope(
            redo_stale=tags.get(STALE_TAG) == "true",
            backfill_id=UUID(backfill) if backfill else None,
            in_batches=tags.get(BATCH_TAG) == "true",
        )
    except ValueError:
        raise ValueError(f"the tag {BACKFILL_TAG} holds {backfill!r}, which is no backfill's id") from None


def range_tags(
    first: str, last: str, *, lane: Lane, only_due: bool, reason: str = "", backfill_id: UUID | None = None
) -> dict[str, str]:
    """Tags of a run over a closed range of keys; a single key is tagged as one partition, as the UI does."""
    tags = {PARTITION_TAG: first} if first == last else {RANGE_START_TAG: first, RANGE_END_TAG: last}
    tags[LANE_TAG] = lane
    tags[PRIORITY_TAG] = PRIORITY[lane]
    if backfill_id is not None:
        tags[BACKFILL_TAG] = str(backfill_id)
    if only_due:
        tags[ONLY_DUE_TAG] = "true"
    if reason:
        tags[REASON_TAG] = reason
    return tags


def range_of(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """The closed range of keys in a run's tags; None without partitions."""
    if key := tags.get(PARTITION_TAG):
        return key, key
    first, last = tags.get(RANGE_START_TAG), tags.get(RANGE_END_TAG)
    return (first, last) if first and last else None
