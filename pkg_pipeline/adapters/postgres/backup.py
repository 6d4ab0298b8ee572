"""The whole memory as one file and back: pg_dump and pg_restore of the schemas that are ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from pkg_pipeline.adapters import embedded
from pkg_pipeline.adapters.postgres.engine import DAGSTER_SCHEMA, SCHEMA, connect, libpq_url

MARTS_SCHEMA = "marts"
SCHEMAS = (SCHEMA, DAGSTER_SCHEMA, MARTS_SCHEMA)


class BackupFailed(Exception):
    """One line: what PostgreSQL's tool said."""


def dump(url: str, file: Path) -> int:
    """Write everything to ``file`` (custom format, compressed); returns its bytes. Never leaves half a file."""
    part = file.with_name(file.name + ".part")
    schemas = [argument for schema in SCHEMAS for argument in ("--schema", schema)]
    try:
        _run("pg_dump", url, ["--format=custom", "--no-owner", "--no-privileges", *schemas, "--file", str(part)])
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return file.stat().st_size


def restore(url: str, file: Path) -> None:
    """Replace everything by what ``file`` holds, in one transaction: it is all there or nothing changed."""
    if not file.is_file():
        raise BackupFailed(f"there is no file {file}")
    with file.open("rb") as stream:
        if stream.read(5) != b"PGDMP":
            raise BackupFailed(f"{file} is no backup of this program (pg_dump custom format)")
    _run(
        "pg_restore",
        url,
        [
            "--clean",
            "--if-exists",
            "--single-transaction",
            "--no-owner",
            "--no-privileges",
            str(file),
        ],
    )


def drop(url: str) -> list[str]:
    """Drop our schemas with everything in them; returns those that were there."""
    dropped: list[str] = []
    with connect(url, search_path="public") as connection:
        for schema in SCHEMAS:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone()
            if found is not None:
                # names of our own, never input
                connection.execute(f"DROP SCHEMA {schema} CASCADE")  # type: ignore[arg-type]
                dropped.append(schema)
    return dropped


def _run(program: str, url: str, arguments: list[str]) -> None:
    bundled = embedded.binary(program)
    command = str(bundled) if bundled.exists() else shutil.which(program)
    if command is None:
        raise BackupFailed(f"{program} is not installed")
    given = {key: str(value) for key, value in conninfo_to_dict(libpq_url(url)).items() if value is not None}
    # by environment: a password on the command line could be read by everybody on the machine
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
    environment = {**os.environ, **{names[key]: value for key, value in given.items() if key in names}}
    database = ["--dbname", given.get("dbname", "postgres")]
    done = subprocess.run(
        [command, *database, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines()
        raise BackupFailed(f"{program}: {lines[0] if lines else 'failed without a word'}")
