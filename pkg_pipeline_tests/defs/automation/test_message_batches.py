"""``message_batches``: asks for a run where a batch has ended; the run reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs.automation import message_batches
from pkg_pipeline.defs.lanes import lane_of, scope_of
from pkg_pipeline.stages.llm.batch_ports import InFlight
from pkg_pipeline.stages.ports import LlmUnavailable
from pkg_pipeline_tests.defs.fakes import NOW, FakeMemory

LATER = 4102444800.0


def tick(memory: FakeMemory, instance: dg.DagsterInstance, *, cursor: str | None = None) -> Any:
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources={"memory": memory}) as context:
        return message_batches.build_sensor(wall=lambda: LATER).evaluate_tick(context)


@pytest.fixture
def memory(tmp_path: Path) -> FakeMemory:
    made = FakeMemory(tmp_path)
    made.batches = InFlight(2, 70, 900, NOW)
    return made


def test_without_batches_the_service_is_not_asked(memory: FakeMemory, instance: dg.DagsterInstance) -> None:
    memory.batches, memory.batches_told = InFlight(0, 0, 0, None), AssertionError("asked")
    assert tick(memory, instance).skip_message == "no message batch is on its way"


def test_what_is_on_its_way_is_told(memory: FakeMemory, instance: dg.DagsterInstance) -> None:
    assert tick(memory, instance).skip_message == "2 message batches with 70 questions are on their way"


def test_a_service_that_does_not_tell_is_asked_again_later(memory: FakeMemory, instance: dg.DagsterInstance) -> None:
    memory.batches_told = LlmUnavailable("the service cannot be reached")
    found = tick(memory, instance)
    assert (found.run_requests, found.skip_message) == (
        [],
        "the service does not tell: the service cannot be reached",
    )


def test_one_run_at_a_time_reads_what_has_ended(
    memory: FakeMemory, instance: dg.DagsterInstance, definitions_of: Any
) -> None:
    memory.batches_told = True
    found = tick(memory, instance)
    (request,) = found.run_requests
    assert lane_of(request.tags) == "backfill"
    assert found.cursor == "1"
    job = definitions_of(memory).resolve_job_def(message_batches.JOB)
    instance.create_run_for_job(job, tags=dict(request.tags), status=dg.DagsterRunStatus.STARTED)
    assert tick(memory, instance, cursor="1").skip_message == "a run reads them already"


def test_the_run_reads_and_tells_in_numbers(
    memory: FakeMemory, instance: dg.DagsterInstance, definitions_of: Any
) -> None:
    job = definitions_of(memory).resolve_job_def(message_batches.JOB)
    done = job.execute_in_process(instance=instance)
    assert done.success
    assert memory.collected == [done.run_id]
    (output,) = [event for event in done.all_events if event.event_type_value == "STEP_OUTPUT"]
    told = {name: value.value for name, value in output.step_output_data.metadata.items()}
    assert told == {
        "days": 1,
        "summarized": 2,
        "quarantined": 0,
        "calls": 1,
        "cost_usd": 0.01,
        "in_flight": 70,
    }


def test_a_backfill_from_the_pages_may_go_in_batches() -> None:
    assert scope_of({"pkg/batch": "true"}).in_batches
    assert not scope_of({}).in_batches
