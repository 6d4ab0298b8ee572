"""``interactions``: cuts touched chats into interactions anew and completes silent ones."""

import time
from collections.abc import Iterator

import dagster as dg

from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.defs.preview import preview

NAME, MESSAGES = "interactions", "messages"


@dg.asset(
    name=NAME,
    deps=["messages"],
    group_name="memory",
    kinds={"postgres"},
    description="Bounded stretches of each chat, scored and attributed; completed once they fell silent.",
    check_specs=checks.specs(NAME, checks.PENDING),
)
def interactions(
    context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
) -> Iterator[dg.MaterializeResult]:
    started = time.perf_counter()
    with translated("the interactions"):
        report = memory.make_searchable()
        left = len(memory.partitions.due(NAME, now=memory.clock.now()))
    if report.messages and context.instance.get_latest_materialization_event(dg.AssetKey(MESSAGES)) is None:
        # messages from the API are unknown to Dagster: without an event of theirs the upstream asset would look missing
        context.log_event(dg.AssetMaterialization(MESSAGES, metadata={"rows": report.messages}))
    elsewhere = memory.unreported(NAME)
    numbers = {
        "rows": report.interactions,
        "chats": report.chats,
        "completed": report.completed,
        "messages": report.messages,
    }
    yield dg.MaterializeResult(
        metadata={
            **{name: count + sum(one.counts.get(name, 0) for one in elsewhere) for name, count in numbers.items()},
            "pending": left,
            "seconds": time.perf_counter() - started,
            **preview(memory, NAME),
        },
        check_results=[checks.none_left(NAME, checks.PENDING, left), *checks.verified(context, memory, NAME)],
    )
    memory.drop_reported(elsewhere)  # they are part of this run's event now


def build() -> dg.AssetsDefinition:
    return interactions
