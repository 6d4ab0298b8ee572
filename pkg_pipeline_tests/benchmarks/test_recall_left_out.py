"""Choosing the weights of recall: on other corpora only, by coordinates; questions to the accounts fit them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import recall_left_out as left_out
from benchmarks.corpora import LANGUAGES
from benchmarks.recall_cases import cases, hit, measured
from benchmarks.recall_in_memory import CachedEmbedder
from benchmarks.recall_sets import QUESTIONS, Corpus, of_accounts
from pkg_pipeline.memory.recall.ranking import RankingRules
from pkg_pipeline_tests.benchmarks.test_recall_everywhere import START, Asked, said


def test_the_weights_are_those_that_serve_all_given_best() -> None:
    best = {"short": {"lexical": 1.3, "looks": 1.0}, "long": {"lexical": 1.3, "repeat": 0.04}}
    asked: set[str] = set()

    def value(name: str, choice: left_out.Choice) -> float:
        asked.add(name)
        sizes = {"looks": choice.looks, "lexical": choice.rules.lexical, "repeat": choice.rules.repeat}
        return 50 - 9 * sum(abs(sizes[weight] - size) for weight, size in best[name].items())

    found = left_out.fitted(value, ["short", "long"])
    assert (found.rules.lexical, found.looks, found.rules.repeat) == (1.3, 1.0, 0.04)
    assert found.rules.speaker == left_out.START.speaker, "what gains nothing stays out"
    assert left_out.fitted(value, ["short"]).rules.repeat == 0
    assert asked == {"short", "long"}


@pytest.mark.parametrize(
    ("one", "other", "are_kin"),
    [("facts_ru", "asked_ru", True), ("held_ru", "asked_ru", True), ("ru", "asked_ru", False), ("ru", "zh", False)],
)
def test_questions_to_one_text_are_left_out_together(one: str, other: str, *, are_kin: bool) -> None:
    assert (left_out.kin(one) == left_out.kin(other)) is are_kin


def test_kept_parts_are_weighed_as_the_ranking_does(tmp_path: Path) -> None:
    rows = said()
    evidence = ((rows[0].key, rows[0].text),)
    corpus = Corpus(
        "yard", tuple(rows), (Asked("How much is the copper?", "how much", START.replace(day=9), evidence),)
    )
    (case,) = cases(corpus, CachedEmbedder(tmp_path / "kept.npz"))
    assert hit(case, case.candidates, 1000) == 1
    assert hit(case, case.candidates, 3) == 0
    assert measured([case], {}, RankingRules(), looks=1.0) == 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_fit_the_accounts_and_half_is_kept_apart(language: str) -> None:
    asked, held, dev = (of_accounts(language, part) for part in ("asked", "held", "dev"))
    assert held.is_for_measuring
    assert not asked.is_for_measuring
    assert not {one.question for one in asked.questions} & {one.question for one in held.questions}
    told = {key.split("-")[0] for one in (*asked.questions, *held.questions) for key, _ in one.evidence}
    assert not told & {key.split("-")[0] for one in dev.questions for key, _ in one.evidence}, "of other accounts"
    own = (QUESTIONS / f"{language}.jsonl").read_text("utf-8").splitlines()
    assert len(asked.questions) + len(held.questions) + len(own) >= 60
