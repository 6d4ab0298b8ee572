"""What a hint's tier prints: one line a message, and of a derived text and its messages whichever says it shorter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.memory.context.records import BlockRules, ContextEntity
from pkg_pipeline.memory.context.relevance import (
    AS_GOOD,
    FEW_MESSAGES,
    FIT_FLOOR,
    MOST_LINES,
    NEAR_FLOOR,
    relevant_lines,
)
from pkg_pipeline.memory.context.rendering import Line, LineRenderer
from pkg_pipeline.memory.recall.records import Candidate, Ranked
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.lines import bullet
from pkg_pipeline.memory.text.phrases import phrases
from pkg_pipeline_tests.memory.candidates import START, candidate, derived, in_order

WHOM = ContextEntity(UUID(int=1), "Anna", "person", False, None, ("telegram",), None, 3, 100, START, START)
RULES = BlockRules(START, ZoneInfo("Europe/Berlin"), 1000, {}, 7, 50, 10, START, START)


def letters(texts: Sequence[str]) -> list[int]:
    """A letter a token: sizes that can be seen."""
    return [len(text) for text in texts]


def wording(language: Language = "en") -> LineRenderer:
    return LineRenderer(RULES, WHOM, names_dialogs=False, words=phrases(language))


def lines(*candidates: Candidate, scores: Sequence[float] = (), hint: str = "") -> list[Line]:
    found = in_order(*candidates)
    if scores:
        found = [Ranked(entry.candidate, score, ()) for entry, score in zip(found, scores, strict=True)]
    return relevant_lines(found, wording(), letters, hint=hint)


@pytest.mark.parametrize(
    ("language", "one", "expected"),
    [
        ("en", candidate(1, "the keel"), "1 March 2026 11:00 Anna: the keel"),
        ("ru", candidate(1, "киль", is_self=True), "1 марта 2026 11:00 я: киль"),
        ("zh", candidate(1, "龙骨"), "2026年3月1日 11:00 Anna：龙骨"),
        ("en", candidate(1, "two\nlines", speaker=" An\nna "), "1 March 2026 11:00 An / na: two / lines"),
        ("ru", derived(1, "Ехать поездом"), "1 марта 2026 11:00 решено: Ехать поездом"),
        ("zh", derived(1, "坐火车", source="summary"), "2026年3月1日 11:00 小结：坐火车"),
        ("en", derived(1, "Anna: city Rome", source="fact"), "1 March 2026 11:00 fact: Anna: city Rome"),
    ],
)  # fmt: skip
def test_a_line_has_its_time_and_who_said_it_in_the_language(language: Language, one: Candidate, expected: str) -> None:
    (line,) = relevant_lines(in_order(one), wording(language), letters)
    assert line.text == expected
    assert line.headings == wording(language).under("relevant", phrases(language).relevant)
    assert (line.at, line.message_ids) == (one.at, one.message_ids)


def test_somebody_without_a_name_and_a_message_without_words() -> None:
    (line,) = lines(candidate(1, "hm", speaker=None), candidate(2, " \n "))
    assert line.text.endswith(f" {phrases('en').unknown}: hm")


def test_lines_carry_the_ids_that_other_tiers_know_them_by() -> None:
    found = lines(candidate(1), derived(2, "Go", source="summary"), derived(3, "Stay", source="action_item"))
    assert [(line.kind, line.id) for line in found] == [
        ("action_item", str(UUID(int=5003))), ("message", "telegram:personal%3A1/1"), ("summary", str(UUID(int=5002))),
    ]  # fmt: skip


def test_what_fits_the_task_badly_stays_away_and_of_the_rest_the_best_ten_come_in() -> None:
    few = [candidate(number, f"passage {number}") for number in range(1, 4)]
    assert [line.text[-9:] for line in lines(*few, scores=(1.0, FIT_FLOOR, FIT_FLOOR - 0.01))] == [
        "passage 1", "passage 2",
    ]  # fmt: skip
    many = [candidate(number, f"passage {number}") for number in range(1, 30)]
    assert len(lines(*many)) == MOST_LINES


@pytest.mark.parametrize(
    ("text", "score", "comes_in"),
    [
        ("the invoice is paid", FIT_FLOOR, True),  # a word of the task
        ("sure", NEAR_FLOOR - 0.01, False),  # found by its neighbours alone
        ("оплачено", NEAR_FLOOR, True),  # in other words, and it fits well
    ],
)
def test_what_holds_no_word_of_the_task_has_to_fit_better(text: str, score: float, comes_in: bool) -> None:
    found = lines(candidate(1, "invoice 46"), candidate(2, text), scores=(1.0, score), hint="Who pays invoice 46?")
    assert len(found) == 1 + comes_in
    assert len(lines(candidate(1, "счёт"), candidate(2, text), scores=(1.0, score), hint="Rechnung")) == 2


def test_a_summary_of_the_messages_that_come_in_is_left_out() -> None:
    said = [candidate(1, "Invoice 46 for 250 000 is open"), candidate(2, "We will pay by 3 February, promised")]
    told = derived(3, "Alex: Invoice 46 for 250 000 is open. Marina: We will pay by 3 February.", source="summary")
    assert [line.kind for line in lines(*said, told)] == ["message", "message"]
    more = derived(
        4, "Alex: Invoice 46 is open. Marina sends the passports of all signs to the firemen.", source="summary"
    )
    assert [line.kind for line in lines(*said, more)] == ["message", "message", "summary"]


def test_one_passage_a_message_the_best_one() -> None:
    first, second = (candidate(number, f"passage {number}", message_ids=("m/1",)) for number in (1, 2))
    assert [line.text[-9:] for line in lines(second, first)] == ["passage 2"]


SHORT, LONG = "by train", "we should all of us go there by train, I think, as the road is closed"
GOOD = 1.0


@pytest.mark.parametrize(
    ("told", "score", "printed"),
    [
        # (derived text, its score beside a message of score 1, what is printed)
        (derived(2, SHORT, 1), GOOD, "derived"),  # shorter and as good
        (derived(2, SHORT, 1), AS_GOOD, "derived"),
        (derived(2, SHORT, 1), AS_GOOD - 0.01, "message"),  # shorter, but it does not answer as well
        (derived(2, LONG + LONG, 1), GOOD, "message"),  # longer
        (derived(2, SHORT, 9), GOOD, "both"),  # rests on another message
        (derived(2, SHORT, *range(1, FEW_MESSAGES + 1)), GOOD, "derived"),
        (derived(2, SHORT, *range(1, FEW_MESSAGES + 2)), GOOD, "both"),  # tells more than any one of its messages
    ],
)
def test_of_a_derived_text_and_its_message_the_shorter_one(told: Candidate, score: float, printed: str) -> None:
    kinds = {line.kind for line in lines(candidate(1, LONG), told, scores=[1.0, score])}
    assert kinds == {"derived": {"decision"}, "message": {"message"}, "both": {"decision", "message"}}[printed]


def test_a_derived_text_stands_for_several_messages_where_it_is_shorter_than_all_of_them() -> None:
    one, two, told = candidate(1, "by train?"), candidate(2, "yes, train"), derived(3, "They go by train", 1, 2)
    sizes = letters([bullet(line.text) for part in (one, two, told) for line in lines(part)])
    assert sizes[2] < sizes[0] + sizes[1]
    assert [line.kind for line in lines(one, two, told)] == ["decision"]
    assert [line.kind for line in lines(one, told)] == ["message"], "against one of them it is the longer one"


def test_a_message_that_is_stood_for_does_not_come_back_by_another_text() -> None:
    told = [derived(2, SHORT, 1), derived(3, "by rail", 1, source="summary")]
    found = lines(candidate(1, LONG), *told)
    assert found[0].kind == "decision"
    assert "message" not in {line.kind for line in found}


@pytest.mark.parametrize("size", [0, 1, 5])
def test_lines_are_in_order_of_preference_and_know_their_place_in_time(size: int) -> None:
    given: list[Any] = [candidate(number, f"said {number}") for number in range(size, 0, -1)]
    found = lines(*given)
    assert [line.id for line in found] == [one.message_ids[0] for one in given]
    assert [line.id for line in sorted(found, key=lambda line: line.place)] == [
        one.message_ids[0] for one in reversed(given)
    ]
    moved = [replace(one, at=START) for one in given]
    assert [line.place[1] for line in lines(*moved)] == [one.no for one in given], "one moment: by number"
