"""``backup`` and ``restore`` killed with ``kill -9`` at random moments, with or without the tools that they run."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from faults import hops
from faults.ground import Ground, tables
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.postgres import backup
from pkg_pipeline.adapters.postgres.migrations import migrate  # noqa: F401 - loaded before a worker is forked
from pkg_pipeline.cli import app, operate  # noqa: F401
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.wiring import carried_settings, database  # noqa: F401
from pkg_pipeline_tests import forks
from pkg_pipeline_tests.cli.processes import OURS

SEED = 20_261_122
MADE_BY = ("import", "interactions", "interaction summaries", "append to a session")
NEVER = 0.0


def fill(ground: Ground, url: str) -> None:
    """A small memory with summaries and a session."""
    hops.write_export(ground.folder)
    with FakeAnthropic() as fake, hops.opened(url, ground.folder, fake.url) as memory:
        for hop in MADE_BY:
            hops.HOPS[hop](memory)


def command(ground: Ground, url: str, *words: str, die_after: float = NEVER, takes_tools: bool = True) -> forks.Ended:
    """One command over the memory at ``url``; killed after so many seconds, if any, with its tools or without."""
    return forks.run(
        "faults.backup_kills", url, str(ground.folder / "home"), str(die_after), str(int(takes_tools)), *words
    )


def finish(ground: Ground, url: str, *words: str) -> float:
    """One command to its end; returns the seconds it took."""
    started = time.monotonic()
    ended = command(ground, url, *words)
    if ended.code != 0:
        raise RuntimeError(f"{words[0]} ended with {ended.code}: {ended.err[-1500:]}")
    return time.monotonic() - started


def _held(ground: Ground, file: Path) -> object:
    """The tables that come out of a file."""
    with ground.database() as url:
        backup.restore(url, file)
        return tables(url)


@fault(
    "backup killed",
    how="`kill -9` of `backup` at random moments, with `pg_dump` or without, over an older backup or none",
    short=4,
    full=60,
)
def attack_backup(ground: Ground, tries: int) -> Outcome:
    """Lost is a backup that was there, or one that is not whole."""
    outcome = Outcome(ends="the file is the older backup, the whole new one or none; the next one leaves nothing else")
    chance = random.Random(SEED)
    folder = ground.folder / "backups"
    folder.mkdir()
    file, older = folder / "memory.dump", ground.folder / "older.dump"
    with ExitStack() as stack:
        url, grown = (stack.enter_context(ground.database()) for _ in range(2))
        fill(ground, url)
        finish(ground, url, "backup", str(older))
        before = tables(url)
        backup.restore(grown, older)
        with hops.opened(grown, ground.folder, "http://127.0.0.1:9") as memory:
            memory.sessions.append("jsonl:later", hops.live_turns()[:3])
        after = tables(grown)
        took = finish(ground, grown, "backup", str(file))
        for number in range(tries):
            file.unlink(missing_ok=True)
            if number % 2:
                file.write_bytes(older.read_bytes())
            moment = chance.uniform(0.01, took)
            command(ground, grown, "backup", str(file), die_after=moment, takes_tools=number % 4 < 2)
            outcome.tries += 1
            at = f"try {number}, after {moment:.3f} s"
            if number % 2 and not file.exists():
                outcome.lost += 1
                outcome.wrong.append(f"{at}: the older backup is gone")
            if file.exists() and _held(ground, file) not in ((before, after) if number % 2 else (after,)):
                outcome.lost += 1
                outcome.wrong.append(f"{at}: the file is a half one")
        finish(ground, grown, "backup", str(file))
        left = sorted(path.name for path in folder.iterdir() if path != file)
        if left:
            outcome.wrong.append(f"{len(left)} half files are left: {left[:3]}")
        outcome.compare(after, tables(grown), at="the memory afterwards")
    return outcome


@fault(
    "restore killed",
    how="`kill -9` of `restore` over a memory at random moments, with `psql` and `pg_restore` or without",
    short=4,
    full=40,
)
def attack_restore(ground: Ground, tries: int) -> Outcome:
    """A half memory counts as lost whole."""
    outcome = Outcome(ends="the old memory or the backup's, each whole; the same command again finishes")
    chance = random.Random(SEED)
    file = ground.folder / "memory.dump"
    old = new = 0
    with ground.database() as url:
        fill(ground, url)
        held = tables(url)
        finish(ground, url, "backup", str(file))
        with hops.opened(url, ground.folder, "http://127.0.0.1:9") as memory:
            memory.sessions.append("jsonl:later", hops.live_turns()[:3])
        before = tables(url)
        with ground.database(url) as like:
            took = finish(ground, like, "restore", str(file), "--yes")
        for number in range(tries):
            with ground.database(url) as tried:
                moment = chance.uniform(0.01, took)
                command(ground, tried, "restore", str(file), "--yes", die_after=moment, takes_tools=number % 2 == 0)
                outcome.tries += 1
                found = tables(tried)
                old, new = old + (found == before), new + (found == held)
                at = f"try {number}, after {moment:.3f} s"
                if found not in (before, held):
                    outcome.compare(before, found, at=at)
                finish(ground, tried, "restore", str(file), "--yes")
                outcome.compare(held, tables(tried), at=f"{at}, then again")
    outcome.ends += f" ({old} × the old, {new} × the backup's)"
    return outcome


def main(url: str, home: str, die_after: str, takes_tools: str, *words: str) -> None:
    """The command of the program in this process, which kills itself after so many seconds."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(PKG_HOME=home, DATABASE_URL=url, PKG_NOW=hops.NOW.isoformat(), PKG_EMBEDDER="none")
    os.setpgid(0, 0)
    if float(die_after) != NEVER:
        kill = os.killpg if takes_tools == "1" else os.kill
        timer = threading.Timer(float(die_after), kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
    sys.argv = ["pkg-pipeline", *words]
    try:
        app.main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else end.code is not None)
