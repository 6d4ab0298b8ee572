"""The database goes away under every hop: its server is killed or restarted, or the one connection is cut."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults import breaking, hops
from faults.ground import Ground, expire_leases, tables
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests import databases

SEED = 20_261_122
LONGEST_DELAY = 0.004
"""Seconds after the begin of an exchange: it is under way then, or its answer is already here."""

SMALL = {"synchronous_commit": "on", "shared_buffers": "'32MB'"}
"""What was acknowledged outlives the server's processes, as it does with the settings that people have."""


@contextmanager
def own_server(folder: Path, **settings: str) -> Iterator[Ground]:
    """A ground with a server of its own, which may be killed: ``embedded.start(folder)`` brings it back."""
    folder.mkdir()
    try:
        yield Ground(folder, databases.start(folder, **SMALL, **settings))
    finally:
        databases.remove(folder)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a hop finds at ``before``, takes, and leaves where nothing happens to it."""

    before: str
    exchanges: int
    tables: dict[str, list[tuple[Any, ...]]]


@contextmanager
def undisturbed(ground: Ground, home: Path, base_url: str, *, most: int) -> Iterator[dict[str, Undisturbed]]:
    """The first ``most`` hops, each over a copy of what those before it left."""
    hops.write_export(home)
    found: dict[str, Undisturbed] = {}
    with ExitStack() as stack:
        before = stack.enter_context(ground.database())
        for hop in list(hops.HOPS)[:most]:
            after = stack.enter_context(ground.database(before))
            found[hop] = Undisturbed(before, breaking.run(hop, after, home, base_url).exchanges, tables(after))
            before = after
        yield found


def _attack(ground: Ground, home: Path, tries: int, ways: Sequence[str], *, server: Path | None = None) -> Outcome:
    """The hops in turn meet a break at a random exchange, then each is run again.

    ``server`` is the data folder of a server that may be down after a break.
    """
    outcome, chance, told = Outcome(), random.Random(SEED), 0
    with FakeAnthropic() as model, undisturbed(ground, home, model.url, most=tries) as expected:
        for number in range(tries):
            turn, index = divmod(number, len(hops.HOPS))
            hop = list(hops.HOPS)[index]
            way = ways[(turn + index) % len(ways)]
            at = chance.randint(1, expected[hop].exchanges)
            delay = chance.choice((0.0, chance.uniform(0.0, LONGEST_DELAY)))
            place = f"{hop}, {way} at exchange {at} of {expected[hop].exchanges}"
            with ground.database(expected[hop].before) as url:
                try:
                    broken = breaking.run(hop, url, home, model.url, at=at, way=way, delay=delay)
                    told += bool(broken.error)
                except breaking.NoClearEnd as why:
                    outcome.wrong.append(f"{place}: {why}")
                if server is not None:
                    embedded.start(server)
                expire_leases(url)
                again = breaking.run(hop, url, home, model.url)
                if again.error:
                    outcome.wrong.append(f"{place}: does not finish afterwards: {again.error}")
                outcome.tries += 1
                outcome.compare(expected[hop].tables, tables(url), at=place)
    outcome.ends = (
        f"{told} ended with one clear line, {tries - told} went on by themselves; run again: tables equal to those of"
        " an undisturbed run"
    )
    return outcome


@fault(
    "database killed",
    how="`kill -9` of all processes of the server or of one backend, or its immediate stop, at a random exchange of"
    " each hop; it starts, the hop is run again",
    short=3,
    full=45,
)
def killed(ground: Ground, tries: int) -> Outcome:
    ways = ("kill -9 of all of the server's processes", "immediate stop", "kill -9 of the backend")
    with own_server(ground.folder / "s") as own:
        return _attack(own, ground.folder, tries, ways, server=own.folder / "pg")


@fault(
    "database restarted",
    how="fast restart of the server at a random exchange of each hop; then the hop is run again",
    short=3,
    full=45,
)
def restarted(ground: Ground, tries: int) -> Outcome:
    with own_server(ground.folder / "s") as own:
        return _attack(own, ground.folder, tries, ("fast restart",), server=own.folder / "pg")


@fault(
    "connection dropped",
    how="the worker's backend terminated, its socket shut before a request or before the answer to one, at a random"
    " exchange of each hop; then the hop is run again",
    short=9,
    full=90,
)
def dropped(ground: Ground, tries: int) -> Outcome:
    return _attack(ground, ground.folder, tries, ("request lost", "answer lost", "backend terminated"))
