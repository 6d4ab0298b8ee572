"""Reloads the definitions when messages older than their first partition arrive."""

from __future__ import annotations

import os
import threading
from datetime import date

import dagster as dg

from pkg_pipeline.adapters.process_environment import CODE_SERVER_VARIABLE
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

TICK_SECONDS = 30
RELOAD_SECONDS = 300


def build(start: date) -> dg.SensorDefinition:
    @dg.sensor(
        name="older_messages",
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Messages older than all before: partitions begin with their month from the next load on.",
        job_name="build_interactions",
    )
    def older_messages(_: dg.SensorEvaluationContext, memory: dg.ResourceParam[PipelineMemory]) -> dg.SkipReason:
        first = memory.partitions_start
        if first >= start:
            return dg.SkipReason(f"partitions begin with {start}, as the memory does")
        return dg.SkipReason(f"the memory begins with {first}, partitions with {start}: {_reload()}")

    return older_messages


def _reload() -> str:
    """Asks the code server to reload, without waiting: this tick runs in the old definitions."""
    place = os.environ.get(CODE_SERVER_VARIABLE)
    if place is None:
        return "press Reload at Deployment, Code locations"
    threading.Thread(target=_ask_for_reload, args=(place,), daemon=True).start()
    return "the definitions are loaded anew"


def _ask_for_reload(place: str) -> None:
    # private, but the only way to reload without the web page's button
    from dagster._grpc.client import DagsterGrpcClient

    if place.isdigit():
        client = DagsterGrpcClient(host="localhost", port=int(place))
    else:
        client = DagsterGrpcClient(socket=place)
    client.reload_code(timeout=RELOAD_SECONDS)
