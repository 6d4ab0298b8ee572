"""A year of ticks: the clock goes from day to day, schedules fire at their hours, sensors are asked until all is quiet.

Schedules and sensors are the real ones on a real instance; what they ask for is executed in this process, one run after
the other, with the tags that a daemon would give it. A run key that was seen is passed over, as Dagster does it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any

import dagster as dg
from dagster._utils.schedules import schedule_execution_time_iterator

from pkg_pipeline.adapters.inbox import Inbox
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.defs.automation import sensors
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.defs.resources import RESOURCE
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory, database

MOST_ROUNDS = 12
"""A daemon asks every half minute; so many rounds a day are enough, and more would mean that something spins."""

LEFT_OUT = frozenset({"build_marts"})
"""Ticked, not run: dbt needs some ten seconds a build, which a year of nights would make hours of."""

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class MovingClock:
    """The memory's clock, set by hand."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


def later() -> float:
    """The wall clock a minute on: a file is taken at once, where the inbox would wait for it to settle."""
    return time.time() + 60


class SettledMemory(OpenedMemory):
    """The real one; its inbox takes what has just been written."""

    @property
    def inbox(self) -> Inbox:
        return Inbox(self.settings.inbox, wall=later)


class Ticks:
    """Schedules and sensors over one memory and one instance."""

    def __init__(self, memory: OpenedMemory, clock: MovingClock, instance: dg.DagsterInstance) -> None:
        self._memory, self._clock, self._instance = memory, clock, instance
        self._cursors: dict[str, str | None] = {}
        self._seen: set[tuple[str, str]] = set()
        self.runs: Counter[str] = Counter()
        self.failed: list[str] = []
        self.ticks = 0
        self._load()

    def _load(self) -> None:
        memory = self._memory
        self._start = memory.partitions_start
        held = dg.ResourceDefinition.hardcoded_resource(memory)
        self._definitions = build_definitions(
            start=self._start, settings=memory.settings, resource_overrides={RESOURCE: held}
        )
        repository = self._definitions.get_repository_def()
        self._schedules = list(repository.schedule_defs)
        made = sensors.build(memory.settings, start=self._start, wall=later)
        minutes_on = {one.name: one for one in made}
        self._sensors = [
            minutes_on.get(one.name, one)
            for one in repository.sensor_defs
            if not isinstance(one, dg.RunStatusSensorDefinition)
        ]

    @property
    def names(self) -> list[str]:
        return sorted(one.name for one in (*self._schedules, *self._sensors))

    def night(self, day: date) -> None:
        """Every schedule at each of its times in the local day."""
        zone = self._memory.settings.zone
        start = datetime(day.year, day.month, day.day, tzinfo=zone)
        end = datetime.combine(day + timedelta(days=1), datetime.min.time(), tzinfo=zone)
        due = [(at, one) for one in self._schedules for at in self._times(one, start, end)]
        for at, schedule in sorted(due, key=lambda pair: (pair[0], pair[1].name)):
            self._clock.at = at
            self._schedule(schedule, at)

    def evening(self) -> None:
        """All sensors, again and again, until none asks for anything."""
        for _ in range(MOST_ROUNDS):
            if self._memory.partitions_start != self._start:
                self._load()  # as the daemon does where older messages come in: there are earlier partitions
            if not sum(self._sensor(one) for one in self._sensors) and not self._memory.inbox.drops():
                return
        raise RuntimeError(f"still asking after {MOST_ROUNDS} rounds on {self._clock.at:%Y-%m-%d}")

    def _times(self, schedule: dg.ScheduleDefinition, start: datetime, end: datetime) -> Iterator[datetime]:
        # what the daemon itself asks; there is no public name for it
        times = schedule_execution_time_iterator(start.timestamp(), schedule.cron_schedule, schedule.execution_timezone)
        for at in times:
            if at >= end:
                return
            yield at

    def _schedule(self, schedule: dg.ScheduleDefinition, at: datetime) -> None:
        self.ticks += 1
        needs = schedule.required_resource_keys
        resources = {RESOURCE: self._memory} if RESOURCE in needs else {}
        with dg.build_schedule_context(
            instance=self._instance, scheduled_execution_time=at, resources=resources
        ) as context:
            # an instance in memory has no reference by which it could be opened
            context._instance, context._instance_ref = self._instance, "in memory"  # noqa: SLF001
            data = schedule.evaluate_tick(context)
        asked = [] if schedule.job_name in LEFT_OUT else data.run_requests or []
        for request in asked:
            self._execute(request, request.job_name or schedule.job_name, {"dagster/schedule_name": schedule.name})

    def _sensor(self, sensor: dg.SensorDefinition) -> int:
        self.ticks += 1
        resources = {RESOURCE: self._memory} if RESOURCE in sensor.required_resource_keys else {}
        with dg.build_sensor_context(
            instance=self._instance, cursor=self._cursors.get(sensor.name), resources=resources
        ) as context:
            data = sensor.evaluate_tick(context)
        self._cursors[sensor.name] = data.cursor or self._cursors.get(sensor.name)
        fresh = [
            one for one in data.run_requests or [] if one.run_key is None or self._is_new(sensor.name, one.run_key)
        ]
        for request in fresh:
            self._execute(request, request.job_name or sensor.job_name, {"dagster/sensor_name": sensor.name})
        return len(fresh)

    def _is_new(self, origin: str, run_key: str) -> bool:
        if (origin, run_key) in self._seen:
            return False
        self._seen.add((origin, run_key))
        return True

    def _execute(self, request: dg.RunRequest, job_name: str, tags: dict[str, str]) -> None:
        job = self._definitions.resolve_job_def(job_name)
        asked: dict[str, Any] = {"partition_key": request.partition_key} if request.partition_key else {}
        result = job.execute_in_process(
            instance=self._instance,
            raise_on_error=False,
            tags={**request.tags, **tags},
            run_config={**QUIET, **(request.run_config or {})},
            **asked,
        )
        self.runs[job_name] += 1
        if not result.success:
            self.failed.append(f"{job_name} on {self._clock.at:%Y-%m-%d}")


@contextmanager
def opened(settings: Settings, clock: MovingClock) -> Iterator[tuple[OpenedMemory, Memory, Ticks]]:
    """A new memory under ``settings`` whose time is ``clock``'s."""
    with database(settings) as url:
        migrate.upgrade(url)
        memory = Memory(settings, url=url, connections=engine.pool(url, size=8), clock=clock)
        try:
            seen = SettledMemory(memory)
            # in memory: on PostgreSQL Dagster makes a connection for each event, which is two thirds of a year's time
            with dg.DagsterInstance.ephemeral() as instance:
                yield seen, memory, Ticks(seen, clock, instance)
        finally:
            memory.close()
