"""A disk of a few megabytes that tests can fill and empty again. Not the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

MEGABYTE = 1 << 20


class SmallDisk:
    """A file system of its own; ``fill`` and ``empty`` change how much of it is free."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    @property
    def free(self) -> int:
        return shutil.disk_usage(self.folder).free

    def fill(self, *, leaving: int) -> None:
        """Leave so many bytes."""
        with self._filler.open("ab") as filler:
            os.posix_fallocate(filler.fileno(), filler.tell(), max(self.free - leaving, 1))

    def empty(self) -> None:
        self._filler.unlink(missing_ok=True)


@contextmanager
def small_disk(size: int) -> Iterator[SmallDisk]:
    """``size`` bytes in memory, mounted for the test. Where that is not permitted the test is skipped with a word."""
    folder = Path(tempfile.mkdtemp(prefix="pkgs-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(folder)]
    try:
        allowed = sys.platform == "linux" and shutil.which("mount") is not None
        done = subprocess.run(command, capture_output=True, check=False) if allowed else None
        if done is None or done.returncode != 0:
            pytest.skip("NOT RUN: a small disk needs the right to mount a tmpfs; run as root on Linux")
        try:
            yield SmallDisk(folder)
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
    finally:
        folder.rmdir()


def write_until_full(url: str) -> int:
    """Write log until the server panics for want of space; returns how many rows were committed.

    Rows are few and one of them is written over and over, so that the log fills the disk and not the table.
    """
    committed = 0
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS committed (n bigint PRIMARY KEY, body text)")
        connection.execute("TRUNCATE committed")
        connection.execute("INSERT INTO committed VALUES (0, '')")
        try:
            while True:
                connection.execute(
                    "UPDATE committed SET body = (SELECT string_agg(md5(random()::text), '')"
                    " FROM generate_series(1, 60)) WHERE n = 0"
                )
                if committed % 20 == 0:
                    connection.execute("INSERT INTO committed VALUES (%s + 1)", (committed,))
                committed += 1
        except psycopg.OperationalError:
            return (committed + 19) // 20 + 1
