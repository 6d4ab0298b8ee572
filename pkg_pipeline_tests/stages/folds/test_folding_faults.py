"""Models, embedders and budgets that fail: nothing moves, nothing is lost, and it is done later (P19, P32, L10, H6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pkg_pipeline.stages.llm.ask import hash_of
from pkg_pipeline.stages.ports import (
    EmbedderUnavailable,
    LlmMisconfigured,
    LlmRequest,
    LlmTooLong,
    LlmUnavailable,
    Vectors,
)
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig, fold_llm, good_fold
from pkg_pipeline_tests.stages.recall.chunk_rig import WordEmbedder
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, said


@pytest.fixture
def rig(database_url: str) -> Iterator[FoldRig]:
    made = FoldRig(database_url)
    yield made
    made.close()


def standing(rig: FoldRig) -> tuple[Any, ...]:
    """What must not move."""
    row = rig.row()
    names = ("hwm_message_id", "messages_since_hwm", "tokens_since_hwm", "last_fold_at", "running_summary")
    return (*(row[name] for name in names), rig.folds())


def test_a_model_that_is_away_moves_nothing_and_is_asked_later(rig: FoldRig) -> None:
    rig.talk(20)
    before = standing(rig)
    report = rig.fold_due(fold_llm(lambda _: LlmUnavailable("overloaded")))
    row = rig.row()
    assert (report.deferred, report.failed, report.folds, standing(rig) == before) == (1, 0, 0, True)
    assert (row["attempts"], row["last_error"], rig.leases()) == (0, "the model is unavailable: overloaded", 0)
    assert (rig.fold_due().sessions, report.pending) == (0, 0)  # it waits by the database's clock
    rig.retries_are_due()
    assert (rig.fold_due().folds, rig.wrong(), rig.row()["last_error"]) == (1, [], None)


@pytest.mark.parametrize("bad", ["no json", '{"summary": ""}'])
def test_a_wrong_answer_is_asked_for_stricter(rig: FoldRig, bad: str) -> None:
    rig.talk(20)
    answers = iter([bad])
    llm = fold_llm(lambda request: next(answers, None) or good_fold(request))
    assert (rig.fold_due(llm).folds, len(llm.requests), rig.wrong()) == (1, 2, [])


def test_then_in_halves(rig: FoldRig) -> None:
    rig.talk(20)
    llm = fold_llm(lambda request: "no" if len(request.payload.messages) == 20 else good_fold(request))
    assert (rig.fold_due(llm).folds, len(llm.requests), rig.folds()[0]["message_count"]) == (1, 4, 20)


def test_then_it_is_an_attempt_that_failed(rig: FoldRig) -> None:
    rig.talk(20)
    before = standing(rig)
    for attempt in (1, 2):
        report = rig.fold_due(fold_llm(lambda _: "Anna said that the secret is 42"))
        row = rig.row()
        assert (report.failed, row["attempts"], standing(rig) == before, rig.leases()) == (1, attempt, True, 0)
        assert "secret" not in row["last_error"]
        rig.retries_are_due()
    assert rig.fold_due().folds == 1
    assert (rig.row()["attempts"], rig.wrong()) == (0, [])


def test_too_long_for_the_model_goes_in_halves(rig: FoldRig) -> None:
    rig.talk(20)

    def answer(request: LlmRequest) -> object:
        return LlmTooLong("too long") if len(request.payload.messages) > 6 else good_fold(request)

    assert (rig.fold_due(fold_llm(answer)).folds, rig.wrong()) == (1, [])


def test_a_model_that_is_set_up_wrongly_ends_the_run(rig: FoldRig) -> None:
    rig.talk(20)
    with pytest.raises(LlmMisconfigured):
        rig.fold_due(fold_llm(lambda _: LlmMisconfigured("no key")))
    assert (rig.folds(), rig.leases(), rig.row()["attempts"]) == ([], 0, 0)


def test_an_error_in_the_middle_gives_the_lease_back(rig: FoldRig) -> None:
    rig.talk(20)

    class Broken(RuntimeError):
        pass

    def answer(_: LlmRequest) -> object:
        raise Broken

    with pytest.raises(Broken):
        rig.fold_due(fold_llm(answer))
    assert (rig.leases(), rig.fold_due().folds, rig.wrong()) == (0, 1, [])


def test_the_days_calls_are_used_up(rig: FoldRig) -> None:
    for number in range(4):
        rig.talk(20, session=f"jsonl:{number}")
    report = rig.fold_due(calls_cap=2)
    assert (report.folds, report.calls, report.reasons[-1]) == (2, 2, "the live lane's 2 calls of today are used up")
    assert rig.fold_due(calls_cap=2).sessions == 0  # all of it rests until the day ends
    rig.retries_are_due()
    assert rig.fold_due(calls_cap=9).folds == 2


def test_one_session_that_fails_fails_nobody_else(rig: FoldRig) -> None:
    for number in range(3):
        rig.talk(20, session=f"jsonl:{number}", start=100 * number)
    report = rig.fold_due(fold_llm(lambda request: "no" if "Point 100" in request.user else good_fold(request)))
    assert (report.sessions, report.folds, report.failed) == (3, 2, 1)


def test_an_answer_that_was_paid_for_is_not_paid_for_again(rig: FoldRig) -> None:
    rig.talk(20)
    first, second = fold_llm(), fold_llm()
    with pytest.raises(RuntimeError, match="killed"):
        rig.fold_due(first, writes=Interrupted(rig.writes))
    rig.fold_due(second)
    assert (len(first.requests), second.requests, len(rig.folds())) == (1, [], 1)
    assert rig.rows("SELECT request_hash FROM llm_calls") == [(hash_of("scripted-1", first.requests[0]),)]


class Interrupted:
    """Everything but the publication."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def publish(self, *_: Any, **__: Any) -> bool:
        raise RuntimeError("killed")


