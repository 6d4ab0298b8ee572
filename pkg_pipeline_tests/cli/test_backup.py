"""backup and restore: the same memory comes back, and a wrong or half file changes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline.adapters.postgres import backup
from pkg_pipeline.adapters.server.postmaster import binary
from pkg_pipeline_tests.cli.digests import digest
from pkg_pipeline_tests.cli.processes import Program, dialogue, servers, written


@pytest.fixture
def filled(given: Program) -> Program:
    given.ok("import", written(given.home.parent / "chat.jsonl", dialogue("Ольга 李 'q\" \\ \t")))
    return given


def url_of(program: Program) -> str:
    return program.variables["DATABASE_URL"]


def test_backup_uninstall_restore_gives_the_same_memory(program: Program) -> None:
    file = program.home.parent / "memory.backup"
    url = program.ok("db", "start", "--json").json["url"]
    program.ok("import", written(program.home.parent / "chat.jsonl", dialogue()))
    said = program.ok("backup", file, "--json").json
    before = digest(url)
    assert before["messages"][0] == 6
    assert said == {"file": str(file), "bytes": file.stat().st_size}
    assert file.stat().st_mode & 0o777 == 0o600
    program.ok("uninstall", "--yes")
    assert not program.home.exists()
    assert servers(program.home) == []
    program.ok("restore", file)
    url = program.ok("db", "start", "--json").json["url"]
    assert digest(url) == before


def test_what_came_after_the_backup_is_gone_even_unknown_tables(filled: Program, tmp_path: Path) -> None:
    url, file = url_of(filled), tmp_path / "memory.backup"
    filled.ok("backup", file)
    before = digest(url)
    filled.ok("import", written(tmp_path / "more.jsonl", dialogue("Wei", chat="c9")))
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE pkg.of_later_revisions (message bigint REFERENCES pkg.messages)")
        connection.execute("CREATE SCHEMA marts CREATE VIEW v AS SELECT * FROM pkg.messages")
    assert digest(url) != before
    filled.ok("restore", file, "--yes")
    assert digest(url) == before


def test_files_that_are_no_backup_change_nothing(filled: Program, tmp_path: Path) -> None:
    url, good = url_of(filled), tmp_path / "good.backup"
    filled.ok("backup", good)
    before = digest(url)
    bad = tmp_path / "bad.backup"
    whole = good.read_bytes()
    for content, words in (
        (b"", "is no backup"),
        (b"PK\x03\x04 not at all", "is no backup"),
        (whole[:100], "damaged"),
        (whole[: len(whole) // 2], "damaged"),
        (whole[:-200], "damaged"),
    ):
        bad.write_bytes(content)
        filled("restore", bad, "--yes").failed(words)
        assert digest(url) == before, words
    filled("restore", tmp_path / "missing", "--yes").failed("missing")
    filled("restore", tmp_path, "--yes").failed(str(tmp_path))


def test_a_flipped_bit_in_a_definition_is_noticed_and_older_backups_are_still_read(
    filled: Program, tmp_path: Path
) -> None:
    url, good, bad = url_of(filled), tmp_path / "good.backup", tmp_path / "bad.backup"
    filled.ok("backup", good)
    before, held = digest(url), good.read_bytes()
    assert b"content_hash" in held
    bad.write_bytes(held.replace(b"content_hash", b"content_hasi"))
    filled("restore", bad, "--yes").failed("bad.backup", "damaged")
    assert digest(url) == before
    bad.write_bytes(held[: -backup.SEALED_BYTES])  # as it was written before there was a digest
    filled.ok("restore", bad, "--yes")
    assert digest(url) == before


def test_a_backup_removes_what_a_killed_one_left(filled: Program, tmp_path: Path) -> None:
    mine, dead = (tmp_path / f".memory.backup.{number}.part" for number in (os.getpid(), 2**22 + 1))
    other = tmp_path / ".memory.backup.part"
    for file in (mine, dead, other):
        file.touch()
    filled.ok("backup", tmp_path / "memory.backup")
    assert (mine.exists(), dead.exists(), other.exists()) == (True, False, True)


def test_a_backup_of_another_program_is_refused(filled: Program, tmp_path: Path) -> None:
    url, foreign = url_of(filled), tmp_path / "foreign.backup"
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA shop CREATE TABLE orders (id int)")
    subprocess.run([binary("pg_dump"), "-Fc", "-n", "shop", "-f", foreign, "-d", url], check=True)
    before = digest(url)
    filled("restore", foreign, "--yes").failed("another program")
    assert digest(url) == before


def test_a_backup_of_a_newer_program_is_refused_whole(filled: Program, tmp_path: Path) -> None:
    url, file = url_of(filled), tmp_path / "newer.backup"
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE pkg.alembic_version SET version_num = '0999'")
    filled.ok("backup", file)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE pkg.alembic_version SET version_num = '0001'")
    before = digest(url)
    filled("restore", file, "--yes").failed("nothing was changed", "newer version")
    assert digest(url) == before


def test_a_backup_that_cannot_be_written_leaves_no_half_file(filled: Program, tmp_path: Path) -> None:
    filled("backup", tmp_path).failed("is a folder")
    filled("backup", tmp_path / "no" / "such" / "file").failed("cannot be written")
    old = tmp_path / "old.backup"
    old.write_text("precious")
    filled("backup", old, DATABASE_URL="postgresql://u:p@127.0.0.1:1/x").failed("nothing listens")
    assert old.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.backup"]


def test_nothing_to_back_up(program: Program) -> None:
    program("backup", program.home.parent / "x").failed("nothing to back up")
    assert not program.home.exists()


def test_on_another_machine_a_backup_is_all_that_is_needed(program: Program) -> None:
    """Nothing of the old machine's environment: the time zone and what else was set travel with the memory."""
    file, there = program.home.parent / "memory.backup", program.home.parent / "there"
    made = {"PKG_TIMEZONE": "Asia/Shanghai", "PKG_GAP_HOURS": "3.5", "PKG_API_TOKENS": "me:read:" + "ab" * 32}
    program.home.mkdir()
    (program.home / "pkg.toml").write_text(
        'hot_days = 5\nllm = "offline"\nfailure_webhook = "https://x.example/s3cret"\n'
    )
    program.ok("import", written(program.home.parent / "chat.jsonl", dialogue()), **made)
    before = program.ok("context", "Olga Petrova", "--json", **made).json
    program.ok("backup", file, **made)
    program.ok("uninstall", "--yes", **made)

    other = Program(there, program.launcher, {"PKG_NOW": program.variables["PKG_NOW"]})
    said = other.ok("restore", file, "--json").json  # nothing is there: nobody has to consent
    assert said["settings"] == ["gap_hours", "hot_days", "timezone"]
    kept = (there / "pkg.toml").read_text(encoding="utf-8")
    assert "s3cret" not in kept
    assert "ab" * 32 not in kept
    assert (there / "pkg.toml").stat().st_mode & 0o077 == 0
    settings = other.ok("doctor", "--json").json["settings"]
    assert (settings["timezone"]["value"], settings["gap_hours"]["value"]) == ("Asia/Shanghai", 3.5)
    after = other.ok("context", "Olga Petrova", "--json").json
    assert {**after, "receipt_id": None} == {**before, "receipt_id": None}
    other.ok("import", program.home.parent / "chat.jsonl")
    other.ok("run")
    other("restore", file).failed("--yes")
    other.ok("restore", file, "--yes")
    other.ok("stats")


def test_another_time_zone_than_the_backups_is_refused_before_anything_is_changed(
    filled: Program, tmp_path: Path
) -> None:
    file = tmp_path / "memory.backup"
    filled.ok("backup", file)
    before = digest(url_of(filled))
    filled("restore", file, "--yes", PKG_TIMEZONE="Asia/Tokyo").failed("time zone UTC", "PKG_TIMEZONE", "nothing was")
    assert digest(url_of(filled)) == before
