"""Two processes work off the same hop of the same memory at the same moment, as two schedulers would."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from faults import hops
from faults.ground import Ground, tables
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests import forks

WORKERS = 2
BEGIN_SECONDS = 0.1
TAKEN_IN = (
    "import", "append to a session", "merge of people", "split of people", "a rebuild", "forgetting a person"
)  # fmt: skip
"""By one worker: no scheduler does it; and folds are named after serial numbers, of which a second one wastes some."""
ANSWER_SECONDS = 0.02
"""Long enough that both are in the midst of a question at once."""


def _work(url: str, folder: Path, base_url: str, *, workers: int, at: str, outcome: Outcome) -> None:
    for hop in hops.HOPS:
        ended = forks.run("faults.two_workers", url, str(folder), base_url, hop, str(1 if hop in TAKEN_IN else workers))
        if ended.code != 0:
            outcome.wrong.append(f"{at}: {hop}: {ended.err[-800:]}")


def paid_twice(fake: FakeAnthropic) -> int:
    """How many calls asked what had been asked before."""
    asked = Counter(
        hashlib.sha256(json.dumps(call["body"], sort_keys=True).encode()).hexdigest()
        for call in fake.journal
        if call["path"] == "/v1/messages"
    )
    return asked.total() - len(asked)


@fault(
    "two schedulers",
    how=f"{WORKERS} processes begin each hop at the same moment on one database, with a model that takes its time",
    short=1,
    full=12,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """Doubled are rows, and questions to the model that were asked before."""
    outcome = Outcome(ends="tables equal to those of one worker, no question asked twice")
    hops.write_export(ground.folder)
    calls = 0
    with ground.database() as url, FakeAnthropic() as fake:
        _work(url, ground.folder, fake.url, workers=1, at="one worker", outcome=outcome)
        expected, alone = tables(url), len(fake.journal)
    for number in range(tries):
        with ground.database() as url, FakeAnthropic(rules=[Fault(delay_seconds=ANSWER_SECONDS)]) as fake:
            _work(url, ground.folder, fake.url, workers=WORKERS, at=f"try {number}", outcome=outcome)
            outcome.tries += 1
            outcome.compare(expected, tables(url), at=f"try {number}")
            outcome.doubled += paid_twice(fake)
            calls += len(fake.journal)
            if paid_twice(fake) or len(fake.journal) != alone:
                outcome.wrong.append(
                    f"try {number}: {len(fake.journal)} calls, {paid_twice(fake)} again; {alone} alone"
                )
            outcome.wrong += left_behind(url, at=f"try {number}")
    outcome.ends += f" ({calls} calls)"
    return outcome


def left_behind(url: str, *, at: str) -> list[str]:
    """Claims and reservations that nobody gave back."""
    with engine.connect(url) as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM leases WHERE expires_at > clock_timestamp()),"
            " (SELECT count(*) FROM budget_reservations), (SELECT coalesce(sum(reserved_usd), 0)::float8 FROM budgets)"
        ).fetchone()
    leases, reservations, reserved = found or (0, 0, 0.0)
    if leases or reservations or reserved:
        return [f"{at}: {leases} leases, {reservations} reservations of {reserved} USD are left"]
    return []


def main(url: str, folder: str, base_url: str, hop: str, workers: str) -> None:
    """The hop by so many processes, which begin at the same moment; ends with 1 where one of them failed. One alone is
    this one, whose modules are there for those after it.
    """
    if int(workers) == 1:
        with hops.opened(url, Path(folder), base_url) as memory:
            hops.HOPS[hop](memory)
        return
    begin = time.monotonic() + BEGIN_SECONDS
    children: list[int] = []
    for _ in range(int(workers)):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with hops.opened(url, Path(folder), base_url) as memory:
                    memory.connections.wait()
                    time.sleep(max(0.0, begin - time.monotonic()))
                    hops.HOPS[hop](memory)
                code = 0
            except BaseException:  # noqa: BLE001 - told below, and the parent fails
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(codes):
        raise RuntimeError(f"the workers of {hop} ended with {codes}")
