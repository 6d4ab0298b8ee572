"""Who owns, proposed and agreed to an item, by the messages that it cites (P34, B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from pkg_pipeline.memory.gate.agents import DIRECT, Scene, shows
from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.duty import SHORT_ANSWER, agrees, has, says_no
from pkg_pipeline.memory.gate.naming import Named, others_named
from pkg_pipeline.memory.gate.nearest import Unit, clauses_of, is_question, meant
from pkg_pipeline.memory.gate.people import Known, find_person
from pkg_pipeline.memory.gate.roles import does_it, is_given, subject_of, supporting
from pkg_pipeline.memory.gate.truth import Fault
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.items.records import CandidateItem, ItemOwner
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import word_count

THIRD = ("third", "theirs", "him")
"""Signs of somebody told of without a name."""
CLAIMED = Fault("is said by others alone of the owner of this memory, who agrees to nothing", "")
OTHERS = Fault("names another than its owner as the one to do it", "")


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
            return self.log.note(part, named, item.owner_name or item.owner, may_mend=True)
        if item.kind == "action_item" and self._is_of_another(named, item.text):
            reason = "its owner is not who promises or is asked"
            return self.log.note(part, reason, item.owner_name or item.owner, may_mend=True)
        alone = self._who_promises_alone(item.text) if named.owner == "both" and item.kind == "action_item" else None
        if alone is not None:
            self.log.note(f"{part}.owner", "is both where one promises; it is theirs")
            return Owner("self" if alone.is_self else "them", alone)
        return named

    def _who_promises_alone(self, text: str) -> Person | None:
        """Who promises by the quoted words, where no cited word joins another in the deed."""
        quoted = self.checker.testimony(self.evidence.messages, self.people).spoken.quoted(self.evidence.quote)
        senders = {unit.message.sender for unit in quoted}
        said = [text, *(unit.sentence for unit in quoted)]
        others = [m.text for m in self.evidence.messages if m.sender not in senders]
        joins = any(has("together", one) for one in (*said, *others)) or any(has("promise", one) for one in others)
        joins |= any(has("ask", m.text) or has("too", m.text) for m in self.evidence.messages)
        is_promised = any(has("promise", unit.sentence) and not unit.is_question for unit in quoted)
        return next(iter(senders)) if is_promised and not joins and len(senders) == 1 else None

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

    def _is_of_another(self, owner: Owner, text: str) -> bool:
        """Whether the words that bear out a task give it to somebody else.

        Somebody who takes no part is told of in too many ways ("my colleague", "they") to be ruled out by a name.
        """
        if owner.owner == "both" or owner.person is None:
            return owner.owner == "other" and self._is_taken_on(owner, text)
        name = owner.person.name
        spoken = self.checker.testimony(self.evidence.messages, self.people).spoken
        scene = Scene(spoken, self.people, (*others_named((*spoken.texts, text), self.people), name))
        clause = next(iter(clauses_of(text)), text)
        quoted = spoken.quoted(self.evidence.quote)
        own = [unit for unit in quoted if unit.message.sender == owner.person and not _gives_away(unit.text)]
        told = [scene.reported(unit) for unit in own]
        if own:
            return all(one is not None and owner.person.entity_id not in one.ids for one in told)
        if any(self._takes_on(owner.person, unit) for unit in quoted):
            return False
        if self._is_absent(owner.person, scene):
            return True
        units = (*supporting(clause, subject_of(clause, scene), scene), *quoted)
        return not does_it(Named(0, len(name), name, owner.person), units, clause, scene)

    def _is_taken_on(self, owner: Owner, text: str) -> bool:
        """Whether who writes the quoted words says outright to do it, and not the one who takes no part."""
        spoken, name = self.checker.testimony(self.evidence.messages, self.people).spoken, owner.name or ""
        scene = Scene(spoken, self.people, (name,))
        found = [scene.agents(unit, text) for unit in spoken.quoted(self.evidence.quote)]
        sure = [one for one in found if one is not None and one.is_sure]
        is_named = any(one.is_absent or one.names for one in found if one is not None)
        return (
            len(sure) > 0
            and not is_named
            and all(one.ids == frozenset({self.evidence.quoted.sender.entity_id}) for one in sure)
        )

    def _is_absent(self, person: Person, scene: Scene) -> bool:
        """Whether, of more than two who talk, somebody neither writes nor is named or spoken to in what is cited."""
        if len(self.people) <= DIRECT or any(m.sender == person for m in self.evidence.messages):
            return False
        texts = [message.text for message in self.evidence.messages]
        is_meant = any(one.person == person for text in texts for one in scene.names(text))
        return not is_meant and not any(has(sign, text) for sign in ("you", "together") for text in texts)

    def doubt(self, item: CandidateItem, owner: Owner, messages: Sequence[SourceMessage]) -> Fault | None:
        """Why an item's text is better told as said: whom it names, or who alone said it; of that in ``messages``."""
        if item.kind == "action_item" and self.is_told_of_another(owner, item.text):
            return OTHERS
        return CLAIMED if messages and self._is_only_claimed(item, messages) else None

    def is_told_of_another(self, owner: Owner, text: str) -> bool:
        """Whether a text names another as the one who is to do what the owner is to do."""
        if owner.owner == "both" or (owner.person is None and owner.name is None):
            return False
        name = owner.person.name if owner.person is not None else owner.name or ""
        spoken = self.checker.testimony(self.evidence.messages, self.people).spoken
        scene = Scene(spoken, self.people, (*others_named((*spoken.texts, text), self.people), name))
        clause = next(iter(clauses_of(text)), text)
        subject, owns = subject_of(clause, scene), Named(0, len(name), name, owner.person)
        if subject is None:  # "The council writes to Ann", who is to write to the council
            named = [one for one in scene.names(clause) if one.is_same(owns)]
            return bool(named) and all(one.start > 0 and is_given(one, clause) for one in named)
        return not subject.is_same(owns)

    def _is_only_claimed(self, item: CandidateItem, messages: Iterable[SourceMessage]) -> bool:
        """Whether what the owner of this memory is said to owe or to have settled rests on words of others alone."""
        if item.owner not in ("self", "both") or any(m.sender.is_self for m in self.evidence.messages):
            return False
        after = self.evidence.messages[-1].number + 1
        # a yes to what came in between is no yes to this
        return not any(m.sender.is_self and m.number == after and agrees(m) for m in messages)

    def _takes_on(self, person: Person, asked: Unit) -> bool:
        """Whether somebody promises right behind what another asks for."""
        later = [m for m in self.evidence.messages if m.number == asked.message.number + 1]
        if asked.message.sender == person:
            return False
        is_asked = has("ask", asked.sentence)
        answers = [m for m in later if m.sender == person]
        return any((is_asked and has("promise", m.text)) or _takes_up(m, asked.sentence) for m in answers)

    def proposed(self, name: str | None, text: str, part: str) -> UUID | None:
        """Who proposed: before what they say of the item, no other's cited message says its figures or, without any, as
        much of it. Who says no figure where others say those of the item only asked for them.
        """
        found = self._speaker(name, part)
        wanted = meant(text)
        shared = {m.number: wanted & meant(m.text) for m in self.evidence.messages}
        mine = [m for m in self.evidence.messages if m.sender.entity_id == found]
        if not mine:
            return found
        own = max(mine, key=lambda m: (len(_figures(shared[m.number])), len(shared[m.number])))
        says = shared[own.number]
        before = [shared[m.number] for m in self.evidence.messages if m.number < own.number and m not in mine]
        figures = _figures(says)
        is_second = any(_figures(one) >= figures if figures else len(one) >= len(says) for one in before if one)
        told = tuple(one for m in mine for one in _figures(meant(m.text)))
        is_asking = any(map(_figures, shared.values())) and not any(one.startswith(told) for one in _figures(wanted))
        if is_second or is_asking:
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
        if agreeing and not any(agrees(m) or (has("promise", m.text) and not says_no(m)) for m in said):
            return self.log.note(part, "does not say so in the cited messages", name)
        return person.entity_id


