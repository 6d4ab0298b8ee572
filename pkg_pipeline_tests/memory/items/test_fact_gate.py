"""Whose a fact is, whether it still holds, and in which form its value is kept."""

from __future__ import annotations

from datetime import date

import pytest

from pkg_pipeline.memory.gate.fact_values import written_day
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline_tests.memory.gate.answers import talk_of
from pkg_pipeline_tests.memory.truth.judging import candidate_of, source_of
from pkg_pipeline_tests.memory.truth.talks import Part
from pkg_pipeline_tests.memory.truth.variants import Case


def kept(said: str, kind: str, about: str, value: str, language: str = "en") -> list[str]:
    """The values that the gate keeps of the last of some messages, said to the owner (<) or by him (>)."""
    talk = talk_of(language, said)
    numbers = ",".join(str(at) for at, _, _ in talk.said)
    fields = {"type": kind, "about": about, "text": value, "quote": talk.said[-1][2], "numbers": numbers}
    gated = check_reading(candidate_of(Case(talk, Part("fact", fields), "as written", True, fields)), source_of(talk))
    return [fact.value for reading in gated.readings for fact in reading.facts]


@pytest.mark.parametrize(
    ("said", "kind", "value", "is_sams"),
    [
        ("> What is your number? | < 07700 900233", "phone", "07700 900233", True),
        ("> And your cousin? Could you give me her number? | < 07700 900233", "phone", "07700 900233", False),
        ("< I work at Northgate Museum now", "employer", "Northgate Museum", True),
        ("< I no longer work at Northgate Museum", "employer", "Northgate Museum", False),
        ("< my sister is a dentist", "job_title", "dentist", False),
        ("< I'm a dentist", "job_title", "dentist", True),
        ("< his mail is sam.pike@example.org", "email", "sam.pike@example.org", False),
        ("< My son Leo and my daughter Mia are here", "family", "son Leo", True),
        ("< My son Leo and my daughter Mia are here", "family", "son Mia", False),
        ("< im at my sisters in Leeds, fri to sun", "family", "sister", True),
        ("< the sisterhood meets on friday", "family", "sister", False),
        ("< Tamara, I'm off to my son in Leeds", "family", "son", True),
        ("< Tamara is off to her son in Leeds", "family", "son", False),
    ],
)
def test_a_fact_is_of_whom_the_words_tell(said: str, kind: str, value: str, is_sams: bool) -> None:
    assert bool(kept(said, kind, "Sam Pike", value)) == is_sams


@pytest.mark.parametrize(
    ("said", "is_sams"),
    [
        ("< Спросите Рустама, прораб, +7 912 345-67-89", False),
        ("< Звоните Рустаму: +7 912 345-67-89", False),
        ("< Номер мастера Ольги +7 912 345-67-89", False),
        ("< Мой номер для Рустама: +7 912 345-67-89", True),
        ("< Телефон для Рустама: +7 912 345-67-89", True),
        ("< Передайте Рустаму номер +7 912 345-67-89", True),
        ("< Еду с Ольгой в офис, +7 912 345-67-89", True),
    ],
)
def test_a_number_behind_somebody_who_is_to_be_asked_is_theirs(said: str, is_sams: bool) -> None:
    assert bool(kept(said, "phone", "Семён Пик", "+7 912 345-67-89", "ru")) == is_sams


@pytest.mark.parametrize(
    ("said", "is_sams"),
    [
        ("< Тамара, я еду к сыну в Березники", True),
        ("< Тамара, к сыну уехала она в Березники", False),
        ("< Тамара едет к сыну в Березники", False),
    ],
)
def test_whoever_is_called_at_the_head_of_a_message_is_not_told_of(said: str, is_sams: bool) -> None:
    assert bool(kept(said, "family", "Семён Пик", "сын", "ru")) == is_sams


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("12 May", "05-12"),
        ("12 мая 1990", "1990-05-12"),
        ("5月12日", "05-12"),
        ("05-12", "05-12"),
        ("dentist", "dentist"),
    ],
)
def test_a_birthday_is_kept_as_a_day(value: str, day: str) -> None:
    assert written_day(value, date(2026, 3, 1)) == day


@pytest.mark.parametrize(
    ("language", "about", "said", "value"),
    [
        ("en", "Sam Pike", "> And your date of birth? | < 2 November 1988", "1988-11-02"),
        ("en", "Sam Pike", "< I was born on March 14, 1999", "1999-03-14"),
        ("ru", "Семён Пик", "< Я родился 14 мая 1986 года", "1986-05-14"),
        ("ru", "Семён Пик", "< дата рождения 03.05.1979", "1979-05-03"),
        ("zh", "孙培", "< 我的生日是1990年4月18日", "1990-04-18"),
    ],
)
def test_a_day_of_birth_of_the_last_century_is_in_its_message(language: str, about: str, said: str, value: str) -> None:
    assert kept(said, "birthday", about, value, language) == [value]
    assert kept(said, "birthday", about, value.replace("19", "20", 1), language) == []


@pytest.mark.parametrize(
    ("language", "about", "said", "value", "is_theirs"),
    [
        ("ru", "Семён Пик", "> Мама твоя звонила, просила перезвонить", "мама", True),
        ("ru", "Семён Пик", "> Жену твою видел на рынке", "жена", True),
        ("ru", "Семён Пик", "> Результаты Вашей мамы готовы", "мама", True),
        ("ru", "Семён Пик", "> Мама моя звонила", "мама", False),
        ("en", "Sam Pike", "> ask ur sister about it", "sister", True),
        ("zh", "孙培", "> 她说在我家憋得慌 你嫂子上班我也上班", "嫂子", True),
        ("zh", "孙培", "> 我嫂子上班", "嫂子", False),
    ],
)
def test_a_relative_beside_a_word_for_you_is_of_who_is_spoken_to(
    language: str, about: str, said: str, value: str, is_theirs: bool
) -> None:
    assert bool(kept(said, "family", about, value, language)) == is_theirs
