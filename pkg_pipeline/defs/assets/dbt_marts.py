"""The dbt marts as assets (B13), where dbt and its manifest are there; the core loads without them, with a warning."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg

from pkg_pipeline.defs.automation import mart_schedules

PROJECT = Path(__file__).resolve().parents[3] / "dbt"
MANIFEST = PROJECT / "target" / "manifest.json"


class MartsMissing(UserWarning):
    """The marts are not among the assets; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Marts:
    """What the definitions take in; empty without dbt. The job of the unpartitioned marts is among ``jobs.py``."""

    assets: Sequence[dg.AssetsDefinition] = ()
    jobs: Sequence[Any] = ()
    schedules: Sequence[dg.ScheduleDefinition] = ()
    resources: Mapping[str, Any] = field(default_factory=dict[str, Any])


def build(
    *, daily: dg.DailyPartitionsDefinition, weekly: dg.WeeklyPartitionsDefinition, manifest: Path = MANIFEST
) -> Marts:
    """The dbt assets, or nothing and a warning."""
    if importlib.util.find_spec("dagster_dbt") is None:
        warnings.warn("dbt is not installed: no marts; install pkg-pipeline[dbt]", MartsMissing, stacklevel=2)
        return Marts()
    if not manifest.exists():
        warnings.warn(f"{manifest} is missing: no marts; make it by: make env", MartsMissing, stacklevel=2)
        return Marts()
    from pkg_pipeline.defs.assets import dbt_assets  # imports dagster_dbt, which takes seconds

    assets = dbt_assets.build(json.loads(manifest.read_text(encoding="utf-8")), daily=daily, weekly=weekly)
    _, by_day, by_week = assets
    return Marts(
        assets=assets,
        jobs=mart_schedules.jobs(by_day=by_day, by_week=by_week),
        schedules=mart_schedules.build(by_day=by_day, by_week=by_week, timezone=daily.timezone),
        resources={"dbt": dbt_assets.resource(PROJECT)},
    )
