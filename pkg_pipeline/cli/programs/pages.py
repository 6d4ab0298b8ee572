"""Dagster's pages behind our token gate: ``python -m pkg_pipeline.cli.programs.pages --port 3000 --workspace FILE``.

Dagster's web application runs in this process, so that it opens no port of its own. Two imports are private, because
Dagster has no public way to open a workspace for its web application.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from pkg_pipeline import settings as settings_module
from pkg_pipeline.adapters.http.guard import own_hosts
from pkg_pipeline.adapters.http.page_gate import PageGate
from pkg_pipeline.settings import SettingsError

POLL_MILLISECONDS = 2_000
SHUTDOWN_SECONDS = 5
"""Time for unfinished answers; each open page holds a WebSocket."""


def main() -> int:
    """Serves until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workspace", help="a file that leads to the code server")
    parser.add_argument("--grpc-host", default="127.0.0.1", help="the code server, where no file does")
    parser.add_argument("--grpc-port", type=int)
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    settings = settings_module.load()
    if settings.dagster_token is None:
        raise SettingsError("PKG_DAGSTER_TOKEN: Dagster's pages need one")
    token = settings.dagster_token.get_secret_value()
    is_own_host = own_hosts(given.host, settings.dagster_hosts.split(","))
    with _pages(given) as pages:
        uvicorn.run(
            PageGate(pages, token=token, is_own_host=is_own_host),
            host=given.host,
            port=given.port,
            log_level="warning",
            access_log=False,  # the token is in an address
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            lifespan="off",
        )
    return 0


@contextmanager
def _pages(given: argparse.Namespace) -> Iterator[ASGIApp]:
    """Dagster's web application over the instance of the environment and the given code server."""
    from dagster import DagsterInstance
    from dagster._core.workspace.context import WorkspaceProcessContext
    from dagster._core.workspace.load_target import GrpcServerTarget, WorkspaceFileTarget
    from dagster_webserver.app import create_app_from_workspace_process_context
    from dagster_webserver.cli import DEFAULT_DB_STATEMENT_TIMEOUT, DEFAULT_POOL_MAX_OVERFLOW, DEFAULT_POOL_RECYCLE
    from dagster_webserver.version import __version__

    target = (
        WorkspaceFileTarget([given.workspace])
        if given.workspace
        else GrpcServerTarget(host=given.grpc_host, port=given.grpc_port, socket=None, location_name=None)
    )
    with DagsterInstance.get() as instance:
        instance.optimize_for_webserver(DEFAULT_DB_STATEMENT_TIMEOUT, DEFAULT_POOL_RECYCLE, DEFAULT_POOL_MAX_OVERFLOW)
        with WorkspaceProcessContext(instance, target, version=__version__) as workspace:
            yield create_app_from_workspace_process_context(workspace, live_data_poll_rate=POLL_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
