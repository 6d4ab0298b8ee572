"""How a session's model is asked: the ladder of P19, halves, what is booked, what a compressor makes of failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict
from uuid import UUID

import pytest

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.session.records import CompressInput, FoldInput
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.stages.folds.call import compress, compressor, make_fold
from pkg_pipeline.stages.llm.answer_validation import NotPublishable
from pkg_pipeline.stages.llm.ask import Asking, Tally
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.llm.stores import Caps, LedgerRow, Reservation
from pkg_pipeline.stages.ports import Billing, Llm, LlmError, LlmRequest, LlmTooLong, LlmUnavailable, Subject
from pkg_pipeline_tests.adapters.llm.anthropic_rig import NOW, LetterCounter
from pkg_pipeline_tests.memory.session.stretches import AGENT, SESSION, STRETCHES, long_stretch
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm

BAD = "no json"
TOO_LONG = LlmTooLong("the prompt is too long")


class Ledger:
    """Keeps answers by their hash, as the real one does."""

    def __init__(self) -> None:
        self.rows: list[LedgerRow] = []
        self.refused: list[str] = []

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        kept = [row for row in self.rows if row.request_hash == request_hash and request_hash not in self.refused]
        return (kept[-1].reply, kept[-1].usage, "end_turn") if kept and kept[-1].reply is not None else None

    def record(self, row: LedgerRow) -> None:
        self.rows.append(row)

    def calibration(self, model: str) -> float | None:
        return None

    def refuse(self, request_hash: str, *, reason: str) -> None:
        assert reason
        self.refused.append(request_hash)


class Budgets:
    """Lets everything pass."""

    def reserve(self, **_: Any) -> Reservation:
        return Reservation(UUID(int=1), NOW.date(), 0.001, NOW)

    def settle(self, _: Reservation, **__: Any) -> float:
        return 0.001


class Given(TypedDict):
    asking: Asking
    tally: Tally


def asking(llm: Llm) -> tuple[Given, Ledger]:
    ledger = Ledger()
    run = Run(Budgets(), Billing("live"), Caps(1.0), task="session_fold")  # pyright: ignore[reportArgumentType]
    return {"asking": Asking(llm, ledger, LetterCounter(), run), "tally": Tally()}, ledger


def good(request: LlmRequest) -> dict[str, Any]:
    first = request.payload.messages[0]
    words = first.text.split()
    quote = " ".join(words[:4])
    return {
        "summary": f"They said this: {quote}.",
        "facts": [],
        "decisions": [],
        "open_questions": [{"text": quote, "quote": quote, "message_ids": [1]}],
        "topics": [words[0]],
    }


def in_turn(*answers: object) -> Callable[[LlmRequest], object]:
    left = list(answers)

    def answer(request: LlmRequest) -> object:
        given = left.pop(0)
        return given(request) if callable(given) else given

    return answer


def test_a_good_answer_needs_one_question_and_is_replayed() -> None:
    llm = ScriptedLlm(good)
    given, ledger = asking(llm)
    content, dropped = make_fold(STRETCHES["en"], **given)
    assert dropped == ()
    assert content.open_questions[0].message_ids == ("m1",)
    assert make_fold(STRETCHES["en"], **given) == (content, dropped)
    assert (len(llm.requests), given["tally"].calls, ledger.refused) == (1, 1, [])
    row = ledger.rows[0]
    assert (row.task, row.subject, row.prompt_version) == (
        "session_fold",
        Subject("session", SESSION),
        "session_fold/3",
    )


def test_what_does_not_pass_is_asked_for_more_strictly() -> None:
    llm = ScriptedLlm(in_turn(BAD, good))
    given, ledger = asking(llm)
    make_fold(STRETCHES["en"], **given)
    assert "could not be used" not in llm.requests[0].user
    assert "could not be used: the answer is no JSON of the schema" in llm.requests[1].user
    assert len(ledger.refused) == 1


@pytest.mark.parametrize("first", [(BAD, BAD), (BAD, TOO_LONG), (TOO_LONG,)])
def test_then_in_halves_that_become_one(first: tuple[object, ...]) -> None:
    llm = ScriptedLlm(in_turn(*first, good, good))
    given, _ = asking(llm)
    content, _ = make_fold(STRETCHES["en"], **given)
    *_, one, two = (request.payload for request in llm.requests)
    assert [[m.external_id for m in half.messages] for half in (one, two)] == [["m1", "m2"], ["m3", "m4"]]
    assert [m.number for m in two.messages] == [1, 2]
    assert one.input_hash != two.input_hash
    assert [question.message_ids for question in content.open_questions] == [("m1",), ("m3",)]
    assert content.summary == "They said this: Hi Dana, did you. They said this: Agreed, let's go with."
    assert ("could not be used" in llm.requests[-1].user) == (BAD in first)


def test_what_is_too_long_is_halved_until_it_fits() -> None:
    source = long_stretch(8)

    def answer(request: LlmRequest) -> object:
        return good(request) if len(request.payload.messages) <= 2 else TOO_LONG

    given, _ = asking(ScriptedLlm(answer))
    content, _ = make_fold(source, **given)
    assert [question.message_ids[0] for question in content.open_questions] == ["m1", "m3", "m5", "m7"]


def test_one_long_message_is_cut_and_one_short_message_is_the_end() -> None:
    source = long_stretch(1)
    size = len(source.messages[0].text)

    def answer(request: LlmRequest) -> object:
        return good(request) if sum(len(m.text) for m in request.payload.messages) < size else TOO_LONG

    given, _ = asking(ScriptedLlm(answer))
    content, _ = make_fold(source, **given)
    assert {question.message_ids for question in content.open_questions} == {("m1",)}
    given, _ = asking(ScriptedLlm(lambda _: TOO_LONG))
    with pytest.raises(LlmTooLong):
        make_fold(source, **given)


def test_the_last_rung_raises_and_every_answer_was_refused() -> None:
    llm = ScriptedLlm(lambda _: BAD)
    given, ledger = asking(llm)
    with pytest.raises(NotPublishable) as caught:
        make_fold(STRETCHES["en"], **given)
    assert BAD not in caught.value.problem
    assert len(llm.requests) == len(ledger.refused) == 3  # as usual, stricter, the first half


def test_trouble_with_the_service_is_not_answered_with_another_question() -> None:
    llm = ScriptedLlm(lambda _: LlmUnavailable("away"))
    given, _ = asking(llm)
    with pytest.raises(LlmUnavailable):
        make_fold(STRETCHES["en"], **given)
    assert len(llm.requests) == 1


def test_nothing_to_fold_is_nobodys_question() -> None:
    given, _ = asking(ScriptedLlm(good))
    empty = FoldInput(SESSION, "jsonl:c", "en", "UTC", (), (), (), "none")
    with pytest.raises(ValueError, match="a fold needs a message"):
        make_fold(empty, **given)


TEXT = "Ben and Dana chose the boathouse for June. They spoke of the price. Ben sends the deposit. Dana waits."
SHORT = {"summary": "Ben and Dana chose the boathouse for June."}


def compression(target: int = 12) -> CompressInput:
    return CompressInput(SESSION, "en", TEXT, LetterCounter().count(TEXT), target)


def test_a_text_is_told_shorter_at_the_second_try() -> None:
    llm = ScriptedLlm(in_turn({"summary": TEXT}, SHORT))
    given, ledger = asking(llm)
    assert compress(compression(), **given) == SHORT["summary"]
    assert "at most 14 are allowed" in llm.requests[1].user
    assert ledger.rows[0].task == "session_compress"


@pytest.mark.parametrize("answer", [{"summary": TEXT}, BAD, LlmUnavailable("away"), TOO_LONG])
def test_a_compressor_says_none_where_there_is_nothing(answer: object) -> None:
    given, _ = asking(ScriptedLlm(lambda _: answer))
    assert compressor(SESSION, "en", **given)(TEXT, 12) is None
    with pytest.raises((LlmError, NotPublishable)):
        compress(compression(), **given)


def test_a_compressor_counts_with_the_memorys_counter() -> None:
    llm = ScriptedLlm(lambda _: SHORT)
    given, _ = asking(llm)
    assert compressor(SESSION, "en", **given)(TEXT, 12) == SHORT["summary"]
    assert llm.requests[0].payload == compression()


def test_the_offline_model_answers_both_within_the_gates() -> None:
    for source in (*STRETCHES.values(), AGENT):
        given, ledger = asking(OfflineLlm(LetterCounter()))
        content, dropped = make_fold(source, **given)
        assert content.summary
        assert dropped == ()
        assert ledger.rows[0].reply is None
        assert make_fold(source, **given) == (content, dropped)
    given, _ = asking(OfflineLlm(LetterCounter()))
    assert compress(compression(20), **given)
