"""The disk of the embedded server runs full in the midst of committing, its last user leaves, then room comes back."""

from __future__ import annotations

import time

import psycopg
import pytest

from faults.ground import Ground
from faults.kinds import CannotRun, Outcome, fault
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.small_disk import MEGABYTE, small_disk, write_until_full

SIZE = 160 * MEGABYTE
LEFT = 20 * MEGABYTE
LONGEST_SECONDS = 20.0
MOMENTS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3)
"""After the server's panic; at some of them a shutdown would meet its recovery."""


@fault(
    "disk full",
    how="a tmpfs fills while rows are committed, the server panics, its last user leaves; then space comes back",
    short=2,
    full=21,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """Counted are committed rows that are absent, or there too often, once there is room again."""
    del ground
    outcome = Outcome(ends="the server is gone within seconds; with space the next command finds every committed row")
    for number in range(tries):
        try:
            with small_disk(SIZE) as disk:
                folder = disk.folder / "home" / "postgres"
                with embedded.running(folder) as url:
                    disk.fill(leaving=LEFT)
                    committed = write_until_full(url)
                    time.sleep(MOMENTS[number % len(MOMENTS)])
                    began = time.monotonic()
                if time.monotonic() - began > LONGEST_SECONDS:
                    outcome.wrong.append(f"try {number}: leaving took longer than {LONGEST_SECONDS:g} s")
                disk.empty()
                with embedded.running(folder) as url, psycopg.connect(url) as connection:
                    row = connection.execute("SELECT count(*) FROM committed").fetchone()
        except pytest.skip.Exception as why:
            raise CannotRun(str(why)) from why
        found = row[0] if row else 0
        outcome.lost += max(committed - found, 0)
        outcome.doubled += max(found - committed, 0)
        outcome.tries += 1
    return outcome
