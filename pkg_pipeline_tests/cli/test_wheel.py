"""A wheel of this tree, installed with its extras into an empty environment, away from the checkout: the demo with its
marts, the programs of ``dev``, and a package that nothing was written into.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.cli.processes import OURS, short_folder
from pkg_pipeline_tests.conftest import REPOSITORY

UV = Path(sys.executable).parent.parent / "uv" / "bin" / "uv"
EXTRAS = "dbt,langgraph,parquet,plots"
PATIENCE_SECONDS = 240


def installed(folder: Path) -> Path:
    """The folder of the commands of a new environment that holds the wheel and what it names, as locked."""
    cache = {"UV_CACHE_DIR": str(UV.parent.parent / "cache"), "UV_LINK_MODE": "hardlink", **os.environ}

    def uv(*arguments: object) -> None:
        done = subprocess.run(
            [str(UV), *map(str, arguments)], env=cache, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    uv("build", "--quiet", "--wheel", "--out-dir", folder, REPOSITORY)
    (wheel,) = folder.glob("*.whl")
    uv("venv", "--quiet", "--python", sys.executable, folder / "env")
    lock = REPOSITORY / "requirements.lock"
    python = folder / "env" / "bin" / "python"
    uv("pip", "install", "--quiet", "--python", python, "--constraint", lock, f"{wheel}[{EXTRAS}]")
    return python.parent


def answered_and_ended(commands: Path, environment: Mapping[str, str], folder: Path) -> str:
    """What ``dev`` said until everything answered; its API is asked, then one Ctrl-C ends all."""
    running = subprocess.Popen(
        [commands / "pkg-pipeline", "dev", "--dagster-port", "0", "--api-port", "0"],
        env=dict(environment), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
    )  # fmt: skip
    said, deadline = "", time.monotonic() + PATIENCE_SECONDS
    try:
        assert running.stdout is not None
        while "Ctrl-C ends all." not in said:
            assert time.monotonic() < deadline, said
            assert running.poll() is None, said
            if select.select([running.stdout], [], [], 1)[0]:
                said += running.stdout.readline()
        address = next(line.split()[1] for line in said.splitlines() if line.startswith("API "))
        with urllib.request.urlopen(f"{address}/health") as answer:
            assert answer.status == 200
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 0, said
    finally:
        running.kill()
        running.wait()
    return said


@pytest.mark.skipif(not UV.exists(), reason="NOT RUN: uv is not there; make env brings it")
def test_a_wheel_in_an_empty_environment_runs_demo_dev_and_dbt(tmp_path: Path) -> None:
    commands = installed(tmp_path)
    package = next((tmp_path / "env" / "lib").glob("python*/site-packages/pkg_pipeline"))
    before = {file for file in package.rglob("*") if "__pycache__" not in file.parts}
    with short_folder() as home:
        bare = {name: value for name, value in os.environ.items() if not name.startswith((*OURS, "PYTHON", "DBT_"))}
        environment = {**bare, "PKG_HOME": str(home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            [commands / "pkg-pipeline", "demo", "--json"],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        runs = json.loads(done.stdout)["run"]["runs"]
        assert [row["status"] for row in runs if row["asset"] == "marts"] == ["done"]
        with embedded.running(home / "demo" / "postgres") as url, psycopg.connect(url) as connection:
            (decisions,) = connection.execute("SELECT count(*) FROM marts.decisions").fetchone() or (0,)
        assert decisions > 10
        said = answered_and_ended(commands, environment, tmp_path)
        for program in ("webserver", "daemon", "api"):
            assert f"{program} answers" in said
        manifests = list((home / "demo" / "cache" / "dbt").glob("*/manifest.json"))
        assert len(manifests) == 1, "dbt's models are among Dagster's assets"
    assert {file for file in package.rglob("*") if "__pycache__" not in file.parts} == before
