"""Long threads of LangGraph in Dagster: the sensor finds them, its run prunes them, what fails is asked for later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs.automation import long_threads
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests.agents.rig import filled, opened, saver_at


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    with opened(database_url, tmp_path) as memory:
        yield memory


@pytest.fixture
def saver(database_url: str) -> Iterator[Any]:
    with saver_at(database_url) as saver:
        yield saver


def test_the_sensor_asks_for_what_is_too_long_and_its_run_prunes_it(
    memory: Memory, saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = memory.settings.model_copy(update={"prune_threads": True})
    filled(saver, "long", 110)
    filled(saver, "short", 6)
    (sensor,), (job,) = long_threads.build_sensors(settings), long_threads.build_jobs(settings)
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    with dg.DagsterInstance.ephemeral() as instance, monkeypatch.context() as patched:
        (request,), cursor = tick(sensor, memory, instance, None)
        assert request.run_config["ops"] == {"prune": {"config": {"threads": ["long"]}}}
        assert tick(sensor, memory, instance, cursor)[0] == [request]  # until it is done
        patched.setattr(memory.threads, "_fold", lambda chat_id, by_hand: "the model is down")
        failed = execute(job, memory, instance, request)
        assert not failed.success
        data = evaluated(sensor, memory, instance, cursor)
        assert "the last 1 runs of prune_threads failed" in data.skip_message
        patched.undo()
        result = execute(job, memory, instance, request)
        assert result.success
        assert memory.threads.prune("long").messages <= 200
        requests, cursor = tick(sensor, memory, instance, cursor)
        assert requests == []
        filled(saver, "short", 110)
        (request,), _ = tick(sensor, memory, instance, cursor)
        assert request.run_config["ops"] == {"prune": {"config": {"threads": ["short"]}}}


def test_there_is_no_sensor_without_an_address_and_none_running_unasked(memory: Memory) -> None:
    asked = memory.settings.model_copy(update={"prune_threads": False})
    (sensor,) = long_threads.build_sensors(asked)
    assert sensor.default_status == dg.DefaultSensorStatus.STOPPED
    nowhere = asked.model_copy(update={"langgraph_url": None})
    assert (long_threads.build_sensors(nowhere), long_threads.build_jobs(nowhere)) == ([], [])


def evaluated(sensor: dg.SensorDefinition, memory: Memory, instance: dg.DagsterInstance, cursor: str | None) -> Any:
    given = {"memory": SimpleNamespace(threads=memory.threads)}
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources=given) as context:
        return sensor.evaluate_tick(context)


def tick(
    sensor: dg.SensorDefinition, memory: Memory, instance: dg.DagsterInstance, cursor: str | None
) -> tuple[list[Any], str | None]:
    data = evaluated(sensor, memory, instance, cursor)
    return list(data.run_requests or []), data.cursor


def execute(job: dg.JobDefinition, memory: Memory, instance: dg.DagsterInstance, request: Any) -> Any:
    return job.execute_in_process(
        run_config=request.run_config,
        instance=instance,
        resources={"memory": SimpleNamespace(threads=memory.threads)},
        raise_on_error=False,
    )
