"""``build_marts``: one dbt build over all models, in ``run``, each morning and by hand. One op, because as assets daily
and weekly models would need three runs; each key is reported to Dagster as a materialisation.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from pkg_pipeline.adapters.dbt_project import Built, failed
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.hops import MARTS
from pkg_pipeline.defs.pipeline_memory import PipelineMemory


def build() -> dg.JobDefinition:
    @dg.op(
        name=f"update_{MARTS.asset}",
        out=dg.Out(is_required=False),
        description="One build, with its tests.",
    )
    def marts(context: dg.OpExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> Iterator[Any]:
        publication.require(context.instance, "the marts")
        with translated("the marts"):
            built = memory.marts.build()
        for one in built.results:
            if one.is_test:
                yield dg.AssetCheckEvaluation(
                    asset_key=dg.AssetKey(one.mart),
                    check_name=one.name,
                    passed=one.succeeded,
                    severity=dg.AssetCheckSeverity.ERROR,
                    blocking=True,
                )
            elif one.succeeded:
                keys = next((built.keys[tag] for tag in one.tags if tag in built.keys), (None,))
                for key in keys:
                    yield dg.AssetMaterialization(one.mart, partition=key)
        require_all(built.results)

    @dg.job(name=MARTS.job, executor_def=dg.in_process_executor, description=MARTS.description)
    def build_marts() -> None:
        marts()

    return build_marts


def require_all(results: Sequence[Built]) -> None:
    """Raises ``dg.Failure`` where a model could not be built; failed tests are asset checks."""
    if names := failed(results):
        said = ", ".join(names)
        raise dg.Failure(description=f"dbt could not build {said}; the rows from before stay", allow_retries=False)
