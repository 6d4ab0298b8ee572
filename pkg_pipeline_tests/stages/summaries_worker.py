"""A worker that kills itself at a named point, over the real stage, stores and SDK: ``python -m … URL FOLDER BASE_URL
POINT``. Points: the claim; asking; before and after the ledger, the publication, the day's state.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pkg_pipeline_tests.stages.summary_rig import SummaryRig


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


PLACES = {
    "claimed": ("store", "claim", True),
    "asked": ("llm", "complete", False),
    "replied": ("llm", "complete", True),
    "booked": ("store", "record", True),
    "publishing": ("store", "publish", False),
    "published": ("store", "publish", True),
    "finishing": ("partitions", "finish", False),
    "finished": ("partitions", "finish", True),
}


def main(url: str, folder: str, base_url: str, point: str) -> None:
    rig = SummaryRig(url, Path(folder))
    deps = rig.deps(rig.anthropic(base_url))
    place, method, after = PLACES[point]
    dying: Any = Dying(getattr(deps, place), method, after=after)
    rig.summarize(deps=replace(deps, **{place: dying}))


if __name__ == "__main__":
    main(*sys.argv[1:])
