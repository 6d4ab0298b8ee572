# ruff: noqa: E501 - a turn of phrase stays on its line
"""Dates in Russian, English and Chinese speech, relative to the day on which they were said. Own rules only.

A general date library reads these words too, but takes seconds on its first call and guesses days out of plain numbers;
what people write in chats is a closed set of forms. Nothing here knows of tasks or decisions.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from pkg_pipeline.memory.records import Language

_MONTHS = {
    "en": ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    "ru": ("янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"),
}
_MONTH_EN = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_MONTH_RU = r"(?P<month>январ[яьюе]|феврал[яьюе]|март[ауе]?|апрел[яьюе]|ма[йяюе]|июн[яьюе]|июл[яьюе]|август[ауе]?|сентябр[яьюе]|октябр[яьюе]|ноябр[яьюе]|декабр[яьюе])"
_DAYS_EN = r"(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|nesday|rs|rsday|urday)?"
_DAYS_RU = r"(?P<weekday>понедельник|вторник|сред|четверг|пятниц|суббот|воскресень)(?:[аеуыяюиой]|ью|ам|ям)?"
_WEEKDAYS = {
    "en": ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    "ru": ("понедельник", "вторник", "сред", "четверг", "пятниц", "суббот", "воскресень"),
}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "couple of": 2, "a couple of": 2,
    "": 1, "один": 1, "одну": 1, "два": 2, "две": 2, "пару": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7, "десять": 10,
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 3,
}  # fmt: skip
_ZH_NUMBER = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})"
_ZH_WEEKDAY = "一二三四五六日"
FRIDAY = 4
FORGIVEN_DAYS = 30
"""A day and month without a year may lie this far back; farther back, next year is meant."""


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and where it stands in the text. ``is_deadline``: a word before or after it says "by then"."""

    day: date
    start: int
    end: int
    is_deadline: bool


def _chinese_number(text: str) -> int:
    if text.isdigit():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_NUMBERS.get(tens, 1) if tens else 1) * 10 + (_NUMBERS[ones] if ones else 0)
    return _NUMBERS.get(text, 0)


def _number(text: str | None) -> int:
    word = (text or "").strip().lower()
    return int(word) if word.isdigit() else _NUMBERS.get(word, 1)


def _month_end(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _later_month(today: date, months: int) -> tuple[int, int]:
    index = today.year * 12 + today.month - 1 + months
    return index // 12, index % 12 + 1


def _add_months(today: date, months: int) -> date:
    year, month = _later_month(today, months)
    return date(year, month, min(today.day, monthrange(year, month)[1]))


def _day_and_month(today: date, day: int, month: int, year: str | None) -> date | None:
    try:
        if year:
            number = int(year)
            return date(number + 2000 if number < 100 else number, month, day)
        found = date(today.year, month, day)
    except ValueError:
        return None
    return (
        found
        if found >= today - timedelta(days=FORGIVEN_DAYS)
        else _day_and_month(today, day, month, str(today.year + 1))
    )


def _day_of_month(today: date, day: int) -> date | None:
    for months in range(3):
        year, month = _later_month(today, months)
        if day <= monthrange(year, month)[1] and (found := date(year, month, max(1, day))) >= today:
            return found
    return None


def _weekday(today: date, number: int, which: str) -> date:
    """``which``: "next" is the calendar week after this one, "this" is this week, "" the next time that day comes."""
    monday = today - timedelta(days=today.weekday())
    if which == "next":
        return monday + timedelta(days=7 + number)
    if which == "after next":
        return monday + timedelta(days=14 + number)
    if which == "this":
        return monday + timedelta(days=number)
    return today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)


def _week_end(today: date, weeks: int) -> date:
    monday = today - timedelta(days=today.weekday())
    friday = monday + timedelta(days=7 * weeks + FRIDAY)
    return friday if friday >= today else monday + timedelta(days=7 * weeks + 6)


Rule = tuple[str, Callable[[date, re.Match[str]], date | None]]


def _span(today: date, count: int, unit: str) -> date:
    if unit[0] in "dд天日":
        return today + timedelta(days=count)
    if unit[0] in "wн周星礼":
        return today + timedelta(weeks=count)
    return _add_months(today, count)


def _month_number(language: str, word: str) -> int:
    word = word.lower()
    if language == "ru" and word.startswith("мар"):
        return 3
    return next(i for i, stem in enumerate(_MONTHS[language], 1) if word.startswith(stem))


def _named(language: str) -> Callable[[date, re.Match[str]], date | None]:
    def day_month(today: date, m: re.Match[str]) -> date | None:
        return _day_and_month(today, int(m["day"]), _month_number(language, m["month"]), m["year"])

    return day_month


def _numeric(today: date, m: re.Match[str]) -> date | None:
    return _day_and_month(today, int(m["day"]), int(m["mon"]), m["year"])


def _slashed(today: date, m: re.Match[str]) -> date | None:
    first, second = int(m["a"]), int(m["b"])
    day, month = (first, second) if first > 12 else (second, first)
    return _day_and_month(today, day, month, m["year"])


