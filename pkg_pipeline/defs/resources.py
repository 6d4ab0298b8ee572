"""The resource that opens the memory for a run or tick, with the settings of the executing process."""

from collections.abc import Iterator

import dagster as dg

from pkg_pipeline.defs.pipeline_memory import PipelineMemory, opened

RESOURCE = "memory"


@dg.resource(description="The memory by the settings in force, open for one run or tick.")
def memory_resource(init: dg.InitResourceContext) -> Iterator[PipelineMemory]:
    """Opened when a run or tick begins, closed at its end; a tick only reads."""
    from pkg_pipeline import settings

    with opened(settings.load(), works=init.run is not None) as memory:
        yield memory
