"""Numbers with their units in a text, and whether what was said supports them (B18)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from pkg_pipeline.memory.gate.number_words import scale_of, spelled
from pkg_pipeline.memory.languages import entries, word_set
from pkg_pipeline.memory.languages.scripts import HAN

CURRENCIES: Final = frozenset({"rub", "usd", "eur", "gbp", "cny"})
HOUR: Final = 3600.0
HALF_DAY: Final = 12
YEARS: Final = range(1900, 2101)
LONG_DIGITS: Final = 7
"""From so many digits on a number with marks between is a name of something: a phone, an account."""
COMPARED_DIGITS: Final = 10
COLLOQUIAL: Final = (1000.0, 10_000.0)
"""What speakers leave out of sums: "400-450" is thousands, 35 may be 万."""

_CLOCK: Final = re.compile(
    r"(?<![\d.,:])(?P<h>[01]?\d|2[0-4])[:：](?P<m>[0-5]\d)(?::\d\d)?(?!\d)\s?(?P<half>[ap]\.?m\b)?"
    r"|(?<![\d.,:])(?P<h2>1[0-2]|0?[1-9])\s?(?P<half2>[ap]\.?m\b)"
    r"|(?P<past>halfpast|quarter past|quarter to)\s(?P<h3>1[0-2]|[1-9])(?!\d)"
    r"|(?P<part>凌晨|早上|上午|中午|下午|晚上|今晚|明晚)?(?<![\d.,:])(?P<h4>[01]?\d|2[0-4])点钟?(?P<m4>半|1刻|3刻|[0-5]?\d分?)?"
    r"|(?<![\d.,:])(?P<h5>1[0-2]|[1-9])(?: час\w{0,2})? "
    r"(?P<part5>утра|вечера|ночи|(?<=час )дня|(?<=часа )дня|(?<=часов )дня|(?<=[вк] \d )дня)(?!\w)"
)
_LONG: Final = re.compile(r"\+?\d(?:[ ().\u00a0-]{0,3}\d){6,}")
_CODE: Final = re.compile(rf"(?<![^\W{HAN}])(?![мm][23](?!\w))(?:[^\W\d_{HAN}]{{1,6}}-?\d[\w-]{{0,20}})")
_NUMBER: Final = re.compile(
    r"(?P<sign>[$€£¥₽]\s?)?(?<![\dmм])(?P<number>\d+(?:[ \u00a0'’.,]\d{3}(?!\d))*(?:[.,]\d+)?)"
    r"(?:-?(?:го|му|ти|ми|х|й|я|е|st|nd|rd|th)(?!\w))?"
)
_NEXT: Final = re.compile(r"\s?-?(кв\.?\s?м|[mм]2(?!\d)|т\.?\s?р|[₽$€£¥%²]|[a-zа-я]+|[^\W\d_]+)\.?")
_RANGE: Final = re.compile(r"\s?(?:-|–|—|~|to|до|или|or|и|and|到|至|,)\s?(?=[$€£¥₽]?\d)")
_REST: Final = re.compile(r"\s(\d{1,3})(?!\d|[.,:]\d)")
_THING: Final = re.compile(rf"\s?([^\W\d_{HAN}]+|[{HAN}]+)")
SHORTEST_THING: Final = 4
_SPECIAL: Final = {"т": (("weight", 1e6), 1000.0), "м": (("length", 1.0), 1e6), "m": (("length", 1.0), 1e6)}


class Unit(NamedTuple):
    dimension: str
    size: float


YEAR_LONG: Final = Unit("time", 31_104_000.0)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as said: its possible values, and its unit if one was said."""

    values: frozenset[float]
    unit: Unit | None
    text: str
    is_bare: bool = True
    """No word multiplied it."""
    thing: str = ""
    """What is counted, where it is no unit: a word, or a Chinese measure word."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """All numbers of a text. ``clocks``: minutes of the day, a half day apart where it was not said which."""

    numbers: tuple[Amount, ...] = ()
    clocks: tuple[tuple[str, frozenset[int]], ...] = ()
    long: tuple[tuple[str, str], ...] = ()
    codes: tuple[tuple[str, str], ...] = ()


@cache
def _units() -> tuple[dict[str, Unit], tuple[tuple[str, Unit], ...], tuple[tuple[str, Unit], ...]]:
    whole: dict[str, Unit] = {}
    begins: list[tuple[str, Unit]] = []
    for _, rows in entries("quantities", "units"):
        for key, words in rows.items():
            dimension, size = key.split()
            for word in words.split():
                unit = Unit(dimension, float(size))
                if word.endswith("*"):
                    begins.append((word[:-1], unit))
                else:
                    whole.setdefault(word, unit)
    han = sorted(((w, u) for w, u in whole.items() if re.match(f"[{HAN}]", w)), key=lambda pair: -len(pair[0]))
    return whole, tuple(begins), tuple(han)


def unit_of(word: str) -> Unit | None:
    """The unit that a folded word names."""
    whole, begins, han = _units()
    if word in whole:
        return whole[word]
    if re.match(f"[{HAN}]", word):
        return next((unit for start, unit in han if word.startswith(start)), None)
    return next((unit for start, unit in begins if word.startswith(start)), None)


def is_unit(word: str) -> bool:
    """Whether a folded word is a unit or multiplies a number, so that it says nothing of its own."""
    return unit_of(word) is not None or scale_of(word) is not None


@lru_cache(maxsize=16_384)
def amounts(text: str, *, loosely: bool = False) -> Amounts:
    """The numbers of ``text``. ``loosely``: as for what was said, where a word may be a number or not."""
    plain = spelled(text, loosely=loosely)
    if not any(map(str.isdigit, plain)):
        return Amounts()
    clocks = tuple((m.group().strip(), _minutes(m)) for m in _CLOCK.finditer(plain))
    rest = _CLOCK.sub(" ; ", plain)
    long = tuple(
        (m.group(), digits) for m in _LONG.finditer(rest) if (digits := plain_digits(m.group())) and _is_long(m.group())
    )
    for one, _ in long:
        rest = rest.replace(one, " ; ", 1)
    codes = tuple((m.group(), squeezed(m.group())) for m in _CODE.finditer(rest))
    return Amounts(tuple(_numbers(rest)), clocks, long, codes)


def _is_long(number: str) -> bool:
    """Whether digits are a name rather than a count: many, and not in groups of thousands."""
    digits = plain_digits(number)
    grouped = re.fullmatch(r"\d{1,3}(?:[ \u00a0.]\d{3})+", number) is not None
    return len(digits) >= LONG_DIGITS and not grouped and not (number.isdigit() and digits.endswith("000"))


def plain_digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


_ALIKE: Final = str.maketrans("авекмнорстух", "abekmhopctyx")


def squeezed(text: str) -> str:
    return text.replace("-", "").replace(" ", "").translate(_ALIKE)


def _minutes(match: re.Match[str]) -> frozenset[int]:
    said = match.groupdict()
    hour = int(said["h"] or said["h2"] or said["h3"] or said["h4"] or said["h5"])
    minute = int(said["m"] or 0)
    if said["past"]:
        minute = {"halfpast": 30, "quarter past": 15, "quarter to": -15}[said["past"]]
    if said["m4"]:
        minute = {"半": 30, "1刻": 15, "3刻": 45}.get(said["m4"]) or int(plain_digits(said["m4"]) or 0)
    half = said["half"] or said["half2"] or said["part"] or said["part5"] or ""
    at = hour % 24 * 60 + minute
    if half and hour <= HALF_DAY:
        late = (
            half[0] == "p"
            or half in ("下午", "晚上", "今晚", "明晚", "дня", "вечера")
            or (half == "中午" and hour < 10)
        )
        return frozenset({(hour % HALF_DAY + (HALF_DAY if late else 0)) * 60 + minute})
    if hour > HALF_DAY or hour == 0:
        return frozenset({at})
    return frozenset({at, (at + 720) % 1440})


def _numbers(text: str) -> list[Amount]:
    found: list[Amount] = []
    spans: list[tuple[int, int]] = []
    for match in _NUMBER.finditer(text):
        values = _values(match["number"])
        unit = unit_of(match["sign"].strip()) if match["sign"] else None
        end = match.end()
        is_bare = True
        more = _NEXT.match(text, end)
        if more and (scale := _scale_of(more, text, end)) is not None:
            values, end, is_bare = {value * scale for value in values}, end + _scale_length(more, end), False
            rest = _REST.match(text, end)
            if rest:
                values |= {value + int(rest[1]) for value in values}
            more = _NEXT.match(text, end)
        if more:
            word = "".join(more[1].replace(".", "").split())
            if word in _SPECIAL:
                special, scale = _SPECIAL[word]
                unit = unit or (Unit(*special) if text[end : end + 1] == " " else None)
                values = (
                    values | {value * scale for value in values}
                    if text[end : end + 1] != " " or word == "т"
                    else values
                )
            elif word == "тр":
                unit, values, is_bare = Unit("rub", 1.0), {value * 1000 for value in values}, False
            else:
                said = unit_of(word)
                unit = unit or (None if said and word in ("г", "год", "года") and min(values) in YEARS else said)
        thing = _thing(text, end) if unit is None else ""
        found.append(Amount(frozenset(round(v, 4) for v in values), unit, match.group().strip(), is_bare, thing))
        spans.append((match.end(), end))
    return _with_ranges(text, found, spans)


@cache
def _counting() -> tuple[frozenset[str], str]:
    """Words that say nothing of what is counted, and Chinese measure words."""
    return word_set("quantities", "any_thing"), "".join(words for _, words in entries("quantities", "measures"))


def _thing(text: str, at: int) -> str:
    """The word after a number, if it names a thing."""
    anything, measures = _counting()
    match = _THING.match(text, at)
    if match is None:
        return ""
    word = match[1]
    if re.match(f"[{HAN}]", word):
        return word[0] if word[0] in measures else ""
    return "" if word in anything or len(word) < SHORTEST_THING or word in word_set("words", "stop") else word


def _scale_of(more: re.Match[str], text: str, at: int) -> float | None:
    word = more[1]
    if word in ("k", "к"):
        return 1000.0 if text[at : at + 1] == word else None
    return scale_of(word[0] if re.match(f"[{HAN}]", word) else word)


def _scale_length(more: re.Match[str], at: int) -> int:
    """How much of the text after a number its scale takes."""
    return (
        more.start(1)
        + (1 if re.match(f"[{HAN}]", more[1]) else len(more[1]))
        - at
        + (1 if more.end() > more.end(1) and not re.match(f"[{HAN}]", more[1]) else 0)
    )


def _with_ranges(text: str, found: list[Amount], spans: list[tuple[int, int]]) -> list[Amount]:
    """A number before another in a range takes that one's scale and unit."""
    made = list(found)
    for index in range(len(made) - 2, -1, -1):
        one, following = made[index], made[index + 1]
        end = spans[index][0]
        between = None if spans[index][1] != end or one.unit else _RANGE.match(text, end)
        if between is None or ("," in between[0] and following.unit and following.unit.dimension == "time"):
            continue
        values = one.values
        if not following.is_bare:
            scale = 1000.0 if max(following.values) < 1e6 else 1e6
            scale = 10_000.0 if "万" in text[end : end + 12] else scale
            values = values | {value * scale for value in values}
        made[index] = Amount(values, following.unit, one.text, one.is_bare, following.thing)
    return made


def _values(number: str) -> set[float]:
    """What digits with marks between may mean: 1,200 is 1200 or 1.2."""
    plain = re.sub(r"[ \u00a0'’]", "", number)
    marks = re.findall(r"[.,]", plain)
    values: set[float] = set()
    if not marks:
        return {float(plain)} if len(plain) < 16 else {float(plain[:15])}
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain) is not None
    if grouped:
        values.add(float(re.sub(r"[.,]", "", plain)))
    if len(marks) == 1:
        values.add(float(plain.replace(",", ".")))
    elif not grouped:
        whole, _, part = re.sub(r"[.,](?=.*[.,])", "", plain).replace(",", ".").partition(".")
        values.add(float(f"{whole}.{part or 0}"))
    return values
