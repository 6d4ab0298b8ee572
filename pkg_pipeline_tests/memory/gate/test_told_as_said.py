"""What is told in the talk's own words since rules cannot tell whether an answer's words are true."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.gate.as_said import as_said
from pkg_pipeline.memory.gate.checker import Checker
from pkg_pipeline.memory.gate.foreign import known
from pkg_pipeline.memory.gate.records import CandidateSummary
from pkg_pipeline.memory.gate.shown import is_far, says_too_little
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import CandidateItem, CandidateReading, ReadingInput
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline_tests.memory.conversations import ANNA, BEN, LIN, ME, OWNER, WEI, conversation

CHOIR = conversation(
    (BEN, "The church wants 35 an evening for the hall"),
    (OWNER, "And the school? It has no piano"),
    (BEN, "20, but only from October"),
    (OWNER, "OK, the church hall then, Thursdays. I'll tell the vicar"),
    language="en",
)


def checker(talk: SummaryInput) -> Checker:
    return Checker(talk, held=known(talk), ordering=frozenset())


@pytest.mark.parametrize(
    ("text", "quote", "numbers", "expected"),
    [
        ("The choir has the school from October for 35", "OK, the church hall then, Thursdays", (1, 3, 4), True),
        ("The church hall then, on Thursdays", "OK, the church hall then, Thursdays", (1, 3, 4), False),
        ("The church wants 35 for the hall", "The church wants 35 an evening for the hall", (1,), False),
        ("The church wants 35 for the hall and kitchen heating", "The church wants 35 an evening", (1,), True),
        ("The church hall has no piano", "The church wants 35 an evening for the hall", (1, 2), True),
        ("The church will not be taken on Thursdays", "OK, the church hall then, Thursdays", (4,), True),
    ],
)
def test_an_items_text_is_near_one_message_and_denies_where_its_quote_does(
    text: str, quote: str, numbers: tuple[int, ...], *, expected: bool
) -> None:
    found = checker(CHOIR).evidence(numbers, quote)
    assert not isinstance(found, str)
    testimony = checker(CHOIR).testimony(found.messages, CHOIR.participants)
    assert is_far(text, testimony.spoken, CHOIR.participants, found.quote) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The school has a piano.", True),
        ("The church wants 35 an evening for the hall and the school has no piano.", False),
        ("Dana tells the vicar.", False),  # she says so
    ],
)
def test_a_sentence_of_three_meanings_says_too_little_unless_it_is_sure_who_does_it(
    sentence: str, *, expected: bool
) -> None:
    assert says_too_little(sentence, checker(CHOIR).whole().spoken, CHOIR.participants) is expected


@pytest.mark.parametrize(
    ("sentence", "is_shown"),
    [
        ("Ben and Dana discussed the church hall, piano.", True),
        ("Ben Carter and Dana Reed discussed: piano and vicar.", True),
        ("Ben and Dana discussed the church hall, drums.", False),
        ("Ben and Dana discussed closing the church hall.", False),
    ],
)
def test_a_list_of_topics_is_shown_by_the_words_themselves(sentence: str, *, is_shown: bool) -> None:
    assert (checker(CHOIR).whole().unshown(sentence) is None) is is_shown


def test_a_question_is_told_with_its_answer() -> None:
    talk = conversation(
        (BEN, "Did you pay the hosting for the shop?"),
        (OWNER, "Not yet, the accountant is away until Thursday"),
        language="en",
    )
    told = as_said("The hosting for the shop is paid.", "", checker(talk).whole(), checker(talk))
    assert told == (
        "Ben Carter: “Did you pay the hosting for the shop?” "
        "Dana Reed: “Not yet, the accountant is away until Thursday”"
    )


def test_chinese_sentences_are_told_as_they_stand() -> None:
    talk = conversation((LIN, "杯子18个有瑕疵，一周内换。10箱，每箱24个"), (WEI, "好"), language="zh")
    told = as_said("10箱杯子有瑕疵，一周内换", "一周内换。10箱", checker(talk).whole(), checker(talk))
    assert told == "林晓：“杯子18个有瑕疵，一周内换。10箱，每箱24个”"


def test_no_sentence_of_the_talk_is_told_twice() -> None:
    told = "Школа дешевле церкви. Церковь дешевле школы."
    talk = conversation((ANNA, "Церковь берёт 3500 за вечер, школа 2000"), (ME, "Берём церковь"), language="ru")
    content = check(CandidateSummary(told, ("Берём церковь",), "neutral"), talk).content
    assert content is not None
    assert content.summary.count("Церковь берёт 3500") == 1


@pytest.mark.parametrize(
    ("said", "text", "is_kept"),
    [
        ("I'm not doing the gutters this year", "Ben does the gutters", False),
        ("Not paying that before I see the beams", "Ben pays for the beams", False),
        ("I'm not doing the gutters this year", "Ben does not do the gutters this year", True),
        ("Mondays yes, Tuesdays I can't", "Ben comes on Mondays", True),
        ("I haven't done the gutters yet, sorry", "Ben does the gutters", True),
    ],
)
def test_who_only_denies_or_refuses_is_bound_to_nothing(said: str, text: str, *, is_kept: bool) -> None:
    talk = conversation((OWNER, "Can you come on Mondays and do the gutters?"), (BEN, said), language="en")
    item = CandidateItem("action_item", text, "them", said, (2,))
    gated = check_reading(CandidateReading(items=(item,)), ReadingInput((talk,), (), "en", talk.timezone, "hash"))
    assert bool(gated.readings[0].items) is is_kept
