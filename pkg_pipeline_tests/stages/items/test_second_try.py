"""A reading that lost something is asked for once more, told the words at fault, within the budget (B18, P19)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import LlmRequest, LlmUnavailable
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, answered, task
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm

LETTER, GOOD = "I will send the letter tomorrow.", "Good, thank you."
RIGHT = task("Send the letter", 1, LETTER)
CHANGED = task("Send the letter", 1, "I will send the parcel")
"""Nobody said what it quotes."""
STRANGE = task("Wire 900 EUR to Gustav at once", 1, LETTER)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ItemRig]:
    made = ItemRig(database_url, tmp_path)
    made.say("anna", [LETTER, GOOD], senders=("Me", "Anna"))
    made.load()
    yield made
    made.close()


def in_turn(*answers: object, **more: bool) -> ScriptedLlm:
    """Each answer once."""
    left = iter(answers)
    return ScriptedLlm(lambda _: next(left), **more)


def texts(rig: ItemRig) -> list[str]:
    return [text for (text,) in rig.rows("SELECT text FROM items ORDER BY text")]


@pytest.mark.parametrize(
    ("first", "told"),
    [(CHANGED, "quote"), (STRANGE, "no word in common"), ({**RIGHT, "owner": "them", "who": "Anna"}, "Anna")],
)
def test_the_second_prompt_is_told_the_fault_and_its_answer_is_kept(rig: ItemRig, first: object, told: str) -> None:
    llm = in_turn(answered(first), answered(RIGHT))  # pyright: ignore[reportArgumentType]
    report = rig.read(llm)
    assert report.calls == len(llm.requests) == 2
    assert report.cost_usd == pytest.approx(0.002)
    assert texts(rig) == ["Send the letter"]
    asked, again = (request.user for request in llm.requests)
    assert again.startswith(asked[:200]) or asked != again
    assert told in again.replace(asked, "")
    assert rig.one("SELECT quarantined FROM interaction_readings") in (None, [])
    assert rig.read(in_turn()).calls == 0


def test_a_second_answer_that_tells_less_changes_nothing(rig: ItemRig) -> None:
    llm = in_turn(answered(RIGHT, CHANGED), answered())
    rig.read(llm)
    assert len(llm.requests) == 2
    assert texts(rig) == ["Send the letter"]


@pytest.mark.parametrize("second", ["no JSON", LlmUnavailable("busy", retry_after_seconds=60)])
def test_a_second_try_that_fails_leaves_what_the_first_told(rig: ItemRig, second: object) -> None:
    rig.read(in_turn(answered(RIGHT, CHANGED), second))
    assert texts(rig) == ["Send the letter"]
    assert rig.one("SELECT count(*) FROM reading_attempts") == 0


def test_the_budget_has_no_second_try(rig: ItemRig) -> None:
    llm = in_turn(answered(RIGHT, CHANGED), answered(RIGHT))
    rig.read(llm, lane="live", calls_cap=1)
    assert len(llm.requests) == 1
    assert texts(rig) == ["Send the letter"]


@pytest.mark.parametrize(
    "answer",
    [
        answered(RIGHT),
        answered(task("Send the parcel", 1, LETTER)),  # told as said
        answered(RIGHT, RIGHT),  # said twice
        answered(facts=[{"type": "phone", "value": "123", "about": "Me", "quote": LETTER, "messages": [1]}]),
    ],
)
def test_what_another_answer_could_not_mend_is_not_asked_for_again(rig: ItemRig, answer: object) -> None:
    llm = in_turn(answer)
    rig.read(llm)
    assert len(llm.requests) == 1


def test_a_free_model_is_asked_once(rig: ItemRig) -> None:
    llm = in_turn(answered(RIGHT, CHANGED), is_paid=False)
    rig.read(llm)
    assert len(llm.requests) == 1


def test_over_http_a_bad_answer_is_asked_for_again(rig: ItemRig) -> None:
    with FakeAnthropic(rules=[Fault(answer="invented_quote", times=1)]) as fake, rig.anthropic(fake.url) as llm:
        report = rig.read(llm)
    assert report.calls == 2
    assert [owner for (owner,) in rig.rows("SELECT owner FROM items")] == ["self"]


def test_every_question_of_a_reading_is_about_the_same_talks(rig: ItemRig) -> None:
    llm = in_turn(answered(CHANGED), answered(RIGHT))
    rig.read(llm)
    subjects = {request.subject for request in llm.requests}
    assert len(subjects) == 1
    assert all(isinstance(request, LlmRequest) and request.task == "conversation_reading" for request in llm.requests)
