"""``interactions``: touched chats are cut into interactions anew, silent ones completed. The rules are the stage's."""

import time

import dagster as dg

from pkg_pipeline.defs import checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

NAME = "interactions"


@dg.asset(
    name=NAME,
    deps=["messages"],
    group_name="memory",
    kinds={"postgres"},
    description="Bounded stretches of each chat, scored and attributed; completed once they fell silent.",
    check_specs=checks.specs(NAME, checks.PENDING),
)
def interactions(context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> dg.MaterializeResult:
    started = time.perf_counter()
    with translated("the interactions"):
        report = memory.build_interactions()
        left = len(memory.partitions.due(NAME, now=memory.clock.now()))
    return dg.MaterializeResult(
        metadata={
            "rows": report.interactions,
            "chats": report.chats,
            "completed": report.completed,
            "messages": report.messages,
            "pending": left,
            "seconds": time.perf_counter() - started,
        },
        check_results=[checks.none_left(NAME, checks.PENDING, left), *checks.verified(context, memory, NAME)],
    )
