"""A control run (T4): when it folds, what each prompt holds, what is paid, worked by hand; and what stops it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.cli.compare import _written
from pkg_pipeline.compare.parts import Finder, Meter, MeteredLedger, MeteredLlm, NoLedger
from pkg_pipeline.compare.playing import (
    ComparePorts,
    CompareSettings,
    Conversation,
    NothingToCompare,
    Played,
    compare,
)
from pkg_pipeline.compare.report import Compared
from pkg_pipeline.memory.hashing import entity_id
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.session.records import SessionMessage
from pkg_pipeline.memory.session.triggers import FoldRules
from pkg_pipeline.memory.window.records import WindowRules
from pkg_pipeline.memory.window.selection import budget_of
from pkg_pipeline.stages.llm.ask import Asking
from pkg_pipeline.stages.llm.run import OutOfBudget, Run
from pkg_pipeline.stages.llm.stores import Caps, LedgerRow, Refusal, Reservation
from pkg_pipeline.stages.ports import Billing, LlmUnavailable, Subject
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = "forty letters of what was said here now."
FOLDED = {
    "summary": "Forty letters were said here.",
    "topics": ["letters"],
    "facts": [],
    "decisions": [],
    "open_questions": [],
}


def said(place: int, role: str | None, *, minute: float, text: str = WORDS, **more: Any) -> SessionMessage:
    name = role or "Ann"
    tokens = (len(text) + 3) // 4
    return SessionMessage(
        id=place, external_id=f"m{place}", sent_at=START + timedelta(minutes=minute), text=text, role=role,
        sender_entity_id=entity_id("t", name), sender_name=name, token_count=tokens, content_hash=f"{place}", **more,
    )  # fmt: skip


def talk(turns: int, *, text: str = WORDS) -> Conversation:
    """So many questions and answers, ten tokens each, a turn every five minutes."""
    messages: list[SessionMessage] = []
    for turn in range(turns):
        messages.append(said(2 * turn + 1, "user", minute=5 * turn, text=text))
        messages.append(said(2 * turn + 2, "assistant", minute=5 * turn + 1, text=text))
    return Conversation(UUID(int=7), "t:talk", "t", tuple(messages))


SETTINGS = CompareSettings(
    policy="interval",
    strategy="rolling",
    rules=FoldRules(interval=4),
    budget=budget_of(4000, output_tokens=100, system_tokens=7),
    window=WindowRules(full_recent_count=2),
    recent_messages=2,
    timezone="UTC",
)


class Budgets:
    """A budget of so many calls."""

    def __init__(self, calls: int = 1_000) -> None:
        self.calls = calls
        self.taken: list[str] = []

    def reserve(self, *, task: str, usd: float, **_: Any) -> Reservation | Refusal:
        if len(self.taken) >= self.calls:
            return Refusal("the cap of the day is reached", 60.0)
        self.taken.append(task)
        return Reservation(UUID(int=1), START.date(), usd, START)

    def settle(self, reservation: Reservation, **_: Any) -> float:
        return 0.0


class Ledger:
    """Answers that were paid for before, by hash."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, Usage, str]] = {}
        self.rows: list[LedgerRow] = []

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        return self.kept.get(request_hash)

    def record(self, row: LedgerRow) -> None:
        self.rows.append(row)
        self.kept[row.request_hash] = (row.reply or "", row.usage, "end_turn")

    def calibration(self, model: str) -> float | None:
        return None

    def refuse(self, request_hash: str, *, reason: str) -> None:
        self.kept.pop(request_hash, None)


def play(
    conversation: Conversation,
    *,
    llm: ScriptedLlm | None = None,
    settings: CompareSettings = SETTINGS,
    budgets: Budgets | None = None,
    ledger: Ledger | None = None,
    finder: Finder | None = None,
    on_turn: Callable[[int, int], object] = lambda *_: None,
) -> Played:
    """A turn costs a dollar a token, a fold a cent a token."""
    llm, meter = llm or ScriptedLlm(lambda _: FOLDED, is_paid=False), Meter()
    run = Run(budgets or Budgets(), Billing("live"), Caps(1.0), task="session_fold")  # type: ignore[arg-type]
    kept = NoLedger() if ledger is None else MeteredLedger(ledger, meter)
    asking = Asking(MeteredLlm(llm, meter), kept, LetterCounter(), run)
    ports = ComparePorts(
        asking=asking,
        shortening=asking,
        meter=meter,
        counter=LetterCounter(),
        price=lambda usage: float(usage.input_tokens + usage.output_tokens),
        fold_price=lambda usage: (usage.input_tokens + usage.output_tokens) / 100,
        finder=finder or Finder(),
    )
    return compare(conversation, ports=ports, settings=settings, on_turn=on_turn)


