"""Recall as the program wires it: what is loaded before the first question, other words by a model, who closes what."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import EmbedderUnavailable
from pkg_pipeline.wiring.recall import recall_parts, warm_up
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY
from pkg_pipeline_tests.stages.reads.context_memory import counter
from pkg_pipeline_tests.stages.recall.recall_memory import MODEL, Asked, FixedEmbedder, fill, lines, opened
from pkg_pipeline_tests.stages.recall.rewriting_rig import ledger

# ── warm-up ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("embedder", "embedded"),
    [
        (FixedEmbedder([1.0, 0.0]), ["warm"]),
        (FixedEmbedder([1.0, 0.0], model="openai:remote"), []),
        (FixedEmbedder(error=EmbedderUnavailable("away")), ["warm"]),
        (FixedEmbedder(error=ImportError("damaged")), ["warm"]),
    ],
)
def test_the_model_in_use_is_loaded_a_remote_one_is_not_asked(
    asked: Asked, embedder: FixedEmbedder, embedded: list[str]
) -> None:
    wanted: list[str] = []
    parts = replace(asked.parts, embedders=lambda model: wanted.append(model) or embedder)
    warm_up(parts, asked.reads)
    assert wanted == [MODEL]
    assert embedder.asked == embedded


def test_what_cannot_be_loaded_stops_no_server(asked: Asked, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        warm_up(asked.by(FixedEmbedder(error=RuntimeError("words of Anna"))), asked.reads)
    assert "RuntimeError" in caplog.text
    assert "Anna" not in caplog.text


def test_without_vectors_or_an_embedder_none_is_loaded(database_url: str, asked: Asked, tmp_path: Path) -> None:
    wanted: list[str] = []
    with engine.pool(database_url, size=1, readonly=True) as reads:
        warm_up(replace(asked.parts, embedders=lambda model: wanted.append(model)), reads)
    assert wanted == [], "there is no space yet"
    settings = asked.memory.settings.model_copy(update={"embedder": "none"})
    parts = recall_parts(settings, asked.reads, counter())
    warm_up(parts, asked.reads)
    assert parts.embedders(MODEL) is None


# ── other words ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(api_key=KEY) as server:
        yield server


def model(fake: FakeAnthropic, **more: Any) -> dict[str, Any]:
    key = SecretStr(KEY)
    return {"llm": "anthropic", "anthropic_api_key": key, "anthropic_base_url": fake.url, "embedder": "none", **more}


def test_it_is_off_unless_asked_for(database_url: str, tmp_path: Path, fake: FakeAnthropic) -> None:
    with opened(database_url, tmp_path, **model(fake)) as memory:
        assert memory.rewriting is None
        assert memory.recall.parts.rewrite is None
        memory.recall.search("Who bought the boat?")
    assert fake.journal == []


def test_one_a_process_over_connections_that_write_closed_before_them(
    database_url: str, tmp_path: Path, fake: FakeAnthropic
) -> None:
    with opened(database_url, tmp_path, **model(fake, recall_rewrite=True)) as memory:
        fill(memory, tmp_path, lines()[:3])
        with engine.pool(database_url, size=1, readonly=True) as reads:
            # as the server does: questions are read where nothing can be written, calls are written where they can
            parts = recall_parts(memory.settings, reads, counter(), rewriting=memory.rewriting)
            assert memory.rewriting is not None
            assert memory.recall.parts.rewrite == memory.rewriting.rewritten == parts.rewrite
            answer = memory.recall.search("Who bought the boat?")
            assert answer.block.lines[0].text.startswith("Anna Petrova: We sold the old boat")
            assert parts.rewrite is not None
            assert parts.rewrite("Who bought the boat?", memory.clock.now())[0][0] == "Who bought the boat?"
            (anna,) = memory.reads.entities_named("Anna Petrova", exact=True, limit=2)
            hinted = memory.context(anna.id, max_tokens=None, as_of=None, hint="Who bought the boat?")
            assert hinted.block.text.count("We sold the old boat") == 1

        assert len(fake.journal) == 1, "asked once, then replayed"
        assert [row[0] for row in ledger(memory.connections)] == ["question_rewrite"]


def test_a_model_that_cannot_rewrite_is_told(database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, embedder="none", recall_rewrite=True) as memory:
        fill(memory, tmp_path, lines()[:3])
        answer = memory.recall.search("Who bought the boat?")
    assert answer.warnings[-1] == "searched for as it was asked: the offline model does not rewrite"
    assert answer.block.lines
