"""Other users of the machine read nothing of the home; what is not ours is left alone."""

from __future__ import annotations

import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pkg_pipeline.adapters.home_files import TokenUnusable, machine_token, make_private, open_to_others

ANOTHER_USER = 54_321


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def lax_home(tmp_path: Path) -> Path:
    """As earlier versions made it under the usual umask."""
    home = tmp_path / "home"
    for folder in ("inbox/done", "logs", "dagster/storage"):
        (home / folder).mkdir(parents=True)
    for file in ("pkg.toml", "dev.pid", "inbox/export.json", "inbox/done/old.zip", "logs/api.log"):
        (home / file).write_text("anthropic_api_key = 'sk-secret'\n")
        (home / file).chmod(0o644)
    for folder in (home, *(path for path in home.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    (home / "dagster" / "run.sh").write_text("")
    (home / "dagster" / "run.sh").chmod(0o755)
    return home


def test_an_older_home_is_closed(lax_home: Path) -> None:
    names = [path.name for path in open_to_others(lax_home)]
    assert names == ["home", "dagster", "inbox", "dev.pid", "logs", "pkg.toml"]
    make_private(lax_home)
    assert open_to_others(lax_home) == []
    assert [str(path) for path in (lax_home, *lax_home.rglob("*")) if mode(path) & 0o077] == []
    assert mode(lax_home) == 0o700
    assert mode(lax_home / "pkg.toml") == 0o600
    assert mode(lax_home / "dagster" / "run.sh") == 0o700, "what the owner may do stays"


def test_in_a_folder_of_others_only_ours_is_closed(lax_home: Path) -> None:
    (lax_home / "notes").mkdir()
    theirs = lax_home / "notes" / "mine.txt"
    theirs.write_text("")
    for path in (theirs, theirs.parent):
        path.chmod(0o755)
    make_private(lax_home)
    assert (mode(lax_home), mode(theirs.parent), mode(theirs)) == (0o755, 0o755, 0o755)
    assert (mode(lax_home / "inbox"), mode(lax_home / "pkg.toml")) == (0o700, 0o600)
    assert mode(lax_home / "inbox" / "export.json") == 0o644, "behind a closed door"
    assert open_to_others(lax_home) == []


def test_a_link_is_told_of_and_not_followed(lax_home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles.toml"
    (lax_home / "pkg.toml").rename(elsewhere)
    (lax_home / "pkg.toml").symlink_to(elsewhere)
    (lax_home / "notes").mkdir()
    make_private(lax_home)
    assert mode(elsewhere) == 0o644
    assert open_to_others(lax_home) == [lax_home / "pkg.toml"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_reads_nothing(lax_home: Path) -> None:
    files = [str(path) for path in lax_home.rglob("*") if path.is_file()]
    above = [path for path in lax_home.parents if not path.stat().st_mode & stat.S_IXOTH]
    for path in above:
        path.chmod(path.stat().st_mode | stat.S_IXOTH)

    def read(file: str) -> int:
        who = {"user": ANOTHER_USER, "group": ANOTHER_USER, "extra_groups": ()}
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.run(["cat", file], check=False, **who, **nowhere).returncode

    assert [file for file in files if read(file) != 0] == [], "as it was"
    make_private(lax_home)
    assert [file for file in files if read(file) == 0] == []


def test_a_new_home_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        make_private(tmp_path / "a" / "home")
        machine_token(tmp_path / "b")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a" / "home") == mode(tmp_path / "b") == 0o700
    assert mode(tmp_path / "b" / "api-token") == 0o600


def test_those_that_start_together_have_one_token(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        secrets = set(threads.map(lambda _: machine_token(tmp_path / "home"), range(8)))
    assert len(secrets) == 1
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["api-token"]


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 40, "geheimes-Wort-mit-Umläuten-ä".encode()])
def test_a_token_file_that_holds_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "api-token").write_bytes(content)
    with pytest.raises(TokenUnusable, match="api-token"):
        machine_token(tmp_path)


def test_a_token_is_not_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("a-token-that-somebody-else-knows\n")
    (tmp_path / "api-token").symlink_to(tmp_path / "theirs")
    with pytest.raises(TokenUnusable, match="api-token"):
        machine_token(tmp_path)
