"""Assets that materialise their partitions one by one, so that a run that ends early keeps those it finished."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cached_property
from typing import Any, Generic, TypeVar

import dagster as dg

from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.lanes import wants_only_due
from pkg_pipeline.defs.preview import preview

Report = TypeVar("Report")

BACKFILL_TAG = "dagster/backfill"
"""Tag on the runs of a backfill launched on Dagster's pages."""


@contextmanager
def without_beta_warnings() -> Iterator[None]:
    """Silences Dagster's warning that backfill policies are beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        yield


def marking_asset(
    *,
    name: str,
    deps: Sequence[str | dg.AssetDep],
    partitions: dg.TimeWindowPartitionsDefinition,
    keys_per_run: int | None,
    description: str,
    counted: Sequence[str],
    code_version: str | None = None,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Decorator of the body of an asset over ``partitions``. ``keys_per_run`` splits a backfill, None makes it one run;
    ``counted`` names the checks that the asset computes itself.
    """

    def made(body: Callable[..., Any]) -> dg.AssetsDefinition:
        with without_beta_warnings():
            policy = dg.BackfillPolicy.multi_run(keys_per_run) if keys_per_run else dg.BackfillPolicy.single_run()
            return dg.asset(
                name=name,
                deps=deps,
                partitions_def=partitions,
                backfill_policy=policy,
                code_version=code_version,
                group_name="memory",
                kinds={"postgres"},
                description=description,
                check_specs=checks.specs(name, *counted),
                output_required=False,
            )(body)

    return made


class Marks(Generic[Report]):
    """Called with the report of each finished partition: logs its materialisation and keeps the report.

    If all numbers named by ``work`` are zero and the partition is already materialised, nothing new is logged, so that
    its last numbers stay. A backfill of Dagster's pages gets those last numbers again, because it counts a partition
    without an event as failed.
    """

    def __init__(
        self,
        context: dg.AssetExecutionContext,
        asset: str,
        *,
        key: Callable[[Report], date],
        numbers: Callable[[Report], Mapping[str, int | float]],
        work: Sequence[str],
        code_version: str | None = None,
    ) -> None:
        self.reports: list[Report] = []
        self._context, self._asset = context, asset
        self._key, self._numbers, self._work = key, numbers, work
        # Dagster adds the code version only to events it emits itself; the UI needs it to show stale partitions
        self._tags = None if code_version is None else {"dagster/code_version": code_version}

    def __call__(self, report: Report) -> None:
        self.reports.append(report)
        key = self._key(report).isoformat()
        numbers: dict[str, Any] = dict(self._numbers(report))
        if not any(numbers[name] for name in self._work) and key in self._marked:
            self._context.log.info(f"nothing to do in {key}")
            if BACKFILL_TAG not in self._context.run.tags:
                return
            numbers = self._said(key)  # a backfill of the pages counts a partition without an event as failed
        else:
            numbers |= preview(self._context.resources.memory, self._asset, key)
        self._context.log_event(dg.AssetMaterialization(self._asset, partition=key, metadata=numbers, tags=self._tags))

    @cached_property
    def _marked(self) -> set[str]:
        """Partitions that are already materialised; empty for a run over due work, which has its own marks."""
        if wants_only_due(self._context.run.tags):
            return set()
        return self._context.instance.get_materialized_partitions(dg.AssetKey(self._asset))

    def _said(self, key: str) -> dict[str, Any]:
        wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(self._asset), asset_partitions=[key])
        (record,) = self._context.instance.fetch_materializations(wanted, limit=1).records
        assert record.asset_materialization is not None
        return dict(record.asset_materialization.metadata)

    def total(self, count: Callable[[Report], int]) -> int:
        """Sum of ``count`` over the reports."""
        return sum(map(count, self.reports))
