"""How each program is started. No secret is on a command line; each gets only the environment it needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request

import psycopg

from pkg_pipeline.adapters.postgres.engine import DAGSTER_SCHEMA, value
from pkg_pipeline.adapters.process_environment import CODE_SERVER_VARIABLE
from pkg_pipeline.cli.programs.supervise import Probe, Program, http_answers, socket_answers

MODULE = "pkg_pipeline.definitions"
PAGES_TOKEN = "PKG_DAGSTER_TOKEN"
SECRETS = ("DATABASE_URL", "ANTHROPIC_API_KEY", "PKG_API_TOKENS", PAGES_TOKEN)
"""Not passed to Dagster's webserver and daemon, which use the instance and the code server."""

LOADED = "{ repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }"
_COMMAND_LINE = "from pkg_pipeline.cli.app import main; main()"


def code_server(socket: Path, environment: Mapping[str, str]) -> Program:
    """Loads and reloads the definitions, on a unix socket that only this user can open."""
    told = {**environment, CODE_SERVER_VARIABLE: str(socket)}
    command = [*reloading_server(), "--socket", str(socket), "--log-level", "warning"]
    return Program("code-server", command, told, socket_answers(socket))


def reloading_server() -> list[str]:
    """Command of a code server that keeps the definitions in a replaceable process; runs of the old one go on."""
    return [
        sys.executable,
        "-m",
        "dagster",
        "code-server",
        "start",
        "-m",
        MODULE,
        "--use-python-environment-entry-point",
    ]


def workspace(folder: Path, socket: Path) -> Path:
    """Writes the workspace file with which webserver and daemon find the code server."""
    file = folder / "workspace.yaml"
    file.write_text(
        f"load_from:\n  - grpc_server:\n      socket: {socket}\n      location_name: pkg_pipeline\n", encoding="utf-8"
    )
    return file


def webserver(file: Path, port: int, token: str, environment: Mapping[str, str]) -> Program:
    """Dagster's pages behind our token gate; the address holds the token for the browser."""
    command = [sys.executable, "-m", "pkg_pipeline.cli.programs.pages", "--workspace", str(file), "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    # the pages answer before the definitions are loaded: ready is when the asset graph can be shown
    asked = Request(
        f"{address}/graphql",
        json.dumps({"query": LOADED}).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {token}"},
    )
    told = {**without_secrets(environment), PAGES_TOKEN: token}
    opened = f"{address}/?{urlencode({'token': token})}"
    return Program("webserver", command, told, http_answers(asked, holding='"name"'), opened)


def daemon(file: Path, url: str, environment: Mapping[str, str]) -> Program:
    command = [sys.executable, "-m", "dagster._daemon", "run", "-w", str(file), "--log-level", "warning"]
    return Program("daemon", command, without_secrets(environment), _beats(url))


def api(host: str, port: int, environment: Mapping[str, str]) -> Program:
    command = [sys.executable, "-c", _COMMAND_LINE, "serve", "--host", host, "--port", str(port)]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    return Program("api", command, environment, http_answers(f"{address}/health"), address)


def fake_llm(port: int, environment: Mapping[str, str]) -> Program:
    """The local server that speaks the Anthropic protocol."""
    command = [sys.executable, "-m", "pkg_pipeline.fake_llm", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    return Program("fake-llm", command, without_secrets(environment), _listens(port), address)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in SECRETS}


def _listens(port: int) -> Probe:
    import socket

    def probe() -> bool:
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(("127.0.0.1", port)) == 0

    return probe


def _beats(url: str) -> Probe:
    """Ready once the daemon has written a heartbeat after the probe was made."""
    since: list[object] = []

    def probe() -> bool:
        try:
            with psycopg.connect(url, connect_timeout=2, options=f"-csearch_path={DAGSTER_SCHEMA}") as connection:
                if not since:
                    since.append(value(connection, "SELECT extract(epoch FROM clock_timestamp())"))
                beats = (
                    "SELECT count(*) FROM daemon_heartbeats WHERE extract(epoch FROM timestamp AT TIME ZONE 'UTC') > %s"
                )
                return value(connection, beats, since) > 0
        except psycopg.Error:
            return False

    return probe
