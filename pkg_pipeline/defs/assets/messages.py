"""``messages``: what lies in the inbox goes into the memory. How a file is read, written and moved is not here."""

import time

import dagster as dg

from pkg_pipeline.adapters.inbox import Taken
from pkg_pipeline.defs import checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

NAME = "messages"
COUNTS = ("messages_new", "messages_updated", "messages_unchanged", "messages_deleted")


@dg.asset(
    name=NAME,
    group_name="memory",
    kinds={"postgres"},
    description="Conversations from export files: each drop in the inbox is imported once and moved aside.",
    check_specs=checks.specs(NAME, checks.PENDING, checks.FAILED),
)
def messages(context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> dg.MaterializeResult:
    started = time.perf_counter()
    with translated("the import"):
        taken = memory.inbox.take_all(memory.import_drop)
    for drop in taken:
        context.log.info(drop.line)
    failed = sum(not drop.imported for drop in taken)
    waiting = len(memory.inbox.drops())
    return dg.MaterializeResult(
        metadata={**_totals(taken), "failed": failed, "pending": waiting, "seconds": time.perf_counter() - started},
        check_results=[
            checks.none_left(NAME, checks.PENDING, waiting),
            checks.none_left(NAME, checks.FAILED, failed),
        ],
    )


def _totals(taken: list[Taken]) -> dict[str, int]:
    counts = {name: sum(int(drop.report.get(name, 0)) for drop in taken) for name in COUNTS}
    rows = counts["messages_new"] + counts["messages_updated"] + counts["messages_deleted"]
    return {"rows": rows, "files": len(taken), **counts}
