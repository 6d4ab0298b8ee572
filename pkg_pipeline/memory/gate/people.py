"""Names in a text: one person under all forms and scripts, and whether what was said knows them (B18).

Алексей is Алёша and Alexey, 周 is Zhou, "Санкт-Петербург" is "Петербург".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.languages import entries, table, word_set
from pkg_pipeline.memory.languages.scripts import HAN, is_cyrillic, is_han
from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.name_forms import inflections
from pkg_pipeline.memory.text.normalise import comparable, sentences
from pkg_pipeline.memory.text.topic_words import skeleton

_ASIDE: Final = re.compile(r"\s*[(（][^)）]*[)）]")
"""Who somebody is, behind their name ("Ed Kovacs (the boiler man)")."""
_SHORTEST: Final = 2
_SHORTEST_ACROSS: Final = 3
_CASES: Final = re.compile(r"(?:[аяуюыиеоьй]{1,2}|ом|ем|ой|ей|ым|им|ою|ею|ого|его|ому|ему|ых|их|ами|ями)$")
_FLEETING: Final = re.compile(
    r"([бвгджзйклмнпрстфхцчшщbcdfghklmnpqrstvwxz])[eеоo]([бвгджзйклмнпрстфхцчшщbcdfghklmnpqrstvwxz])$"
)
_WORD: Final = re.compile(rf"[^\W\d_{HAN}]+(?:[-'’][^\W\d_{HAN}]+)*")
_CAPITALISED: Final = re.compile(rf"(?<![^\W{HAN}])[A-ZÀ-ÞА-ЯЁ][^\W\d_{HAN}]+(?:[-'’][^\W\d_{HAN}]+)*")
_OPENS: Final = "«\"'“(—–-•*:;.!?…"
_HAN_RUN: Final = re.compile(f"[{HAN}]+")


@cache
def _groups() -> dict[str, frozenset[str]]:
    """Keys of names that are one: word → the groups it belongs to."""
    found: dict[str, set[str]] = {}
    for kind in ("same", "places"):
        for language, rows in entries("people", kind):
            for index, row in enumerate(rows):
                for form in (form for word in row.split() for form in inflections(word)):
                    found.setdefault(form, set()).add(f"={kind}{language}{index}")
    return {word: frozenset(keys) for word, keys in found.items()}


def is_plain_first_name(word: str) -> bool:
    """Whether a word is a usual first name as it stands in a list, without a case."""
    return folded(word) in _plain_first_names()


@cache
def _plain_first_names() -> frozenset[str]:
    return frozenset(word for _, rows in entries("people", "same") for row in rows for word in row.split())


def is_first_name(word: str) -> bool:
    """Whether a word in any case is a usual first name."""
    return folded(word) in _first_names()


@cache
def _first_names() -> frozenset[str]:
    return frozenset(form for name in _plain_first_names() for form in inflections(name))


@lru_cache(maxsize=65_536)
def _stems(word: str) -> frozenset[str]:
    """A folded word without the endings of cases; without the vowel that other cases lose."""
    plain = re.sub(r"['’]s?$", "", word)
    if not is_cyrillic(plain):
        return frozenset({plain})
    found = {plain}
    cut = _CASES.sub("", plain)
    if len(cut) >= _SHORTEST:
        found.add(cut)
    return frozenset({*found, *(_FLEETING.sub(r"\1\2", one) for one in found if len(one) > _SHORTEST_ACROSS)})


@lru_cache(maxsize=65_536)
def keys(word: str) -> frozenset[str]:
    """What a word shares with its other forms and spellings, the parts of a double name included."""
    plain = folded(word)
    found: set[str] = set()
    for part in {plain, *re.split(r"[-'’]", plain)}:
        if len(part) < _SHORTEST and not is_han(part):
            continue
        stems = _stems(part)
        found |= stems
        for stem in stems:
            found |= _groups().get(stem, frozenset())
            sound = skeleton(stem)
            cut = re.sub(r"[aeiou]+$", "", sound)
            found |= {f"~{one}" for one in (sound, cut, _FLEETING.sub(r"\1\2", cut)) if len(one) >= _SHORTEST_ACROSS}
    if is_han(plain):
        found |= {f"~{sound}" for sound in _sounds(plain)}
    return frozenset(found)


@lru_cache(maxsize=4096)
def _sounds(name: str) -> tuple[str, ...]:
    """How a Chinese name sounds: surname, given name, and both."""
    import pypinyin  # loaded for the first name that needs it

    parts = [skeleton(sound) for sound in pypinyin.lazy_pinyin(name)]
    made = (parts[0], "".join(parts[1:]), "".join(parts), "".join((*parts[1:], parts[0])))
    return tuple(sound for sound in made if len(sound) > 1)


@lru_cache(maxsize=1024)
def han_forms(name: str) -> tuple[str, ...]:
    """How a Chinese name is said: in full, the given name, doubled, with 小 or 老 before or a title behind it."""
    if not is_han(name) or len(name) < _SHORTEST:
        return ()
    data, last, given = table("zh", "people"), name[-1], name[1:]
    forms = [name, *([given] if len(given) > 1 else []), last * 2]
    forms += [f"{before}{part}" for before in data["before"] for part in (name[0], last)]
    forms += [f"{part}{title}" for part in (last, name[0]) for title in data["kin"]]
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=16_384)
def keys_of(text: str) -> frozenset[str]:
    """The keys of all words of a text."""
    return frozenset(key for match in _WORD.finditer(text) for key in keys(match.group()))


def find_person(name: str, people: Sequence[Person]) -> Person | None:
    """The person of that name: in full, by a part, or in another form or script, if it is only one; what a bracket
    behind it says is no name.
    """
    wanted = comparable(name)
    exact = [person for person in people if any(comparable(one) == wanted for one in person.names)]
    if exact:
        return exact[0] if len(exact) == 1 else None
    parts = set(wanted.split())
    partial = [p for p in people if parts and any(parts <= set(comparable(one).split()) for one in p.names)]
    if not partial and parts:
        partial = [person for person in people if any(_is_named(name, one) for one in person.names)]
    if not partial and (called := _ASIDE.sub("", name).strip()) not in ("", name):
        return find_person(called, people)
    return partial[0] if len(partial) == 1 else None


def _is_named(name: str, full: str) -> bool:
    """Whether every part of a name is a form of some part of the full one; of Chinese names, the given one or all."""
    if is_han(name) and is_han(full):
        return name in han_forms(full)
    if is_han(name) and len(name) > 1:
        return bool({f"~{sound}" for sound in _sounds(name)[1:]} & {*keys("".join(full.split())), *keys_of(full)})
    theirs = [keys(part) for part in full.split()] + ([keys(full)] if is_han(full) else [])
    return all(any(keys(part) & one for one in theirs) for part in name.split())


class Known:
    """Who and what may be named: by people and by the texts said."""

    def __init__(self, people: Iterable[Person], texts: Sequence[str]) -> None:
        self._people = tuple(people)
        self._texts = tuple(texts)
        organizations = [person.organization for person in self._people if person.organization]
        names = [*(name for person in self._people for name in person.names), *organizations]
        self._keys = frozenset(key for name in names for part in name.split() for key in keys(part))
        self._named_keys = self._keys | frozenset(key for text in self._texts for key in keys_of(text))
        self._han = "\n".join((*names, *self._texts))

    def names(self, word: str) -> bool:
        """Whether this word is known; one part of a double name is enough, as a whole Chinese name sounds."""
        if keys(word) & self._named_keys or folded(word) in folded(self._han):
            return True
        return word.isascii() and any(
            skeleton(word.casefold()) in spoken(text) for text in self._texts if _HAN_RUN.search(text)
        )

    def stranger(self, text: str) -> str | None:
        """The first name in ``text`` that nobody bears and nothing said, or None."""
        for word, is_first in _candidates(text):
            low = folded(word)
            if low in word_set("people", "no_names") or (is_first and not is_first_name(word) and not _is_loud(word)):
                continue
            if not self.names(word):
                return word
        return self._han_stranger(text)

    def _han_stranger(self, text: str) -> str | None:
        data = table("zh", "people")
        plain = folded(text)
        if not _HAN_RUN.search(plain):
            return None
        for match in _han_names().finditer(plain):
            name = match.group("titled") or match.group("called") or match.group("full") or ""
            if name[0] not in self._han:
                return name
        for person in self._people:
            surname = person.name[:1]
            if surname in data["surnames"] and surname not in data["ambiguous"]:
                for match in re.finditer(f"{surname}([{HAN}]{{1,2}}){data['after']}", plain):
                    if match[0][:2] not in self._han and not re.match(data["titles"], match[1]):
                        return match[0]
        return None


@cache
def _han_names() -> re.Pattern[str]:
    data = table("zh", "people")
    surnames, sure = data["surnames"], "".join(c for c in data["surnames"] if c not in data["ambiguous"])
    return re.compile(
        f"(?P<titled>[{surnames}])(?={data['titles']})|[{data['before']}](?P<called>[{sure}])(?![{HAN}]{{0,1}}[天时])"
        f"|{data['behind']}(?P<full>[{sure}][{HAN}]{{1,2}}){data['after']}"
    )


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """How the Chinese of a text sounds, without spaces."""
    import pypinyin

    return " ".join(
        "".join(skeleton(sound) for sound in pypinyin.lazy_pinyin(run)) for run in _HAN_RUN.findall(text[:2000])
    )


def _is_loud(word: str) -> bool:
    """Whether a word is a name by its capitals alone."""
    return word.isascii() and word.isupper() and len(word) > _SHORTEST_ACROSS


def _candidates(text: str) -> list[tuple[str, bool]]:
    """Capitalised words, and whether they begin a sentence."""
    found: list[tuple[str, bool]] = []
    for sentence in sentences(text):
        for match in _CAPITALISED.finditer(sentence):
            before = sentence[: match.start()].rstrip()
            is_first = not before or before[-1] in _OPENS
            found.append((match.group(), is_first))
    return found
