"""Assets that attempt their partitions one by one and mark each when it is done.

They declare their output as not required: a run that ends in the middle keeps the partitions it finished. What a
partition's numbers are, and what is checked, is each asset's.
"""

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
"""On the runs of a backfill that somebody launched on the pages."""

DAGSTER_BACKFILL_TAG = "dagster/backfill"
"""On the runs of a backfill that Dagster's pages launched."""


@contextmanager
def without_beta_warnings() -> Iterator[None]:
    """Backfill policies have been marked beta for years; that they are used here is a decision, no news for users."""
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
    """Decorates the body of an asset over ``partitions``. ``keys_per_run`` splits a backfill, None makes it one run;
    ``counted`` names the checks the asset counts itself, beside which stands all that is verified of it.
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

    A run over partitions that somebody named may find nothing to do in one, all of its numbers ``work`` being zero: if
    it was materialised before, it keeps what was said of it then, and its place in the plots. A backfill of Dagster's
    is told that again: it counts a partition without a materialisation of its own as failed.
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
        # Dagster adds the code version only to what it emits itself; without it the UI could not tell stale partitions
        self._tags = None if code_version is None else {"dagster/code_version": code_version}

    def __call__(self, report: Report) -> None:
        self.reports.append(report)
        key = self._key(report).isoformat()
        numbers: dict[str, Any] = dict(self._numbers(report))
        if not any(numbers[name] for name in self._work) and key in self._marked:
            self._context.log.info(f"nothing to do in {key}")
            if BACKFILL_TAG not in self._context.run.tags:
                return
            numbers = self._said(key)  # a backfill of the pages takes a partition without an event for a failed one
        else:
            numbers |= preview(self._context.resources.memory, self._asset, key)
        self._context.log_event(dg.AssetMaterialization(self._asset, partition=key, metadata=numbers, tags=self._tags))

    def _said_of(self, key: str) -> Mapping[str, Any]:
        """What the last materialisation of a partition that has one said."""
        wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(self._asset), asset_partitions=[key])
        (record,) = self._context.instance.fetch_materializations(wanted, limit=1).records
        return record.asset_materialization.metadata if record.asset_materialization else {}

    @cached_property
    def _marked(self) -> set[str]:
        """Partitions that have a mark already; none of a run over what is due, which is told apart by its marks."""
        if wants_only_due(self._context.run.tags):
            return set()
        return self._context.instance.get_materialized_partitions(dg.AssetKey(self._asset))

    def _said(self, key: str) -> dict[str, Any]:
        wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(self._asset), asset_partitions=[key])
        (record,) = self._context.instance.fetch_materializations(wanted, limit=1).records
        assert record.asset_materialization is not None
        return dict(record.asset_materialization.metadata)

    def total(self, count: Callable[[Report], int]) -> int:
        """The sum of a count over the finished partitions."""
        return sum(map(count, self.reports))