def test_prompts_grow_until_a_fold_stands_for_them() -> None:
    told: list[tuple[int, int]] = []
    turns = play(talk(6), on_turn=lambda *done: told.append(done)).turns
    # uncompressed: 7 of the system prompt, 10 a message: the question and all before it
    assert [turn.hypothetical_tokens for turn in turns] == [17, 37, 57, 77, 97, 117]
    # four messages are folded, before the fifth; then tier 1 stands there, the newest two messages whether folded or
    # not, and what no fold covers
    summary = LetterCounter().count(
        f"[Conversation Summary]\nuser: “{WORDS}”\n\n[Recallable Topics]: letters\n"  # too short to be shown true
        "Use the recall_memory tool to retrieve details about any topic above."
    )
    assert [turn.prompt_tokens for turn in turns[:3]] == [17, 37, 7 + 20 + summary]
    assert turns[3].prompt_tokens == 7 + 30 + summary  # two after the fold, and the question
    assert [len(turn.folds) for turn in turns] == [0, 0, 1, 0, 1, 1]
    assert {turn.completion_tokens for turn in turns} == {10}
    assert [turn.message_id for turn in turns] == ["m2", "m4", "m6", "m8", "m10", "m12"]
    assert turns[0].usd == turns[0].hypothetical_usd == 27
    assert told[-1] == (6, 6)


def test_every_message_is_folded_once_and_paid_for() -> None:
    folds = [fold for turn in play(talk(6)).turns for fold in turn.folds]
    assert [(fold.trigger, fold.messages, fold.calls) for fold in folds] == [("interval", 4, 1)] * 3
    assert {(fold.input_tokens, fold.output_tokens) for fold in folds} == {(100, 50)}
    assert {fold.usd for fold in folds} == {1.5}


def test_what_falls_due_between_two_messages_is_folded_between_them() -> None:
    """Hysteresis: eight messages are enough for the minimum, the first is two hours old before the next one comes."""
    settings = replace(SETTINGS, policy="hysteresis", rules=FoldRules())
    first = talk(4).messages
    late = (said(9, "user", minute=130), said(10, "assistant", minute=131))
    turns = play(Conversation(UUID(int=7), "t:talk", "t", (*first, *late)), settings=settings).turns
    assert [[fold.trigger for fold in turn.folds] for turn in turns] == [[], [], [], [], ["time"]]
    assert turns[4].folds[0].messages == 8
    assert turns[4].prompt_tokens != turns[4].hypothetical_tokens
    soon = (said(9, "user", minute=119), said(10, "assistant", minute=119))
    turns = play(Conversation(UUID(int=7), "t:talk", "t", (*first, *soon)), settings=settings).turns
    assert [len(turn.folds) for turn in turns] == [0, 0, 0, 0, 0]


def test_every_prompt_fits_and_a_turn_that_cannot_is_said() -> None:
    long = replace(said(9, "user", minute=60, text="x" * 20_000), token_count=5_000)
    messages = (*talk(4).messages, long, said(10, "assistant", minute=61), said(11, "user", minute=70))
    played = play(Conversation(UUID(int=7), "t:talk", "t", (*messages, said(12, "assistant", minute=71))))
    budget = SETTINGS.budget
    assert all(turn.prompt_tokens <= budget.available + budget.system for turn in played.turns)
    assert played.skipped == 1
    assert [turn.number for turn in played.turns] == [1, 2, 3, 4, 5]
    assert any("1 turns are left out" in warning for warning in played.warnings)


