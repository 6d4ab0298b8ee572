"""Backup files with bits flipped, bytes cut off, taken out or overwritten, given to ``restore``."""

from __future__ import annotations

import random
from pathlib import Path

from faults.backup_kills import command, fill, finish
from faults.ground import Ground, tables
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.postgres import backup
from pkg_pipeline_tests import forks

SEED = 20_261_122
LONGEST_LINE = 300


def flip(held: bytes, chance: random.Random) -> bytes:
    """One to three bits."""
    made = bytearray(held)
    for _ in range(chance.randint(1, 3)):
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def flip_in_head(held: bytes, chance: random.Random) -> bytes:
    """One bit of the list of contents, where the definitions of tables stand as text."""
    made = bytearray(held)
    made[chance.randrange(min(60_000, len(made)))] ^= 1 << chance.randrange(8)
    return bytes(made)


def cut(held: bytes, chance: random.Random) -> bytes:
    return held[: chance.randrange(len(held))]


def cut_little(held: bytes, chance: random.Random) -> bytes:
    return held[: -chance.randint(1, 200)]


def take_out(held: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(held))
    return held[:start] + held[start + chance.randint(1, 5_000) :]


def overwrite(held: bytes, chance: random.Random) -> bytes:
    """A block of a disk that reads as zeros."""
    start = chance.randrange(len(held))
    return (held[:start] + bytes(4096) + held[start + 4096 :])[: len(held)]


DAMAGES = (flip, flip_in_head, cut, cut_little, take_out, overwrite)


@fault(
    "damaged backup",
    how="bits of a backup flipped, bytes cut off, taken out and overwritten; `restore` over a memory",
    short=24,
    full=300,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """Where a damaged file is taken, all that comes out of it must be the memory that went in."""
    outcome = Outcome(ends="one line that says so; the memory is as before")
    chance = random.Random(SEED)
    good, bad = ground.folder / "memory.dump", ground.folder / "damaged.dump"
    taken = 0
    with ground.database() as url:
        fill(ground, url)
        finish(ground, url, "backup", str(good))
        before, held = tables(url), good.read_bytes()
        for number in range(tries):
            damage = DAMAGES[number % len(DAMAGES)]
            damaged = damage(held, chance)
            if damaged == held:
                continue
            bad.write_bytes(damaged)
            at = f"try {number}, {damage.__name__}"
            outcome.tries += 1
            if _is_taken(outcome, command(ground, url, "restore", str(bad), "--yes"), bad, at=at):
                taken += 1
                outcome.compare(before, tables(url), at=at)
                if not damaged.startswith(held[: -backup.SEALED_BYTES]):
                    outcome.wrong.append(f"{at}: taken for good")
        outcome.compare(before, tables(url), at="the memory afterwards")
    if taken:
        outcome.ends += f"; {taken} whose digest alone was hit were taken, and were whole"
    return outcome


def _is_taken(outcome: Outcome, said: forks.Ended, file: Path, *, at: str) -> bool:
    if said.code == 0:
        return True
    lines = [line for line in said.err.splitlines() if line.strip()]
    is_clear = len(lines) == 1 and lines[0].startswith("error: ") and len(lines[0]) < LONGEST_LINE + len(str(file))
    if said.code != 1 or not is_clear:
        outcome.wrong.append(f"{at}: ended with {said.code}: {said.err[-300:]!r}")
    return False
