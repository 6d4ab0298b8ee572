"""Which days the gate hears in words of every day, and in traditional characters."""

from __future__ import annotations

from datetime import date

import pytest

from pkg_pipeline.memory.gate.calendar import mentions

MONDAY = date(2025, 9, 29)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("позвоню ей на неделе", date(2025, 10, 5)),
        ("на этой неделе позвоню", date(2025, 10, 5)),
        ("скину на выхах", date(2025, 10, 5)),
        ("скину вечерком", MONDAY),
        ("щас сделаю", MONDAY),
        ("我禮拜五夜晚send畀你", date(2025, 10, 3)),
        ("好 我30號放工去攞", date(2025, 9, 30)),
        ("測完成績7號寄您", date(2025, 10, 7)),
        ("兩個月後還你", date(2025, 11, 29)),
        ("i was born on 2 November 1988", date(1988, 11, 2)),
        ("我1990年4月18日出生", date(1990, 4, 18)),
        ("born 3.05.1979", date(1979, 5, 3)),
    ],
)
def test_a_day_is_heard(text: str, day: date) -> None:
    assert day in {one for said in mentions(text, MONDAY) for one in said.all_days}


@pytest.mark.parametrize("text", ["неделя была тяжёлой", "в номере 5 號碼", "высох за ночь"])
def test_no_day_is_heard(text: str) -> None:
    assert not [one for said in mentions(text, MONDAY) for one in said.all_days]
