"""The dbt models as Dagster assets (B13): whole, by day and by week, as dbt's manifest describes them.

Made without ``dagster_dbt``: it brings dbt itself, which takes three seconds in every process that loads definitions.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.defs.assets.mart_job import require_all
from pkg_pipeline.defs.assets.partition_marks import without_beta_warnings
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.wiring.marts import variables

Partitions = dg.DailyPartitionsDefinition | dg.WeeklyPartitionsDefinition
Node = Mapping[str, Any]


def build(
    target: Path, *, daily: dg.DailyPartitionsDefinition, weekly: dg.WeeklyPartitionsDefinition
) -> list[dg.AssetsDefinition]:
    """All models of the manifest in ``target``, with their tests as asset checks."""
    manifest = json.loads((target / "manifest.json").read_text(encoding="utf-8"))
    nodes = {**manifest["nodes"], **manifest["sources"]}
    with without_beta_warnings():
        return [_whole(nodes), _ranged(nodes, "by_day", daily), _ranged(nodes, "by_week", weekly)]


def _whole(nodes: Mapping[str, Node]) -> dg.AssetsDefinition:
    @dg.multi_asset(name="marts", can_subset=True, **_specs(nodes, "whole"))
    def marts(context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> Iterator[Any]:
        yield from _built(context, memory, variables(memory.settings))

    return marts


def _ranged(nodes: Mapping[str, Node], kind: str, partitions: Partitions) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=f"marts_{kind}",
        can_subset=True,
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run(),
        **_specs(nodes, kind),
    )
    def marts(context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> Iterator[Any]:
        keys = context.partition_key_range
        is_first = keys.start == partitions.get_first_partition_key()
        outdated = memory.marts.outdated(kind)
        # rows before the first key belong to it
        chosen = variables(memory.settings, first="-infinity" if is_first else keys.start, last=keys.end)
        yield from _built(context, memory, chosen)
        taken = {key: count for key, count in outdated.items() if (is_first or keys.start <= key) and key <= keys.end}
        memory.marts.note_built(kind, taken)

    return marts


def _built(context: dg.AssetExecutionContext, memory: PipelineMemory, chosen: Mapping[str, Any]) -> Iterator[Any]:
    publication.require(context.instance, "the marts")
    only = [key.to_user_string() for key in context.selected_asset_keys]
    only += [key.name for key in context.selected_asset_check_keys]
    with translated("the marts"):
        results = dbt_project.build(memory.database_url, chosen, only=only)
    for one in results:
        if one.is_test:
            yield dg.AssetCheckResult(passed=one.succeeded, asset_key=one.mart, check_name=one.name)
        elif one.succeeded:
            yield dg.MaterializeResult(asset_key=one.mart)
    require_all(results)


# ── what the manifest says ────────────────────────────────────────────────────────────────────


def _specs(nodes: Mapping[str, Node], tag: str) -> dict[str, Any]:
    """Of the models with a tag."""
    models = [one for one in nodes.values() if one["resource_type"] == "model" and tag in one["tags"]]
    names = {one["name"] for one in models}
    tests = [one for one in nodes.values() if one["resource_type"] == "test" and dbt_project.mart_of(one) in names]
    return {
        "specs": [_spec(nodes, one) for one in models],
        "check_specs": [_check(nodes, one, dbt_project.mart_of(one)) for one in tests],
    }


def _spec(nodes: Mapping[str, Node], model: Node) -> dg.AssetSpec:
    code: str = model["raw_code"]
    columns = [
        dg.TableColumn(one["name"], one["data_type"], one["description"] or None) for one in model["columns"].values()
    ]
    return dg.AssetSpec(
        model["name"],
        deps=_made_of(nodes, model),
        group_name=model["config"]["meta"]["dagster"]["group"],
        kinds={"dbt", "postgres"},
        tags=dict.fromkeys(model["tags"], ""),
        description=f"{model['description']}\n\n#### Raw SQL:\n```sql\n{code}\n```",
        code_version=hashlib.sha1(code.encode()).hexdigest(),
        metadata={
            "dagster/column_schema": dg.TableSchema(columns),
            "dagster/table_name": f"{model['schema']}.{model['name']}",
        },
        skippable=True,
    )


def _check(nodes: Mapping[str, Node], test: Node, mart: str) -> dg.AssetCheckSpec:
    others = [name for name in _made_of(nodes, test) if name != mart]
    return dg.AssetCheckSpec(
        test["name"],
        asset=mart,
        blocking=True,
        additional_deps=others,
        description=test["description"] or None,
    )


def _made_of(nodes: Mapping[str, Node], node: Node) -> Sequence[str]:
    """The assets a model or test reads, whatever it reads them through."""
    found: set[str] = set()
    for name in node["depends_on"]["nodes"]:
        read = nodes[name]
        if read["resource_type"] == "source":
            found.update(read["meta"]["dagster"]["asset_key"])  # several source tables belong to one asset
        elif read["config"]["materialized"] == "ephemeral":
            found.update(_made_of(nodes, read))
        else:
            found.add(read["name"])
    return sorted(found)
