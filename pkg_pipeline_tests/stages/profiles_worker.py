"""A worker that kills itself at a named point of the profiles, over real stage, stores and SDK: ``python -m … URL
FOLDER BASE_URL POINT``. Points: the claim; asking; before and after the ledger, the row, the week's state.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pkg_pipeline_tests.stages.profile_rig import ProfileRig
from pkg_pipeline_tests.stages.summaries_worker import Dying

PLACES = {
    "claimed": ("writes", "claim", True),
    "asked": ("llm", "complete", False),
    "replied": ("llm", "complete", True),
    "booked": ("ledger", "record", True),
    "saving": ("writes", "save", False),
    "saved": ("writes", "save", True),
    "finishing": ("partitions", "finish", False),
    "finished": ("partitions", "finish", True),
}


def main(url: str, folder: str, base_url: str, point: str) -> None:
    rig = ProfileRig(url, Path(folder))
    deps = rig.profile_deps(rig.anthropic(base_url))
    place, method, after = PLACES[point]
    dying: Any = Dying(getattr(deps, place), method, after=after)
    rig.build(deps=replace(deps, **{place: dying}))


if __name__ == "__main__":
    main(*sys.argv[1:])
