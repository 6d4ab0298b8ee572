"""``dev`` as a real process on a home of its own: all addresses answer, one signal ends all, nothing is left."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import psutil
import pytest

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.browser.running import ask, printed

COMMAND = [sys.executable, "-W", "ignore", "-c", "from pkg_pipeline.cli.app import main; main()", "dev"]
START_SECONDS = 600
END_SECONDS = 120
QUERY = "{ repositoriesOrError { ... on RepositoryConnection { nodes { sensors { name } assetNodes { id } } } } }"


@pytest.fixture
def home() -> Iterator[Path]:
    """A short path: the server's socket lies in it."""
    folder = Path(tempfile.mkdtemp(prefix="pkgt-"))
    yield folder
    if embedded.is_initialised(folder / "postgres"):
        embedded.stop(folder / "postgres", mode="immediate")
    shutil.rmtree(folder, ignore_errors=True)


def environment(home: Path) -> dict[str, str]:
    dropped = ("PKG_", "DATABASE_URL", "ANTHROPIC_", "DAGSTER_HOME")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PKG_HOME": str(home), "PYTHONUNBUFFERED": "1"}


def get(url: str) -> str:
    with build_opener(ProxyHandler({})).open(url, timeout=120) as answer:
        return answer.read().decode()


def listening(family: list[psutil.Process]) -> set[int]:
    """TCP ports that the processes have open."""
    found = [one.net_connections(kind="tcp") for one in family]
    return {one.laddr.port for each in found for one in each if one.status == psutil.CONN_LISTEN}


def start(home: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--dagster-port", "0", "--api-port", "0", *options],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def until(process: subprocess.Popen[str], mark: str) -> str:
    """What it said up to the line with ``mark``."""
    assert process.stdout is not None
    said: list[str] = []
    deadline = time.monotonic() + START_SECONDS
    for line in process.stdout:
        said.append(line)
        if mark in line:
            return "".join(said)
        assert time.monotonic() < deadline, "".join(said)
    raise AssertionError("".join(said))


def test_all_addresses_answer_and_one_signal_ends_all(home: Path) -> None:
    process = start(home, "--fake-llm")
    try:
        said = until(process, "Ctrl-C ends all")
        dagster = printed(said)
        api = re.search(r"API +(http://\S+)", said)
        assert api is not None, said
        (repository,) = ask(dagster, QUERY)["repositoriesOrError"]["nodes"]
        assert {sensor["name"] for sensor in repository["sensors"]} == {
            "inbox",
            "touched_chats",
            "unread_talks",
            "due_days",
            "due_sessions",
            "due_chunks",
            "memories",
            "older_messages",
            "due_weeks",
            "due_months",
            "requested_backfills",
            "lost_retries",
            "message_batches",
        }
        assert len(repository["assetNodes"]) >= 3
        assert get(f"{api[1]}/health")
        secret = (home / "api-token").read_text().strip()
        assert f'curl -H "Authorization: Bearer {secret}" {api[1]}/v1/entities' in said
        with pytest.raises(HTTPError, match="401"):
            get(f"{api[1]}/v1/entities")
        laxer = [path for path in home.rglob("*") if path.lstat().st_mode & 0o077 and not path.is_symlink()]
        assert [str(path) for path in laxer if "postgres/" not in str(path)] == []
        second = subprocess.run(
            [*COMMAND], env=environment(home), capture_output=True, text=True, timeout=240, check=False
        )
        assert second.returncode == 1
        assert f"already runs on {home} (process {process.pid})" in second.stderr
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 5
        lines = " ".join(" ".join(one.cmdline()) for one in family if one.is_running())
        assert "ANTHROPIC" not in lines
        assert dagster.token not in lines
        model = re.search(r"model +(http://\S+)", said)
        assert model is not None, said
        addresses = (dagster.address, api[1], model[1])
        assert listening(family) == {urlsplit(address).port for address in addresses}
        with pytest.raises(HTTPError, match="401") as refused:
            get(f"{dagster.address}/server_info")
        refused.value.close()
        os.kill(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=END_SECONDS)
        assert process.returncode == 0, rest
        assert rest.endswith("stopped.\n")
        _, alive = psutil.wait_procs(family, timeout=10)
        assert alive == []
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=END_SECONDS)
    assert not embedded.is_running(home / "postgres")
    assert not (home / "dev.pid").exists()
