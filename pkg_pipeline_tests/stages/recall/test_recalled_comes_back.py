"""B14: what recall and its tool served is known again when somebody pastes it; nothing is kept with receipts off."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkg_pipeline.adapters.postgres.ingest.echoes import PostgresServedLines
from pkg_pipeline.agents.recall_tool import recalled
from pkg_pipeline.agents.thread_memory import SOURCE
from pkg_pipeline.memory.message.echoes import own_words
from pkg_pipeline.stages.ingest.echoes import own_of
from pkg_pipeline_tests.stages.people.people_rig import CHAT, DAYS, People, opened


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("way", ["recall", "tool"])
def test_a_pasted_answer_of_recall_is_no_news(database_url: str, tmp_path: Path, way: str, is_kept: bool) -> None:
    with opened(database_url, tmp_path / "home", receipts=is_kept) as memory:
        People(memory, tmp_path).take([(SOURCE, *line[1:]) for line in CHAT])
        memory.build_interactions()
        memory.chunks.build(DAYS)
        if way == "recall":
            said = memory.recall.search("what about the number and the contract", top_k=8).block.text
        else:
            said = recalled(memory, "club", "who comes on Sunday with the tent", top_k=8)
        served = PostgresServedLines(memory.connections).served
        pasted = f"Look what it says:\n\n{said.rstrip()}\n\nIs that right?"
        (own,) = own_of([pasted], served)
    left = own_words(pasted, own)
    assert "Look what it says" in left
    assert (len(left) < len(pasted) / 2) == is_kept
