"""``kill -9`` of whole commands and all their children at random moments, then the same commands again until done."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

from faults import hops
from faults.ground import Ground, expire_leases, tables
from faults.kinds import Outcome, fault
from pkg_pipeline_tests.cli.processes import COMMAND, OURS

SEED = 20_261_122
PATIENCE_SECONDS = 180
COMMANDS = (("import", "{folder}/export.jsonl", "--json"), ("run", "--json"))


def launched(command: tuple[str, ...], folder: Path, home: Path, url: str) -> subprocess.Popen[bytes]:
    """The command, at the head of a process group; what it writes to standard error can be read. Marts are no part of
    what is compared.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    given = {"PKG_HOME": str(home), "DATABASE_URL": url, "PKG_NOW": hops.NOW.isoformat(), "PKG_EMBEDDER": "none"}
    given["PKG_MARTS"] = "false"
    return subprocess.Popen(
        [*COMMAND, *(word.format(folder=folder) for word in command)],
        env=inherited | given,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _finish(command: tuple[str, ...], folder: Path, home: Path, url: str) -> float:
    """Run to the end; returns the seconds it took."""
    started = time.monotonic()
    process = launched(command, folder, home, url)
    _, said = process.communicate(timeout=PATIENCE_SECONDS)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {said.decode()[-1500:]}")
    return time.monotonic() - started


def _kill(command: tuple[str, ...], folder: Path, home: Path, url: str, *, after: float) -> bool:
    """Kill the command and its children after so many seconds; whether it was still running then."""
    process = launched(command, folder, home, url)
    try:
        process.communicate(timeout=after)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True


@fault(
    "killed at random",
    how="`kill -9` of `import` and `run` with all their children at random moments, then again",
    short=2,
    full=16,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """Each memory meets one kill of each command."""
    outcome = Outcome(ends="the same commands finish; tables equal to those of an undisturbed memory")
    chance = random.Random(SEED)
    hops.write_export(ground.folder)
    with ground.database() as url:
        took = [_finish(command, ground.folder, ground.folder / "h0", url) for command in COMMANDS]
        expected = tables(url)
    for number in range(1, tries // len(COMMANDS) + 1):
        home = ground.folder / f"h{number}"
        with ground.database() as url:
            for command, seconds in zip(COMMANDS, took, strict=True):
                outcome.tries += _kill(command, ground.folder, home, url, after=chance.uniform(0.2, seconds))
                expire_leases(url)
                _finish(command, ground.folder, home, url)
            outcome.compare(expected, tables(url), at=f"memory {number}")
    return outcome
