"""Rewordings and faults of an audit, made out of any right answer by rules that know nothing of the gates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from pkg_pipeline_tests.memory.truth.talks import Part, Talk, Variant

_RU_DAYS = ("понедельник", "вторник", "среду", "четверг", "пятницу", "субботу", "воскресенье")
_EN_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ZH_DAYS = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")
_DAYS = {"ru": _RU_DAYS, "en": _EN_DAYS, "zh": _ZH_DAYS}
_RU_MONTHS = ("января", "февраля", "марта", "апреля", "мая", "июня", "июля")
_RU_MONTHS += ("августа", "сентября", "октября", "ноября", "декабря")
_EN_MONTHS = ("January", "February", "March", "April", "May", "June", "July")
_EN_MONTHS += ("August", "September", "October", "November", "December")
_TOMORROW = {"ru": "завтра", "en": "tomorrow", "zh": "明天"}
_HALF_DAY = (("утра", "вечера"), ("in the morning", "in the evening"), ("早上", "晚上"), ("下午", "上午"))
_RATES = (("в месяц", "в год"), ("a month", "a year"), ("每月", "每年"))
_TAXES = (("без НДС", "с НДС"), ("net of VAT", "including VAT"), ("不含税", "含税"))
_MONEY = {
    "ru": ((r"(\d) рублей", r"\1 ₽"), (r"(\d) рублей", r"\1 руб.")),
    "en": ((r"([\d,]*\d) pounds", r"£\1"), (r"([\d,]*\d) euros", r"€\1"), (r"([\d,]*\d) euros", r"EUR \1")),
    "zh": ((r"(\d+)元", r"¥\1"), (r"(\d+)元", r"\1块钱")),
}
_LABELS = (("номер ", "№ "), (" number ", " no. "))
_RU_UNITS = [
    "пять",
    "шесть",
    "семь",
    "восемь",
    "девять",
    "десять",
    "одиннадцать",
    "двенадцать",
    "тринадцать",
    "четырнадцать",
    "пятнадцать",
]
_EN_UNITS = [
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]
_COUNT = {
    "ru": re.compile(r"(?<![\d.,:№] )(?<![\d.,:])(?<!до )(?<!с )(?<!по )(?<!на )\b(\d{1,2}) (?=[а-я]{3,})"),
    "en": re.compile(r"(?<![\d.,:])(?<!to )(?<!number )(?<!bay )\b(\d{1,2}) (?=[a-z]{3,})"),
}
_NUMBER = re.compile(r"(?<![\d.,:])\d{1,3}(?:[ ,]\d{3})+(?![\d:])|(?<![\d.,:])\d+(?![\d:]|[.,]\d)")
_SPLIT = re.compile(r"(?<=\w); (\w)")


def generated(talk: Talk, part: Part) -> Iterator[Variant]:
    """What can be made of one part; nothing of one that is wrong already."""
    if part.fault is not None or part.what not in {"item", "summary"}:
        return
    text = part.fields["text"]
    for kind, is_right, make in _MAKERS:
        for other in make(talk, part, text):
            if other != text:
                yield Variant(kind, is_right, {"text": other}, is_generated=True)


def _digits(_talk: Talk, _part: Part, text: str) -> Iterator[str]:
    """Every number, a tenth and one more than it was; what is no number of the talk."""
    said = {_plain(found) for _, _, words in _talk.said for found in _NUMBER.findall(words)}
    for found in _NUMBER.finditer(text):
        other = str(int(_plain(found.group())) * 11 // 10 + 1)
        if other not in said:
            yield text[: found.start()] + other + text[found.end() :]


def _thousands(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    """A count a thousand times as large."""
    if talk.language == "zh":
        return
    word = {"ru": "тысяч", "en": "thousand"}[talk.language]
    for found in _COUNT[talk.language].finditer(text):
        if not _is_month(text[found.end() :]):
            yield f"{text[: found.end()]}{word} {text[found.end() :]}"


def _next_weekday(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    days = _DAYS[talk.language]
    for number, day in enumerate(days):
        if day in text:
            yield text.replace(day, days[(number + 1) % 7]).replace("во четверг", "в четверг")


def _next_month(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    if talk.language == "zh":
        if found := re.search(r"(\d+)月", text):
            yield text.replace(found.group(), f"{int(found[1]) % 12 + 1}月")
        return
    months = {"ru": _RU_MONTHS, "en": _EN_MONTHS}[talk.language]
    for number, month in enumerate(months):
        if re.search(rf"\d {month}\b", text):
            yield text.replace(month, months[(number + 1) % 12])


def _turned(pairs: tuple[tuple[str, str], ...]) -> Callable[[Talk, Part, str], Iterator[str]]:
    def make(_talk: Talk, _part: Part, text: str) -> Iterator[str]:
        for one, other in pairs:
            if one in text:
                yield text.replace(one, other, 1)

    return make


def _other_actor(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    """Somebody else of the talk in the place of whom the text begins with."""
    people = [talk.me, *talk.others]
    for name in people:
        first = name.split()[0] if talk.language != "zh" else name
        rest = text.removeprefix(name) if text.startswith(name) else text.removeprefix(first)
        others = [one for one in people if one != name and one.split()[0] != first]
        if rest != text and not any(one in rest for one in others):
            yield from (one + rest for one in others if " и " not in rest[:4] and " and " not in rest[:6])


def _denied(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    begin = {"ru": "Неверно, что ", "en": "It is not true that ", "zh": "并不是"}[talk.language]
    yield begin + text


def _points(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    for one, other in (("процентов", "процентных пунктов"), ("percent", "percentage points"), ("%", "个百分点")):
        if one in text:
            yield text.replace(one, other)


def _grouping(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    """Thousands told in other ways: without a gap, and by a word or a letter."""
    for found in re.finditer(r"(?<![\d.,])(\d{1,3})[ ,]?(\d{3})(?![\d.,:])", text):
        whole, rest = found.groups()
        short = f"{whole}.{rest}".rstrip("0").rstrip(".")
        forms = {
            "ru": (whole + rest, short.replace(".", ",") + " тыс."),
            "en": (whole + rest, short + "k"),
            "zh": (f"{whole},{rest}", *_in_myriads(int(whole + rest))),
        }
        for form in forms[talk.language]:
            yield text[: found.start()] + form + text[found.end() :]


def _in_myriads(number: int) -> tuple[str, ...]:
    return (f"{number / 10000:g}万",) if number >= 10000 and number % 100 == 0 else ()


def _in_words(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    if talk.language == "zh":
        return
    words = {"ru": _RU_UNITS, "en": _EN_UNITS}[talk.language]
    for found in _COUNT[talk.language].finditer(text):
        number = int(found[1]) - 5
        if 0 <= number < len(words) and not _is_month(text[found.end() :]):
            yield text[: found.start()] + words[number] + " " + text[found.end() :]


def _money(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    for pattern, form in _MONEY[talk.language]:
        yield re.sub(pattern, form, text)


def _dated(talk: Talk, part: Part, text: str) -> Iterator[str]:
    """A weekday or "tomorrow" told as the date, where the answer says which day it is."""
    if part.fields.get("due", "-") == "-":
        return
    due, day = date.fromisoformat(part.fields["due"]), date.fromisoformat(talk.day)
    told = _DAYS[talk.language][due.weekday()]
    form = {
        "ru": f"{due.day} {_RU_MONTHS[due.month - 1]}",
        "en": f"{due.day} {_EN_MONTHS[due.month - 1]}",
        "zh": f"{due.month}月{due.day}日",
    }[talk.language]
    genitive = {"понедельник": "понедельника", "пятницу": "пятницы"}
    for one in (f"в {told}", f"к {told}у", f"до {genitive.get(told, told)}", told):
        if re.search(rf"\b{one}\b", text) if talk.language != "zh" else one in text:
            begin = one.split()[0] + " " if one[:2] in {"к ", "до"} else ""
            yield text.replace(one, begin.replace("до ", "до ") + form)
            break
    if due == day + timedelta(days=1) and _TOMORROW[talk.language] in text:
        yield text.replace(_TOMORROW[talk.language], f"on {form}" if talk.language == "en" else form)


def _whole_name(talk: Talk, _part: Part, text: str) -> Iterator[str]:
    for name in (talk.me, *talk.others):
        first, _, last = name.partition(" ")
        is_only = sum(one.startswith(first) for one in (talk.me, *talk.others)) == 1
        if last and is_only and re.match(rf"{first} (?!{last})", text):
            yield name + text[len(first) :]
            yield last + text[len(first) :]


def _two_sentences(_talk: Talk, _part: Part, text: str) -> Iterator[str]:
    yield _SPLIT.sub(lambda found: f". {found[1].upper()}", text)


def _plain(number: str) -> str:
    return number.replace(" ", "").replace(",", "")


def _is_month(text: str) -> bool:
    return text.split(" ")[0].strip(".,;") in {*_RU_MONTHS, *_EN_MONTHS}


_MAKERS: tuple[tuple[str, bool, Callable[[Talk, Part, str], Iterator[str]]], ...] = (
    ("digits", False, _digits),
    ("thousand", False, _thousands),
    ("weekday", False, _next_weekday),
    ("month", False, _next_month),
    ("halfday", False, _turned(_HALF_DAY)),
    ("rate", False, _turned(_RATES)),
    ("net", False, _turned(_TAXES)),
    ("points", False, _points),
    ("actor", False, _other_actor),
    ("denied", False, _denied),
    ("grouping", True, _grouping),
    ("in words", True, _in_words),
    ("money", True, _money),
    ("dated", True, _dated),
    ("label", True, _turned(_LABELS)),
    ("whole name", True, _whole_name),
    ("split", True, _two_sentences),
)
