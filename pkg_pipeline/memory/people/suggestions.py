"""Which people may be one: known by the same phone, mail, account name or name (B20). Nothing is merged by it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal
from uuid import UUID

from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.memory.text.topic_words import skeleton

EvidenceKind = Literal["phone", "email", "handle", "name", "name_sound"]

WEIGHTS: Final[dict[EvidenceKind, float]] = {"phone": 1.0, "email": 1.0, "handle": 0.8, "name": 0.5, "name_sound": 0.3}
"""How much one shared value of a kind says; a name alone is never enough to be sure."""

MOST_WITH_ONE_VALUE: Final = 5
"""A value that more people have (a shared number, "Anna") tells nobody apart."""

_PHONE_DIGITS: Final = range(10, 16)
_NATIONAL_DIGITS: Final = 10
"""Compared from behind: +7 912 … and 8 912 … are one number."""

_PHONE: Final = re.compile(r"\+?[\d\s().\-]{10,24}")
_EMAIL: Final = re.compile(r"[^\s@:]+@[^\s@]+\.[^\s@]+")
_HANDLE: Final = re.compile(r"@?[A-Za-z][A-Za-z0-9_.]{3,}")
_LINK: Final = re.compile(r"(?:https?://)?(?:www\.)?(?:t\.me|telegram\.me|instagram\.com|github\.com)/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """``identities``: ``source:external-id``; ``contacts``: ``type:value`` of what is known (phone, email, handle)."""

    id: UUID
    names: tuple[str, ...]
    accounts: tuple[UUID, ...]
    identities: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    kind: EvidenceKind
    value: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two that may be one. ``score``: 0 to 1; ``evidence``: the weightiest first."""

    first: UUID
    second: UUID
    evidence: tuple[Evidence, ...]
    score: float


def suggestions(people: Sequence[KnownPerson], dismissed: Collection[frozenset[UUID]] = ()) -> list[Suggestion]:
    """Pairs with evidence, the surest first. A pair of which a person said that it is none is left out."""
    by_value: dict[tuple[EvidenceKind, str], dict[UUID, str]] = {}
    for person in people:
        for kind, key, shown in _values(person):
            by_value.setdefault((kind, key), {}).setdefault(person.id, shown)
    shared: dict[tuple[UUID, UUID], dict[EvidenceKind, str]] = {}
    for (kind, _), bearers in by_value.items():
        if 1 < len(bearers) <= MOST_WITH_ONE_VALUE:
            for pair in combinations(sorted(bearers), 2):
                shared.setdefault(pair, {}).setdefault(kind, bearers[pair[0]])
    known = {person.id: person for person in people}
    found = [_suggestion(*pair, evidence) for pair, evidence in shared.items() if not _is_out(pair, known, dismissed)]
    return sorted(found, key=lambda one: (-one.score, one.first, one.second))


def _suggestion(first: UUID, second: UUID, shared: dict[EvidenceKind, str]) -> Suggestion:
    if "name" in shared:
        shared = {kind: value for kind, value in shared.items() if kind != "name_sound"}
    against = 1.0
    for kind in shared:
        against *= 1 - WEIGHTS[kind]
    evidence = sorted(shared.items(), key=lambda one: (-WEIGHTS[one[0]], one))
    return Suggestion(first, second, tuple(Evidence(kind, value) for kind, value in evidence), round(1 - against, 3))


def _is_out(pair: tuple[UUID, UUID], known: dict[UUID, KnownPerson], dismissed: Collection[frozenset[UUID]]) -> bool:
    return bool(dismissed) and any(
        frozenset((one, other)) in dismissed for one in known[pair[0]].accounts for other in known[pair[1]].accounts
    )


def _values(person: KnownPerson) -> Iterable[tuple[EvidenceKind, str, str]]:
    """(kind, what is compared, as it is written)."""
    for name in person.names:
        if (plain := comparable(name)) and not _EMAIL.fullmatch(name) and not _PHONE.fullmatch(name):
            yield "name", plain, name
            if len(sound := _sound(name)) > 1:
                yield "name_sound", " ".join(sound), name
        yield from _contact("", name)
    for identity in person.identities:
        yield from _contact("", identity.partition(":")[2])
    for contact in person.contacts:
        kind, _, value = contact.partition(":")
        yield from _contact(kind, value)


def _contact(kind: str, value: str) -> Iterable[tuple[EvidenceKind, str, str]]:
    value = value.strip()
    number = "".join(filter(str.isdigit, value))
    if kind in ("", "phone") and _PHONE.fullmatch(value) and len(number) in _PHONE_DIGITS:
        # a bare number of a source may be any id
        if kind == "phone" or value.startswith("+"):
            yield "phone", number[-_NATIONAL_DIGITS:], value
    elif kind in ("", "email") and (mail := _EMAIL.search(value)):
        yield "email", mail[0].casefold(), mail[0]
    elif kind in ("handle", "account") or value.startswith("@"):
        handle = _LINK.sub("", value)
        if _HANDLE.fullmatch(handle):
            yield "handle", handle.lstrip("@").casefold(), value


def _sound(name: str) -> tuple[str, ...]:
    """The parts of a name as they sound in Latin letters, in any order; of a Chinese name surname and given name."""
    parts: list[str] = []
    for word in comparable(name).split():
        parts += _han_parts(word) if is_han(word) else [skeleton(word)]
    return tuple(sorted(part for part in parts if part))


def _han_parts(name: str) -> list[str]:
    from pypinyin import lazy_pinyin  # its tables take a moment, and most names need none

    sounds = lazy_pinyin(name)
    return [skeleton(sounds[0]), skeleton("".join(sounds[1:]))] if len(sounds) > 1 else [skeleton(sounds[0])]
