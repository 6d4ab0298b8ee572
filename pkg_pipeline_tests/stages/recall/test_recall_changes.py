"""Recall while the memory changes: archived, deleted and edited messages, and a question asked in other words too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.memory.recall.lexical import term_number
from pkg_pipeline.memory.recall.records import EVERYTHING, Candidate
from pkg_pipeline.stages.ports import Vectors
from pkg_pipeline.stages.recall.records import FactsQuery, QuestionFacts, ScopeFacts, SearchQuery, Space
from pkg_pipeline.stages.recall.stage import RecallParts, RecallRequest, RecallSettings, recall
from pkg_pipeline.stages.recall.words import FETCHED_CHUNKS, OTHER_WORDS
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline_tests.stages.archive.archive_rig import ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, line
from pkg_pipeline_tests.stages.reads.context_memory import counter
from pkg_pipeline_tests.stages.recall.chunk_rig import SUMMARIES, WordEmbedder
from pkg_pipeline_tests.stages.recall.recall_memory import EVER, opened

TALK = [
    line("c1", 1, text="The code of the yard's door is 4711, keep it to yourself."),
    line("c1", 2, minute=1, sender="bob", text="Thanks, I will."),
    line("c1", 3, minute=2, text="And the spare key hangs behind the paint store. " + "It is a small brass one. " * 60),
    line("c1", 4, minute=3, text="good night then"),
]


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    made.load(TALK)
    yield made
    made.close()


@pytest.fixture
def memory(rig: ArchiveRig, tmp_path: Path) -> Iterator[Memory]:
    """The same database by the program, with the talk indexed by its words."""
    with opened(rig.url, tmp_path, embedder="none") as opened_memory:
        opened_memory.chunks.build(EVER)
        yield opened_memory


def said(memory: Memory, question: str) -> list[str]:
    return [one.text for one in memory.recall.search(question, top_k=20).block.lines]


def test_an_archived_message_is_found_and_comes_back_with_its_text(rig: ArchiveRig, memory: Memory) -> None:
    before = {question: said(memory, question) for question in ("door code", "spare key brass", "good night")}
    assert "Ann: good night then" in before["good night"]
    rig.summarise()
    rig.archive()
    assert rig.live()["4"] == "[archived]"
    assert {question: said(memory, question) for question in before} == before
    assert not any("[archived]" in one for found in before for one in said(memory, found))


def test_a_deleted_message_is_gone_at_once(rig: ArchiveRig, memory: Memory) -> None:
    assert any("4711" in one for one in said(memory, "door code"))
    rig.take([{**TALK[0], "deleted": True}], exported_at=NOW + timedelta(hours=1))
    assert not any("4711" in one for one in said(memory, "door code")), "nothing was indexed anew yet"
    rig.build()
    memory.chunks.build(EVER)
    assert not any("4711" in one for one in said(memory, "door code"))


def test_what_was_made_of_a_deleted_message_is_gone_at_once(rig: ArchiveRig, memory: Memory) -> None:
    with rig.connection() as connection, connection.transaction():
        for statement in SUMMARIES:
            connection.execute(statement, {"text": "They agreed on the plan."})  # type: ignore[arg-type]
    memory.chunks.build(EVER)
    assert "decided: Go by train" in said(memory, "go by train")
    rig.take([{**TALK[0], "deleted": True}], exported_at=NOW + timedelta(hours=1))
    assert said(memory, "go by train") == []


def test_an_edited_message_reads_as_it_is_now(rig: ArchiveRig, memory: Memory) -> None:
    edited = {**TALK[0], "text": "The padlock has no number any more.", "edited_at": "2026-01-10T10:00:00+00:00"}
    rig.take([edited], exported_at=NOW + timedelta(hours=1))
    assert not any("4711" in one for one in said(memory, "door code")), "old words never, even where they find it"
    rig.build()
    memory.chunks.build(EVER)
    assert said(memory, "padlock")[0] == "Ann: The padlock has no number any more."
    assert not any("padlock" in one for one in said(memory, "4711"))


def test_a_question_of_before_the_edit_reads_what_was_said_then(rig: ArchiveRig, memory: Memory) -> None:
    edited = {**TALK[0], "text": "The padlock of the yard has no code.", "edited_at": "2026-01-12T10:00:00+00:00"}
    rig.take([edited], exported_at=NOW + timedelta(hours=1))
    memory.build_interactions()
    memory.chunks.build(EVER)
    then = memory.recall.search("code of the yard", top_k=3, as_of=datetime(2026, 1, 11, tzinfo=UTC))
    assert any("4711" in line.text for line in then.block.lines)
    now = memory.recall.search("code of the yard", top_k=3)
    assert not any("4711" in line.text for line in now.block.lines)


def test_what_was_made_of_a_later_wording_is_no_answer_of_before(rig: ArchiveRig, memory: Memory) -> None:
    with rig.connection() as connection, connection.transaction():
        for statement in SUMMARIES:
            connection.execute(statement, {"text": "They agreed on the plan."})  # type: ignore[arg-type]
    memory.chunks.build(EVER)
    then = datetime(2026, 1, 11, tzinfo=UTC)

    def asked(as_of: datetime | None) -> list[str]:
        return [line.text for line in memory.recall.search("go by train", top_k=3, as_of=as_of).block.lines]

    assert any("Go by train" in text for text in asked(then))
    edited = {**TALK[0], "text": "We go by train, then.", "edited_at": "2026-01-12T10:00:00+00:00"}
    rig.take([edited], exported_at=NOW + timedelta(hours=1))
    assert any("Go by train" in text for text in asked(None))
    assert not any("train" in text for text in asked(then))


def test_a_long_message_is_printed_by_its_passage(memory: Memory) -> None:
    found = memory.recall.search("where does the spare key hang").block.lines
    (first,) = [one for one in found if one.text.startswith("Ann: And the spare key hangs behind")]
    assert first.ranked.candidate.passages > 1
    assert len(first.text) < len(str(TALK[2]["text"])) / 2


# ── other words for a question ───────────────────────────────────────────────────────────────


@dataclass
class KnownFacts:
    """A store that knows some words, finds nothing and keeps what it was asked."""

    frequencies: Mapping[str, int] = field(default_factory=dict)
    chunks: int = 10_000
    searched: list[SearchQuery] = field(default_factory=list)

    def question_facts(self, query: FactsQuery) -> QuestionFacts:
        self.facts = query
        known = {term_number(term): count for term, count in self.frequencies.items()}
        space = Space(1, "test:words", None, "active")
        return QuestionFacts(None, space, (ScopeFacts(EVERYTHING, self.chunks, False),), self.chunks, known, ())

    def search(self, query: SearchQuery) -> list[Candidate]:
        self.searched.append(query)
        return []


ASKED, OTHER, THIRD = "harbour crane", "port lift", "гавань кран"
EMBEDDER = WordEmbedder()
Rewrite = tuple[tuple[str, ...], str | None]


def searched(
    store: KnownFacts, rewritten: Rewrite | None, *, question: str = ASKED, embedder: Any = EMBEDDER
) -> tuple[SearchQuery, tuple[str, ...]]:
    """The search that a question comes to, and the warnings of its answer."""
    parts = RecallParts(
        store=store,
        analyzer=SnowballTerms(),
        embedders=lambda model: embedder,
        counter=counter(),
        settings=RecallSettings(zone=ZoneInfo("UTC")),
        rewrite=None if rewritten is None else lambda *_: rewritten,
    )
    answer = recall(parts, RecallRequest(query=question, now=NOW))
    return store.searched[0], answer.warnings


def vector(text: str) -> Vectors:
    return WordEmbedder().embed([text])[0]


def weights(query: SearchQuery, *terms: str) -> list[float]:
    return [query.words[term_number(term)] for term in terms]


def test_without_other_words_the_question_alone_is_searched_for() -> None:
    for rewritten in (None, ((ASKED,), None)):
        query, warnings = searched(KnownFacts(), rewritten)
        assert query.vector == pytest.approx(vector(ASKED))
        assert set(query.words) == {term_number("harbour"), term_number("crane")}
        assert warnings == ()


def test_the_question_counts_as_much_as_all_other_words_for_it_together() -> None:
    store = KnownFacts({"port": 5, "crane": 5})
    query, _ = searched(store, ((ASKED, OTHER, THIRD), None))
    mixed = 0.5 * vector(ASKED) + 0.5 * (vector(OTHER) + vector(THIRD)) / 2
    assert query.vector is not None
    assert query.vector == pytest.approx(mixed / np.linalg.norm(mixed), abs=1e-6)
    assert float(query.vector @ vector(ASKED)) >= max(float(query.vector @ vector(one)) for one in (OTHER, THIRD))
    crane, port = weights(query, "crane", "port")
    assert port == pytest.approx(OTHER_WORDS * crane), "as rare, but not asked for"
    assert set(store.facts.terms) == {term_number(term) for term in SnowballTerms().terms(f"{ASKED} {OTHER} {THIRD}")}
    assert {term_number("harbour"), term_number("crane")} <= set(store.facts.names)
    assert term_number("port") not in store.facts.names, "who is meant is who was asked for"


def test_a_word_of_the_question_counts_in_full_wherever_else_it_is() -> None:
    query, _ = searched(KnownFacts({"crane": 5, "lift": 5}), ((ASKED, "crane lift"), None))
    crane, lift = weights(query, "crane", "lift")
    assert lift == pytest.approx(OTHER_WORDS * crane)


@pytest.mark.parametrize(
    ("frequencies", "fetched"),
    [
        ({"crane": 10, "port": 10}, {"harbour", "crane", "port", "lift"}),
        ({"harbour": FETCHED_CHUNKS - 10, "crane": 5, "port": 6}, {"harbour", "crane"}),  # 5 more would have room
        (
            {"harbour": FETCHED_CHUNKS - 5, "crane": 6, "port": 1},
            {"crane"},
        ),  # harbour has none, nor has what comes after
    ],
)
def test_the_questions_own_words_bring_candidates_first(frequencies: dict[str, int], fetched: set[str]) -> None:
    query, _ = searched(KnownFacts(frequencies), ((ASKED, OTHER), None))
    assert set(query.fetch_terms) == {term_number(term) for term in fetched}


def test_a_question_without_a_vector_is_searched_for_by_its_other_words() -> None:
    class Blind(WordEmbedder):
        def embed(self, texts: Any) -> Vectors:
            made = super().embed(texts)
            made[0] = 0
            return made

    query, _ = searched(KnownFacts(), ((ASKED, OTHER), None), embedder=Blind())
    assert query.vector == pytest.approx(vector(OTHER))


def test_a_rewrite_that_failed_is_told() -> None:
    query, warnings = searched(KnownFacts(), ((ASKED,), "the model is unavailable"))
    assert warnings == ("searched for as it was asked: the model is unavailable",)
    assert query.vector == pytest.approx(vector(ASKED))


def test_a_time_that_is_named_is_searched_as_well_and_not_by_its_words() -> None:
    store = KnownFacts()
    query, _ = searched(store, None, question="harbour crane last month")
    assert set(query.words) == {term_number("harbour"), term_number("crane")}
    assert [one.at_from for one in store.searched] == [None, datetime(2026, 2, 1, tzinfo=UTC)]
    assert store.searched[1].at_to == datetime(2026, 3, 1, tzinfo=UTC)
