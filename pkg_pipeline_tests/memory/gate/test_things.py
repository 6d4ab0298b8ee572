"""What an answer names that nobody named (B18)."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.gate.people import Known
from pkg_pipeline.memory.gate.things import tells, unsaid_thing

SAID = {
    "ru": ("Завтра отдам пылесос и ведро с краской", "Хорошо, жду на даче"),
    "en": ("I'll drop off the ladder and two buckets tomorrow", "Great, see you at the barn"),
    "zh": ("我明天把梯子和两桶油漆送过去", "好的，在仓库见"),
}


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("ru", "Отдать пылесос завтра", None),
        ("ru", "Решено вернуть ведро краски", None),
        ("ru", "Стоимость пылесоса ещё не назначена", None),
        ("ru", "Отдать утюг завтра", "утюг"),
        ("ru", "Отдать пылесос и оплатить страховку", "страховку"),
        ("en", "Bring the ladder tomorrow", None),
        ("en", "Agreed to deliver two buckets later", None),
        ("en", "Bring the drill tomorrow", "drill"),
        ("en", "Bring the ladder and water the orchids", "water"),
        ("en", "The ladder was refused", "refused"),
        ("zh", "明天送梯子", None),
        ("zh", "决定明天送两桶油漆", None),
        ("zh", "明天送铁锹", "铁"),
    ],
)
def test_a_thing_that_nobody_named_is_found_and_words_that_only_tell_are_not(
    language: str, text: str, word: str | None
) -> None:
    said = SAID[language]
    assert unsaid_thing(text, said, Known((), said).names) == word


def test_a_name_in_another_form_or_script_names_nobody_else() -> None:
    said = ("Привет, Дима!",)
    assert unsaid_thing("Dmitry agreed", said, Known((), said).names) is None
    assert unsaid_thing("Gustav agreed", said, Known((), said).names) == "gustav"


@pytest.mark.parametrize("word", ["costs", "agreed", "договорились", "оплатит", "决定", "не", "not"])
def test_words_that_only_tell(word: str) -> None:
    assert tells(word)


@pytest.mark.parametrize("word", ["refused", "отказал", "取消", "ladder", "пылесос", "梯"])
def test_words_that_say_more(word: str) -> None:
    assert not tells(word)
