"""Date placeholders of the bundled conversations: ``{date:+5d}`` becomes "15 марта", "15 March" or "3月15日"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from pkg_pipeline.memory.languages import table
from pkg_pipeline.memory.records import Language

_FORMS = {
    "en": {"date": "{day} {month}", "on": "on {weekday}", "inmonth": "in {month}"},
    "ru": {"date": "{day} {month}", "on": "{to} {weekday}", "inmonth": "в {month}"},
    "zh": {"date": "{month}月{day}日", "on": "{weekday}", "inmonth": "{month}月"},
}
_SHORT_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_PLACEHOLDER = re.compile(r"\{(?P<name>[a-z]+):(?P<when>[^{}]+)\}")
_OFFSET = re.compile(r"(?P<anchor>@?)(?P<count>[+-]\d+)(?P<unit>[dw])")
_WEEKDAY = re.compile(r"(?P<day>Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:\+(?P<weeks>\d+)w)?")


def resolve(when: str, *, nominal: date, spoken: date, today: date) -> date:
    """The day that ``when`` means. ``ValueError``.

    ``+5d``, ``-2w``: from ``nominal``, the heading's day; ``@-40d``: from ``today``, the demo's day; ``Fri``,
    ``Fri+1w``: the first weekday strictly after ``spoken``, the real day.
    """
    if match := _OFFSET.fullmatch(when):
        days = int(match["count"]) * (7 if match["unit"] == "w" else 1)
        return (today if match["anchor"] else nominal) + timedelta(days=days)
    if match := _WEEKDAY.fullmatch(when):
        ahead = (_SHORT_WEEKDAYS.index(match["day"]) - spoken.weekday() - 1) % 7 + 1
        return spoken + timedelta(days=ahead, weeks=int(match["weeks"] or 0))
    raise ValueError(f"not a relative date: {when!r}")


def in_words(form: str, day: date, language: Language) -> str:
    """``day`` in a form: date, on (that weekday), inmonth. ``ValueError``."""
    if form not in _FORMS[language]:
        raise ValueError(f"no such form of a date: {form!r}")
    names = table(language, "phrases")
    month, weekday = names["months"].split()[day.month - 1], names["weekdays"].split()[day.weekday()]
    if language == "ru":  # names in genitive and nominative: "марта" → "марте", "среда" → "среду"
        month = re.sub(r".$", "е", month) if form == "inmonth" else month
        weekday = re.sub(r"а$", "у", weekday)
    to = "во" if weekday.startswith("вт") else "в"
    return _FORMS[language][form].format(day=day.day, month=month, weekday=weekday, to=to)


def fill(text: str, *, nominal: date, spoken: date, today: date, language: Language) -> str:
    """``text`` with placeholders replaced; ``{ctrl}`` becomes U+0001."""

    def words(match: re.Match[str]) -> str:
        day = resolve(match["when"], nominal=nominal, spoken=spoken, today=today)
        return in_words(match["name"], day, language)

    return _PLACEHOLDER.sub(words, text.replace("{ctrl}", "\x01"))
