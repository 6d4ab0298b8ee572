"""Where people are named in what was said: participants under any form, others by what looks like a name (B18)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.people import han_forms, is_first_name, is_plain_first_name, keys
from pkg_pipeline.memory.languages import table, word_set
from pkg_pipeline.memory.languages.scripts import HAN, is_cyrillic, is_han
from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.name_forms import inflections, is_also_a_word

_WORD: Final = re.compile(rf"[^\W\d_{HAN}]+(?:[-][^\W\d_{HAN}]+)*")
_LAST: Final = re.compile(r"[^\W\d_]+ $")
_OBLIQUE: Final = re.compile(r"[уыеиюоь]м?$|ой$|ей$")
_PATRONYMIC: Final = re.compile(r"(?:ич|вна|ыч|ична)$")
_SHORTEST: Final = 3
_PARTICLES: Final = frozenset(
    ("van", "von", "der", "den", "de", "del", "di", "da", "dos", "du", "le", "la", "al", "el")
)
"""Small words within a surname."""
_ALONE: Final = re.compile(
    r"(?:^|(?<=[.!?] ))([A-ZА-ЯЁ][a-zа-яё]{2,})"
    r"(?:$|[.,] (?:he|she|his|her|он|она|его|ее|её)\b| \(| (?:has (?:my|our|your|the)|can|could|will)\b"
    r"| (?:says|said|wants|offers|offered)\b)"
)


class Named(NamedTuple):
    """A name in a text, from ``start`` to ``end``; ``person`` is None for somebody who takes no part."""

    start: int
    end: int
    word: str
    person: Person | None

    def is_same(self, other: Named) -> bool:
        """Whether two names are of one person."""
        if self.person is not None or other.person is not None:
            return self.person == other.person
        return bool(name_keys(self.word) & name_keys(other.word))


@lru_cache(maxsize=16_384)
def name_keys(name: str) -> frozenset[str]:
    """The keys of all parts of a name; of a Chinese one by its characters."""
    if is_han(name):
        return frozenset({name, *(part for part in (name.strip(_prefixes()),) if part)}) | keys(name)
    return frozenset(key for part in name.split() for key in keys(part))


@cache
def _han() -> Any:
    return table("zh", "people")


def _prefixes() -> str:
    return str(_han()["before"])


@lru_cache(maxsize=16_384)
def names_in(text: str, people: tuple[Person, ...], also: tuple[str, ...] = ()) -> tuple[Named, ...]:
    """The names in a text, in order; parts of one name are one. ``also``: names of others, however they are written."""
    found: list[Named] = []
    bearers, others = _bearers(people), _forms(also)
    for match in _WORD.finditer(text):
        named = _both(match, text, bearers) or _named(match, text, bearers, others)
        if named is None:
            continue
        last = found[-1] if found else None
        is_one = last is not None and text[last.end : named.start] == " " and _is_part(last, named)
        if is_one and last is not None:
            found[-1] = Named(last.start, named.end, text[last.start : named.end], last.person or named.person)
        else:
            found.append(named)
    return tuple(sorted([*found, *_han_names(text, people, also)], key=lambda one: one.start))


def _both(match: re.Match[str], text: str, bearers: Mapping[str, tuple[Person, ...]]) -> Named | None:
    """A word that two people bear, where the word beside it says which of them ("Jim Ruddock", "Полина Рудь")."""
    borne = _borne(match.group(), bearers)
    if len(borne) < 2:
        return None
    behind, before = _WORD.match(text, match.end() + 1), _LAST.search(text[: match.start()])
    meant = [borne & _borne(one.group().strip(), bearers) for one in (behind, before) if one is not None]
    only = next((some for some in meant if len(some) == 1), None)
    return None if only is None else Named(*match.span(), match.group(), next(iter(only)))


def _borne(word: str, bearers: Mapping[str, tuple[Person, ...]]) -> set[Person]:
    if not word[:1].isupper():
        return set()
    return {person for key in keys(word) for person in bearers.get(key, ())}


def _is_part(last: Named, named: Named) -> bool:
    if last.person is not None and named.person is None:
        return _PATRONYMIC.search(folded(named.word)) is not None
    return last.person == named.person


def _called(listed: str) -> str:
    """A name as it is listed without what only says who that is ("Moira at the School", "Оля мама Глеба")."""
    first, *more = listed.split() or [""]
    named = itertools.takewhile(lambda part: not part[0].islower() or part in _PARTICLES, more)
    return " ".join([first, *named]) if first[:1].isupper() else listed


@lru_cache(maxsize=64)
def _bearers(people: tuple[Person, ...]) -> Mapping[str, tuple[Person, ...]]:
    """Who bears a name with a key."""
    found: dict[str, tuple[Person, ...]] = {}
    for person in people:
        for key in _forms((_called(person.name),)):
            found[key] = (*found.get(key, ()), person)
    return found


@lru_cache(maxsize=64)
def _forms(names: tuple[str, ...]) -> frozenset[str]:
    """The keys of all parts of names, without Chinese ones."""
    return frozenset(key for name in names for part in name.split() if not is_han(part) for key in keys(part))


def _named(
    match: re.Match[str], text: str, bearers: Mapping[str, tuple[Person, ...]], others: frozenset[str]
) -> Named | None:
    word = match.group()
    is_capital = word[0].isupper()
    low = folded(word)
    if len(word) < _SHORTEST - is_capital or (not is_capital and is_also_a_word(low)):
        return None
    # without a capital the sound alone does not say so
    mine = [key for key in keys(word) if is_capital or key[0] != "~"]
    borne = {person for key in mine for person in bearers.get(key, ())}
    if len(borne) == 1:
        return Named(*match.span(), word, borne.pop())
    if not others.isdisjoint(mine):
        return Named(*match.span(), word, None)
    if not is_capital or borne or {low, low.rstrip("s")} & word_set("people", "no_names"):
        return None
    before = text[: match.start()].rstrip()
    is_first = not before or before[-1] in '.!?…\n«"“:'
    if is_first_name(word) or (not is_first and len(word) >= _SHORTEST) or (is_first and _PATRONYMIC.search(low)):
        return Named(*match.span(), word, None)
    return None


def _han_names(text: str, people: Sequence[Person], also: Sequence[str]) -> list[Named]:
    found: list[Named] = []
    for person in people:
        for form in han_forms(person.name):
            found += [Named(match.start(), match.end(), form, person) for match in re.finditer(re.escape(form), text)]
    for name in filter(is_han, also):
        found += [Named(match.start(), match.end(), name, None) for match in re.finditer(re.escape(name), text)]
    found += [Named(*match.span(), match.group(), None) for match in _strangers().finditer(text)]
    kept: list[Named] = []
    for one in sorted(found, key=lambda one: (one.start, one.person is None, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


@cache
def _strangers() -> re.Pattern[str]:
    """Chinese names by their shape: 老韩, 刘姐, 钱医生, and a surname with a given name where one stands."""
    data = _han()
    surnames = data["surnames"]
    sure = "".join(one for one in surnames if one not in data["ambiguous"])
    little = f"(?:(?<=小[{HAN}])子(?![女弹]))?"  # 小李子 is one name
    introduced = "|".join(f"(?<={word})" for word in data["introduces"].split("|"))
    return re.compile(
        f"(?!{data['no_strangers']})[{data['before']}](?:[{surnames}](?![{HAN}]?[天时]){little}|{data['given']})"
        f"|(?<![{data['little_behind']}])(?!{data['no_strangers']})小(?![{data['no_little']}])[{HAN}]{little}"
        f"|(?:{introduced})[{surnames}][{HAN}]{{1,2}}?{data['after']}"
        f"|[{surnames}](?:{data['titles']})|{data['stands']}(?!谢谢)[{sure}][{HAN}]{{1,2}}?{data['after']}"
    )


def others_named(texts: Iterable[str], people: tuple[Person, ...]) -> tuple[str, ...]:
    """The names of those who take no part in ``texts``, also those that only begin a message ("Liam. His number …")."""
    found: list[str] = []
    for text in texts:
        found += [one.word for one in names_in(text, people) if one.person is None]
        for match in _ALONE.finditer(text):
            if not names_in(match[1], people) and folded(match[1]) not in _no_names():
                found.append(match[1])
    return tuple(dict.fromkeys(found))


@cache
def _no_names() -> frozenset[str]:
    return word_set("people", "no_names") | word_set("words", "stop")


def is_known(named: Named) -> bool:
    """Whether a name is of a participant or a usual one, and not only capitalised as places are."""
    is_usual = is_han(named.word) or any(map(is_first_name, named.word.split()))
    return named.person is not None or is_usual or _PATRONYMIC.search(folded(named.word)) is not None


def is_nominative(named: Named) -> bool:
    """Whether a name stands without a case, as who does something; always so in other scripts."""
    word = named.word.split()[0]
    if not is_cyrillic(folded(word)):
        return True
    low = folded(word)
    parts = {folded(part) for part in named.person.name.split()} if named.person is not None else set[str]()
    if low in parts or is_plain_first_name(word):
        return True
    return not is_first_name(word) and not _OBLIQUE.search(low) and not any(low in inflections(part) for part in parts)
