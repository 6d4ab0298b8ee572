"""Which roles the words of a message, a name or a fact tell of: the tables ``relationship.toml`` of all languages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from pkg_pipeline.memory.languages import LANGUAGES, table

NAME, FACT = "name", "fact"
_TOKEN = re.compile(r"[^\W_]+(?:['’][a-zа-яё]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
KEPT_WORDS = 16_384
"""Most of what is said is made of few words."""
KEPT_TEXTS = 16_384
"""What the newest messages tell of is asked anew with every context."""
_FIRST_WORDS = 2
"""Somebody is addressed within so many words of either end."""


Heard = tuple[str, str]
"""A role and the phrase that tells of it, as its table has it."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """``words``: tokens, of which a trailing * stands for any ending."""

    words: tuple[str, ...]
    heard: Heard
    is_address: bool


class _Words:
    """The phrases of one part of the tables, found by their first word or two; Chinese ones as substrings."""

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        self.exact: dict[str, list[_Phrase]] = defaultdict(list)
        self.pairs: dict[tuple[str, ...], list[_Phrase]] = defaultdict(list)
        self.open: dict[str, list[_Phrase]] = defaultdict(list)
        self.han: dict[str, list[tuple[Heard, bool]]] = defaultdict(list)
        for role, entry in entries:
            text, is_address = entry.removeprefix("@"), entry.startswith("@")
            if _HAN.search(text):
                self.han[text.casefold()].append(((role, entry), is_address))
                continue
            words = tuple(text.split())
            if not any(word.endswith("*") for word in (*words, "*")[:2]):
                self.pairs[words[:2]].append(_Phrase(words, (role, entry), is_address))
                continue
            into = self.open if words[0].endswith("*") else self.exact
            into[words[0].rstrip("*")].append(_Phrase(words, (role, entry), is_address))
        self.starting = lru_cache(KEPT_WORDS)(self._starting)
        self.shortest = min((len(one) for one in self.open), default=0)
        longest_first = sorted(self.han, key=lambda one: (-len(one), one))
        self.pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def heard(self, text: str) -> Iterator[Heard]:
        """What occurs, repeated ones too."""
        plain = text.casefold().replace("ё", "е").replace("’", "'")
        if self.pattern is not None and _HAN.search(plain):
            yield from self._han(plain)
            return
        tokens = _TOKEN.findall(plain)
        for place, token in enumerate(tokens):
            for phrase in (*self.starting(token), *self.pairs.get(tuple(tokens[place : place + 2]), ())):
                if self._stands(phrase, tokens, place):
                    yield phrase.heard

    def _han(self, text: str) -> Iterator[Heard]:
        assert self.pattern is not None
        for found in self.pattern.finditer(text):
            is_at_end = found.start() <= _FIRST_WORDS or found.end() >= len(text) - _FIRST_WORDS
            yield from (one for one, is_address in self.han[found[0]] if is_at_end or not is_address)

    def _starting(self, token: str) -> tuple[_Phrase, ...]:
        """The phrases that begin with this word or a part of it."""
        found = [*self.exact.get(token, ())]
        for length in range(self.shortest, len(token) + 1):
            found += self.open.get(token[:length], ())
        return tuple(found)

    @staticmethod
    def _stands(phrase: _Phrase, tokens: Sequence[str], place: int) -> bool:
        end = place + len(phrase.words)
        if phrase.is_address and _FIRST_WORDS <= place < len(tokens) - 1:
            return False
        if end > len(tokens):
            return False
        rest = zip(phrase.words[1:], tokens[place + 1 : end], strict=True)
        return all(token.startswith(word[:-1]) if word.endswith("*") else token == word for word, token in rest)


@cache
def _of(part: str) -> _Words:
    entries: list[tuple[str, str]] = []
    for language in LANGUAGES:
        data = table(language, "relationship")
        lists: Mapping[str, list[str]] = data.get(part or "talks", {})
        entries += [(role, word) for role, words in lists.items() for word in words]
    return _Words(entries)


@lru_cache(KEPT_TEXTS)
def heard(text: str, part: str = "") -> frozenset[Heard]:
    """What a message tells of; with ``NAME`` or ``FACT``: what a contact's name, a fact's value does."""
    return frozenset(_of(part).heard(text))
