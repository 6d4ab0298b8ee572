"""Checks of summaries and items whose newest verdict stops what follows: profiles, the archive, the marts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import dagster as dg

BLOCKING: Mapping[str, tuple[str, ...]] = {
    "interaction_summaries": ("grounding",),
    "items": ("grounding", "deleted"),
}
"""Asset → its checks that must not fail."""

FIRST_DAY, LAST_DAY = "first_day", "last_day"

_DECIDED = ("SUCCEEDED", "FAILED")
_LOOKED_AT = 50
"""Evaluations to look at: a planned check, or one whose run died, has no verdict."""


def blocked(instance: dg.DagsterInstance) -> str | None:
    """Why nothing may be made from summaries and items now, or None. A check that never ran blocks nothing."""
    for asset, names in BLOCKING.items():
        for name in names:
            found = _last(instance, asset, name)
            if found is not None and not found.passed:
                said = f" ({found.description})" if found.description else ""
                return f"the check {name} of {asset} fails{said}; the next run of {asset} looks again"
    return None


def require(instance: dg.DagsterInstance, doing: str) -> None:
    """Raises ``dg.Failure`` without retries while a blocking check fails."""
    if (why := blocked(instance)) is not None:
        raise dg.Failure(description=f"{doing} are held back: {why}", allow_retries=False)


def wrong_days(instance: dg.DagsterInstance, asset: str, name: str) -> tuple[date, date] | None:
    """First and last day that a blocking check found wrong when it last ran; every run verifies them again."""
    if name not in BLOCKING.get(asset, ()):
        return None
    found = _last(instance, asset, name)
    if found is None or found.passed or FIRST_DAY not in found.metadata:
        return None
    first, last = (date.fromisoformat(str(found.metadata[key].value)) for key in (FIRST_DAY, LAST_DAY))
    return first, last


def _last(instance: dg.DagsterInstance, asset: str, name: str) -> dg.AssetCheckEvaluation | None:
    """The newest evaluation that has a verdict."""
    key = dg.AssetCheckKey(dg.AssetKey(asset), name)
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=_LOOKED_AT)
    return next((one.evaluation for one in records if one.status.value in _DECIDED), None)
