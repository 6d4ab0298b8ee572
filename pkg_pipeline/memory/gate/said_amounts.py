"""Whether the numbers of a text were said: by value, unit, thing counted and rate (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from pkg_pipeline.memory.gate.amounts import (
    COLLOQUIAL,
    COMPARED_DIGITS,
    CURRENCIES,
    HALF_DAY,
    HOUR,
    SHORTEST_THING,
    YEAR_LONG,
    YEARS,
    Amount,
    Unit,
    amounts,
    plain_digits,
    squeezed,
)
from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.gate.wording import meaning
from pkg_pipeline.memory.languages import entries, word_set
from pkg_pipeline.memory.languages.scripts import HAN

_NUMBER_IN = re.compile(r"\d+(?:[., \u00a0]\d{3}(?!\d))*")
NIGHT = (60, 300)
"""Minutes of the day that are only told as such."""
LEAST_SUM = 100
"""A bare number so large may be a price."""
SMALL = 1000
"""A text about talks may count them, and the days between them, up to here."""


class Said(NamedTuple):
    """What was said: numbers, clocks, digits and squeezed words of all texts, and the years of their days."""

    numbers: tuple[Amount, ...]
    clocks: frozenset[int]
    digits: tuple[str, ...]
    codes: frozenset[str]
    words: str
    years: frozenset[int]


def said_in(texts: Iterable[str], years: frozenset[int]) -> Said:
    taken = tuple(texts)
    read = [amounts(text, loosely=True) for text in taken]
    plain = [spelled(text, loosely=True) for text in taken]
    return Said(
        numbers=tuple(number for one in read for number in one.numbers),
        clocks=frozenset(minute for one in read for _, minutes in one.clocks for minute in minutes),
        digits=tuple(plain_digits(text) for text in plain),
        codes=frozenset(code for one in read for _, code in one.codes),
        words=squeezed("\n".join(plain)),
        years=years,
    )


def unsaid(text: str, said: Said, around: Said, *, may_count: bool = False) -> tuple[str, str] | None:
    """(reason, number) of the first number of ``text`` that was not said, or None.

    ``around``: the whole talk, which may tell a currency or unit that the cited messages leave out.
    ``may_count``: small numbers without a unit need not be said.
    """
    here = amounts(text)
    for shown, minutes in here.clocks:
        if not minutes & said.clocks and not _as_hour(minutes, said):
            return "holds a time that its messages do not", shown
    for shown, digits in here.long:
        wanted = digits[-COMPARED_DIGITS:]
        if not any(wanted in run for run in said.digits):
            return "holds a number that its messages do not", shown
    for shown, code in here.codes:
        if code not in said.words:
            return "holds a number that its messages do not", shown
    for number in here.numbers:
        if may_count and max(number.values) < SMALL and (number.unit is None or number.unit.dimension == "time"):
            continue
        if (reason := _unsupported(number, said, around)) is not None:
            return reason, number.text
    return None


def _as_hour(minutes: frozenset[int], said: Said) -> bool:
    """Whether an hour was said as a bare number: "at three"."""
    if len(minutes) == 1 and NIGHT[0] <= min(minutes) < NIGHT[1]:
        return False  # a bare "two" is no "two at night"
    hours = {minute / 60 % HALF_DAY for minute in minutes}
    return any(value % HALF_DAY in hours for number in said.numbers for value in number.values if value <= 24)


def _unsupported(number: Amount, said: Said, around: Said) -> str | None:
    if max(number.values) <= 1 and number.unit is None:
        return None
    if number.unit in (None, YEAR_LONG) and any(int(v) in said.years for v in number.values if v in YEARS):
        return None
    if number.unit in (None, Unit("time", HOUR)) and any(
        v * 60 % 720 == minute % 720 for v in number.values if v <= 24 for minute in said.clocks
    ):
        return None
    same = [one for one in said.numbers if _same_value(number, one)]
    if not same:
        return "holds a number that its messages do not"
    if any(_same_unit(number, one, said, around) for one in same):
        is_well = _is_counted(number, same, said, around) and not _counts_another(number, same, said, around)
        return None if is_well else "counts what its messages do not"
    return "holds a unit that its messages do not"


def _same_value(number: Amount, one: Amount) -> bool:
    if number.values & one.values:
        return True
    if number.unit and one.unit and _are_comparable(number.unit, one.unit):
        mine = {round(value * number.unit.size, 2) for value in number.values}
        return bool(mine & {round(value * one.unit.size, 2) for value in one.values})
    if number.unit and number.unit.dimension == "percent" and one.unit is None:
        return any(value / 100 in one.values for value in number.values if value < 100)
    is_sum = number.unit.dimension in CURRENCIES if number.unit else not number.is_bare or _is_round(number)
    return (
        is_sum
        and one.unit is None
        and one.is_bare
        and any(value / scale in one.values for value in number.values for scale in COLLOQUIAL)
        and 10 <= min(one.values) < COLLOQUIAL[1]
        and not (one.thing and one.thing == number.thing)
    )


def _counts_another(number: Amount, same: Sequence[Amount], said: Said, around: Said) -> bool:
    """Whether all that was said of the number counts another thing, and this thing was counted by another number."""
    things = {meaning(one.thing) for one in same if len(one.thing) >= SHORTEST_THING}
    if len(number.thing) < SHORTEST_THING or len(things) < len(same) or meaning(number.thing) in things:
        return False
    rest = [one for one in (*said.numbers, *around.numbers) if not one.values & number.values]
    return any(meaning(one.thing) == meaning(number.thing) for one in rest if one.thing)


def _home(words: str) -> frozenset[str]:
    """The currencies that may be meant where none was said."""
    if re.search(f"[{HAN}]", words):
        return frozenset({"cny"})
    return frozenset({"rub"}) if re.search("[бгджзилпуфцчшщьэюя]", words) else CURRENCIES


@cache
def _adjective() -> re.Pattern[str]:
    return re.compile("|".join(source for _, source in entries("quantities", "adjective")))


def _is_round(number: Amount) -> bool:
    return min(number.values) >= COLLOQUIAL[1] and all(value % COLLOQUIAL[0] == 0 for value in number.values)


def _is_counted(number: Amount, same: Sequence[Amount], said: Said, around: Said) -> bool:
    """Whether the thing that a number counts was said: with it, or elsewhere if with it nothing was."""
    if not number.thing:
        return True
    things = {one.thing for one in same}
    if len(number.thing) == 1:
        is_any = number.thing in word_set("quantities", "any_thing")
        return is_any or number.thing in things or not all(len(one.thing) == 1 or one.unit for one in same)
    if all(one.unit is not None and one.unit.dimension not in CURRENCIES for one in same):
        return False
    begin = squeezed(number.thing[:SHORTEST_THING])
    return begin in said.words or begin in around.words


def _are_comparable(one: Unit, other: Unit) -> bool:
    """Whether two units measure the same; cents are part of any currency."""
    dimensions = {one.dimension, other.dimension}
    return len(dimensions) == 1 or ("cent" in dimensions and bool(dimensions & CURRENCIES))


def _same_unit(number: Amount, one: Amount, said: Said, around: Said) -> bool:
    if number.unit is None:
        return True
    if one.unit is not None:
        if not _are_comparable(number.unit, one.unit):
            return False
        mine = {round(value * number.unit.size, 2) for value in number.values}
        return bool(mine & {round(value * one.unit.size, 2) for value in one.values})
    dimension = number.unit.dimension
    if len(one.thing) >= SHORTEST_THING and dimension not in CURRENCIES and not _adjective().search(one.thing):
        return False
    told = {other.unit.dimension for other in (*said.numbers, *around.numbers) if other.unit is not None}
    if dimension == "percent" and max(one.values) < 1:
        return True  # half
    if dimension in CURRENCIES:
        return dimension in told or (not told & CURRENCIES and dimension in _home(said.words))
    return dimension in told or dimension not in {"percent", "weight", "length", "volume", "area"}


@cache
def _rates() -> re.Pattern[str]:
    sources = [re.sub(r"\?P<\w+>", "", source) for _, source in entries("quantities", "rate")]
    return re.compile("|".join(f"(?:{source})" for source in sources))


def unsaid_rate(text: str, said: Sequence[str], around: Sequence[str]) -> str | None:
    """The first "an hour", "в день", "每本" of ``text`` that nobody said, or None. Only sums have rates."""
    plain = spelled(text)
    if not any(map(_may_be_sum, amounts(text).numbers)):
        return None
    mine = [next(group for group in match.groups() if group) for match in _rates().finditer(plain)]
    told = spelled("\n".join((*said, *around)), loosely=True)
    theirs = {next(group for group in match.groups() if group) for match in _rates().finditer(told)}
    return next((one for one in mine if one not in theirs and (theirs or not _is_rate_told(one, told))), None)


def _may_be_sum(number: Amount) -> bool:
    """Whether a number is a sum, also without a currency."""
    is_large = number.unit is None and not number.thing and min(number.values) >= LEAST_SUM
    return is_large or (number.unit is not None and number.unit.dimension in CURRENCIES)


def _is_rate_told(rate: str, told: str) -> bool:
    """Whether words of a rate stand in what was said; of a single Chinese character, beside one that makes it one."""
    return (
        re.search(rf"[每一1按]个?{rate}|{rate}[租薪付结费]" if re.match(f"[{HAN}]", rate) else re.escape(rate), told)
        is not None
    )


def other_total(text: str, said: Iterable[str]) -> str | None:
    """A number that a text gives as a total, where only other totals were said; None if there is none."""
    totals = {number for one in said for number in _totals(one)}
    return next((number for number in _totals(text) if number not in totals), None) if totals else None


def _totals(text: str) -> list[str]:
    """The numbers of the clauses that tell a total, without the zeros that end them ("138" for 138 thousand)."""
    clauses = [part for part in re.split(r"[,;.](?!\d)|[，。；]", spelled(text)) if _total().search(part)]
    found = [re.sub(r"\D", "", number) for part in clauses for number in _NUMBER_IN.findall(part)]
    return [number.rstrip("0") for number in found if len(number) > 1]


@cache
def _total() -> re.Pattern[str]:
    return re.compile("|".join(source for _, source in entries("quantities", "total")), re.IGNORECASE)
