"""Numbers written as words become digits: "three hundred and fifty thousand", "тридцать пять", "三十五万" (B18)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.languages import entries, word_set
from pkg_pipeline.memory.languages.scripts import HAN

_WORD: Final = re.compile(rf"[^\W\d_{HAN}]+")
_BETWEEN: Final = re.compile(r"[ \u00a0-]{0,2}(?:and )?")
_JOINS_AFTER_SCALE: Final = 100
_HALF_TO: Final = "пол"
_ROUND: Final = 4


@cache
def _words(kind: str) -> dict[str, float]:
    return {
        word: float(value) for _, rows in entries("quantities", kind) for value, w in rows.items() for word in w.split()
    }


@lru_cache(maxsize=65_536)
def scale_of(word: str) -> float | None:
    """What a folded word multiplies a number by."""
    scales = _words("scales")
    begun = (value for start, value in scales.items() if start.endswith("*") and word.startswith(start[:-1]))
    return scales.get(word) or next(begun, None)


@cache
def _spoken() -> re.Pattern[str]:
    return re.compile(f"[{''.join((*_words('digits'), *(s for s in _words('scales') if re.match(f'[{HAN}]', s))))}]+")


@cache
def _no_number() -> re.Pattern[str]:
    return re.compile("|".join(words["no_number"] for _, words in entries("quantities", "words")) or r"(?!)")


@cache
def _traditional() -> dict[int, str]:
    """Characters of days and numbers that are written in two ways, as one of them."""
    return str.maketrans(
        {one: other for _, rows in entries("quantities", "traditional") for one, other in rows.items()}
    )


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(row[0]), row[1]) for _, rows in entries("quantities", "phrases") for row in rows)


@cache
def _dictated() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(row[0]), row[1]) for _, rows in entries("quantities", "dictated") for row in rows)


@cache
def _turned() -> re.Pattern[str]:
    """A counted thing before its number: "часов в девять"."""
    words = "|".join(words for _, words in entries("quantities", "before"))
    return re.compile(
        rf"(?<!\w)(?<!\d )({words}) (?:(?:в|на|по|за) )?(\d+(?:[.,]\d+)?(?:[-–]\d+)?)"
        r"(?![\d.,:]\d|\d| ?[^\W\d_]{0,3}\d)"
    )


def folded(text: str) -> str:
    """Compatibility forms in lower case, е for ё, without invisible characters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    return "".join(c for c in plain if unicodedata.category(c) != "Cf") if not plain.isprintable() else plain


@lru_cache(maxsize=16_384)
def spelled(text: str, *, loosely: bool = False) -> str:
    """The folded text with its number words as digits. ``loosely``: also words that often mean no number ("half")."""
    plain = folded(text.replace("，", ", ")).translate(_traditional())
    for pattern, meaning in _phrases():
        plain = pattern.sub(meaning, plain)
    return _turned().sub(r"\2 \1", _han_as_digits(_words_as_digits(plain, loosely=loosely)))


def dictated(text: str) -> str:
    """The text with digits in place of their words as numbers to call are told: "oh seven double nine"."""
    plain = folded(text)
    for pattern, meaning in _dictated():
        plain = pattern.sub(meaning, plain)
    return spelled(plain)


def shown(value: float) -> str:
    """A number without needless decimals."""
    rounded = round(value, _ROUND)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


@lru_cache(maxsize=65_536)
def _is_number(word: str) -> bool:
    """Whether a folded word may stand for a number, or be part of one."""
    kinds = _words("numbers"), _words("also")
    return any(word in kind for kind in kinds) or scale_of(word) is not None or word.startswith(_HALF_TO)


