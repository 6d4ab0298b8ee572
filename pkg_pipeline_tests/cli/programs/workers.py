"""What docker-compose.scale.yml adds to a running topology, as processes: Redis, a daemon that launches on workers, and
workers on homes of their own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from celery import Celery
from redis import Redis
from redis.exceptions import RedisError

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.cli.programs.service import NAME_VARIABLE, QUEUES_VARIABLE
from pkg_pipeline.defs.celery_runs import worker_app
from pkg_pipeline_tests.cli.clusters import Cluster
from pkg_pipeline_tests.cli.processes import wait_until
from pkg_pipeline_tests.cli.programs import topology as topologies
from pkg_pipeline_tests.cli.programs.topology import PASSWORD, ROOT, Topology

TASK_TAG = "dagster-celery/task_id"
BACKFILL_SECONDS = 600
"""Less than a minute where nothing else runs; on a busy machine the daemon looks less often."""
LAUNCH = """
mutation ($days: [String!]!, $tags: [ExecutionTag!]) {
  launchPartitionBackfill(backfillParams: {assetSelection: [{path: ["interaction_summaries"]}], partitionNames: $days,
      tags: $tags}) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""
SENSORS = "{ repositoriesOrError { ... on RepositoryConnection { nodes { sensors { sensorState { id } } } } } }"
STOP = "mutation ($id: String!) { stopSensor(id: $id) { __typename } }"
STATUS = """
query ($id: String!, $tags: [ExecutionTag!]) {
  partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } }
  runsOrError(filter: {tags: $tags}) { ... on Runs { results { runId status startTime endTime tags { key value } } } }
}
"""


def services() -> dict[str, Any]:
    """Of both files, the second on top of the first as Compose does it."""
    scale = yaml.safe_load((ROOT / "docker-compose.scale.yml").read_text(encoding="utf-8"))["services"]
    base = topologies.compose()["services"]
    return {name: _merged(base.get(name, {}), scale.get(name, {})) for name in {**base, **scale}}


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    found = {**under, **over}
    for key, value in under.items():
        if isinstance(value, dict) and isinstance(over.get(key), dict):
            found[key] = _merged(value, over[key])
    return found


def stop_sensors(running: Topology) -> None:
    """Only what is asked for runs from now on."""
    (location,) = running.graphql(SENSORS)["repositoriesOrError"]["nodes"]
    for sensor in location["sensors"]:
        answer = running.graphql(STOP, id=sensor["sensorState"]["id"])
        assert answer["stopSensor"]["__typename"] == "StopSensorMutationResult", answer


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Debian's, on a free port and with a password; its URL."""
    port = topologies.free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", PASSWORD]
    with (folder / "redis.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        with Redis(port=port, password=PASSWORD) as client:
            wait_until(lambda: _answers(client))
        yield f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=10)


def _answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False


@dataclass(slots=True)
class Backfill:
    """How one stands: its status, its runs as id, status and task, seconds from its first run's start to the last end,
    and what Dagster noted at runs that failed (why, whether they are started again, and as which run).
    """

    status: str
    runs: list[tuple[str, str, str | None]]
    seconds: float
    failed: list[dict[str, str]]


@dataclass(slots=True)
class Workers:
    """Workers of a running topology, by the names of the program's processes."""

    running: Topology
    server: Cluster
    folder: Path
    broker: str
    more: Mapping[str, str]
    celery: Celery

    def daemon(self, *, most: int) -> None:
        """In place of the one that runs: it launches on workers, and looks after runs more often than once a minute."""
        topologies.end(self.running, "daemon")
        ours = dagster_home.Running(most, self.broker).yaml
        changed = ours.replace("poll_interval_seconds: 60", "poll_interval_seconds: 2")
        home = self.running.home / "dagster"
        home.mkdir(parents=True, exist_ok=True)
        assert changed != ours
        (home / "dagster.yaml").write_text(changed.replace(dagster_home.MARK, ""), encoding="utf-8")
        service = services()["daemon"]
        told = {**self._environment(service), "PKG_MOST_RUNS": str(most)}
        topologies.start(self.running, "daemon", service, told, self.folder)

    def start(self, *names: str, service: str = "worker", **queues: str) -> None:
        """Each on a home of its own; an ``importer`` on the one of the code server. ``queues``: of some, by name."""
        described = services()[service]
        for name in names:
            home = self.running.home if service == "importer" else self.folder / name
            told = {**self._environment(described), **self.more, "PKG_HOME": str(home), NAME_VARIABLE: name}
            told |= {QUEUES_VARIABLE: queues[name]} if name in queues else {}
            topologies.start(self.running, name, described, told, self.folder)

    def wait(self, *names: str) -> None:
        """Until they take runs."""
        left = set(names)

        def all_answer() -> bool:
            for reply in self.celery.control.ping(timeout=0.5) or []:
                left.difference_update(worker.partition("@")[0] for worker in reply)
            return not left

        wait_until(all_answer, seconds=topologies.START_SECONDS)

    def kill(self, name: str) -> None:
        process = self.running.processes[name]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)

    def worker_of(self, task: str) -> str:
        """The worker that began a task, or ended it."""
        found = self.celery.AsyncResult(task)
        told = found.info
        worker = told.get("hostname") if isinstance(told, dict) else found.worker
        return str(worker).partition("@")[0]

    def is_at_work(self, name: str, state: Backfill) -> bool:
        return any(task and status == "STARTED" and self.worker_of(task) == name for _, status, task in state.runs)

    def backfill(self, days: Sequence[str]) -> str:
        answer = self.running.graphql(LAUNCH, days=list(days), tags=[{"key": "pkg/lane", "value": "backfill"}])
        launched = answer["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        return str(launched["backfillId"])

    def state(self, backfill_id: str) -> Backfill:
        tags = [{"key": "dagster/backfill", "value": backfill_id}]
        answer = self.running.graphql(STATUS, id=backfill_id, tags=tags)
        runs = [
            (run["runId"], run["status"], {one["key"]: one["value"] for one in run["tags"]}.get(TASK_TAG))
            for run in answer["runsOrError"]["results"]
        ]
        times = [(run["startTime"], run["endTime"]) for run in answer["runsOrError"]["results"] if run["endTime"]]
        seconds = max(end for _, end in times) - min(start or end for start, end in times) if times else 0.0
        failed = [
            {one["key"]: one["value"] for one in run["tags"] if one["key"].startswith("dagster/")}
            for run in answer["runsOrError"]["results"]
            if run["status"] == "FAILURE"
        ]
        return Backfill(answer["partitionBackfillOrError"]["status"], runs, seconds, failed)

    def ended(
        self,
        backfill_id: str,
        *,
        until: Callable[[Backfill], bool] | None = None,
        seconds: float = BACKFILL_SECONDS,
    ) -> Backfill:
        """The state once it is complete, or ``until`` holds."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.state(backfill_id)
            if until(found) if until is not None else found.status.startswith("COMPLETED"):
                return found
            assert time.monotonic() < deadline, found
            # a moment is short, the end stays; every answer is work for two processes
            time.sleep(0.3 if until is not None else 2)

    def of(self, state: Backfill) -> dict[str, int]:
        """Runs that ended well, by worker."""
        found: dict[str, int] = {}
        for _, status, task in state.runs:
            if status == "SUCCESS" and task is not None:
                worker = self.worker_of(task)
                found[worker] = found.get(worker, 0) + 1
        return found

    def _environment(self, service: Mapping[str, Any]) -> dict[str, str]:
        told = topologies.environment_of(service, self.server, self.running)
        assert "@redis:6379/0" in told[dagster_home.BROKER_VARIABLE]
        return {**told, dagster_home.BROKER_VARIABLE: self.broker}


@contextmanager
def workers(running: Topology, server: Cluster, folder: Path, **more: str) -> Iterator[Workers]:
    """``more``: variables of the workers alone. They end with the topology, Redis with this block."""
    with redis_server(folder) as broker:
        app = worker_app(broker)
        try:
            yield Workers(running, server, folder, broker, more, app)
        finally:
            topologies.end(running, *running.processes)
            app.close()


def has_redis() -> bool:
    return shutil.which("redis-server") is not None
