"""A pass that kills itself at a statement: ``python -m … URL FOLDER free|paid STATEMENT before|after NTH``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, by, promises
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm


def die_at(name: str, *, after: bool, nth: int) -> None:
    whole, seen = Statements.execute, 0

    def execute(self: Statements, connection: Any, asked: str, given: dict[str, Any], *more: Any) -> Any:
        nonlocal seen
        seen += asked == name
        if asked == name and seen == nth and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = whole(self, connection, asked, given, *more)
        if asked == name and seen == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    Statements.execute = execute  # type: ignore[method-assign]


def main(url: str, folder: str, model: str, name: str, when: str, nth: str) -> None:
    rig = ItemRig(url, Path(folder))
    die_at(name, after=when == "after", nth=int(nth))
    rig.read(ScriptedLlm(by(promises), is_paid=model == "paid"))


if __name__ == "__main__":
    main(*sys.argv[1:])
