"""A maker of chunks that kills itself before a named step, over real stage and stores: ``python -m … URL POINT``.

Groups and batches are small, so that there are several.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from typing import Any, LiteralString

from psycopg.rows import namedtuple_row

from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.recall import chunks as chunk_store
from pkg_pipeline.adapters.postgres.recall import vectors as vector_store
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.recall import chunk_vectors, chunks
from pkg_pipeline.stages.recall.at_once import make_at_once
from pkg_pipeline_tests.stages.recall.chunk_rig import ChunkRig, WordEmbedder

PLACES = {
    # point: the step it dies before, and the how manieth of its kind; steps are statements, calls or whole stores
    "rows copied": ("save_incoming", 2),
    "words without vectors": ("embed", 2),
    "vectors half": ("save_codes", 2),
    "stale removed half": ("delete_embeddings", 1),
    "state unwritten": ("finish", 2),
    "day unfinished": ("day", 1),
}
AT_ONCE = {
    "rows copied at once": ("save_incoming", 1),
    "words at once without vectors": ("embed", 1),
    "state at once unwritten": ("finish", 1),
    "day at once unsettled": ("settle", 1),
}


def shrink() -> None:
    chunks.GROUP_MESSAGES = chunks.BATCH_CHUNKS = 4
    chunk_vectors.EMBEDDED_AT_ONCE = 3


def main(url: str, point: str) -> None:
    shrink()
    step, turn = (PLACES | AT_ONCE)[point]
    met: Counter[str] = Counter()

    def meet(name: str) -> None:
        met[name] += 1
        if (name, met[name]) == (step, turn):
            os.kill(os.getpid(), signal.SIGKILL)

    class DyingStatements(Statements):
        def execute(self, connection: Any, name: str, given: Any, row: Any = namedtuple_row) -> Any:
            meet(name)
            return super().execute(connection, name, given, row)

    def dying_query(file: str, name: str) -> LiteralString:  # of what is copied in
        meet(name)
        return query(file, name)

    class DyingEmbedder(WordEmbedder):
        def embed(self, texts: Any) -> Any:
            meet("embed")
            return super().embed(texts)

    class DyingPartitions(PostgresPartitionStore):
        def finish(self, asset: str, done: Any) -> None:
            meet("day")
            super().finish(asset, done)

    chunk_store.query = vector_store.query = dying_query  # type: ignore[attr-defined]
    chunk_store.SQL, vector_store.SQL = DyingStatements("chunks"), DyingStatements("vectors")
    rig = ChunkRig(url)
    if point in AT_ONCE:
        make_at_once(rig.build(), deps=rig.deps(DyingEmbedder()))
    rig.chunk(deps=rig.deps(DyingEmbedder(), partitions=DyingPartitions(rig.pool)))


if __name__ == "__main__":
    main(*sys.argv[1:])
