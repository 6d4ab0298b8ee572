"""Which messages of a group belong to whom (P34): those that name an entity, and their neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.text.name_forms import inflections, is_also_a_word

NEIGHBOURS: Final = 1
"""P34: messages on each side that belong with one."""
SHORTEST_FIRST_NAME: Final = 3
"""Letters a first name needs to match alone."""
SHORTEST_HAN_NAME: Final = 2

_SEPARATOR = "\0"  # neither a word character nor a space, so that no name spans it
_TOKEN = re.compile(r"(?<!\w)@\w+|\w+")
_HAN_NAME = re.compile(rf"[{HAN}·]{{2,}}")

E = TypeVar("E", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Names(Generic[E]):
    """Name forms indexed by first word; Han names by substring."""

    by_word: dict[str, list[tuple[tuple[frozenset[str], ...], bool, E]]]
    by_han: dict[str, tuple[E, ...]]
    han: re.Pattern[str] | None


def named_in(texts: Sequence[str], names: Mapping[E, Sequence[str]]) -> dict[E, NDArray[np.int64]]:
    """For every entity the sorted indexes of the texts that name it: whole words, any case and Russian case ending.

    ``@`` forms match mentions only; Chinese names match as substrings, unique two-character given names alone too.
    """
    ready = _prepared(names)
    joined = _SEPARATOR.join(texts)
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 1)
    found: dict[E, list[int]] = {entity: [] for entity in names}
    if ready.by_word:
        for entity, position in _word_hits(joined, ready):
            found[entity].append(position)
    if ready.han is not None:
        for match in ready.han.finditer(joined):
            for entity in ready.by_han[match[0]]:
                found[entity].append(match.start())
    return {
        entity: np.unique(np.searchsorted(ends, np.array(positions, np.int64), side="right")).astype(np.int64)
        for entity, positions in found.items()
    }


def with_neighbours(indexes: Sequence[int], count: int, neighbours: int = NEIGHBOURS) -> NDArray[np.int64]:
    """``indexes`` and those next to them among ``count`` messages of one interaction, sorted, each once (P34)."""
    belongs = np.zeros(count, np.bool_)
    for shift in range(-neighbours, neighbours + 1):
        shifted = np.array(indexes, np.int64) + shift
        belongs[shifted[(shifted >= 0) & (shifted < count)]] = True
    return np.flatnonzero(belongs).astype(np.int64)


def _word_hits(joined: str, names: _Names[E]) -> Iterator[tuple[E, int]]:
    for token in _TOKEN.finditer(joined):
        word = token[0]
        # "@Маша" may be an account or a name: both are looked up
        for spelled, at in ((word, token.start()), *(((word[1:], token.start() + 1),) if word[0] == "@" else ())):
            for rest, needs_capital, entity in names.by_word.get(_folded(spelled), ()):
                if (not needs_capital or spelled[0].isupper()) and _follows(joined, token.end(), rest):
                    yield entity, at


def _follows(joined: str, at: int, rest: Sequence[frozenset[str]]) -> bool:
    for forms in rest:
        if joined[at : at + 1] not in (" ", "-", "\xa0"):
            return False
        word = _TOKEN.match(joined, at + 1)
        if word is None or _folded(word[0]) not in forms:
            return False
        at = word.end()
    return True


def _prepared(names: Mapping[E, Sequence[str]]) -> _Names[E]:
    by_word: dict[str, list[tuple[tuple[frozenset[str], ...], bool, E]]] = {}
    by_han: dict[str, dict[E, None]] = {}
    singles, given = _single_words(names), _given_han_names(names)
    for entity, forms in names.items():
        for form in forms:
            if form.startswith("@"):
                by_word.setdefault(_folded(form), []).append(((), False, entity))
            elif _HAN_NAME.fullmatch(form):
                by_han.setdefault(form, {}).setdefault(entity)
            elif len(words := [_folded(word) for word in _TOKEN.findall(form)]) > 1:
                # surnames may come first
                for ordered in (words, words[::-1]) if len(words) == 2 else (words,):
                    first, *rest = [frozenset(inflections(word)) for word in ordered]
                    for word in first:
                        by_word.setdefault(word, []).append((tuple(rest), False, entity))
    for word, entities in singles.items():
        if len(entities) == 1:
            by_word.setdefault(word, []).append(((), is_also_a_word(word), next(iter(entities))))
    for name, owners in given.items():
        if len(owners) == 1:
            by_han.setdefault(name, {}).update(owners)
    # longest first, so that 王小明 is not matched as 王小
    ordered_han = sorted(by_han, key=lambda name: (-len(name), name))
    pattern = re.compile("|".join(map(re.escape, ordered_han))) if ordered_han else None
    return _Names(by_word, {name: tuple(owners) for name, owners in by_han.items()}, pattern)


def _single_words(names: Mapping[E, Sequence[str]]) -> dict[str, dict[E, None]]:
    owners: dict[str, dict[E, None]] = {}
    for entity, forms in names.items():
        for form in forms:
            words = _TOKEN.findall(form)
            if form.startswith("@") or _HAN_NAME.fullmatch(form) or not words:
                continue
            first = _folded(words[0])
            if sum(map(str.isalpha, first)) >= SHORTEST_FIRST_NAME:
                for inflected in inflections(first):
                    owners.setdefault(inflected, {}).setdefault(entity)
    return owners


def _given_han_names(names: Mapping[E, Sequence[str]]) -> dict[str, dict[E, None]]:
    """Two-character given names of three-character names."""
    owners: dict[str, dict[E, None]] = {}
    whole = Counter(form for forms in names.values() for form in set(forms))
    for entity, forms in names.items():
        for form in forms:
            if _HAN_NAME.fullmatch(form) and len(form) == SHORTEST_HAN_NAME + 1 and form[1:] not in whole:
                owners.setdefault(form[1:], {}).setdefault(entity)
    return owners


def _folded(word: str) -> str:
    return word.casefold().replace("ё", "е")