# ── the drift of topics ───────────────────────────────────────────────────────────────────────

GARDEN = ["apple trees bloom", "apple trees grow", "apple trees bloom grow", "apple bloom trees", "trees bloom apple"]
MONEY = ["bank loan rate", "loan rate bank", "rate bank loan"]


def two_topics() -> list[dict[str, Any]]:
    return [
        said(number, text, role="assistant" if number % 2 else "user")
        for number, text in enumerate([*GARDEN, *MONEY], start=1)
    ]


def test_another_topic_folds_and_the_same_does_not(rig: FoldRig) -> None:
    embedder = WordEmbedder()
    rig.append(*two_topics())
    rig.run("UPDATE conversation_sessions SET next_due_at = %s", rig.now)
    report = rig.fold_due(embedder=embedder)
    assert (report.folds, [fold["trigger"] for fold in rig.folds()]) == (1, ["topic_shift"])
    rig.append(*(said(f"same-{number}", GARDEN[number % 5]) for number in range(8)))
    rig.later(minutes=5)
    rig.run("UPDATE conversation_sessions SET next_due_at = %s", rig.now)
    report = rig.fold_due(embedder=embedder)
    assert (report.sessions, report.folds, rig.row()["messages_since_look"], rig.wrong()) == (1, 0, 0, [])


class Away(WordEmbedder):
    def embed(self, texts: Any) -> Vectors:
        raise EmbedderUnavailable("no answer")


def test_without_vectors_the_drift_is_nothing_and_it_says_so(rig: FoldRig) -> None:
    rig.append(*two_topics())
    rig.run("UPDATE conversation_sessions SET next_due_at = %s", rig.now)
    report = rig.fold_due(embedder=Away())
    assert (report.folds, report.warnings) == (0, ["no drift of topics, it is taken as 0: no answer"])


# ── load (H6) ─────────────────────────────────────────────────────────────────────────────────


def test_a_rising_load_raises_the_thresholds(rig: FoldRig) -> None:
    rig.talk(20, words=60)
    report = rig.fold_due(spent=2.6)
    assert (report.sessions, report.folds) == (1, 0)
    assert report.reasons[0].endswith("all raised by 15 %: 2.60 USD of the live lane's 5.00 are spent today)")
    assert rig.due() is not None  # when time makes it due
    assert rig.fold_due(spent=2.6).sessions == 0
    rig.talk(3, start=20, words=60)
    assert (rig.fold_due(spent=2.6).folds, rig.wrong()) == (1, [])


def test_many_due_sessions_are_a_rising_load(rig: FoldRig, monkeypatch: pytest.MonkeyPatch) -> None:
    from pkg_pipeline.stages.folds import stage as folding

    monkeypatch.setattr(folding, "BUSY_SESSIONS", 1)
    for number in range(2):
        rig.talk(20, session=f"jsonl:{number}")
    load = rig.folding(spent=2.5).load("live")
    assert (load.is_rising, load.reason) == (True, "more than 1 sessions are due")


def test_a_free_model_costs_nothing(rig: FoldRig) -> None:
    rig.append(said(1))
    load = rig.folding(fold_llm(is_paid=False), spent=4.0).load("live")
    assert (load.is_rising, rig.state(CHAT).message_count) == (False, 1)
