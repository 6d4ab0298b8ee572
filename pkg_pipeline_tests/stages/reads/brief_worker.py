"""A brief that kills itself once its answer is booked: ``python -m … URL FOLDER BASE_URL ENTITY before|after``."""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import UUID

from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline_tests.stages.dying_worker import Dying
from pkg_pipeline_tests.stages.reads.brief_rig import opened


def main(url: str, folder: str, base_url: str, entity: str, when: str) -> None:
    record = PostgresLedgerStore.record

    def dying(store: PostgresLedgerStore, row: object) -> None:
        bound = type("Bound", (), {"record": lambda _, row: record(store, row)})()
        Dying(bound, "record", after=when == "after").record(row)

    PostgresLedgerStore.record = dying  # type: ignore[method-assign]
    with opened(url, Path(folder), base_url) as memory:
        memory.context(UUID(entity), max_tokens=None, as_of=None, brief=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
