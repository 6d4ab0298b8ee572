"""Where a sentence may tell what somebody is or likes, for whom they work, of whom they are kin, where they live.

Wide on purpose: ``fact_head`` says which of these do (P13). The words are in ``languages/LANGUAGE/mentions.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pkg_pipeline.memory.gate.naming import is_known, names_in
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.facts.cases import plain_kin, stemmed
from pkg_pipeline.offline.facts.found import FactKind

LONGEST: Final = 90
"""Characters of a value."""
_EDGES: Final = ' ,.;:!—–-，。；！、«»"“”()（）'
_PLACED: Final = re.compile(r"^(?:во?|на) (?=[А-ЯЁа-яё«\"])")
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Mention:
    """A value that may be a fact. ``by``: which way of telling it is; ``start``, ``end``: its place in the sentence;
    ``groups``: the words beside it that say whose it is.
    """

    kind: FactKind
    by: str
    value: str
    start: int
    end: int
    groups: Mapping[str, str | None]


@cache
def _table(language: Language) -> Mapping[str, Any]:
    return table("offline", language, "mentions")


@cache
def said(language: Language, name: str) -> re.Pattern[str]:
    """A pattern of the words around a mention."""
    return pattern(_table(language)["patterns"][name])


@cache
def _rows(language: Language) -> tuple[tuple[FactKind, str, re.Pattern[str]], ...]:
    return tuple((row["kind"], row["name"], pattern(row["pattern"])) for row in _table(language)["mentions"])


@cache
def _jobs(language: Language) -> frozenset[str]:
    """What people do, without endings."""
    return frozenset(map(stemmed, _table(language)["words"]["jobs"].split()))


@cache
def _not_jobs(language: Language) -> frozenset[str]:
    """Words that only look so."""
    return frozenset(_table(language)["words"]["not_jobs"].split())


def mentions_in(text: str, language: Language, people: tuple[Person, ...]) -> Iterator[Mention]:
    """Every mention of a sentence; names of people are no employers."""
    yield from _trades(text, language)
    persons = [(one.start, one.end) for one in names_in(text, people) if is_known(one)]
    for kind, name, wanted in _rows(language):
        for m in wanted.finditer(text):
            start, end = m.span("value" if m["value"] is not None else "value2")
            value = text[start:end].strip(_EDGES)
            value = _PLACED.sub("", value) if kind in ("organization", "address") else value
            is_person = kind in ("organization", "address") and any(
                (a <= start and end <= b) or (kind == "address" and a < end and start < b) for a, b in persons
            )
            if not value or len(value) > LONGEST or is_person:
                continue
            plain = plain_kin(value) if kind == "family" and language == "ru" else value
            yield Mention(kind, name, plain, start, end, m.groupdict())


def _trades(text: str, language: Language) -> Iterator[Mention]:
    """Words for what somebody does, with the words that belong to them."""
    known = _jobs(language)
    for m in _WORD.finditer(text) if known else ():
        parts = m.group().split("-")
        is_known = stemmed(m.group()) in known or stemmed(parts[-1]) in known
        if not is_known or m.group().casefold() in _not_jobs(language):
            continue
        if not _WORD.search(text[: m.start()]) and said(language, "verb_of_job").match(text[m.end() :]):
            continue  # "Partner with one shop"
        left = said(language, "left_of_job").search(text[: m.start()])
        right = said(language, "right_of_job").match(text[m.end() :])
        start = left.start() if left else m.start()
        end = m.end() + (right.end() if right else 0)
        yield Mention("position", "job", text[start:end].strip(_EDGES), start, end, {})
