"""A full disk: the server panics, nothing that was committed is lost, nothing hangs, and space is all it needs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from pkg_pipeline.adapters.server import embedded, postmaster
from pkg_pipeline.adapters.server import state as server_state
from pkg_pipeline.adapters.server.embedded import EmbeddedError
from pkg_pipeline_tests.cli.processes import servers, wait_until
from pkg_pipeline_tests.small_disk import MEGABYTE, SmallDisk, small_disk, write_until_full

SOON = 20.0


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    with small_disk(160 * MEGABYTE) as found:
        yield found
        for left in servers(found.folder):
            with suppress(psutil.NoSuchProcess):
                left.kill()
                left.wait(10)


@pytest.fixture
def folder(disk: SmallDisk) -> Path:
    return disk.folder / "home" / "postgres"


def rows(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM committed").fetchone()
    assert found is not None
    return found[0]


@pytest.mark.parametrize("later", [0.0, 0.01, 0.02, 0.05, 0.3])
def test_the_last_user_leaves_a_server_that_panicked_and_space_is_all_it_needs(
    disk: SmallDisk, folder: Path, later: float
) -> None:
    with embedded.running(folder) as url:
        disk.fill(leaving=20 * MEGABYTE)
        committed = write_until_full(url)
        time.sleep(later)  # at other moments of the server's recovery
        began = time.monotonic()
    assert time.monotonic() - began < SOON
    assert servers(folder) == []
    disk.empty()
    with embedded.running(folder) as url:
        assert rows(url) == committed
    assert servers(folder) == []


def test_without_space_a_start_is_one_line_that_says_so(disk: SmallDisk, folder: Path) -> None:
    with embedded.running(folder) as url:
        disk.fill(leaving=20 * MEGABYTE)
        committed = write_until_full(url)
    disk.fill(leaving=0)
    began = time.monotonic()
    with pytest.raises(EmbeddedError, match="is full") as said:
        embedded.start(folder)
    assert time.monotonic() - began < SOON
    assert len(str(said.value).splitlines()) == 1
    disk.empty()
    assert rows(embedded.start(folder)) == committed


def test_without_space_a_server_that_never_gets_ready_is_given_up(
    disk: SmallDisk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postmaster, "LOOK_SECONDS", 1.0)
    with embedded.running(folder):
        pass
    (folder / "standby.signal").touch()  # it would recover for ever
    with (folder / "postgresql.conf").open("a") as configuration:
        configuration.write("hot_standby = off\n")
    disk.fill(leaving=MEGABYTE)
    began = time.monotonic()
    with pytest.raises(EmbeddedError, match="is full"):
        embedded.start(folder)
    assert time.monotonic() - began < SOON
    assert servers(folder) == []
    (folder / "standby.signal").unlink()
    disk.empty()
    embedded.start(folder)


def test_a_server_that_was_shut_down_while_it_recovered_is_started_anew(
    disk: SmallDisk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's ``pg_ctl stop`` in the midst of the recovery: the server would wait for ever."""
    monkeypatch.setattr(server_state, "STUCK_SECONDS", 1.0)
    url = embedded.start(folder)
    disk.fill(leaving=20 * MEGABYTE)
    committed = write_until_full(url)
    command = [str(postmaster.binary("pg_ctl")), "stop", "-W", "-m", "fast", "-D", str(folder)]
    with suppress(postmaster.ServerFailed):  # on a busy machine it is already gone, which is no worse
        postmaster._run(command, cwd=Path("/"))  # pyright: ignore[reportPrivateUsage]
    disk.empty()
    began = time.monotonic()
    assert rows(embedded.start(folder)) == committed
    assert time.monotonic() - began < SOON
    assert embedded.stop(folder)


def test_for_a_user_who_stays_it_comes_back_with_the_space_but_not_after_a_stop(
    disk: SmallDisk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RECHECK_SECONDS", 0.1)
    with embedded.running(folder) as url, embedded.revived(folder):
        disk.fill(leaving=20 * MEGABYTE)
        committed = write_until_full(url)
        disk.fill(leaving=0)
        wait_until(lambda: server_state.state(folder) == "gone")
        disk.empty()
        wait_until(lambda: server_state.state(folder) == "ready")
        assert rows(url) == committed
        assert embedded.stop(folder)
        assert not postmaster.has_crashed(folder)
        threading.Event().wait(1.0)
        assert not embedded.is_running(folder), "somebody stopped it on purpose"
