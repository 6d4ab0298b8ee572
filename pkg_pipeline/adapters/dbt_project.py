"""The dbt project of the marts: manifest, profile, build. dbt writes only into the home or a temporary folder."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from pkg_pipeline.adapters.process_environment import in_environment

PROJECT = Path(__file__).resolve().parents[1] / "dbt"
MARTS_SCHEMA = "marts"
EXECUTABLE = Path(sys.executable).parent / "dbt"
"""The program of this environment, not of PATH."""


class DbtFailed(Exception):
    """One line without dbt's output, which may quote rows."""


class Built(NamedTuple):
    """A model or test of a build. ``mart``: the model, or the one a test checks."""

    name: str
    mart: str
    is_test: bool
    succeeded: bool
    tags: Sequence[str]


@cache
def digest() -> str:
    """A short hash of the project's files."""
    found = hashlib.sha256()
    for file in sorted(PROJECT.rglob("*")):
        inside = file.relative_to(PROJECT)
        if file.suffix in (".sql", ".yml") and inside.parts[0] not in ("target", "logs"):
            found.update(f"{inside}\0".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def target(home: Path) -> Path:
    """The folder of the manifest: in the project if it was built with the environment, else below ``home``."""
    made = PROJECT / "target" / digest()
    return made if (made / "manifest.json").exists() else home / "cache" / "dbt" / digest()


def prepare(home: Path, folder: Path | None = None) -> Path:
    """The folder of the manifest (default: ``target``), parsed now if missing (seconds). Raises DbtFailed."""
    folder = target(home) if folder is None else folder
    manifest = folder / "manifest.json"
    if not manifest.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            if _run(["parse", "--no-partial-parse"], {}, Path(made)):
                raise DbtFailed("dbt could not read the project of the marts; by hand: dbt parse")
            folder.mkdir(exist_ok=True)
            (Path(made) / "manifest.json").replace(manifest)
    return folder


def build(url: str, given: Mapping[str, Any], *, only: Sequence[str] = ()) -> list[Built]:
    """Build and test every mart of the database at ``url`` with variables ``given``, or ``only`` the named models and
    tests; failures are among the results. Raises DbtFailed if there are none.
    """
    chosen = ["--indirect-selection", "empty", "--select", *only] if only else []
    with building(url), tempfile.TemporaryDirectory() as folder:
        # a failing model is among the results
        command = ["build", "--no-partial-parse", "--vars", json.dumps(dict(given)), *chosen]
        _run(command, variables(url), Path(folder))
        try:
            results = json.loads((Path(folder) / "run_results.json").read_text(encoding="utf-8"))["results"]
            nodes = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))["nodes"]
        except OSError:
            raise DbtFailed("dbt ended before it built anything; by hand: dbt build") from None
    return [_built(nodes[one["unique_id"]], one["status"]) for one in results]


def _built(node: Mapping[str, Any], status: str) -> Built:
    is_test = node["resource_type"] == "test"
    return Built(node["name"], mart_of(node), is_test, status in ("success", "pass"), node["tags"])


def mart_of(node: Mapping[str, Any]) -> str:
    """A model's own name; of a test that of the model it checks."""
    said = node["config"].get("meta", {}).get("dagster", {}).get("ref", {})
    return said.get("name") or str(node.get("attached_node") or "").rpartition(".")[2] or node["name"]


def failed(results: Sequence[Built]) -> list[str]:
    """Names of failed models."""
    return [one.name for one in results if not one.is_test and not one.succeeded]


def _run(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> int:
    """The exit code of dbt's ``command``; output goes below ``folder``."""
    places = ["--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT)]
    told = {"DBT_TARGET_PATH": str(folder), "DBT_LOG_PATH": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    return subprocess.run(
        [str(EXECUTABLE), "--quiet", command[0], *places, *command[1:]],
        env={**os.environ, **environment, **told},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    ).returncode


def variables(url: str) -> dict[str, str]:
    """``PKG_DBT_*`` for a libpq URL with a host name or socket folder."""
    from pkg_pipeline.adapters.postgres.engine import libpq_url  # imports the driver, which definitions must not

    parts = urlsplit(libpq_url(url))
    query = dict(parse_qsl(parts.query))
    return {
        "PKG_DBT_HOST": parts.hostname or query.get("host", "localhost"),
        "PKG_DBT_PORT": str(parts.port or query.get("port", 5432)),
        "PKG_DBT_USER": unquote(parts.username or query.get("user", "postgres")),
        "PKG_DBT_PASSWORD": unquote(parts.password or query.get("password", "")),
        "PKG_DBT_DATABASE": unquote(parts.path.lstrip("/")) or "postgres",
        "PKG_DBT_SSLMODE": query.get("sslmode", "prefer"),
        "PKG_DBT_SCHEMA": MARTS_SCHEMA,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }


@contextmanager
def building(url: str) -> Iterator[None]:
    """Sets the variables for dbt while no other build runs: concurrent builds would create the same relation."""
    import psycopg

    from pkg_pipeline.adapters.postgres.engine import libpq_url
    from pkg_pipeline.adapters.postgres.queries import query

    with psycopg.connect(libpq_url(url), autocommit=True) as connection, in_environment(variables(url)):
        connection.execute(query("marts", "build_alone"))  # released with the connection
        yield


if __name__ == "__main__":  # when the environment is built
    prepare(PROJECT, PROJECT / "target" / digest())
