"""A worker that kills itself at a named point of a re-embedding, over real stages and stores.

``python -m … URL POINT``.

Conversations are worked off singly and texts embedded by twos, so that each point is met in the middle.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NamedTuple

from pkg_pipeline.adapters.postgres.recall import chunks as chunk_store
from pkg_pipeline.adapters.postgres.recall import spaces as space_store
from pkg_pipeline.adapters.postgres.recall import vectors as vector_store
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.recall import chunk_vectors, chunks
from pkg_pipeline_tests.stages.recall import reembed_rig
from pkg_pipeline_tests.stages.recall.reembed_rig import NEW, ReembedRig


class Place(NamedTuple):
    """A function of a module or class, of its calls those about ``step``, and the how manieth of these."""

    owner: Any
    name: str
    is_after: bool
    turn: int = 1
    step: str | None = None


STORE, SPACES = vector_store.PostgresVectorStore, space_store.PostgresSpaceStore
PLACES = {
    "opened": Place(SPACES, "open", is_after=True),
    "embedding": Place(reembed_rig.StubEmbedder, "embed", is_after=False, turn=3),
    "in a transaction": Place(Statements, "execute", is_after=True, turn=3, step="save_codes"),
    "saved": Place(STORE, "save", is_after=True, turn=3),
    "one done": Place(chunk_store.PostgresHeldInteractions, "finish", is_after=True, turn=2),
    "filled": Place(STORE, "keep_indexes", is_after=False),
    "switching": Place(Statements, "execute", is_after=True, step="retire_others"),
    "switched": Place(SPACES, "activate", is_after=True),
    "dropping": Place(Statements, "execute", is_after=False, step="remove"),
}


def die_at(place: Place) -> None:
    found, left = getattr(place.owner, place.name), place.turn

    def passing(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= place.step is None or place.step in arguments
        if not place.is_after and not left:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = found(*arguments, **options)
        if place.is_after and not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(place.owner, place.name, passing)


def main(url: str, point: str) -> None:
    chunks.GROUP_MESSAGES, chunk_vectors.EMBEDDED_AT_ONCE = 1, 2
    die_at(PLACES[point])
    ReembedRig(url).work().run(NEW, drop_old=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
