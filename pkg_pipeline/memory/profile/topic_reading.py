"""Content words of a key point, their stems, and spellings across two scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.languages.scripts import HAN, is_cyrillic, is_han
from pkg_pipeline.memory.text import name_forms
from pkg_pipeline.memory.text.topic_words import (
    SHORTEST_ALIKE,
    han_breaks,
    is_verb,
    skeleton,
    stem,
)

LONG_HAN_NAME: Final = 3
MOST_ELEMENTS: Final = 14
"""Most content words read of a key point."""

_TOKEN: Final = re.compile(
    rf"(?P<han>[{HAN}]+)|(?P<word>[^\W_{HAN}]+(?:[-'’.][^\W_{HAN}]+)*)"
    r"|(?P<mark>[,.;:!?()\"«»“”，。；：！？、（）…\n]|\s[-–—]\s)"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SMALLEST_NUMBER_DIGITS: Final = 4


class Element(NamedTuple):
    """A content word or Chinese segment and its place; ``run``: number of its unbroken run."""

    word: str
    stems: tuple[str, ...]
    start: int
    end: int
    run: int
    is_capital: bool = False
    is_inside: bool = False
    is_verb: bool = False


def forms_of_names(names: Iterable[str]) -> frozenset[str]:
    forms = {form for name in names for word in _words(name) for form in _forms(word)}
    return frozenset(forms | {stem(form) for form in forms})


def _words(text: str) -> list[str]:
    return [_folded(match.group()) for match in _TOKEN.finditer(text) if match["mark"] is None]


def _forms(name: str) -> tuple[str, ...]:
    """Forms of a one-word name; for three Chinese characters the given name too."""
    if is_han(name):
        return (name, name[1:]) if len(name) == LONG_HAN_NAME else (name,)
    return name_forms.inflections(name)


def _folded(word: str) -> str:
    return word.casefold().replace("ё", "е").replace("’", "'")


def elements_of(text: str, excluded: frozenset[str]) -> list[Element]:
    """The content words of a key point; stop words and punctuation end a run."""
    found: list[Element] = []
    run, is_inside = 0, False
    for match in _TOKEN.finditer(text):
        if match["mark"] is not None:
            run, is_inside = run + 1, False
            continue
        if match["han"] is not None:
            run = _han_elements(match, run, excluded, found)
            is_inside = True
            continue
        word = _folded(match.group())
        root = stem(word)
        if _is_idle(word) or root in excluded or len(word) < 2 or _is_small_number(word):
            run += 1
        else:
            shown = match.group()
            is_capital = shown[0].isupper() or any(letter.isupper() for letter in shown[1:])
            place = (match.start(), match.end(), run)
            found.append(Element(word, (root,), *place, is_capital, is_inside, is_verb(word)))
        is_inside = True
        if len(found) >= MOST_ELEMENTS:
            break
    return found


def _is_idle(word: str) -> bool:
    """Stop words, and times and courtesies, which bear content but name no topic."""
    return word in word_set("words", "no_topic") or word in word_set("words", "names_no_topic")


def _is_small_number(word: str) -> bool:
    """Counts, days and years; not order numbers or models."""
    return word.isdigit() and (len(word) < _SMALLEST_NUMBER_DIGITS or _YEAR.fullmatch(word) is not None)


def _han_elements(match: re.Match[str], run: int, excluded: frozenset[str], found: list[Element]) -> int:
    """Segments of a Chinese run, character pairs as stems; returns the next run."""
    text, at = match.group(), match.start()
    start = 0
    for broken in (*han_breaks(text, excluded), None):
        end = len(text) if broken is None else max(start, broken[0])
        piece = text[start:end]
        if len(piece) >= 2 and piece not in excluded:
            pairs = tuple(piece[index : index + 2] for index in range(len(piece) - 1))
            found.append(Element(piece, pairs, at + start, at + end, run))
        if broken is not None:
            start, run = max(start, broken[1]), run + 1
    return run


@dataclass(frozen=True, slots=True)
class Spellings:
    """Spellings compared across scripts: names, cognates that occur in both, forms of Russian names."""

    names: frozenset[str]
    cognates: frozenset[str]
    bases: dict[str, str]

    def common(self, element: Element) -> Element:
        """The element with the shared spelling as its stem: prefix @ for names, ~ for cognates."""
        if len(element.stems) > 1 or not (element.word.isascii() or is_cyrillic(element.word)):
            return element
        is_long = len(element.word) >= SHORTEST_ALIKE
        for spelling in self.variants(element):
            if spelling in self.names and (element.is_capital or is_long):
                return element._replace(stems=(f"@{spelling}",), is_verb=False)
            if spelling in self.cognates and is_long:
                return element._replace(stems=(f"~{spelling}",), is_verb=False)
        return element

    def variants(self, element: Element) -> tuple[str, ...]:
        base = self.bases.get(element.word)
        own = (skeleton(element.stems[0]),)
        return own if base is None else (skeleton(base), *own)


def spellings_of(read: Iterable[Sequence[Element]]) -> Spellings:
    """Names: capitalised inside a text or with digits; cognates: words in both scripts."""
    words = {element for elements in read for element in elements if len(element.stems) == 1}
    capitals = sorted({element.word for element in words if element.is_capital and is_cyrillic(element.word)})
    known = set(capitals)
    bases: dict[str, str] = {}
    for word in capitals:
        for form in name_forms.inflections(word):
            if form != word and form in known:
                bases.setdefault(form, word)
    small = {element.stems[0] for element in words if not element.is_capital}
    spelt = Spellings(frozenset(), frozenset(), bases)
    names = {
        spelling
        for element in words
        if element.is_capital
        and element.stems[0] not in small
        and (element.is_inside or any(sign.isdigit() for sign in element.word))
        for spelling in spelt.variants(element)
    }
    long = [element for element in words if len(element.word) >= SHORTEST_ALIKE]
    latin = {skeleton(element.stems[0]) for element in long if element.word.isascii() and element.word.isalpha()}
    cyrillic = {skeleton(element.stems[0]) for element in long if is_cyrillic(element.word)}
    return Spellings(frozenset(names), frozenset(latin & cyrillic) - word_set("words", "false_cognates"), bases)