def _words_as_digits(text: str, *, loosely: bool) -> str:
    if not any(map(_is_number, _WORD.findall(text))):
        return text
    numbers = _words("numbers")
    if loosely:
        numbers = numbers | {word: v for word, v in _words("also").items() if word not in numbers}
    parts: list[str] = []
    run = _Run()
    at = 0
    for match in _WORD.finditer(text):
        word = match.group()
        gap = text[at : match.start()]
        value, scale = numbers.get(word), scale_of(word) if len(word) > 1 else None
        if word == "and" and run.is_open:
            continue
        if run.is_open and not (
            not (value is None and scale is None) and _BETWEEN.fullmatch(gap) and run.takes(value, scale)
        ):
            parts.append(run.close())
        elif run.is_open:
            at = match.end()
            continue
        if scale is not None and text[: match.start()].rstrip()[-1:].isdigit():
            scale = None  # 350 тысяч: read with its digits
        if scale is not None and not run.is_open and word not in word_set("quantities", "alone"):
            scale = None
        if value is None and scale is None:
            parts.append(gap + _half_hour(word, numbers))
        else:
            parts.append(gap)
            run.takes(value, scale)
        at = match.end()
    return "".join((*parts, run.close(), text[at:]))


def _half_hour(word: str, numbers: dict[str, float]) -> str:
    """Russian полпятого as a time of day; other words as they are."""
    hour = numbers.get(word[len(_HALF_TO) :]) if word.startswith(_HALF_TO) else None
    return f"{int(hour) - 1 or 12}:30" if hour is not None and hour >= 1 and word.endswith(("ого", "его")) else word


class _Run:
    """Number words in a row that make one number."""

    def __init__(self) -> None:
        self.total = self.current = self.last = 0.0
        self.is_open = False

    def takes(self, value: float | None, scale: float | None) -> bool:
        """Adds a word; False where it begins another number."""
        if value is not None:
            joins = not self.is_open or (
                self.last >= 10 and value < self.last and len(str(int(self.last))) > len(str(int(value)))
            )
            if not joins:
                return False
            self.current += value
            self.last = value if value >= 10 or not self.is_open else 1
        elif scale is not None:
            if scale == _JOINS_AFTER_SCALE:
                self.current = (self.current or 1) * scale
            else:
                self.total += (self.current or 1) * scale
                self.current = 0.0
            self.last = scale
        self.is_open = True
        return True

    def close(self) -> str:
        made = shown(self.total + self.current) if self.is_open else ""
        self.__init__()
        return made


def _han_as_digits(text: str) -> str:
    if text.isascii() or not _spoken().search(text):
        return text
    spared = [match.span() for match in _no_number().finditer(text)]
    parts: list[str] = []
    at = 0
    for match in _spoken().finditer(text):
        start, end = match.span()
        inside = [span for span in spared if span[0] < end and start < span[1]]
        if inside:
            start = end if inside[-1][1] >= end else inside[-1][1]
        after_digit = start > 0 and text[start - 1].isdigit()
        if start >= end or (after_digit and text[start] in _words("scales")):
            continue
        parts += [text[at:start], " " * after_digit, _han_number(text[start:end])]
        at = end
    return "".join((*parts, text[at:]))


def _han_number(run: str) -> str:
    digits, scales = _words("digits"), _words("scales")
    if len(run) == 1 and run in digits:
        return shown(digits[run])
    if len(run) == 2 and all(one in digits for one in run) and 0 < digits[run[0]] == digits[run[1]] - 1:
        return f"{digits[run[0]]:.0f}-{digits[run[1]]:.0f}"  # 两三天
    if not any(character in scales for character in run):
        return "".join(str(int(digits[character])) for character in run)
    total = section = 0.0
    digit: float | None = None
    last = 1.0
    for character in run:
        if character in digits:
            digit = digits[character]
            last = 1.0 if digit == 0 else last
            continue
        scale = scales[character]
        if scale >= 10_000:
            total, section = (total + section + (digit or 0)) * scale or scale, 0.0
        else:
            section += (1 if digit is None else digit) * scale
        digit, last = None, scale
    if digit:  # 两千五 is 2,500
        section += digit * (last / 10 if last >= 100 else 1)
    return shown(total + section)
