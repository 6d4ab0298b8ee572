"""Asset checks: what an attempt left undone is a warning, since a materialised partition only means attempted."""

from __future__ import annotations

import dagster as dg

PENDING = "pending"
FAILED = "failed"


def specs(asset: str, *names: str) -> list[dg.AssetCheckSpec]:
    """The checks an asset reports itself."""
    said = {
        PENDING: "Nothing that could be worked off is left: pending = 0.",
        FAILED: "Nothing had to be given up: failed = 0.",
    }
    return [dg.AssetCheckSpec(name, asset=asset, description=said[name]) for name in names]


def none_left(asset: str, name: str, count: int, **numbers: float) -> dg.AssetCheckResult:
    """Passed at zero; else a WARN with the number in its metadata, which the UI plots."""
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(asset),
        check_name=name,
        passed=count == 0,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={name: count, **numbers},
    )
