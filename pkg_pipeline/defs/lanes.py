"""What a run's tags say: the lane whose budget it uses (P12), whether it wants every day of its range or the due ones.

Reading and writing of tags belongs here; what a lane may spend is the settings' and the budget store's business.
"""

from __future__ import annotations

from collections.abc import Mapping

from pkg_pipeline.stages.stores import Lane

LANE_TAG = "pkg/lane"
ONLY_DUE_TAG = "pkg/only_due"
REASON_TAG = "pkg/reason"
PARTITION_TAG = "dagster/partition"
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"

_AUTOMATIC = ("dagster/schedule_name", "dagster/sensor_name")


def lane_of(tags: Mapping[str, str]) -> Lane:
    """The tag decides; without one, what a schedule or sensor started is live and what a person started is backfill."""
    given = tags.get(LANE_TAG)
    if given == "live":
        return "live"
    if given == "backfill":
        return "backfill"
    return "live" if any(tag in tags for tag in _AUTOMATIC) else "backfill"


def wants_only_due(tags: Mapping[str, str]) -> bool:
    """Whether days of the range that are not due are to be passed over."""
    return tags.get(ONLY_DUE_TAG) == "true"


def range_tags(first: str, last: str, *, lane: Lane, only_due: bool, reason: str = "") -> dict[str, str]:
    """Tags of a run over a closed range of keys; a single key is tagged as one partition, as the UI does it."""
    tags = {PARTITION_TAG: first} if first == last else {RANGE_START_TAG: first, RANGE_END_TAG: last}
    tags[LANE_TAG] = lane
    if only_due:
        tags[ONLY_DUE_TAG] = "true"
    if reason:
        tags[REASON_TAG] = reason
    return tags


def range_of(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """The closed range of keys a run is tagged with; None for a run without partitions."""
    if key := tags.get(PARTITION_TAG):
        return key, key
    first, last = tags.get(RANGE_START_TAG), tags.get(RANGE_END_TAG)
    return (first, last) if first and last else None
