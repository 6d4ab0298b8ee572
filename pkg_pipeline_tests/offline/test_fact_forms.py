"""Contact cards, vCards, forms and lists of birthdays: rows that say what they hold, under whose name (P13)."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.records import Language
from pkg_pipeline_tests.offline.test_facts import Said, shown

CARD_EN = (
    "here's our plumber:\nName: Nora Quill\nMobile: +44 20 7946 0018\nEmail: nora@quill.co.uk\nCompany: Quill & Sons"
)
CARD_RU = (
    "контакт нашего юриста:\nФИО: Седов Марк Ильич\nТел.: 8 (812) 555-41-90\nДолжность: партнёр\nКомпания: «Седов и Ко»"
)
CARD_ZH = "名片\n姓名：高远\n手机：13355554190\n公司：远景律师事务所\n职位：合伙人\n生日：1985-03-02"
VCARD = (
    "BEGIN:VCARD\nVERSION:3.0\nFN:Ada Lund\nORG:Lund Marine;Repairs\nTITLE:Sailmaker\nTEL;TYPE=CELL:+4520123456\n"
    "ADR;TYPE=WORK:;;Havnegade 4;Aarhus;;8000;Denmark\nBDAY:19790614\nEND:VCARD"
)
FOUND: list[tuple[Language, Said, set[tuple[str, str, str]]]] = [
    (
        "en",
        (("Tess", CARD_EN),),
        {
            ("phone", "+442079460018", "Nora Quill"),
            ("email", "nora@quill.co.uk", "Nora Quill"),
            ("organization", "Quill & Sons", "Nora Quill"),
            ("position", "plumber", "Nora Quill"),
        },
    ),
    (
        "ru",
        (("Лена", CARD_RU),),
        {
            ("phone", "+78125554190", "Седов Марк Ильич"),
            ("position", "партнёр", "Седов Марк Ильич"),
            ("organization", "«Седов и Ко»", "Седов Марк Ильич"),
        },
    ),
    (
        "zh",
        (("小李", CARD_ZH),),
        {
            ("phone", "+8613355554190", "高远"),
            ("organization", "远景律师事务所", "高远"),
            ("position", "合伙人", "高远"),
            ("birthday", "1985-03-02", "高远"),
        },
    ),
    (
        "en",
        (("Tess", VCARD),),
        {
            ("organization", "Lund Marine, Repairs", "Ada Lund"),
            ("position", "Sailmaker", "Ada Lund"),
            ("phone", "+4520123456", "Ada Lund"),
            ("address", "Havnegade 4, Aarhus, 8000, Denmark", "Ada Lund"),
            ("birthday", "1979-06-14", "Ada Lund"),
        },
    ),
    (
        "en",
        (
            ("Tess", "please send the child's name, birthday and a contact number"),
            ("Me", "Poppy, 2 Feb 2015, me 020 7946 0018"),
        ),
        {("birthday", "2015-02-02", "Poppy"), ("phone", "+442079460018", "Me")},
    ),
    (
        "ru",
        (("Лена", "напишите имя и дату рождения ребёнка"), ("Я", "Мирон, 11.08.2018")),
        {("birthday", "2018-08-11", "Мирон")},
    ),
    (
        "zh",
        (("小李", "请提供孩子姓名和出生日期"), ("我", "陆子谦 2018年8月11日")),
        {("birthday", "2018-08-11", "陆子谦")},
    ),
]


@pytest.mark.parametrize(("language", "said", "facts"), FOUND)
def test_cards_and_lists_are_of_whom_they_name(
    language: Language, said: Said, facts: set[tuple[str, str, str]]
) -> None:
    assert shown(language, said) == facts


NONE: list[tuple[Language, Said, str]] = [
    ("en", (("Tess", "Name: the red one\nPrice: 40\nSize: M"),), "organization"),
    ("en", (("Tess", "Isaac, 17/06/2024 for the plumber"),), "birthday"),
    ("ru", (("Лена", "Имя: Пушок\nВес: 4 кг"),), "position"),
]


@pytest.mark.parametrize(("language", "said", "kind"), NONE)
def test_rows_of_other_things_are_none(language: Language, said: Said, kind: str) -> None:
    assert kind not in {one for one, _, _ in shown(language, said)}
