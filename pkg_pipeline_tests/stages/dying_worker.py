"""A worker that kills itself at a named point, over real stage, stores and SDK: ``python -m … KIND URL FOLDER BASE_URL
POINT``. Points: the claim; asking; before and after the ledger, what is saved, the partition's state.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pkg_pipeline_tests import forks
from pkg_pipeline_tests.stages.profiles.profile_rig import ProfileRig
from pkg_pipeline_tests.stages.summaries.summary_rig import SummaryRig

PLACES = {
    "summaries": {
        "claimed": ("store", "claim", True),
        "asked": ("llm", "complete", False),
        "replied": ("llm", "complete", True),
        "booked": ("ledger", "record", True),
        "publishing": ("store", "publish", False),
        "published": ("store", "publish", True),
        "finishing": ("partitions", "finish", False),
        "finished": ("partitions", "finish", True),
    },
    "profiles": {
        "claimed": ("writes", "claim", True),
        "asked": ("llm", "complete", False),
        "replied": ("llm", "complete", True),
        "booked": ("ledger", "record", True),
        "saving": ("writes", "save", False),
        "saved": ("writes", "save", True),
        "finishing": ("partitions", "finish", False),
        "finished": ("partitions", "finish", True),
    },
}


class Dying:
    """Passes everything on, and dies before or after the first call of one method."""

    def __init__(self, inner: Any, method: str, *, after: bool) -> None:
        self._inner, self._method, self._after = inner, method, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name != self._method or not callable(found):
            return found

        def call(*arguments: Any, **options: Any) -> Any:
            if self._after:
                found(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)

        return call


def killed(worker: str, *arguments: str) -> None:
    """Runs a worker of this folder in a process of its own, which is to end by its own hand."""
    done = forks.run(f"pkg_pipeline_tests.stages.{worker}", *arguments)
    assert done.code == -signal.SIGKILL, done.err[-2000:]


def killed_at(kind: str, rig: SummaryRig | ProfileRig, base_url: str, point: str) -> None:
    killed("dying_worker", kind, rig.url, str(rig.folder), base_url, point)


def main(kind: str, url: str, folder: str, base_url: str, point: str) -> None:
    rig = SummaryRig(url, Path(folder)) if kind == "summaries" else ProfileRig(url, Path(folder))
    llm = rig.anthropic(base_url)
    stage: Any = rig.profiles(llm) if isinstance(rig, ProfileRig) else rig.stage(llm)
    place, method, after = PLACES[kind][point]
    access = stage.access
    if place == "llm":
        dying: Any = Dying(llm, method, after=after)
        stage = replace(stage, access=replace(access, llm=lambda: dying))
    elif place == "ledger":
        stage = replace(stage, access=replace(access, ledger=Dying(access.ledger, method, after=after)))
    else:
        stage = replace(stage, **{place: Dying(getattr(stage, place), method, after=after)})
    if isinstance(rig, ProfileRig):
        rig.build(stage=stage)
    else:
        rig.summarize(stage=stage)


if __name__ == "__main__":
    main(*sys.argv[1:])
