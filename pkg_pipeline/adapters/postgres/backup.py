"""Backup and restore of our schemas with the bundled pg_dump, pg_restore and psql."""

from __future__ import annotations

import glob
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import IO

import psutil
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pkg_pipeline.adapters.postgres.engine import DAGSTER_SCHEMA, SCHEMA, connect, libpq_url, value, without_password
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.adapters.server.postmaster import binary

WORK = Statements("work")

MARTS_SCHEMA = "marts"
SCHEMAS = (SCHEMA, DAGSTER_SCHEMA, MARTS_SCHEMA)

MAGIC = b"PGDMP"
SEAL = b"\n-- sha256 "
SEALED_BYTES = len(SEAL) + 64 + 1
CHUNK_BYTES = 1 << 16
LOCK_SECONDS = 30
FIRST_WITH_TRANSACTION_TIMEOUT = 170000
TRANSACTION_TIMEOUT = b"SET transaction_timeout = 0;\n"
"""Written by pg_restore; servers before 17 reject it."""


class BackupFailed(Exception):
    """One line, usually the message of PostgreSQL's tool."""


def dump(url: str, file: Path) -> int:
    """Write everything to ``file`` (custom format, mode 0600); returns its bytes. Never leaves a partial file. Raises
    BackupFailed.
    """
    if migrate.current(url) is None:
        raise BackupFailed("there is nothing to back up: this database has no memory yet")
    if file.is_dir():
        raise BackupFailed(f"{file} is a folder; name the file to write")
    _remove_left(file)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    schemas = [argument for schema in SCHEMAS for argument in ("--schema", schema)]
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        command = _command("pg_dump", "--format=custom", "--no-owner", "--no-privileges", *schemas)
        _run([*command, "--dbname", _address(url), "--file", str(part)], url)
        _seal(part)
        part.replace(file)
        return file.stat().st_size
    except OSError as error:
        raise BackupFailed(f"{file} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def restore(url: str, file: Path) -> None:
    """Replace everything by the contents of ``file`` in one transaction, committed only after pg_restore succeeded.
    Raises BackupFailed.
    """
    check(file)
    with connect(url) as connection:
        version = connection.info.server_version
    with tempfile.TemporaryFile() as reader_words, tempfile.TemporaryFile() as writer_words:
        reader = subprocess.Popen(
            _command("pg_restore", "--no-owner", "--no-privileges", "--file=-", str(file)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=reader_words,
        )
        writer = subprocess.Popen(
            [*_command("psql", "-X", "-q", "--set=ON_ERROR_STOP=1"), "--dbname", _address(url)],
            env=_environment(url),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=writer_words,
        )
        with reader, writer:
            assert reader.stdout is not None
            assert writer.stdin is not None
            with suppress(BrokenPipeError):  # psql ended early; its output says why
                _replay(reader, writer.stdin, server_version=version)
            with suppress(BrokenPipeError):
                writer.stdin.close()
            writer.wait()
            reader.stdout.close()
            reader.wait()
        if writer.returncode != 0:
            raise BackupFailed(f"nothing was changed: {_telling(writer_words, 'psql', url)}")
        if reader.returncode != 0:
            raise BackupFailed(f"nothing was changed, {file} is damaged: {_telling(reader_words, 'pg_restore', url)}")


def check(file: Path) -> None:
    """Check that ``file`` is an unchanged backup of this program. Raises BackupFailed."""
    try:
        with file.open("rb") as stream:
            head = stream.read(len(MAGIC))
    except OSError as error:
        raise BackupFailed(f"{file} cannot be read: {error.strerror}") from error
    if head != MAGIC:
        raise BackupFailed(f"{file} is no backup of this program (pg_dump custom format)")
    if _is_changed(file):
        raise BackupFailed(f"{file} is damaged: its bytes are not those that were written")
    listed = subprocess.run(
        _command("pg_restore", "--list", str(file)), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if listed.returncode != 0:
        raise BackupFailed(f"{file} is damaged: its list of contents cannot be read")
    if f" SCHEMA - {SCHEMA} ".encode() not in listed.stdout:
        raise BackupFailed(f"{file} is a backup of another program: it has no schema {SCHEMA}")


def kept(file: Path) -> dict[str, str]:
    """The table ``installation`` of the backup. Raises BackupFailed."""
    told = ("--data-only", "--schema", SCHEMA, "--table", "installation", "--file=-", str(file))
    said = subprocess.run(_command("pg_restore", *told), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if said.returncode != 0:
        raise BackupFailed(f"{file} is damaged: what it keeps about itself cannot be read")
    lines = iter(said.stdout.decode(errors="replace").splitlines())
    for line in lines:
        if line.startswith("COPY "):
            break
    pairs = (line.partition("\t") for line in takewhile(lambda line: line != "\\.", lines))
    return {key: said.replace("\\\\", "\\") for key, tab, said in pairs if tab and "\t" not in said}


def is_empty(url: str) -> bool:
    if migrate.current(url) is None:
        return True
    with connect(url) as connection:
        return not WORK.value(connection, "has_messages")


def has_unfinished_runs(url: str) -> bool:
    """Whether a Dagster run is queued or running."""
    with connect(url, search_path=DAGSTER_SCHEMA) as connection:
        return WORK.value(connection, "runs_table") is not None and WORK.value(connection, "unfinished_runs")


def drop(url: str) -> list[str]:
    """Drop our schemas; returns those that existed."""
    dropped: list[str] = []
    with connect(url, search_path="public") as connection:
        for schema in SCHEMAS:
            if value(connection, "SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)) is not None:
                connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))
                dropped.append(schema)
    return dropped


def _seal(part: Path) -> None:
    """Append the SHA-256 of all bytes, which pg_restore ignores."""
    with part.open("r+b") as stream:
        made = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0, os.SEEK_END)
        stream.write(SEAL + made.encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def _is_changed(file: Path) -> bool:
    """Whether the SHA-256 at the end does not match; backups without one count as unchanged."""
    with file.open("rb") as stream:
        length = stream.seek(0, os.SEEK_END) - SEALED_BYTES
        stream.seek(max(length, 0))
        end = stream.read()
        if length < 0 or not end.startswith(SEAL):
            return False
        stream.seek(0)
        made = hashlib.sha256()
        while length > 0 and (chunk := stream.read(min(length, CHUNK_BYTES))):
            made.update(chunk)
            length -= len(chunk)
    return end != SEAL + made.hexdigest().encode() + b"\n"


def _remove_left(file: Path) -> None:
    """Delete partial files of killed backups."""
    for part in file.parent.glob(f".{glob.escape(file.name)}.*.part"):
        number = part.name.split(".")[-2]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            with suppress(OSError):
                part.unlink()


def _replay(reader: subprocess.Popen[bytes], writer: IO[bytes], *, server_version: int) -> None:
    assert reader.stdout is not None
    writer.write(b"BEGIN;\n")
    writer.write(f"SET lock_timeout = '{LOCK_SECONDS}s';\nSET client_min_messages = warning;\n".encode())
    for schema in SCHEMAS:  # also what later revisions added and the backup does not know
        writer.write(f"DROP SCHEMA IF EXISTS {schema} CASCADE;\n".encode())
    chunk = reader.stdout.read(CHUNK_BYTES)
    if server_version < FIRST_WITH_TRANSACTION_TIMEOUT:
        chunk = chunk.replace(TRANSACTION_TIMEOUT, b"", 1)  # in the head, before any data
    while chunk:
        writer.write(chunk)
        chunk = reader.stdout.read(CHUNK_BYTES)
    if reader.wait() == 0:
        writer.write(_REFUSE_NEWER.format(schema=SCHEMA, head=migrate.head()).encode())
        writer.write(b"COMMIT;\n")


_REFUSE_NEWER = """
DO $$ BEGIN
    IF (SELECT max(version_num) FROM {schema}.alembic_version) > '{head}' THEN
        RAISE EXCEPTION 'the backup is of a newer version of this program';
    END IF;
END $$;
"""


def _command(program: str, *arguments: str) -> list[str]:
    return [str(binary(program)), *arguments]


def _address(url: str) -> str:
    """The connection string without the password: command lines are public."""
    return make_conninfo(**{**conninfo_to_dict(libpq_url(url)), "password": None})


def _environment(url: str) -> dict[str, str]:
    password = conninfo_to_dict(libpq_url(url)).get("password")
    return {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}


def _run(command: Sequence[str], url: str) -> None:
    with tempfile.TemporaryFile() as words:
        done = subprocess.run(
            command, env=_environment(url), stdin=subprocess.DEVNULL, stdout=words, stderr=words, check=False
        )
        if done.returncode != 0:
            raise BackupFailed(_telling(words, Path(command[0]).name, url))


def _telling(words: IO[bytes], program: str, url: str) -> str:
    """The first line of an error, without the line numbers of the generated script."""
    words.seek(0)
    lines = [line for line in words.read().decode(errors="replace").splitlines() if line.strip()]
    telling = next((line for line in lines if "error:" in line.lower()), lines[0] if lines else "failed without a word")
    if "lock timeout" in telling:
        return f"somebody else is using the memory; stop dev, serve or run, then try again ({program})"
    said = without_password(telling.partition("rror:")[2].strip() or telling, url)
    return f"{program}: {said}"
