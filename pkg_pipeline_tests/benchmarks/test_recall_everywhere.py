"""Recall in memory: what counts as found; questions fit their samples; our own corpus keeps its figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import recall_everywhere as everywhere
from benchmarks import recall_floors as floors
from benchmarks.corpora import LANGUAGES, CorpusMissing
from benchmarks.recall_in_memory import CachedEmbedder, CorpusInMemory, Said
from benchmarks.recall_sets import Asked, agent_threads, corpora, facts, of_accounts, translated

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
LINES = [
    ("yard", "Anna", "The copper sheet costs forty euros a piece."),
    ("yard", "Bo", "Good, take three of them."),
    ("yard", "Anna", "They come on Thursday morning."),
    ("home", "Me", "Мама просила купить билеты в театр."),
    ("home", "Lena", "Куплю два на субботу."),
]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> CachedEmbedder:
    return CachedEmbedder(tmp_path_factory.mktemp("vectors") / "kept.npz")


def said() -> list[Said]:
    return [
        Said(chat, str(number), who, START + timedelta(minutes=number), text)
        for number, (chat, who, text) in enumerate(LINES)
    ]


@pytest.mark.parametrize(
    ("message", "block", "share"),
    [
        ("the copper sheet costs forty", "Anna: the copper sheet costs forty!", 1.0),
        ("the copper sheet costs forty", "copper costs sheet forty the", 0.0),
        ("the copper sheet costs forty", "- the copper sheet costs", 0.8),
        ("好的", "- Wei：好的", 1.0),
        ("", "anything", 1.0),
    ],
)
def test_words_count_in_runs_of_the_message(message: str, block: str, share: float) -> None:
    found = everywhere.coverage(everywhere.words(message), everywhere.runs(everywhere.words(block)))
    assert found == pytest.approx(share)


def test_a_memory_without_a_database_answers_as_recall_does(embedder: CachedEmbedder) -> None:
    memory = CorpusInMemory(said(), embedder)
    ask = everywhere.recall_system(memory)
    at = START + timedelta(days=2)
    text, keys = ask(Asked("How much is the copper?", "how much", at, ()), 40)
    assert keys[0] == "jsonl:yard/0"
    assert "copper sheet" in text
    assert ask(Asked("How much is the copper?", "how much", at, (), chat="home"), 100)[1][0].startswith("jsonl:home/")
    meant = memory.question_facts(_names("Что сказала Анна?"))
    assert len(meant.meant) == 1, "a name in the other script"


def _names(question: str) -> object:
    from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
    from pkg_pipeline.memory.recall.lexical import term_number
    from pkg_pipeline.stages.recall.records import FactsQuery
    from pkg_pipeline.stages.recall.words import foreign_names

    return FactsQuery((), tuple(map(term_number, [*SnowballTerms().terms(question), *foreign_names(question)])))


def test_vectors_are_kept(embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    first = embedder.embed(["a line to keep"])
    embedder.save()
    again = CachedEmbedder(embedder._path)
    monkeypatch.setattr(again, "_embedder", None)
    assert (again.embed(["a line to keep"]) == first).all()


def test_passages_of_the_plain_way_have_a_hundred_words() -> None:
    text = " ".join(["word"] * 250)
    cut = [text[start:end] for start, end in floors.hundreds_of_words(text)]
    assert [len(one.split()) for one in cut] == [100, 100, 50]
    assert floors.hundreds_of_words("汉" * 400) == [(0, 200), (200, 400)]


def test_the_questions_on_long_answers_fit_their_samples() -> None:
    try:
        corpus = agent_threads()
    except CorpusMissing as missing:
        pytest.skip(f"there is no {missing}")
    assert len(corpus.questions) >= 60
    assert len({one.question for one in corpus.questions}) == len(corpus.questions)
    keys = {one.key for one in corpus.said}
    assert all(key in keys and text for one in corpus.questions for key, text in one.evidence)


def test_a_missing_sample_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissing):
        agent_threads(tmp_path)


def test_facts_are_asked_for_in_three_languages() -> None:
    corpus = facts("zh")
    assert len(corpus.questions) % 3 == 0
    assert sum(one.kind == "crossing" for one in corpus.questions) * 3 == 2 * len(corpus.questions)


def test_our_own_russian_talks_keep_their_figures(embedder: CachedEmbedder) -> None:
    (corpus,) = corpora(["ru"])
    ours = everywhere.evaluate(everywhere.recall_system(CorpusInMemory(corpus.said, embedder)), corpus.questions)
    plain = [everywhere.evaluate(one, corpus.questions) for one in everywhere.plain_systems(corpus, embedder).values()]
    assert ours.mean(500) >= 48
    assert ours.mean(1000) >= 60
    assert ours.mean(2000) >= 70
    for budget in everywhere.BUDGETS:
        assert ours.mean(budget) >= max(one.mean(budget) for one in plain) + 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_question_for_developing_is_asked_in_three_languages(language: str) -> None:
    own, asked = of_accounts(language, "dev").questions, translated(language).questions
    assert [one.evidence for one in asked] == [one.evidence for one in own for _ in LANGUAGES]
    assert len({one.question for one in asked}) == len(asked), "no translation is the question again"
    assert {one.question for one in own} <= {one.question for one in asked}
    assert translated(language).is_for_measuring
