"""The embedded server's life: who keeps it up, who ends it, what a crash leaves. Real servers, real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from pkg_pipeline.adapters.server import embedded, postmaster
from pkg_pipeline.adapters.server import state as server_state
from pkg_pipeline.adapters.server.embedded import EmbeddedError
from pkg_pipeline_tests.cli.processes import servers, short_folder, wait_until

USER = """
import sys
from pathlib import Path
from pkg_pipeline.adapters.server import embedded
with embedded.running(Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as base:
        yield base / "postgres"
        for left in servers(base):
            left.kill()
            left.wait(10)


class User:
    """A process that uses the server until it is told to leave."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def url(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


def answers(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def test_several_start_together_and_the_last_to_leave_ends_it(folder: Path) -> None:
    users = [User(folder) for _ in range(4)]
    (url,) = {user.url() for user in users}
    assert len(servers(folder)) == 1
    for user in (users[2], users[0], users[3]):
        user.leave()
        assert answers(url)
    users[1].leave()
    assert servers(folder) == []


def test_a_killed_user_neither_ends_it_for_others_nor_keeps_it_up(folder: Path) -> None:
    killed, other = User(folder), User(folder)
    url = killed.url()
    other.url()
    killed.kill()
    assert answers(url)
    other.leave()
    assert servers(folder) == []
    last = User(folder)
    last.url()
    last.kill()
    assert len(servers(folder)) == 1, "nobody was left to end it"
    with embedded.running(folder) as url:
        assert answers(url)
    assert servers(folder) == [], "the next user was the last one"


def test_uses_of_one_process_may_be_nested_and_of_several_threads(folder: Path) -> None:
    with embedded.running(folder) as url:
        with embedded.running(folder) as again:
            assert again == url
        assert answers(url), "the inner use ended the server under the outer one"
        done = threading.Event()

        def use() -> None:
            with embedded.running(folder):
                done.set()

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert done.is_set()
        assert answers(url)
    assert not embedded.is_running(folder)


def test_kept_it_goes_on_without_users(folder: Path) -> None:
    embedded.keep(folder, kept=True)
    with embedded.running(folder) as url:
        pass
    assert answers(url)
    embedded.keep(folder, kept=False)
    with embedded.running(folder):
        pass
    assert servers(folder) == []


def test_after_a_crash_what_was_committed_is_there(folder: Path) -> None:
    with embedded.running(folder) as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
        found = server_state.pid_file(folder)
        assert found is not None
        family = [psutil.Process(found.pid), *psutil.Process(found.pid).children()]
        for process in family:
            process.send_signal(signal.SIGKILL)
        wait_until(lambda: not any(process.is_running() and process.status() != "zombie" for process in family))
        assert found.socket.exists(), "a crash leaves its socket and its pid file"
        assert not embedded.is_running(folder)
        with pytest.raises(EmbeddedError, match="db start"):
            embedded.dsn(folder)
        with psycopg.connect(embedded.start(folder)) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1000,)


def test_a_pid_that_is_somebody_elses_now_is_not_our_server(folder: Path) -> None:
    """After a restart of the machine the number in the pid file may be any process of the same user."""
    with embedded.running(folder):
        left = (folder / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    account = postmaster.as_server()
    other = subprocess.Popen(["sleep", "600"], **account)
    try:
        (folder / "postmaster.pid").write_text("\n".join([str(other.pid), *left[1:]]) + "\n", encoding="utf-8")
        assert server_state.state(folder) == "gone"
        assert not embedded.stop(folder)
        assert other.poll() is None, "a stop must not reach a process that is not the server"
        with embedded.running(folder) as url:
            assert answers(url)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("name", ["with space", "юникод-цзя", "qu\"o'te $HOME `x`, y", "d" * 120])
def test_any_path_will_do(folder: Path, name: str) -> None:
    odd = folder.parent / name / "postgres"
    with embedded.running(odd) as url:
        with psycopg.connect(url) as connection:
            assert connection.execute("SHOW data_directory").fetchone() == (str(odd),)
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        found = server_state.pid_file(odd)
        assert found is not None
        assert found.socket.stat().st_mode & 0o077 == 0, "only its owner may use the socket"
    assert not embedded.is_running(odd)
    assert not found.socket_folder.exists() or found.socket_folder == odd


def test_the_locale_is_the_programs_own(folder: Path) -> None:
    """With the C locale of a bare environment, lower() would know no Cyrillic and names would not be found."""
    with embedded.running(folder) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT lower('ОЛЬГА É'), 'я' ~ '\\w'").fetchone() == ("ольга é", True)


def test_an_interrupted_creation_leaves_nothing_half(folder: Path) -> None:
    part = folder.with_name("postgres.part")
    part.mkdir(parents=True)
    (part / "PG_VERSION").write_text("18\n")  # as a killed initdb leaves it
    assert not embedded.is_initialised(folder)
    with embedded.running(folder) as url:
        assert answers(url)
    assert not part.exists()


def test_what_cannot_be_used_is_one_line(folder: Path) -> None:
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    with pytest.raises(EmbeddedError, match="not empty and holds no database"):
        embedded.start(folder)
    (folder / "PG_VERSION").write_text("15\n")
    with pytest.raises(EmbeddedError, match="PostgreSQL 15"):
        embedded.start(folder)
    (folder / "PG_VERSION").write_text("18\n")
    with pytest.raises(EmbeddedError, match=r"did not start: .+"):
        embedded.start(folder)
    assert (folder / "letter.txt").read_text() == "mine"
    file = folder.parent / "file"
    file.touch()
    with pytest.raises(EmbeddedError, match="PKG_HOME"), embedded.running(file / "postgres"):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_home_that_may_not_be_written_is_one_line(folder: Path) -> None:
    folder.parent.chmod(0o755)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from pkg_pipeline.adapters.server import embedded\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: embedded.start(Path(sys.argv[1]))\n"
        "except embedded.EmbeddedError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True).stdout
    assert "Permission denied" in said
    assert len(said.splitlines()) == 1


def test_remove_leaves_nothing(folder: Path) -> None:
    embedded.start(folder)
    embedded.remove(folder)
    assert not folder.exists()
    assert servers(folder) == []


def test_a_server_whose_home_became_private_while_it_ran_can_be_stopped() -> None:
    with short_folder() as folder:
        home = folder / "home"
        embedded.start(home / "postgres")
        home.chmod(0o700)
        folder.chmod(0o700)
        assert embedded.stop(home / "postgres")
        assert servers(folder) == []
