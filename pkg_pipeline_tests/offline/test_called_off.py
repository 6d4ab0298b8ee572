"""An appointment called off by words that name its day or what it is about; what is put off to a day is not."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from pkg_pipeline.memory.records import Language
from pkg_pipeline_tests.offline.chats import MONDAY
from pkg_pipeline_tests.offline.test_linking import linked, shown, told

TODAY = MONDAY.date()
STANDING: dict[Language, dict[str, tuple[str, date | None]]] = {
    "en": {
        "d1": ("Squash on Thursday at 7", TODAY + timedelta(days=3)),
        "d2": ("Dinner at Bella's today at 8", TODAY),
        "d3": ("The rent stays at 900", None),
    },
    "ru": {
        "d1": ("В четверг в 7 играем в сквош", TODAY + timedelta(days=3)),
        "d2": ("Сегодня в 8 ужин в «Белле»", TODAY),
        "d3": ("Аренда остаётся 900", None),
    },
    "zh": {
        "d1": ("周四七点打球", TODAY + timedelta(days=3)),
        "d2": ("今晚八点在西贝吃饭", TODAY),
        "d3": ("房租还是900", None),
    },
}


@pytest.mark.parametrize(
    ("said", "language", "refs"),
    [
        ("squash is cancelled, my knee again", "en", {"d1"}),
        ("sorry, have to cancel tonight", "en", {"d2"}),
        ("we're calling the squash off", "en", {"d1"}),
        ("can't make it on thursday, sorry", "en", {"d1"}),
        ("they cancelled my flight", "en", set[str]()),
        ("shall we cancel the squash?", "en", set[str]()),
        ("сквош отменяется, колено", "ru", {"d1"}),
        ("сегодня отбой, температура", "ru", {"d2"}),
        ("рейс отменили", "ru", set[str]()),
        ("周四的球取消了", "zh", {"d1"}),
        ("今晚取消吧，我发烧了", "zh", {"d2"}),
    ],
)
def test_what_is_called_off_is_the_one_that_is_named(said: str, language: Language, refs: set[str]) -> None:
    standing = (shown(ref, text, "both", day) for ref, (text, day) in STANDING[language].items())
    changes = linked(told(("Anna", said), language=language), *standing).changes
    assert {one.ref for one in changes if one.to == "cancelled"} == refs


def test_what_is_over_is_called_off_no_more() -> None:
    past = shown("d1", "Squash on Thursday at 7", "both", TODAY - timedelta(days=4))
    assert linked(told(("Anna", "squash was cancelled last week too")), past).changes == ()
