"""``messages``: imports what lies in the inbox. Imports by the command line are counted with those of the next run."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.defs.preview import preview

NAME = "messages"
COUNTS = ("files", "messages_new", "messages_updated", "messages_unchanged", "messages_deleted")


@dg.asset(
    name=NAME,
    group_name="memory",
    kinds={"postgres"},
    description="Conversations from export files: each drop in the inbox is imported once and moved aside.",
    check_specs=checks.specs(NAME, checks.PENDING, checks.FAILED),
)
def messages(
    context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
) -> Iterator[dg.MaterializeResult]:
    started = time.perf_counter()
    with translated("the import"):
        taken = memory.inbox.take_all(memory.import_drop)
    for drop in taken:
        context.log.info(drop.line)
    failed = sum(not drop.imported for drop in taken)
    waiting = len(memory.inbox.drops())
    elsewhere = memory.unreported(NAME)
    totals = _totals([{**drop.report, "files": 1} for drop in taken] + [one.counts for one in elsewhere])
    yield dg.MaterializeResult(
        metadata={**totals, "failed": failed, "pending": waiting, "seconds": time.perf_counter() - started}
        | preview(memory, NAME),
        check_results=[
            checks.none_left(NAME, checks.PENDING, waiting),
            checks.none_left(NAME, checks.FAILED, failed),
        ],
    )
    memory.drop_reported(elsewhere)  # they are part of this run's event now


def _totals(imports: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counts = {name: sum(int(one.get(name, 0)) for one in imports) for name in COUNTS}
    rows = counts["messages_new"] + counts["messages_updated"] + counts["messages_deleted"]
    return {"rows": rows, **counts}


def build() -> dg.AssetsDefinition:
    return messages
