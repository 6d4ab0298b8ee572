"""Who owns, proposed and agreed to an item, by the messages that it cites (P34, B16, B18)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.duty import agrees, bearers, has
from pkg_pipeline.memory.gate.nearest import meant
from pkg_pipeline.memory.gate.people import Known, find_person
from pkg_pipeline.memory.items.records import CandidateItem, ItemOwner
from pkg_pipeline.memory.records import Person, SummaryInput


class Owner(NamedTuple):
    """``person``: the participant; ``name``: of somebody who takes no part."""

    owner: ItemOwner
    person: Person | None = None
    name: str | None = None


class Bearers:
    """The people of the talks that one item cites."""

    def __init__(self, evidence: Evidence, talks: Sequence[SummaryInput], checker: Checker, log: DropLog) -> None:
        self.evidence = evidence
        self.people = tuple(dict.fromkeys(person for talk in talks for person in talk.participants))
        self.checker = checker
        self.log = log

    def owner(self, item: CandidateItem, part: str) -> Owner | None:
        """Who owns the item; None, with the reason in the log, where that cannot be."""
        named = self._named_owner(item)
        if isinstance(named, str):
            return self.log.note(part, named, item.owner_name or item.owner)
        if item.kind == "action_item" and (word := self._contradiction(named)) is not None:
            return self.log.note(part, "its owner is not who promises or is asked", word)
        return named

    def _named_owner(self, item: CandidateItem) -> Owner | str:
        mine = next((person for person in self.people if person.is_self), None)
        others = [person for person in self.people if not person.is_self]
        only = others[0] if len(others) == 1 else None
        name = " ".join((item.owner_name or "").split())
        named = find_person(name, self.people) if name else None
        if item.owner == "self":
            if mine is None:
                return "its owner is self, and the owner of this memory did not take part"
            return "its owner is self and names somebody else" if name and named is not mine else Owner("self", mine)
        if named is not None and named.is_self and item.owner != "both":
            return "its owner is another and names self"
        if name and named is None:
            reason = unnamed(name, self.evidence, self.checker)
            return Owner("other", None, name) if reason is None else reason
        if item.owner == "other" and named is None:
            return "its owner is another and has no name"
        person = named if named is not None and not named.is_self else only
        return Owner("both" if item.owner == "both" and mine is not None else "them", person)

    def _contradiction(self, owner: Owner) -> str | None:
        """The name of who clearly bears the duty where the owner is somebody else, or None."""
        ids = frozenset(person.entity_id for person in self.people)
        said = bearers(self.evidence.messages, self.evidence.quote, ids)
        mine = frozenset(person.entity_id for person in self.people if person.is_self)
        match owner.owner:
            case "other":
                return None
            case "both":
                wrong = len(said) == 1
            case "self":
                wrong = not said & mine
            case _:
                wrong = not said - mine if owner.person is None else owner.person.entity_id not in said
        if not said or not wrong:
            return None
        return ", ".join(person.name for person in self.people if person.entity_id in said)

    def proposed(self, name: str | None, text: str, part: str) -> UUID | None:
        """Who proposed: the first whose cited message has words of the item."""
        found = self._speaker(name, part)
        wanted = meant(text)
        first = next((m for m in self.evidence.messages if wanted & meant(m.text)), self.evidence.messages[0])
        own = next((m for m in self.evidence.messages if m.sender.entity_id == found), None)
        if own is not None and own.number > first.number:
            return self.log.note(part, "did not say it first", name or "")
        return found

    def agreed(self, names: Iterable[str], part: str) -> tuple[UUID, ...]:
        """Who agreed: senders of cited messages that agree to something."""
        found = (self._speaker(name, part, agreeing=True) for name in names)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def _speaker(self, name: str | None, part: str, *, agreeing: bool = False) -> UUID | None:
        if name is None or not name.strip():
            return None
        person = find_person(name, self.people)
        said = [m for m in self.evidence.messages if person is not None and m.sender.entity_id == person.entity_id]
        if person is None or not said:
            return self.log.note(part, "wrote none of the cited messages", name)
        if agreeing and not any(map(agrees, said)):
            return self.log.note(part, "does not say so in the cited messages", name)
        return person.entity_id


def unnamed(name: str, evidence: Evidence, checker: Checker) -> str | None:
    """Why nobody of that name is known from the cited messages, or None."""
    if (reason := checker.words(name)) is not None:
        return reason
    known = Known((), [message.text for message in evidence.messages])
    return None if all(map(known.names, name.split())) else "names somebody whom its messages do not"


def may_be_about(person: Person, evidence: Evidence) -> bool:
    """Whether messages may tell something of a participant: they wrote one, or one names or speaks to somebody."""
    known = Known((), [message.text for message in evidence.messages])
    return any(
        message.sender.entity_id == person.entity_id or has("you", message.text) or has("about", message.text)
        for message in evidence.messages
    ) or any(map(known.names, person.name.split()))
