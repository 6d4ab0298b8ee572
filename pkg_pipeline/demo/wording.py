"""Dates as people write them, in the language of a chat: ``{date:+5d}`` becomes "15 марта", "15 March" or "3月15日".

Only the placeholders of the bundled conversations belong here; reading the files is in ``screenplay``.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from pkg_pipeline.memory.records import Language

_RU_MONTHS = (
    "январь", "февраль", "март", "апрель", "май", "июнь",
    "июль", "август", "сентябрь", "октябрь", "ноябрь", "декабрь",
)  # fmt: skip
_RU_GENITIVE = (
    "января", "февраля", "марта", "апреля", "мая", "июня",
    "июля", "августа", "сентября", "октября", "ноября", "декабря",
)  # fmt: skip
_RU_IN_MONTH = (
    "январе", "феврале", "марте", "апреле", "мае", "июне",
    "июле", "августе", "сентябре", "октябре", "ноябре", "декабре",
)  # fmt: skip
_EN_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_MONTHS: dict[Language, tuple[str, ...]] = {
    "ru": _RU_MONTHS,
    "en": _EN_MONTHS,
    "zh": tuple(f"{number}月" for number in range(1, 13)),
}
_WEEKDAYS: dict[Language, tuple[str, ...]] = {
    "ru": ("понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": tuple(f"星期{day}" for day in "一二三四五六日"),
}
_RU_ON_WEEKDAY = (
    "в понедельник", "во вторник", "в среду", "в четверг", "в пятницу", "в субботу", "в воскресенье",
)  # fmt: skip
_SHORT_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_PLACEHOLDER = re.compile(r"\{(?P<name>[a-z]+):(?P<when>[^{}]+)\}")
_OFFSET = re.compile(r"(?P<anchor>@?)(?P<count>[+-]\d+)(?P<unit>[dw])")
_WEEKDAY = re.compile(r"(?P<day>Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:\+(?P<weeks>\d+)w)?")


def resolve(when: str, *, nominal: date, spoken: date, today: date) -> date:
    """The day that ``when`` means in a message.

    ``+5d``, ``-2w`` count from ``nominal``, the day its heading names; ``@-40d`` counts from ``today``, the demo's
    day; ``Fri`` and ``Fri+1w`` are the first such weekday strictly after ``spoken``, the day it was really sent.
    Raises ValueError for anything else.
    """
    if match := _OFFSET.fullmatch(when):
        days = int(match["count"]) * (7 if match["unit"] == "w" else 1)
        return (today if match["anchor"] else nominal) + timedelta(days=days)
    if match := _WEEKDAY.fullmatch(when):
        ahead = (_SHORT_WEEKDAYS.index(match["day"]) - spoken.weekday() - 1) % 7 + 1
        return spoken + timedelta(days=ahead, weeks=int(match["weeks"] or 0))
    raise ValueError(f"not a relative date: {when!r}")


def in_words(form: str, day: date, language: Language) -> str:
    """``day`` in one of the forms date, weekday, on (on that weekday), month, inmonth. Raises ValueError otherwise."""
    month, weekday = day.month - 1, day.weekday()
    match form:
        case "date":
            if language == "zh":
                return f"{day.month}月{day.day}日"
            name = _RU_GENITIVE[month] if language == "ru" else _MONTHS[language][month]
            return f"{day.day} {name}"
        case "weekday":
            return _WEEKDAYS[language][weekday]
        case "on":
            return {"ru": _RU_ON_WEEKDAY[weekday], "en": f"on {_WEEKDAYS['en'][weekday]}"}.get(
                language, _WEEKDAYS["zh"][weekday]
            )
        case "month":
            return _MONTHS[language][month]
        case "inmonth":
            return {"ru": f"в {_RU_IN_MONTH[month]}", "en": f"in {_MONTHS['en'][month]}"}.get(
                language, _MONTHS["zh"][month]
            )
        case _:
            raise ValueError(f"no such form of a date: {form!r}")


def fill(text: str, *, nominal: date, spoken: date, today: date, language: Language) -> str:
    """``text`` with every placeholder replaced; ``{ctrl}`` becomes the control character U+0001."""

    def words(match: re.Match[str]) -> str:
        day = resolve(match["when"], nominal=nominal, spoken=spoken, today=today)
        return in_words(match["name"], day, language)

    return _PLACEHOLDER.sub(words, text.replace("{ctrl}", "\x01"))
