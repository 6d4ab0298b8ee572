"""What a person decides about who is who (B20): kept for ever, in force at once, and undone as if it had never been."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.memory.hashing import key_spellings
from pkg_pipeline.memory.people.persons import Verdict
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.stages.people.records import Account, DecisionUnknown, Kept
from pkg_pipeline.stages.reads.short_ids import id_of
from pkg_pipeline.stages.reads.stores import BadRequest, EntityUnknown

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.people.store import PostgresPeopleStore

LONGEST_NAME = 300
"""Characters of a name, as imports keep them."""


def merge(store: PostgresPeopleStore, into: UUID, other: UUID, *, now: datetime) -> Kept:
    """All accounts of ``other`` are ``into``'s from now on. Raises BadRequest for oneself and somebody else."""

    def verdicts(accounts: Sequence[Account]) -> list[Verdict]:
        first, second = _of(into, accounts), _of(other, accounts)
        if first.is_self != second.is_self:
            raise BadRequest("other", "one of them is you: an import says which accounts are yours (import --self)")
        if first.person == second.person:
            return []
        return [Verdict("join", first.person, second.person)]

    return store.decide((into, other), verdicts, now=now)


def split(store: PostgresPeopleStore, person: UUID, identities: Sequence[str], *, now: datetime) -> Kept:
    """These accounts, by key (source:external-id) or id, are one person of their own from now on, or are already.
    Raises BadRequest.
    """

    def verdicts(accounts: Sequence[Account]) -> list[Verdict]:
        whose = _of(person, accounts).person
        own = [one for one in accounts if one.person == whose]
        others = [one for one in accounts if one.person != whose]
        if others and {_account(one, accounts) for one in identities} == {one.id for one in others}:
            return []
        parted = list(dict.fromkeys(_account(one, own) for one in identities))
        if not parted:
            raise BadRequest("identities", "say which accounts are somebody else's")
        if len(parted) == len(own):
            known = ", ".join(key for one in own for key in one.identities)
            raise BadRequest("identities", f"one account has to stay with the person, who has {known}")
        return [
            *(Verdict("part", one) for one in parted),
            *(Verdict("join", parted[0], one) for one in parted[1:]),
        ]

    return store.decide((person, *store.accounts_named(identities)), verdicts, now=now)


def add_alias(store: PostgresPeopleStore, person: UUID, names: Sequence[str], *, now: datetime) -> Kept:
    """Further names by which the person is known. Raises BadRequest."""

    def verdicts(accounts: Sequence[Account]) -> list[Verdict]:
        one = accounts[0]
        known = {name.casefold() for name in (one.name, *one.aliases)}
        wanted = {name.casefold(): name for name in map(_name, names)}
        return [Verdict("alias", one.person, name=name) for key, name in wanted.items() if key not in known]

    return store.decide((person,), verdicts, now=now)


def remove_alias(store: PostgresPeopleStore, person: UUID, names: Sequence[str], *, now: datetime) -> Kept:
    """Raises BadRequest for a name that nobody added."""

    def verdicts(accounts: Sequence[Account]) -> list[Verdict]:
        one = accounts[0]
        added = {name.casefold(): name for name in one.aliases}
        if missing := [name for name in map(_name, names) if name.casefold() not in added]:
            listed = ", ".join(one.aliases) or "none"
            raise BadRequest("names", f"{missing[0]!r} is no further name of {one.name} (they have {listed})")
        return [Verdict("unalias", one.person, name=added[_name(name).casefold()]) for name in dict.fromkeys(names)]

    return store.decide((person,), verdicts, now=now)


def rename(store: PostgresPeopleStore, person: UUID, name: str, *, now: datetime) -> Kept:
    """What the person is called from now on, whatever imports say. Raises BadRequest."""

    def verdicts(accounts: Sequence[Account]) -> list[Verdict]:
        one, wanted = accounts[0], _name(name)
        return [] if one.chosen_name == wanted else [Verdict("rename", one.person, name=wanted)]

    return store.decide((person,), verdicts, now=now)


def dismiss(store: PostgresPeopleStore, one: UUID, other: UUID, *, now: datetime) -> Kept:
    """They are two, and not suggested again. Raises BadRequest."""

    def verdicts(accounts: Sequence[Account]) -> list[Verdict]:
        people = list(dict.fromkeys(_of(asked, accounts).person for asked in (one, other)))
        if len(people) == 1:
            raise BadRequest("other", "they are one person; entities split takes accounts out")
        first, second = people
        return [] if frozenset(people) in store.dismissed() else [Verdict("dismiss", first, second)]

    return store.decide((one, other), verdicts, now=now)


def undo(store: PostgresPeopleStore, asked: str, *, now: datetime) -> Kept:
    """A decision counts no more, as if it had never been made; undone twice is undone. Raises DecisionUnknown."""
    found = id_of(asked, store.decisions_between, what="decision", unknown=DecisionUnknown)
    return store.undo(found, now=now)


def _of(asked: UUID, accounts: Sequence[Account]) -> Account:
    found = next((one for one in accounts if one.id == asked), None)
    if found is None:
        raise EntityUnknown(str(asked))
    return found


def _account(asked: str, accounts: Sequence[Account]) -> UUID:
    keys = {asked, *(":".join(spelt) for spelt in key_spellings(asked))}
    fitting = [
        one.id
        for one in accounts
        if str(one.id) == asked.lower() or any(key in keys or key.partition(":")[2] == asked for key in one.identities)
    ]
    if len(set(fitting)) != 1:
        known = ", ".join(key for one in accounts for key in one.identities)
        raise BadRequest("identities", f"{asked!r} is no account of theirs; they have {known}")
    return fitting[0]


def _name(text: str) -> str:
    name = clean_name(text).strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadRequest("name", f"a name has 1 to {LONGEST_NAME} characters")
    return name
