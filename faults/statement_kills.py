"""``kill -9`` before an exchange with the database: each of a hop where there are tries enough, else spread out."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from faults import hops
from faults.ground import Ground, expire_leases, tables
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests import databases, forks
from pkg_pipeline_tests.databases import TEMPLATE

SHORT, FULL = 3, 60
HOW = "`kill -9` before the n-th exchange with PostgreSQL (COMMIT and COPY too), n spread over all; then run again"
DIFFER = 20
"""So many exchanges fewer may a run take: its threads share what they read, and some wait for a lock and ask again."""
ENDS = "tables equal to those of an undisturbed run"


def _run(hop: str, url: str, folder: Path, base_url: str, *, die_at: int = 0) -> forks.Ended:
    return forks.run("faults.hops", url, str(folder), base_url, hop, str(die_at))


def _finish(hop: str, url: str, folder: Path, base_url: str) -> int:
    """Run the hop to its end; returns how many exchanges that took."""
    done = _run(hop, url, folder, base_url)
    if done.code != 0:
        raise RuntimeError(f"{hop} does not finish: {done.err[-1500:]}")
    return int(done.out.split()[-1])


def spread(points: int, tries: int) -> list[int]:
    """At most ``tries`` numbers of 1…``points``, first and last among them, evenly spread."""
    if tries >= points:
        return list(range(1, points + 1))
    return sorted({1 + round(index * (points - 1) / max(tries - 1, 1)) for index in range(tries)})


def _before(hop: str, ground: Ground, base_url: str) -> str:
    """The URL of what a hop finds."""
    earlier = list(hops.HOPS)[: list(hops.HOPS).index(hop)]
    if not earlier:
        return engine.with_database(ground.server_url, TEMPLATE)
    return _after(earlier[-1], ground, base_url).url


def _after(hop: str, ground: Ground, base_url: str) -> databases.Kept:
    """What an undisturbed run of a hop leaves, made once a server; its note: the exchanges that the run took."""
    before = str(conninfo_to_dict(_before(hop, ground, base_url))["dbname"])

    def make(url: str) -> str:
        return str(_finish(hop, url, ground.folder, base_url))

    return databases.kept(ground.server_url, f"after {hop}", make, like=before)


def _attack(hop: str) -> Callable[[Ground, int], Outcome]:
    def attack(ground: Ground, tries: int) -> Outcome:
        outcome = Outcome(ends=ENDS)
        hops.write_export(ground.folder)
        with FakeAnthropic() as model:
            base_url = model.url
            before, undisturbed = _before(hop, ground, base_url), _after(hop, ground, base_url)
            exchanges = int(undisturbed.note)
            with ground.database(undisturbed.url) as url:
                expected = tables(url)
            for point in spread(exchanges, tries):
                with ground.database(before) as url:
                    died = _run(hop, url, ground.folder, base_url, die_at=point)
                    if died.code != -signal.SIGKILL and (died.code != 0 or point <= exchanges - DIFFER):
                        outcome.wrong.append(f"exchange {point}: ended with {died.code} instead of being killed")
                    expire_leases(url)
                    _finish(hop, url, ground.folder, base_url)
                    outcome.tries += 1
                    outcome.compare(expected, tables(url), at=f"{hop}, exchange {point} of {exchanges}")
        return outcome

    return attack


for _hop in hops.HOPS:
    fault(f"killed in {_hop}", how=HOW, short=SHORT, full=FULL)(_attack(_hop))
