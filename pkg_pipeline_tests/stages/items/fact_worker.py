"""A person's verdict that kills itself at a statement: ``python -m … URL FOLDER FACT STATEMENT before|after NTH``."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from uuid import UUID

from pkg_pipeline.adapters.postgres.items.fact_verdicts import PostgresFactVerdictStore
from pkg_pipeline.stages.items.fact_deciding import FactEdit, decide_fact
from pkg_pipeline_tests.stages.items.item_rig import ItemRig
from pkg_pipeline_tests.stages.items.item_worker import die_at

NOW = datetime.fromisoformat("2026-09-01T12:00:00+00:00")


def main(url: str, folder: str, fact: str, name: str, when: str, nth: str) -> None:
    rig = ItemRig(url, Path(folder))
    die_at(name, after=when == "after", nth=int(nth))
    decide_fact(PostgresFactVerdictStore(rig.connections), UUID(fact), FactEdit(value="Robert Bosch GmbH"), now=NOW)


if __name__ == "__main__":
    main(*sys.argv[1:])
