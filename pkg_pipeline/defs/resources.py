"""The resource that opens the memory for one run or one tick.

Nothing is connected at import or when the definitions load. Settings come from the environment of the process that
executes: no secret is ever in run config, metadata or the instance's tables.
"""

from collections.abc import Iterator

import dagster as dg

from pkg_pipeline.defs.pipeline_memory import PipelineMemory, opened

RESOURCE = "memory"
"""The key under which assets, schedules and sensors ask for it."""


@dg.resource(description="The memory by the settings in force, open for one run or tick.")
def memory_resource(init: dg.InitResourceContext) -> Iterator[PipelineMemory]:
    """Opened when a run or tick begins and closed at its end; a tick only looks. What is wrong is said in one line."""
    from pkg_pipeline import settings

    with opened(settings.load(), works=init.run is not None) as memory:
        yield memory