def _figures(meanings: frozenset[str]) -> frozenset[str]:
    return frozenset(one for one in meanings if one.startswith("#"))


def _takes_up(answer: SourceMessage, asked: str) -> bool:
    """Whether a short answer says the deed that was asked for again ("tell mum I'm late", "I'll tell her")."""
    is_short = word_count(answer.text) <= SHORT_ANSWER and not is_question(answer.text) and not says_no(answer)
    return is_short and bool(content(answer.text) & content(asked))


def _gives_away(text: str) -> bool:
    """Whether who writes this leaves the deed to somebody else."""
    signs = ("requests", "third") if has("promise", text) else ("requests", *THIRD)
    is_away = any(shows(sign, text) for sign in signs)
    return is_away and not any(shows(sign, text) for sign in ("me", "gives"))


def unnamed(name: str, evidence: Evidence, checker: Checker) -> str | None:
    """Why nobody of that name is known from the cited messages, or from those around them that tell of "him"; or None.

    What is no name of a description ("the foreman of line 7") may be said around them.
    """
    if (reason := checker.words(name)) is not None:
        return reason
    testimony = checker.testimony(evidence.messages, ())
    texts = [message.text for message in evidence.messages]
    cited, near = Known((), texts), Known((), [*texts, *testimony.around])
    is_meant = not others_named(texts, ()) and any(shows(sign, one) for one in texts for sign in THIRD)
    words = [word for word in re.findall(r"[^\W\d_][\w-]*", name) if content(word) or word[0].isupper()]
    known = all(near.names(word) if is_meant or word.islower() else cited.names(word) for word in words)
    return None if known and words else "names somebody whom its messages do not"