def _iso(today: date, m: re.Match[str]) -> date | None:
    return _day_and_month(today, int(m["day"]), int(m["mon"]), m["year"])


def _in_days(days: int) -> Callable[[date, re.Match[str]], date | None]:
    return lambda today, _m: today + timedelta(days=days)


_COMMON: tuple[Rule, ...] = (
    (r"\b(?P<year>20\d\d)[-/](?P<mon>\d{1,2})[-/](?P<day>\d{1,2})\b", _iso),
    (r"(?<![\d.])(?P<day>\d{1,2})\.(?P<mon>0[1-9]|1[0-2])(?:\.(?P<year>20\d\d|\d\d))?(?![\d%.]\d|\d)", _numeric),
    (r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:/(?P<year>20\d\d|\d\d))?(?![\d/])", _slashed),
)
_EN: tuple[Rule, ...] = (
    (r"\bday after tomorrow\b", _in_days(2)),
    (r"\b(?:tomorrow|tmrw|tmr|tomorow)\b", _in_days(1)),
    (r"\b(?:today|tonight|this (?:morning|afternoon|evening)|(?:by |until )?(?:the )?end of (?:the )?day|eod|cob)\b", _in_days(0)),
    (r"\byesterday\b", _in_days(-1)),
    (r"\b(?:in|within) (?P<n>\d{1,2}|an?|one|two|three|four|five|six|seven|ten|a couple of) (?P<unit>day|week|month)s?\b", lambda t, m: _span(t, _number(m["n"]), m["unit"].lower())),
    (rf"\b(?:(?P<which>next|this|coming) )?{_DAYS_EN}\b", lambda t, m: _weekday(t, _WEEKDAYS["en"].index(m["weekday"].lower()), {"next": "next", "this": "this"}.get((m["which"] or "").lower(), ""))),
    (r"\b(?:the )?end of (?:the |this )?week\b|\bthis week\b|\beow\b", lambda t, _m: _week_end(t, 0)),
    (r"\b(?:the )?(?:this |the )?weekend\b", lambda t, _m: _weekday(t, 5, "this") if t.weekday() < 6 else t),
    (r"\b(?:the )?end of (?:the |this )?month\b|\beom\b", lambda t, _m: _month_end(t.year, t.month)),
    (rf"\b{_MONTH_EN} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>20\d\d))?\b", _named("en")),
    (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH_EN}(?:,? (?P<year>20\d\d))?\b", _named("en")),
    (r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b", lambda t, m: _day_of_month(t, int(m["day"]))),
)  # fmt: skip
_RU: tuple[Rule, ...] = (
    (r"\bпослезавтра\b", _in_days(2)),
    (r"\bзавтра(?:шн\w+)?\b", _in_days(1)),
    (r"\b(?:сегодня(?:шн\w+)?|(?:до )?конца дня|к вечеру|вечером)\b", _in_days(0)),
    (r"\bвчера\b", _in_days(-1)),
    (r"\bчерез (?:(?P<n>\d{1,2}|один|одну|два|две|пару|три|четыре|пять|шесть|семь|десять) )?(?P<unit>день|дня|дней|недел[юиья]|месяц(?:а|ев)?)(?!\w)", lambda t, m: _span(t, _number(m["n"]), {"м": "m"}.get(m["unit"][0].lower(), m["unit"].lower()))),
    (rf"\b(?:(?P<which>следующ\w+|эт\w+|ближайш\w+) )?{_DAYS_RU}(?!\w)(?P<late> (?:на )?следующей недел[еи])?", lambda t, m: _weekday(t, _WEEKDAYS["ru"].index(m["weekday"].lower()), "next" if m["late"] or (m["which"] or "").lower().startswith("след") else "this" if (m["which"] or "").lower().startswith("эт") else "")),
    (r"\b(?:до |к |в )?кон(?:ца|цу|це) (?:этой )?недели\b|\bна этой неделе\b", lambda t, _m: _week_end(t, 0)),
    (r"\b(?:на |в )?(?:этих |эти )?выходны[хе]\b", lambda t, _m: _weekday(t, 5, "this") if t.weekday() < 6 else t),
    (r"\b(?:до |к |в )?кон(?:ца|цу|це) следующей недели\b", lambda t, _m: _week_end(t, 1)),
    (r"\b(?:до |к |в )?кон(?:ца|цу|це) (?:этого )?месяца\b", lambda t, _m: _month_end(t.year, t.month)),
    (rf"\b(?P<day>\d{{1,2}})(?:-?(?:го|му|е|ое))? {_MONTH_RU}(?:\s+(?P<year>20\d\d))?(?!\w)", _named("ru")),
    (r"\b(?:до|к|на) (?P<day>\d{1,2})(?:-?(?:го|му|е|ое))(?: числа)?(?!\w)|\b(?P<day2>\d{1,2})(?:-?го)? числа\b", lambda t, m: _day_of_month(t, int(m["day"] or m["day2"]))),
)  # fmt: skip
_ZH: tuple[Rule, ...] = (
    (r"大后天", _in_days(3)),
    (r"后天", _in_days(2)),
    (r"明(?:天|早|晚|日)", _in_days(1)),
    (r"今(?:天|晚|日)|下班(?:之)?前|晚上|(?<!明天)下午", _in_days(0)),
    (r"昨(?:天|晚|日)", _in_days(-1)),
    (r"(?P<which>下下个?|下个?|这个?|本)?(?:周|星期|礼拜)(?P<d>[一二三四五六日天])", lambda t, m: _weekday(t, _ZH_WEEKDAY.index("日" if m["d"] == "天" else m["d"]), {"下下": "after next", "下": "next", "这": "this", "本": "this"}.get((m["which"] or "").removesuffix("个"), ""))),
    (r"(?P<which>下)?(?:个)?(?:周末)", lambda t, m: _weekday(t, 5, "next" if m["which"] else "this") if t.weekday() < 6 or m["which"] else t),
    (r"(?:这|本)(?:个)?(?:周|星期|礼拜)(?:内|之内)?(?![一二三四五六日天末])", lambda t, _m: _week_end(t, 0)),
    (r"下个?月(?:底|末)", lambda t, _m: _month_end(*_later_month(t, 1))),
    (r"(?:这个?|本)?月(?:底|末)", lambda t, _m: _month_end(t.year, t.month)),
    (rf"(?:(?P<year>20\d\d)年)?(?P<mon>{_ZH_NUMBER})月(?P<day>{_ZH_NUMBER})[日号]?", lambda t, m: _day_and_month(t, _chinese_number(m["day"]), _chinese_number(m["mon"]), m["year"])),
    (rf"(?<!\d)(?P<day>{_ZH_NUMBER})[号](?!楼|线|店|机|院|馆|桌|房|码|厅|门)", lambda t, m: _day_of_month(t, _chinese_number(m["day"]))),
    (r"(?P<n>\d{1,2}|[一二两三四五六七八九十])(?:个)?(?P<unit>天|周|星期|礼拜|月)(?:之?后|以?内|之内)", lambda t, m: _span(t, _chinese_number(m["n"]), m["unit"])),
)  # fmt: skip

_BEFORE = {
    "en": r"(?:\bby|\buntil|\btill|\bbefore|\bdue(?: on| by)?|\bno later than|\bdeadline(?: is|:)?)\s+(?:the |end of |noon |close of )*$",
    "ru": r"(?:\bдо|\bк|\bне позднее|\bпо|\bсрок\w*|\bдедлайн)[\s—:-]+(?:конца |обеда |вечера |утра )*$",
    "zh": r"(?:在|截止(?:日期|时间)?(?:是|到)?|最晚|最迟|赶在|不晚于)$",
}
_AFTER_ZH = r"^[^，。！？]{0,6}?(?:之前|以前|前|截止)"


@cache
def _compiled(language: Language) -> tuple[tuple[re.Pattern[str], Callable[[date, re.Match[str]], date | None]], ...]:
    own = {"en": _EN, "ru": _RU, "zh": _ZH}[language]
    return tuple((re.compile(pattern, re.IGNORECASE), rule) for pattern, rule in _COMMON + own)


def find_dates(text: str, language: Language, today: date) -> list[FoundDate]:
    """Every date that a text names, in order, none overlapping another; earlier rules win.

    ``today`` is the local day on which the text was said. Chinese and Russian texts are read with their own rules, then
    with the English ones for what remains, since people mix.
    """
    if not text or len(text) > 5000:
        text = text[:5000]
    found: list[FoundDate] = []
    taken = bytearray(len(text))
    for tongue in (language,) if language == "en" else (language, "en"):
        for pattern, rule in _compiled(tongue):
            for m in pattern.finditer(text):
                if any(taken[m.start() : m.end()]):
                    continue
                try:
                    day = rule(today, m)
                except (ValueError, OverflowError):
                    day = None
                if day is not None:
                    taken[m.start() : m.end()] = b"\x01" * (m.end() - m.start())
                    found.append(FoundDate(day, m.start(), m.end(), _says_by(text, m, tongue)))
    return sorted(found, key=lambda f: f.start)


def _says_by(text: str, m: re.Match[str], language: Language) -> bool:
    before = text[max(0, m.start() - 30) : m.start()]
    if re.search(_BEFORE[language], before, re.IGNORECASE):
        return True
    if language == "ru" and re.match(r"(?:до|к)\s", m.group(), re.IGNORECASE):
        return True
    return language == "zh" and re.match(_AFTER_ZH, text[m.end() : m.end() + 10]) is not None


def due_date(text: str, language: Language, today: date) -> date | None:
    """The day by which something is due: the first deadline named, else the first date that is not past."""
    dates = [found for found in find_dates(text, language, today) if found.day >= today]
    deadlines = [found for found in dates if found.is_deadline]
    return (deadlines or dates)[0].day if dates else None
