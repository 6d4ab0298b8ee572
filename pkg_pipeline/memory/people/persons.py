"""Which accounts are one person and what the person is called, by all that was decided (B20).

Accounts are what imports know, and never change; persons follow from them and from the decisions that stand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

Action = Literal["join", "part", "alias", "unalias", "rename", "dismiss"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One decision. ``entity`` is an account; ``other``: of a join the one that is the same person as ``entity``, of a
    dismissed suggestion the one that is not; ``name``: of an alias or another name.
    """

    action: Action
    entity: UUID
    other: UUID | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """A person about whom something was decided. ``id``: the account that stands for all, the first of ``accounts``;
    ``name``: as chosen; ``aliases``: further names.
    """

    accounts: tuple[UUID, ...]
    name: str | None = None
    aliases: tuple[str, ...] = ()

    @property
    def id(self) -> UUID:
        return self.accounts[0]


def decided(verdicts: Iterable[Verdict], selves: Collection[UUID] = ()) -> list[Decided]:
    """The persons of all accounts named, from the verdicts that stand, in the order of time.

    A join puts all accounts of the other's person behind those of the first; a parted account is alone. ``selves`` are
    accounts of the owner of the memory: with somebody else's they are never one, whatever was decided before that was
    known. The name chosen for the first account that has one counts; names added to any account are the person's.
    """
    groups: dict[UUID, list[UUID]] = {}
    names: dict[UUID, str] = {}
    aliases: dict[UUID, dict[str, None]] = {}
    for one in verdicts:
        own = groups.setdefault(one.entity, [one.entity])
        if one.action == "join" and one.other is not None:
            others = groups.setdefault(one.other, [one.other])
            if others is not own:
                own += others
                groups |= dict.fromkeys(others, own)
        elif one.action == "part" and len(own) > 1:
            own.remove(one.entity)
            groups[one.entity] = [one.entity]
        elif one.action == "rename" and one.name is not None:
            names[one.entity] = one.name
        elif one.action == "alias" and one.name is not None:
            aliases.setdefault(one.entity, {}).setdefault(one.name)
        elif one.action == "unalias":
            for account in own:
                aliases.get(account, {}).pop(one.name or "", None)
    found: list[Decided] = []
    for group in {id(group): group for group in groups.values()}.values():
        for accounts in ([one for one in group if one in selves], [one for one in group if one not in selves]):
            if accounts:
                chosen = next((names[one] for one in accounts if one in names), None)
                added = {name: None for one in accounts for name in aliases.get(one, ())}
                found.append(Decided(tuple(accounts), chosen, tuple(added)))
    return found


def dismissed(verdicts: Iterable[Verdict]) -> frozenset[frozenset[UUID]]:
    """Pairs of accounts of which a person said that they are not one."""
    return frozenset(
        frozenset((one.entity, one.other)) for one in verdicts if one.action == "dismiss" and one.other is not None
    )
