"""Migrations from the first revision with data in it, killed before an exchange with the database, then again."""

from __future__ import annotations

import signal
import subprocess

from faults import hops
from faults.backup_kills import fill
from faults.ground import Ground, tables
from faults.kinds import Outcome, fault
from faults.statement_kills import spread
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server.postmaster import binary
from pkg_pipeline_tests import forks

FIRST = "0001"
RANDOM_LINES = ("\\restrict ", "\\unrestrict ")
"""pg_dump draws a new word for them each time."""


def schema(url: str) -> list[tuple[str]]:
    """Every definition in the database, as the statements that make it."""
    command = [str(binary("pg_dump")), "--schema-only", "--schema=pkg", "--dbname", url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [(line,) for line in said.splitlines() if line and not line.startswith(RANDOM_LINES)]


def _upgrade(url: str, *, die_at: int = 0) -> forks.Ended:
    return forks.run("faults.migration_kills", url, str(die_at))


@fault(
    "killed in migration",
    how=f"`kill -9` before the n-th exchange of an upgrade from revision {FIRST} with data to the newest; then again",
    short=4,
    full=20,
)
def attack(ground: Ground, tries: int) -> Outcome:
    outcome = Outcome(ends="schema and tables equal to those of an undisturbed upgrade")
    with ground.database() as before:
        fill(ground, before)
        migrate.downgrade(before, FIRST)
        with ground.database(before) as url:
            exchanges = int(_upgrade(url).out.split()[-1])
            expected, defined = tables(url), schema(url)
        for point in spread(exchanges, tries):
            with ground.database(before) as url:
                died = _upgrade(url, die_at=point)
                at = f"exchange {point} of {exchanges}"
                if died.code != -signal.SIGKILL:
                    outcome.wrong.append(f"{at}: ended with {died.code} instead of being killed")
                again = _upgrade(url)
                outcome.tries += 1
                if again.code != 0:
                    outcome.lost += 1
                    outcome.wrong.append(f"{at}: the upgrade does not go on: {again.err[-500:]}")
                    continue
                outcome.compare(expected, tables(url), at=at)
                outcome.compare({"schema": defined}, {"schema": schema(url)}, at=at)
    return outcome


def main(url: str, die_at: str) -> None:
    met = hops.count_exchanges(at=int(die_at))
    migrate.upgrade(url)
    print(met[0])