@pytest.mark.parametrize(("strategy", "brings"), [("rolling", False), ("retrieval", True), ("hybrid", True)])
def test_what_is_recalled_is_part_of_the_prompt(strategy: Any, brings: bool) -> None:
    told = [said(1, "user", minute=0, text="The harbour closes in winter because of the ice."), *talk(6).messages[1:]]
    told[10] = said(11, "user", minute=50, text="Why does the harbour close?")
    conversation = Conversation(UUID(int=7), "t:talk", "t", tuple(told))
    with_words = play(conversation, settings=replace(SETTINGS, strategy=strategy)).turns[5]
    told[10] = said(11, "user", minute=50, text="Zzz zzzz zzz zzzzzzz zzzzz?")
    without = play(replace(conversation, messages=tuple(told)), settings=replace(SETTINGS, strategy=strategy)).turns[5]
    assert (with_words.prompt_tokens > without.prompt_tokens) == brings


def test_an_answer_that_was_paid_for_is_replayed_and_still_counted() -> None:
    ledger, llm = Ledger(), ScriptedLlm(lambda _: FOLDED)
    once = play(talk(6), llm=llm, ledger=ledger)
    calls = len(llm.requests)
    assert calls == 3 == len(ledger.rows)
    assert {row.subject for row in ledger.rows} == {Subject("session", UUID(int=7))}
    again = play(talk(6), llm=llm, ledger=ledger)
    assert len(llm.requests) == calls
    assert again.turns == once.turns


def test_a_cap_or_a_model_that_is_away_ends_it() -> None:
    with pytest.raises(OutOfBudget):
        play(talk(6), llm=ScriptedLlm(lambda _: FOLDED), ledger=Ledger(), budgets=Budgets(1))
    with pytest.raises(LlmUnavailable):
        play(talk(6), llm=ScriptedLlm(lambda _: LlmUnavailable("away")), ledger=Ledger())


def test_an_answer_that_does_not_pass_folds_nothing_and_is_said() -> None:
    played = play(talk(3), llm=ScriptedLlm(lambda _: "no JSON", is_paid=False))
    assert [turn.prompt_tokens for turn in played.turns] == [turn.hypothetical_tokens for turn in played.turns]
    assert any("no JSON of the schema" in warning for warning in played.warnings)
    assert sum(fold.messages for turn in played.turns for fold in turn.folds) == 0
    assert sum(fold.usd for turn in played.turns for fold in turn.folds) > 0, "it was asked all the same"


def test_people_without_roles_take_turns_too() -> None:
    """Two of three messages are others' behind words of the owner: Ann answers once, with two messages."""
    messages = [said(1, None, minute=0, is_self=True), said(2, None, minute=1), said(3, None, minute=2)]
    played = play(Conversation(UUID(int=7), "t:talk", "t", tuple(messages)))
    assert [(turn.hypothetical_tokens, turn.completion_tokens) for turn in played.turns] == [(17, 20)]
    with pytest.raises(NothingToCompare):
        play(Conversation(UUID(int=7), "t:talk", "t", (said(1, "user", minute=0),)))


def test_the_document_and_the_outcome() -> None:
    conversation = talk(12)
    played = play(conversation)
    compared = Compared(conversation, SETTINGS, played, "claude-haiku-5-5", "offline", "claude-haiku-5-5", "v", "l")
    found = compared.to_json()
    assert found["messages"] == 24
    assert len(found["turns"]) == found["totals"]["turns"] == 12
    last = found["turns"][-1]
    assert last["cumulative_usd"] == pytest.approx(found["totals"]["usd"])
    assert last["cumulative_hypothetical_usd"] == found["totals"]["hypothetical_usd"]
    assert found["pays_from"] == compared.pays_from
    assert found["overflows_from"] is None
    assert ("never pays" in compared.outcome()) == (compared.pays_from is None)
    assert WORDS not in str(found)


def test_without_matplotlib_there_is_the_page_and_what_to_install(tmp_path: Path, monkeypatch: Any) -> None:
    conversation = talk(12)
    played = play(conversation)
    compared = Compared(conversation, SETTINGS, played, "claude-haiku-5-5", "offline", "claude-haiku-5-5", "v", "l")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    document = compared.to_json()
    files = _written(compared, document, tmp_path)
    assert files == {"html": str(tmp_path / "compare-t-talk.html")}
    assert [file.name for file in tmp_path.iterdir()] == ["compare-t-talk.html"]
    assert "pkg-pipeline[plots]" in document["warnings"][-1]
    page = (tmp_path / "compare-t-talk.html").read_text(encoding="utf-8")
    assert "pkg-pipeline[plots]" in page
    assert page.count("<tr") == 1 + len(document["turns"])
