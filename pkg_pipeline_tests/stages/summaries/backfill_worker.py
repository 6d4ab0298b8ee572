"""A backfill that kills itself at a named point, over the real wiring: ``python -m … URL FOLDER BASE_URL POINT``.

It asks for the request of ``REQUEST`` and works it off, as the command does.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from pkg_pipeline_tests.stages.dying_worker import Dying
from pkg_pipeline_tests.stages.summaries.backfill_rig import BackfillRig

REQUEST: dict[str, Any] = {"limit": 4}

# what lies between claim and publication is tried with the summaries' own worker
PLACES = {
    "chosen": ("backfills", "create", False),
    "written down": ("backfills", "create", True),
    "published": ("summaries", "publish", True),
    "day done": ("partitions", "finish", True),
}


def with_server(rig: BackfillRig, base_url: str) -> BackfillRig:
    """The real client over the local server, one call at a time, two talks in a question."""
    given = {"llm": "anthropic", "anthropic_api_key": SecretStr("sk-test"), "anthropic_base_url": base_url}
    rig.memory.settings = rig.memory.settings.model_copy(update={**given, "llm_concurrency": 1, "talks_together": 2})
    return rig


def main(url: str, folder: str, base_url: str, point: str) -> None:
    rig = with_server(BackfillRig(url, Path(folder)), base_url)
    place, method, after = PLACES[point]
    if place == "partitions":
        rig.memory.partitions = Dying(rig.memory.partitions, method, after=after)  # type: ignore[assignment]
    else:
        stage: Any = getattr(rig.memory, place)
        setattr(rig.memory, place, replace(stage, store=Dying(stage.store, method, after=after)))
    rig.work_off(rig.ask(**REQUEST).id)


if __name__ == "__main__":
    main(*sys.argv[1:])
