"""One program of a deployment: ``python -m pkg_pipeline.cli.programs.service init|code|webserver|daemon|api|worker``.
For containers: sets the environment and executes the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from pkg_pipeline import settings as settings_module
from pkg_pipeline import wiring
from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.adapters.process_environment import CODE_SERVER_VARIABLE
from pkg_pipeline.cli.app import PRIVATE
from pkg_pipeline.cli.programs.commands import PAGES_TOKEN, reloading_server, without_secrets
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.wiring import memories
from pkg_pipeline.wiring.process import running

CODE_PORT = 4000
CODE_PORT_VARIABLE = "PKG_CODE_PORT"
CODE_HOST_VARIABLE = "PKG_CODE_HOST"
"""Host of the code server; in docker-compose.yml the service's name."""

RUNS_QUEUE = "dagster"
PROCESSES_VARIABLE, QUEUES_VARIABLE, NAME_VARIABLE = "PKG_WORKER_RUNS", "PKG_WORKER_QUEUES", "PKG_WORKER_NAME"
"""Of a worker: runs at the same time, queues with a comma between, name among those of its machine."""

SERVICES = ("init", "code", "webserver", "daemon", "api", "worker")


def command(service: str, settings: Settings, environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Command and environment of ``service``. The database must be given by ``DATABASE_URL``."""
    if settings.database_url is None:
        raise SettingsError("DATABASE_URL: a deployment of several programs needs a PostgreSQL server of its own")
    url = wiring.database_url(settings, start=False)
    dagster = dagster_home.environment(settings.dagster_home, url, running(settings))
    environment = {**environ, **dagster, "PKG_HOME": str(settings.home)}
    if settings.run_broker is not None and find_spec("dagster_celery") is None:
        raise SettingsError("PKG_RUN_BROKER: runs on workers need: pip install 'pkg-pipeline[scale]'")
    python = sys.executable
    port = environ.get(CODE_PORT_VARIABLE, str(CODE_PORT))
    if service == "code":
        return [*reloading_server(), "--host", "0.0.0.0", "--port", port], {
            **environment,
            CODE_SERVER_VARIABLE: port,
        }
    if service == "api":
        listen = ["--host", settings.api_host, "--port", str(settings.api_port)]
        return [python, "-c", "from pkg_pipeline.cli.app import main; main()", "serve", *listen], environment
    if service == "worker":
        if settings.run_broker is None:
            raise SettingsError("PKG_RUN_BROKER: a worker takes its runs from a Redis server: redis://…")
        return [python, "-m", "pkg_pipeline.defs.celery_runs", *worker_arguments(environ)], environment
    host = environ.get(CODE_HOST_VARIABLE, "127.0.0.1")
    workspace = ["--grpc-host", host, "--grpc-port", port]
    if service == "webserver":
        if settings.dagster_token is None:
            raise SettingsError(f"{PAGES_TOKEN}: Dagster's pages listen on all addresses of the container and need one")
        listen = ["--host", "0.0.0.0", "--port", str(settings.dagster_port)]
        told = {**without_secrets(environment), PAGES_TOKEN: settings.dagster_token.get_secret_value()}
        return [python, "-m", "pkg_pipeline.cli.programs.pages", *workspace, *listen], told
    return [python, "-m", "dagster._daemon", "run", *workspace], without_secrets(environment)


def initialise(settings: Settings) -> None:
    """Migrates the memory, those with names, and Dagster's tables before the programs start."""
    with (
        wiring.open_memory(settings) as memory,
        dagster_home.prepared(settings.dagster_home, memory.url, running(settings)),
    ):
        settings.inbox.mkdir(parents=True, exist_ok=True)
        memories.upgrade(settings)


def settle_orphans(settings: Settings) -> None:
    """Ends runs of an earlier code server: their processes went with it. Those on workers go on."""
    from pkg_pipeline.defs.automation import orphans

    url = wiring.database_url(settings, start=False)
    with dagster_home.instance(settings.dagster_home, url, running(settings)) as instance:
        orphans.settle(instance, code_server_is_gone=settings.run_broker is None)


def worker_arguments(environ: Mapping[str, str]) -> list[str]:
    """Of ``celery worker``: how many runs at once, of which queues, under which name."""
    processes, queues = environ.get(PROCESSES_VARIABLE, "1"), environ.get(QUEUES_VARIABLE, RUNS_QUEUE)
    name = environ.get(NAME_VARIABLE, "runs")
    return ["worker", "-P", "prefork", "-c", processes, "-Q", queues, "-n", f"{name}@%h", "-l", "WARNING"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Becomes the named program; returns only after ``init`` or on an error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    os.umask(PRIVATE)
    if given[:1] == ["dagster"]:  # what Dagster's launchers and charts give a container as its arguments
        return os.execvp(given[0], given)
    if len(given) != 1 or given[0] not in SERVICES:
        sys.stderr.write(f"usage: python -m pkg_pipeline.cli.programs.service {'|'.join(SERVICES)}\n")
        return 2
    try:
        settings = settings_module.load()
        if given[0] == "init":
            initialise(settings)
            return 0
        argv, environment = command(given[0], settings, os.environ)
        dagster_home.write(settings.dagster_home, running(settings))
        if given[0] == "code":
            settle_orphans(settings)
    except (SettingsError, DatabaseUnavailable) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return os.execve(argv[0], argv, environment)


if __name__ == "__main__":
    sys.exit(main())
