"""Folds are searched like all that was derived (H14): with their topics, from the interaction in which they end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline.stages.recall import chunks
from pkg_pipeline.stages.recall.chunks import ChunkDeps
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig, fold_llm, good_fold
from pkg_pipeline_tests.stages.ingest.import_rig import FixedClock
from pkg_pipeline_tests.stages.recall.chunk_rig import ANALYZER
from pkg_pipeline_tests.stages.sessions.session_rig import said

DEAL = "We decided to buy the boat for 900 EUR."


def deal(request: LlmRequest) -> dict[str, Any]:
    if all(one.text != DEAL for one in request.payload.messages):
        return good_fold(request)
    number = next(one.number for one in request.payload.messages if one.text == DEAL)
    return good_fold(
        request,
        decisions=[
            {
                "description": "They buy the boat for 900 EUR",
                "date": "2026-03-15",
                "importance": "high",
                "quote": "We decided to buy the boat for 900 EUR",
                "message_ids": [number],
            }
        ],
        topics=["boat"],
    )


class Searched(FoldRig):
    def chunk(self) -> None:
        """What is due."""
        deps = ChunkDeps(
            store=PostgresChunkStore(self.pool),
            partitions=PostgresPartitionStore(self.pool),
            analyzer=ANALYZER,
            clock=FixedClock(),
            vectorising=None,
        )
        for one in deps.partitions.due(chunks.ASSET, now=FixedClock().now()):
            day = date.fromisoformat(one.key)
            chunks.build_days((day, day), deps=deps)

    def found(self) -> list[tuple[Any, ...]]:
        return self.rows(
            "SELECT content, topics, is_withheld, importance, cardinality(message_ids), subject_id::text"
            " FROM memory_chunks WHERE source = 'session_fold' ORDER BY importance, content"
        )


@pytest.fixture
def rig(database_url: str) -> Iterator[Searched]:
    made = Searched(database_url)
    yield made
    made.close()


def test_a_fold_and_what_was_decided_in_it_are_searched_with_its_topics(rig: Searched) -> None:
    rig.talk(4)
    rig.append(said(4, DEAL), said(5, "Then it is done.", role="assistant"))
    rig.build()
    rig.chunk()
    assert rig.found() == []
    rig.fold_now(fold_llm(deal))
    rig.chunk()
    (fold,) = rig.live()
    summary, decision = rig.found()
    assert summary == (fold["summary"], ["boat"], False, 0, 6, fold["id"])
    assert decision == ("They buy the boat for 900 EUR", ["boat"], False, 1, 1, fold["decisions"][0]["id"])
    assert rig.value("SELECT count(*) FROM chunk_terms WHERE term = 0 AND chunks > 0") == 1
    assert rig.wrong() == []


def test_folded_before_its_interaction_is_there_it_is_searched_once_it_is(rig: Searched) -> None:
    rig.talk(6)
    rig.fold_now()
    rig.build()
    rig.chunk()
    assert [row[0] for row in rig.found()] == [rig.live()[0]["summary"]]


def test_withheld_at_a_deletion_and_gone_when_it_is_made_anew(rig: Searched) -> None:
    rig.talk(4)
    rig.append(said(4, DEAL), said(5, "Then it is done.", role="assistant"))
    rig.build()
    rig.fold_now(fold_llm(deal))
    rig.chunk()
    rig.append(said(4, DEAL, deleted=True))
    rig.build()
    rig.chunk()
    assert [row[2] for row in rig.found()] == [True, True]
    rig.fold_due(fold_llm(deal))
    rig.chunk()
    (fold,) = rig.live()
    assert rig.found() == [(fold["summary"], ["Point 0"], False, 0, 5, fold["id"])]
