"""The services of docker-compose.yml as processes of this machine, over one PostgreSQL on TCP, and a run through them.

``python -m pkg_pipeline_tests.cli.programs.topology`` does it and says what it saw; no container engine is needed.
Commands, variables, order and health checks are those of the file: what it says wrongly fails here.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

import psycopg
import yaml

from pkg_pipeline.cli.programs.service import CODE_HOST_VARIABLE, CODE_PORT, CODE_PORT_VARIABLE
from pkg_pipeline_tests.cli.clusters import Cluster, cluster
from pkg_pipeline_tests.cli.processes import dialogue, short_folder, written

ROOT = Path(__file__).resolve().parents[3]
PASSWORD = "only-for-this-minute"
NOW = "2025-03-15T12:00:00+00:00"
START_SECONDS = 600.0
POLL_SECONDS = 1.0
LEAST_DAEMONS = 7
ENTRYPOINT = [sys.executable, "-m", "pkg_pipeline.cli.programs.service"]

Say = Callable[[str], object]

LAUNCH = """
mutation ($selector: JobOrPipelineSelector!, $tags: [ExecutionTag!]) {
  launchRun(executionParams: {selector: $selector, executionMetadata: {tags: $tags}}) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""
STATUS = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
LOCATION = "{ repositoriesOrError { ... on RepositoryConnection { nodes { name location { name } } } } }"


@dataclass(slots=True)
class Topology:
    """What runs, by the names of the file's services; ``ports`` are those on this machine."""

    home: Path
    ports: Mapping[str, int]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])

    def get(self, service: str, path: str, body: object | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        address = f"http://127.0.0.1:{self.ports[service]}{path}"
        request = Request(address, data=data, headers={"content-type": "application/json", **self._authorised(service)})
        with build_opener(ProxyHandler({})).open(request, timeout=120) as answer:
            return json.loads(answer.read())

    def graphql(self, query: str, **variables: object) -> Any:
        answer = self.get("webserver", "/graphql", {"query": query, "variables": variables})
        assert "errors" not in answer, answer
        return answer["data"]

    def launch(self, job: str, tags: Mapping[str, str]) -> str:
        """Starts a run as the pages do: queued, taken by the daemon, executed under the code server. Its id."""
        (repository,) = self.graphql(LOCATION)["repositoriesOrError"]["nodes"]
        selector = {
            "repositoryLocationName": repository["location"]["name"],
            "repositoryName": repository["name"],
            "jobName": job,
        }
        told = [{"key": key, "value": value} for key, value in tags.items()]
        answer = self.graphql(LAUNCH, selector=selector, tags=told)["launchRun"]
        assert answer["__typename"] == "LaunchRunSuccess", answer
        return str(answer["run"]["runId"])

    def finished(self, run_id: str) -> str:
        """How the run ended."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            status = self.graphql(STATUS, id=run_id)["runOrError"]["status"]
            if status in {"SUCCESS", "FAILURE", "CANCELED"}:
                return str(status)
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"run {run_id} did not end")

    def _authorised(self, service: str) -> dict[str, str]:
        return {"authorization": f"Bearer {TOKEN if service == 'api' else PAGES_TOKEN}"}


TOKEN, PAGES_TOKEN = "topology-token", "topology-pages-token"


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))


def substituted(text: str, given: Mapping[str, str]) -> str:
    """``${NAME}``, ``${NAME:-default}`` and ``${NAME:?why}`` as Compose reads them."""

    def value(match: re.Match[str]) -> str:
        name, operator, rest = match["name"], match["operator"], match["rest"] or ""
        if given.get(name):
            return given[name]
        if operator == ":-":
            return rest
        raise AssertionError(f"{name}: {rest or 'is not set'}")

    return re.sub(r"\$\{(?P<name>\w+)(?:(?P<operator>:[-?])(?P<rest>[^}]*))?\}", value, text)


def in_order(services: Mapping[str, Any]) -> list[str]:
    """Names so that each comes after what it depends on."""
    found: list[str] = []
    while len(found) < len(services):
        ready = [
            name for name, one in services.items() if name not in found and set(one.get("depends_on", {})) <= set(found)
        ]
        assert ready, "services wait for one another"
        found += ready
    return found


@contextmanager
def started(
    folder: Path, server: Cluster, *, say: Say = lambda _: None, prepare: Callable[[], object] = lambda: None
) -> Iterator[Topology]:
    """Everything up and healthy; ended at the end, whatever happens. ``prepare`` fills the new tables."""
    services = compose()["services"]
    server.execute("CREATE ROLE memory_owner LOGIN PASSWORD 'only-for-this-minute'")
    server.create_database("deployed", owner="memory_owner")
    ports = {"code": free_port(), "webserver": free_port(), "api": free_port()}
    topology = Topology(folder / "home", ports)
    healthy = {"postgres"}
    try:
        for name in in_order(services):
            if name == "postgres":
                continue
            for before in sorted(set(services[name].get("depends_on", {})) - healthy):
                _wait_healthy(before, services[before], environment_of(services[before], server, topology), topology)
                healthy.add(before)
                say(f"{before} is healthy")
            environment = environment_of(services[name], server, topology)
            if name == "init":
                subprocess.run([*ENTRYPOINT, *services[name]["command"]], env=environment, check=True, cwd=folder)
                healthy.add("init")
                say("init ended")
                prepare()
                continue
            start(topology, name, services[name], environment, folder)
        for name in sorted(set(topology.processes) - healthy):
            _wait_healthy(name, services[name], environment_of(services[name], server, topology), topology)
            say(f"{name} is healthy (process {topology.processes[name].pid})")
        yield topology
    finally:
        end(topology, *topology.processes)


def start(
    topology: Topology, name: str, service: Mapping[str, Any], environment: Mapping[str, str], folder: Path
) -> None:
    """In a process group of its own, as a container is one."""
    with (folder / f"{name}.log").open("ab") as log:
        topology.processes[name] = subprocess.Popen(
            [*ENTRYPOINT, *service["command"]],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def environment_of(service: Mapping[str, Any], server: Cluster, topology: Topology) -> dict[str, str]:
    from hashlib import sha256

    dropped = ("PKG_", "DATABASE_URL", "ANTHROPIC_", "DAGSTER_HOME")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    given = {"POSTGRES_PASSWORD": PASSWORD, "REDIS_PASSWORD": PASSWORD}
    named = {key: substituted(value, given) for key, value in service["environment"].items()}
    # a container's names and ports as this machine has them
    moved = named["DATABASE_URL"].replace("memory:", "memory_owner:", 1)
    named["DATABASE_URL"] = moved.replace("@postgres:5432/memory", f"@127.0.0.1:{server.port}/deployed")
    named[CODE_HOST_VARIABLE] = "127.0.0.1"
    return {
        **kept,
        **named,
        CODE_PORT_VARIABLE: str(topology.ports["code"]),
        "PKG_HOME": str(topology.home),
        "PKG_DAGSTER_PORT": str(topology.ports["webserver"]),
        "PKG_API_PORT": str(topology.ports["api"]),
        "PKG_API_TOKENS": f"topology:read:{sha256(TOKEN.encode()).hexdigest()}",
        "PKG_DAGSTER_TOKEN": PAGES_TOKEN,
        "PKG_NOW": NOW,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }


def _wait_healthy(name: str, service: Mapping[str, Any], environment: Mapping[str, str], topology: Topology) -> None:
    """The file's own health check, with this machine's ports, until it passes."""
    check: list[str] = service["healthcheck"]["test"]
    assert check[0] == "CMD", check
    here = {str(CODE_PORT): "code", "3000": "webserver", "8321": "api"}
    words = [_moved(word, here, topology.ports) for word in check[1:]]
    words[0] = sys.executable if words[0] == "python" else words[0]
    # as in the container: the daemon's own check needs Dagster's home and the address of its storage
    told = {**environment, "DAGSTER_HOME": str(topology.home / "dagster"), **_storage(environment)}
    deadline = time.monotonic() + START_SECONDS
    while not _is_up(name, environment, topology):  # a check costs seconds of processor time
        assert topology.processes[name].poll() is None, f"{name} ended with {topology.processes[name].poll()}"
        assert time.monotonic() < deadline, f"{name} does not answer"
        time.sleep(POLL_SECONDS)
    while True:
        found = subprocess.run(words, env=told, capture_output=True, check=False)
        if found.returncode == 0:
            return
        process = topology.processes[name]
        assert process.poll() is None, f"{name} ended with {process.returncode}"
        assert time.monotonic() < deadline, f"{name} does not become healthy: {found.stderr.decode()[-500:]}"
        time.sleep(POLL_SECONDS)


def _is_up(name: str, environment: Mapping[str, str], topology: Topology) -> bool:
    """Whether its check is worth asking: something listens, or the daemon has told of itself."""
    if name in topology.ports:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", topology.ports[name])) == 0
    with psycopg.connect(environment["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT count(*) FROM dagster.daemon_heartbeats").fetchone()
    return row is not None and row[0] >= LEAST_DAEMONS


def _moved(word: str, here: Mapping[str, str], ports: Mapping[str, int]) -> str:
    for port, name in here.items():
        word = re.sub(rf"(?<!\d){port}(?!\d)", str(ports[name]), word)
    return word


def _storage(environment: Mapping[str, str]) -> dict[str, str]:
    from pkg_pipeline.adapters import dagster_home

    return dagster_home.environment(Path(environment["PKG_HOME"]) / "dagster", environment["DATABASE_URL"])


def end(topology: Topology, *names: str) -> None:
    """By process group: a code server's runs are its children."""
    ending = [topology.processes[name] for name in names]
    for process in ending:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
    for process in ending:
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def drop_in(topology: Topology, folder: Path, lines: list[dict[str, Any]]) -> Path:
    """A conversation in the inbox, written elsewhere and moved there at once."""
    file = written(folder / f"talk-{len(lines)}.jsonl", lines)
    target = topology.home / "inbox" / file.name
    file.replace(target)
    old = time.time() - 60  # it is taken for settled
    os.utime(target, (old, old))
    return target


def walk(topology: Topology, folder: Path, *, say: Say = lambda _: None) -> dict[str, Any]:
    """One conversation through inbox, interactions and summaries by queued runs; what the API then serves."""
    drop_in(topology, folder, dialogue())
    steps: list[tuple[str, dict[str, str]]] = [
        ("import_inbox", {}),
        ("build_interactions", {}),
        ("summarize_days", {"dagster/partition": "2025-01-01", "pkg/lane": "backfill"}),
    ]
    for job, tags in steps:
        started_at = time.monotonic()
        status = topology.finished(topology.launch(job, tags))
        say(f"{job}: {status} after {time.monotonic() - started_at:.1f} s")
        assert status == "SUCCESS", (folder / "code.log").read_text(errors="replace")[-2000:]
    return topology.get("api", "/v1/summaries")


def main() -> None:
    try:
        with short_folder() as folder, cluster(folder) as server, started(folder, server, say=_print) as topology:
            found = walk(topology, folder, say=_print)
    except (AssertionError, URLError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    _print(f"the API serves {len(found['items'])} summary; everything has ended")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
