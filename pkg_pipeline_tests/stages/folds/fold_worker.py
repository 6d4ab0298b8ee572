"""A folder of sessions that kills itself before a named step, over real stage and stores: ``python -m … URL POINT``.

Steps are statements. It goes on until it dies.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from typing import Any

from psycopg.rows import namedtuple_row

from pkg_pipeline.adapters.postgres.llm import leases
from pkg_pipeline.adapters.postgres.sessions import fold_reads
from pkg_pipeline.adapters.postgres.sessions import folds as fold_store
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.session.triggers import FoldRules
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig, good_fold
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm

PLACES = {
    # point: the step it dies before, and the how manieth of its kind
    "decided, nothing read": ("page", 1),
    "booked, second fold unpublished": ("insert_fold", 2),
    "published, HWM unmoved": ("move_hwm", 2),
    "all but left": ("leave", 1),
}
LEASE_SECONDS = 1.0
QUICK = FoldRules(min_messages=2, max_messages=4, short_max_messages=4, cooldown_seconds=0, cooldown_messages=0)
"""So that there is something to do all the time."""


def main(url: str, point: str, rules: str = "usual") -> None:
    step, turn = PLACES[point]
    met: Counter[str] = Counter()

    class DyingStatements(Statements):
        def execute(self, connection: Any, name: str, given: Any, row: Any = namedtuple_row) -> Any:
            met[name] += 1
            if (name, met[name]) == (step, turn):
                os.kill(os.getpid(), signal.SIGKILL)
            return super().execute(connection, name, given, row)

    fold_store.SQL = fold_reads.SQL = DyingStatements("folds")
    leases.SQL = DyingStatements("leases")
    rig = FoldRig(url, **({"rules": QUICK} if rules == "quick" else {}))
    pause = threading.Event()
    while True:
        rig.fold_due(ScriptedLlm(good_fold), step_messages=20, lease_seconds=LEASE_SECONDS)
        pause.wait(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
